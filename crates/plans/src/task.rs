//! One task: the text as it is, and how many items of its check list are open.

use segue_machine::Task;
use thiserror::Error;

/// A text that is no task.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadTask {
    /// There is nothing in it.
    #[error("the task is empty: say what is to be done, or name a file that does")]
    Empty,
    /// It is no text.
    #[error("{0} is not a text file (byte {1} is not UTF-8): give the task as text")]
    NotText(String, usize),
}

/// Reads a task from bytes; `source` is the file they came from, if any.
///
/// # Errors
/// Bytes that are no text, or nothing but white space.
pub fn read_task(bytes: &[u8], source: Option<&str>) -> Result<Task, BadTask> {
    let name = source.unwrap_or("the task");
    let text = std::str::from_utf8(bytes).map_err(|e| BadTask::NotText(name.to_owned(), e.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err(BadTask::Empty);
    }
    let open_items = open_items(&text);
    Ok(Task {
        text: text.trim_end().to_owned(),
        source: source.map(str::to_owned),
        open_items,
        ..Task::default()
    })
}

// Boxes inside code fences are examples, not items.
fn open_items(text: &str) -> u32 {
    let mut fenced = false;
    let mut open = 0;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && is_open(line) {
            open += 1;
        }
    }
    open
}

fn is_open(line: &str) -> bool {
    let item = line.strip_prefix(['-', '*', '+']).map(str::trim_start);
    item.is_some_and(|item| item.starts_with("[ ]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_boxes_are_counted_and_closed_or_fenced_ones_are_not() {
        let text = "# Do\r\n- [ ] a\r\n  * [ ] b\n- [x] c\n```\n- [ ] not this\n```\n+ [ ] d\n";
        assert_eq!(read_task(text.as_bytes(), None).unwrap().open_items, 3);
    }

    #[test]
    fn a_mark_at_the_start_of_the_file_is_no_part_of_the_task() {
        let task = read_task("\u{feff}do it\n".as_bytes(), Some("PROMPT.md")).unwrap();
        assert_eq!((task.text.as_str(), task.source.as_deref()), ("do it", Some("PROMPT.md")));
    }

    #[test]
    fn nothing_and_bytes_are_refused() {
        assert_eq!(read_task(b" \n\t", None), Err(BadTask::Empty));
        assert!(matches!(read_task(b"ab\xff", Some("x")), Err(BadTask::NotText(_, 2))));
    }
}
