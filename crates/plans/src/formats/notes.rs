//! The process wrapper of a phase: the notes that it must read and the notes that it must write.

use super::Reading;
use super::list::trees;
use crate::model::Phase;
use crate::text::{Range, is_path, spans};

/// Reads the notes that a wrapper names.
pub(crate) fn read(reading: &Reading<'_, '_>, range: Range, phase: &mut Phase) {
    for node in trees(reading, range, |_| true) {
        let lower = node.text.to_lowercase();
        let lower = lower.trim_start_matches('*').trim_start();
        let names =
            || spans(&node.text).into_iter().map(|s| s.code.trim().to_owned()).filter(|code| is_path(code));
        // A remark such as "(N/A for the first phase)" takes the note back.
        let none = lower.contains("(n/a") || lower.contains(": n/a");
        if lower.starts_with("read") && !none {
            phase.notes_in.extend(names());
        } else if lower.starts_with("write")
            || lower.starts_with("create notes")
            || lower.starts_with("save notes")
        {
            phase.notes_out.extend(names());
        }
    }
}
