//! The things in a plan file that are open or done, and where the file says so: check boxes, or entries with a status.
//!
//! An item has a key that stays the same when lines around it change, so that what an agent edits and what segue writes
//! can be brought together item by item. Keys are unique within a file and do not depend on how the file is read.

use std::collections::BTreeMap;

use crate::ids;
use crate::model::{Place, Status};
use crate::text::{Doc, Item as ListItem, Mark, item, plain};

/// One thing in a plan file that is open or done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// Its name within the file: its own id, or one made from its words and the heading above it.
    pub key: String,
    /// Where it stands.
    pub at: Place,
    /// Of a group, the line after the last item below it; else 0.
    pub end: u32,
    /// Its words.
    pub text: String,
    /// How far it is, as the file says.
    pub status: Status,
    /// What it is.
    pub kind: ItemKind,
    /// Where the file says how far it is.
    pub mark: Marker,
}

impl Item {
    /// Whether something is left to do.
    pub fn is_open(&self) -> bool {
        !self.status.is_over()
    }
}

/// What an item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    /// A task, or a whole phase: the phase or task that has it.
    #[default]
    Work,
    /// A step of the task that has it.
    Step,
    /// A box above tasks: done when all of them are.
    Group,
    /// A box that says what must hold: an acceptance criterion, a line of a definition of done.
    Criterion,
}

/// The bytes of a file that say how far an item is, and what is written there instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marker {
    /// The first byte, counted from the start of the file as it is stored.
    pub from: usize,
    /// The byte after the last.
    pub to: usize,
    /// What stands there when it is done.
    pub done: &'static str,
    /// What stands there when it is open.
    pub open: &'static str,
}

impl Marker {
    /// Whether it is a check box.
    pub fn is_box(&self) -> bool {
        self.done == "[x]"
    }

    pub(crate) fn shift(&mut self, by: usize) {
        (self.from, self.to) = (self.from + by, self.to + by);
    }
}

/// The check boxes of a text as it is stored, in order.
pub(crate) fn boxes(raw: &str, file: u32) -> Vec<Item> {
    let lines = raw_lines(raw);
    let doc = Doc::of_lines(lines.iter().map(|(_, line)| *line));
    let mut found = Vec::new();
    for (index, line) in doc.lines.iter().enumerate().filter(|(_, line)| line.is_prose()) {
        let Some((boxed, mark)) = item(line.text).and_then(|boxed| Some((boxed, boxed.mark?))) else {
            continue;
        };
        let start = lines.get(index).map_or(0, |(start, _)| *start);
        let above = doc.above(index, doc.all()).map_or("", |heading| heading.title);
        found.push((box_item(boxed, mark, line.raw, start, Place { file, line: line.no }), above));
    }
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let with_key = |(mut item, above): (Item, &str)| {
        let text = std::mem::take(&mut item.text);
        item.key = key(&mut seen, &text, above);
        item.text = plain(&text);
        item
    };
    found.into_iter().map(with_key).collect()
}

/// A key for an item with these words below that heading.
pub(crate) fn key(seen: &mut BTreeMap<String, u32>, text: &str, above: &str) -> String {
    let base = ids::numbered(text)
        .map_or_else(|| format!("x{:06x}", hash(above, text) & 0x00ff_ffff), |(id, _)| id.to_owned());
    unique(seen, base)
}

/// The same name twice gets a number behind it.
pub(crate) fn unique(seen: &mut BTreeMap<String, u32>, base: String) -> String {
    let times = seen.entry(base.clone()).or_insert(0);
    *times += 1;
    if *times == 1 { base } else { format!("{base}~{times}") }
}

fn box_item(boxed: ListItem<'_>, mark: Mark, raw: &str, start: usize, at: Place) -> Item {
    let from = raw.find('[').unwrap_or(0);
    let length = raw.get(from..).and_then(|rest| rest.find(']')).map_or(0, |end| end + 1);
    let marker = Marker { from: start + from, to: start + from + length, done: "[x]", open: "[ ]" };
    Item { at, text: boxed.text.to_owned(), status: status(mark), mark: marker, ..Item::default() }
}

/// What a check box says.
pub(crate) fn status(mark: Mark) -> Status {
    match mark {
        Mark::Done => Status::Completed,
        Mark::Begun => Status::InProgress,
        Mark::Stuck => Status::Blocked,
        Mark::Open => Status::Pending,
    }
}

/// The lines of a text as it is stored, whatever their ends, each with the byte at which it begins.
pub(crate) fn raw_lines(raw: &str) -> Vec<(usize, &str)> {
    let mut start = if raw.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut found = Vec::new();
    while start < raw.len() {
        let rest = &raw[start..];
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        found.push((start, &rest[..end]));
        let step = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        start += end + step;
    }
    found
}

// FNV-1a over the words, so that white space and emphasis make no difference.
fn hash(above: &str, text: &str) -> u32 {
    let words = plain(above).to_lowercase() + "\n" + &plain(text).to_lowercase();
    let mut hash = 0x811c_9dc5_u32;
    for word in words.split_whitespace() {
        for byte in word.bytes().chain([b' ']) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_found_where_they_are_stored_whatever_the_line_ends() {
        let unix = "# A\n- [ ] 1.1 one\n  * [x] two\n```\n- [ ] no\n```\n\t1. [ ] thrée\n";
        let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
        for text in [unix, windows.as_str(), &unix.replace('\n', "\r")] {
            let found = boxes(text, 0);
            let marks: Vec<&str> = found.iter().map(|item| &text[item.mark.from..item.mark.to]).collect();
            assert_eq!(marks, ["[ ]", "[x]", "[ ]"]);
            assert_eq!(found.iter().map(|item| item.at.line).collect::<Vec<_>>(), [2, 3, 7]);
            assert_eq!(found[0].key, "1.1");
        }
    }

    #[test]
    fn keys_stay_the_same_when_lines_around_them_change() {
        let keys = |text: &str| boxes(text, 0).into_iter().map(|item| item.key).collect::<Vec<_>>();
        let before = keys("## A\n- [ ] same\n## B\n- [ ] same\n- [ ] same\n");
        let after = keys("words\n\n## A\n- [x] **same**\n- [ ] new\n## B\n- [x] same\n- [ ] same\n");
        assert_eq!([&before[0], &before[1], &before[2]], [&after[0], &after[2], &after[3]]);
        assert!(before[0] != before[1] && before[1] != before[2]);
    }
}
