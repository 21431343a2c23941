//! Check boxes that a plain reading of the file counts otherwise: hidden in a comment or a quotation, or near a fence that is not closed
//! or nested. Each is said with its line, so that none is dropped or added without a word.

use super::Reading;
use crate::model::{Oddity, OddityKind, Plan};
use crate::text::{fence, item};

/// Notes every check box whose reading depends on comments or uncertain fences.
pub(super) fn note(reading: &Reading<'_, '_>, plan: &mut Plan) {
    // As CommonMark has it: a fence ends with a bare one that is as long, or with the file.
    let mut open: Option<(char, usize)> = None;
    for line in &reading.doc.lines {
        let found = fence(line.text);
        let inside = open.is_some() || found.is_some();
        match (open, found) {
            (None, Some((mark, count, _))) => open = Some((mark, count)),
            (Some((mark, count)), Some((this, many, ""))) if this == mark && many >= count => open = None,
            _ => {}
        }
        let is_box = |text: &str| item(text).is_some_and(|item| item.mark.is_some());
        let quoted = line.text.starts_with('>') && is_box(line.text.trim_start_matches(['>', ' ', '\t']));
        if quoted && line.is_prose() {
            let what = format!("the check box in line {} is not read: it stands in a quotation", line.no);
            plan.oddities.push(Oddity { kind: OddityKind::NotRead, at: reading.at(line.no), what });
        }
        let boxed = is_box(line.text);
        let why = match (boxed, line.hidden, inside == line.code) {
            (false, ..) | (true, false, true) => continue,
            (true, true, _) => "is not read: it stands in a comment",
            (true, false, false) if line.code => "is not read: it stands in an example of Markdown",
            (true, false, false) => "is read, though the fence above it never ends",
        };
        let what = format!("the check box in line {} {why}", line.no);
        plan.oddities.push(Oddity { kind: OddityKind::NotRead, at: reading.at(line.no), what });
    }
}
