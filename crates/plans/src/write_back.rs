//! What is true, written back into a plan file: which items are done. Every other byte stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::{NoPlan, items_of};
use crate::model::{Format, Status};

/// A plan file with the states of its items written into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenBack {
    /// The text of the file.
    pub text: String,
    /// The keys of the items that are different now.
    pub changed: Vec<String>,
    /// The keys that the file has no item for: somebody took it out or changed its words.
    pub missing: Vec<String>,
}

/// Writes states into the text of one file, by the items' keys.
///
/// The text is read again, so it may have been edited since the plan was read: an item is found by its key wherever it
/// stands now. Only whether something is left to do is written: a state that says the same as the file changes nothing.
///
/// # Errors
/// The text can no longer be read.
pub fn write_back(
    name: &str,
    text: &str,
    format: Format,
    states: &[(&str, Status)],
) -> Result<WrittenBack, NoPlan> {
    let mut items = items_of(name, text, format)?;
    items.sort_by_key(|item| item.mark.from);
    let mut back = WrittenBack { text: String::with_capacity(text.len()), ..WrittenBack::default() };
    let wanted: BTreeMap<&str, Status> = states.iter().copied().collect();
    let mut from = 0;
    for item in &items {
        let Some(status) = wanted.get(item.key.as_str()) else { continue };
        let writable = item.mark.to > 0 && item.mark.from >= from;
        if status.is_over() == item.status.is_over() || !writable {
            continue;
        }
        back.text.push_str(text.get(from..item.mark.from).unwrap_or_default());
        back.text.push_str(if status.is_over() { item.mark.done } else { item.mark.open });
        from = item.mark.to;
        back.changed.push(item.key.clone());
    }
    back.text.push_str(text.get(from..).unwrap_or_default());
    let known: BTreeSet<&str> = items.iter().map(|item| item.key.as_str()).collect();
    back.missing = wanted.keys().filter(|key| !known.contains(*key)).map(|key| (*key).to_owned()).collect();
    Ok(back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_boxes_that_changed_are_different() {
        let text = "\u{feff}# A\r\n-  [ ]  1.1 one \r\n* [X] 1.2 two\n\n+ [ ] three";
        let back = write_back("x.md", text, Format::Checklist, &[]).unwrap();
        assert_eq!((back.text.as_str(), back.changed.len()), (text, 0));
        let back = write_back(
            "x.md",
            text,
            Format::Checklist,
            &[("1.1", Status::Completed), ("1.2", Status::Completed), ("9", Status::Completed)],
        );
        let back = back.unwrap();
        assert_eq!(back.text, "\u{feff}# A\r\n-  [x]  1.1 one \r\n* [X] 1.2 two\n\n+ [ ] three");
        assert_eq!((back.changed, back.missing), (vec!["1.1".to_owned()], vec!["9".to_owned()]));
    }
}
