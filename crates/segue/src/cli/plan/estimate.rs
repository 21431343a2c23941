//! `segue plan estimate`: what each phase is likely to cost.

use segue_plans::{Estimate, PhaseCost};
use serde_json::json;

use super::disk::Disk;
use super::{Failure, Known, One, Place, out, read, refused};

/// Estimates a plan.
pub(super) fn estimate(at: &Place, one: &One) -> Result<u8, Failure> {
    let plan = read(at, one)?.map_err(|error| refused(&error))?;
    let (known, disk) = (Known::new(at, one)?, Disk::new(at));
    let estimate = segue_plans::estimate(&plan, known.budget, &[], &disk);
    if at.json {
        out::line(&json!({ "file": one.file, "format": plan.format, "estimate": estimate }).to_string());
    } else {
        out::lines(words(&estimate));
    }
    Ok(0)
}

fn words(estimate: &Estimate) -> Vec<String> {
    let mut lines: Vec<String> = estimate.phases.iter().flat_map(phase).collect();
    let share = estimate.percent.map_or_else(String::new, |percent| format!(" ({percent} % of a session)"));
    lines.push(format!("all that is left: {} tokens{share}", thousands(estimate.tokens)));
    match estimate.budget {
        Some(budget) => lines.push(format!("a session may use {} tokens", thousands(budget))),
        None => lines.push(
            "what a session may use is not known: give --window, or set window in [agent.NAME]".to_owned(),
        ),
    }
    lines
        .extend(estimate.warnings.iter().map(|warning| format!("warning: {}", segue_report::plain(warning))));
    lines
}

fn phase(cost: &PhaseCost) -> Vec<String> {
    let share = match (cost.over, cost.percent) {
        (true, _) => "done".to_owned(),
        (false, Some(percent)) => format!("{percent} %"),
        (false, None) => String::new(),
    };
    let title = segue_report::plain(&cost.title);
    let mut lines = vec![
        format!("{:>9}  {share:>6}  {}  {title}", thousands(cost.tokens), cost.id).trim_end().to_owned(),
    ];
    for part in &cost.split {
        let percent = cost.percent.map(|percent| percent * part.tokens / cost.tokens.max(1));
        let share = percent.map_or_else(String::new, |percent| format!("{percent} %"));
        lines.push(format!(
            "{:>9}  {share:>6}    {}: tasks {}",
            thousands(part.tokens),
            part.id,
            part.tasks.join(", ")
        ));
    }
    lines
}

fn thousands(tokens: u64) -> String {
    if tokens < 1_000 { tokens.to_string() } else { format!("{}k", tokens / 1_000) }
}
