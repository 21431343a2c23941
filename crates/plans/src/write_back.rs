//! What is true, written back into a plan file: which items are done. Every other byte stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::{NoPlan, items_of};
use crate::items::Item;
use crate::model::{Format, Status};
use crate::status_line;

/// A plan file with the states of its items written into it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenBack {
    /// The text of the file.
    pub text: String,
    /// The keys of the items that are different now.
    pub changed: Vec<String>,
    /// The line that says how far the whole file is was changed too: nothing in it is open any more.
    pub status: bool,
    /// The keys that the file has no item for: somebody took it out or changed its words.
    pub missing: Vec<String>,
}

/// Writes states into the text of one file, by the items' keys.
///
/// The text is read again, so it may have been edited since the plan was read: an item is found by its key wherever it
/// stands now. Only whether something is left to do is written: a state that says the same as the file changes nothing. Where
/// a file has a status of its own (BMAD, Backlog.md, Debussy), it follows when nothing in the file is open.
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
    let over = |item: &Item| wanted.get(item.key.as_str()).copied().unwrap_or(item.status).is_over();
    let ends = states.iter().any(|(_, status)| status.is_over()) && items.iter().all(over);
    if let Some(text) = ends.then(|| status_line::finished(&back.text, format)).flatten() {
        back.text = text;
        back.status = true;
    }
    let known: BTreeSet<&str> = items.iter().map(|item| item.key.as_str()).collect();
    back.missing = wanted.keys().filter(|key| !known.contains(*key)).map(|key| (*key).to_owned()).collect();
    Ok(back)
}

/// What marks the end of an item's line while two versions of its file are merged; no plan has it.
const ANCHOR: char = '\u{1}';

/// Brings together two versions of a plan file that come from the same one, item by item: what only one of them changed
/// about an item holds, and what stands beside the items is left to `merge`, which gives nothing where both changed it.
pub fn merge_by_item(
    name: &str,
    format: Format,
    base: &str,
    [ours, theirs]: [&str; 2],
    merge: impl FnOnce([&str; 3]) -> Option<String>,
) -> Option<String> {
    let over = |text: &str| -> Option<BTreeMap<String, Status>> {
        let items = items_of(name, text, format).ok()?;
        Some(items.into_iter().map(|item| (item.key, item.status)).collect())
    };
    let (was, mine, other) = (over(base)?, over(ours)?, over(theirs)?);
    // With the same states and a line between any two items, edits of different items never meet.
    let neutral = |text: &str| {
        let states: Vec<(&str, Status)> = was.iter().map(|(key, status)| (key.as_str(), *status)).collect();
        let back = write_back(name, text, format, &states).ok()?;
        anchored(name, &back.text, format)
    };
    let merged = merge([&neutral(base)?, &neutral(ours)?, &neutral(theirs)?])?;
    let merged: String = merged.split_inclusive('\n').filter(|line| !line.starts_with(ANCHOR)).collect();
    let changed = |states: &BTreeMap<String, Status>, key: &str| {
        let now = states.get(key).copied()?;
        (Some(now.is_over()) != was.get(key).map(|was| was.is_over())).then_some(now)
    };
    let keys: BTreeSet<&str> =
        was.keys().chain(mine.keys()).chain(other.keys()).map(String::as_str).collect();
    let states = keys.into_iter().filter_map(|key| {
        Some((key, changed(&mine, key).or_else(|| changed(&other, key)).or_else(|| was.get(key).copied())?))
    });
    let states: Vec<(&str, Status)> = states.collect();
    write_back(name, &merged, format, &states).ok().map(|back| back.text)
}

// A line of its own behind each line with an item.
fn anchored(name: &str, text: &str, format: Format) -> Option<String> {
    let items = items_of(name, text, format).ok()?;
    let lines: BTreeMap<usize, &str> = items.iter().map(|item| (item.mark.to, item.key.as_str())).collect();
    let mut from = 0;
    let mut marked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        marked.push_str(line);
        let to = from + line.len();
        if line.ends_with('\n') {
            for (_, key) in lines.range(from + 1..=to) {
                marked.push_str(&format!("{ANCHOR}{key}\n"));
            }
        }
        from = to;
    }
    Some(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_two_agents_changed_are_merged_item_by_item() {
        let base = "# A\n- [ ] 1.1 one\n- [ ] 1.2 two\n- [ ] 1.3 three\n";
        let (ours, theirs) =
            (base.replace("[ ] 1.1", "[x] 1.1"), base.replace("[ ] 1.2 two", "[x] 1.2 two (abc)"));
        // As a merge by lines does it where both differ in one place only.
        let merge = |[base, ours, theirs]: [&str; 3]| {
            assert_eq!(base, ours, "nothing but the box is different");
            assert_eq!(base.lines().count(), 7, "a line between any two items");
            Some(theirs.to_owned())
        };
        let merged = merge_by_item("x.md", Format::Checklist, base, [&ours, &theirs], merge).unwrap();
        assert_eq!(merged, "# A\n- [x] 1.1 one\n- [x] 1.2 two (abc)\n- [ ] 1.3 three\n");
        assert_eq!(merge_by_item("x.md", Format::Checklist, base, [&ours, &theirs], |_| None), None);
    }

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
