//! `segue replay`: the same events through the same machine must give the same decisions.

use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::anchor::{Anchors, Trust};
use crate::history::{self, Difference};

/// How many differences are written out; the first one usually causes the rest.
const SHOWN: usize = 5;

/// Compares every decision of a run with what the machine decides today.
pub(super) fn replay(at: &Place, run: Option<&str>) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let row = at.run(&reader, run)?;
    let past = history::read(&reader, &row.id, 0)?;
    let changed = match Anchors::of_user().map(|anchors| anchors.check(&reader, &row.id)).transpose()? {
        Some(Trust::Broken(why)) => Some(why),
        Some(Trust::Whole | Trust::Unknown(_)) | None => None,
    };
    let differences = history::differences(&past)?;
    let decisions: usize = past.iter().map(|step| step.decided.len()).sum();
    if at.json {
        let doc = serde_json::json!({
            "run": row.id, "events": past.len(), "decisions": decisions, "differences": differences,
            "changed": changed,
        });
        out::line(&doc.to_string());
    } else if differences.is_empty() {
        out::line(&format!("run {}: {} events, {decisions} decisions, all the same", row.id, past.len()));
    } else {
        out::line(&format!(
            "run {}: {} of {} events lead to other decisions",
            row.id,
            differences.len(),
            past.len()
        ));
        out::lines(differences.iter().take(SHOWN).flat_map(diff));
        out::line("this is a bug, or the journal was changed: please report it with this output");
    }
    if let Some(why) = changed.as_ref().filter(|_| !at.json) {
        out::line(&format!("the journal was changed outside segue: {why}"));
    }
    Ok(u8::from(!differences.is_empty() || changed.is_some()))
}

fn diff(difference: &Difference) -> Vec<String> {
    let mut lines = vec![format!("event {}: {}", difference.seq, difference.event)];
    let (old, new) = (&difference.recorded, &difference.decided);
    lines.extend(old.iter().filter(|l| !new.contains(l)).map(|l| format!("  - recorded {l}")));
    lines.extend(new.iter().filter(|l| !old.contains(l)).map(|l| format!("  + decided  {l}")));
    lines
}
