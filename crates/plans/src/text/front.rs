//! Front matter: the part of YAML that plans use, read leniently. A line that cannot be understood is passed over.

use super::doc::{Doc, Line, Range};
use super::item::item;

/// A value and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A word or a text.
    Text(String),
    /// Several values.
    List(Vec<Self>),
    /// Named values.
    Map(Vec<(String, u32, Self)>),
}

impl Value {
    /// The text, when it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The texts of a list, or the one text; "none" and its like are no text.
    pub(crate) fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(text) if text.is_empty() || matches!(text.as_str(), "none" | "null" | "~" | "N/A") => {
                Vec::new()
            }
            Self::Text(text) => vec![text.clone()],
            Self::List(list) => list.iter().flat_map(Self::texts).collect(),
            Self::Map(_) => Vec::new(),
        }
    }

    /// The entry of that name in a map.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, ..)| key == name).map(|(.., value)| value)
    }

    /// The elements of a list.
    pub(crate) fn list(&self) -> &[Self] {
        if let Self::List(list) = self { list } else { &[] }
    }
}

/// What stands between the first two lines of dashes.
#[derive(Debug)]
pub(crate) struct Front {
    value: Value,
    /// Its lines, the dashes included.
    pub(crate) range: Range,
}

impl Front {
    /// The front matter of a document, if it has one.
    pub(crate) fn read(doc: &Doc<'_>) -> Option<Self> {
        let first = doc.lines.iter().position(|line| !line.text.is_empty())?;
        if doc.lines[first].raw.trim_end() != "---" {
            return None;
        }
        let end =
            doc.lines.iter().skip(first + 1).position(|line| matches!(line.raw.trim_end(), "---" | "..."))?;
        let inner: Vec<&Line<'_>> =
            doc.lines[first + 1..=first + end].iter().filter(|line| is_content(line)).collect();
        // Between two rules there may as well be text, and work.
        let is_box = |line: &&Line<'_>| item(line.text).is_some_and(|item| item.mark.is_some());
        if inner.first().is_some_and(|line| split_key(line.text).is_none()) || inner.iter().any(is_box) {
            return None;
        }
        let mut reader = Reader { lines: &inner, next: 0 };
        let value = reader.map(0, 0);
        Some(Self { value, range: Range { from: first, to: first + end + 2 } })
    }

    /// The first of these names that is there.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.value.get(name))
    }

    /// The first of these names that is a text.
    pub(crate) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.value.get(name)?.text()).filter(|text| !text.is_empty())
    }

    /// The line of an entry.
    pub(crate) fn line(&self, names: &[&str]) -> Option<u32> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(key, ..)| names.contains(&key.as_str())).map(|(_, line, _)| *line)
    }
}

fn is_content(line: &Line<'_>) -> bool {
    !line.text.is_empty() && !line.text.starts_with('#')
}

/// How deep values are read into one another.
const DEEPEST: usize = 16;

struct Reader<'r, 'a> {
    lines: &'r [&'r Line<'a>],
    next: usize,
}

impl<'a> Reader<'_, 'a> {
    fn peek(&self) -> Option<(usize, &'a str, u32)> {
        self.lines.get(self.next).map(|line| (line.indent, line.text, line.no))
    }

    // What is indented at least this far.
    fn value(&mut self, indent: usize, depth: usize) -> Value {
        match self.peek() {
            Some((at, text, _)) if at >= indent && is_dash(text) => self.list(at, depth),
            Some((at, ..)) if at >= indent => self.map(at, depth),
            _ => Value::Text(String::new()),
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Value {
        let mut found = Vec::new();
        while let Some((at, text, no)) = self.peek() {
            if at != indent || !is_dash(text) {
                if at > indent {
                    // Too deep for an element: nothing that is understood.
                    self.next += 1;
                    continue;
                }
                break;
            }
            let rest = text[1..].trim().to_owned();
            self.next += 1;
            match split_key(&rest) {
                Some((key, inner)) if depth < DEEPEST => {
                    let (key, inner) = (key.to_owned(), inner.to_owned());
                    let first = self.entry(&inner, indent + 1, depth + 1);
                    let mut entries = vec![(key, no, first)];
                    if let Some((at, text, _)) = self.peek()
                        && at > indent
                        && !is_dash(text)
                        && let Value::Map(more) = self.map(at, depth + 1)
                    {
                        entries.extend(more);
                    }
                    found.push(Value::Map(entries));
                }
                _ => found.push(self.scalar(&rest, indent + 1)),
            }
        }
        Value::List(found)
    }

    fn map(&mut self, indent: usize, depth: usize) -> Value {
        let mut entries = Vec::new();
        while let Some((at, text, no)) = self.peek() {
            // What a list goes on with is the list's affair; at the outermost there is none.
            if depth > 0 && (at < indent || (at == indent && is_dash(text))) {
                break;
            }
            let found = split_key(text).filter(|_| at == indent && depth < DEEPEST);
            let found = found.map(|(key, rest)| (key.to_owned(), rest.to_owned()));
            self.next += 1;
            if let Some((key, rest)) = found {
                let value = self.entry(&rest, indent, depth + 1);
                entries.push((key, no, value));
            }
        }
        Value::Map(entries)
    }

    // What follows a key: on its line, or below it.
    fn entry(&mut self, rest: &str, indent: usize, depth: usize) -> Value {
        if !rest.is_empty() {
            return self.scalar(rest, indent + 1);
        }
        match self.peek() {
            Some((at, text, _)) if at > indent || (at == indent && is_dash(text)) => self.value(at, depth),
            _ => Value::Text(String::new()),
        }
    }

    fn scalar(&mut self, rest: &str, indent: usize) -> Value {
        if matches!(rest, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
            let mut lines = Vec::new();
            while let Some((_, text, _)) = self.peek().filter(|(at, ..)| *at >= indent) {
                lines.push(text.to_owned());
                self.next += 1;
            }
            return Value::Text(lines.join(if rest.starts_with('|') { "\n" } else { " " }));
        }
        if let Some(inner) = rest.strip_prefix('[') {
            let mut whole = inner.to_owned();
            // A list in brackets may go over lines; it ends with its bracket, or with the front matter.
            let lines = self.lines.len();
            while !whole.trim_end().ends_with(']') && self.next < lines && !is_comment_end(&whole) {
                let Some((_, text, _)) = self.peek() else { break };
                if split_key(text).is_some() && !text.starts_with(['"', '\'']) {
                    break;
                }
                whole.push(' ');
                whole.push_str(text);
                self.next += 1;
            }
            let inner = whole.rsplit_once(']').map_or(whole.as_str(), |(inner, _)| inner);
            return Value::List(parts(inner).into_iter().map(Value::Text).collect());
        }
        Value::Text(unquote(rest))
    }
}

fn is_comment_end(text: &str) -> bool {
    text.contains("] #")
}

fn is_dash(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

// A key is a word, a colon, and then white space or nothing.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let at = text.find(':')?;
    let (quoted, rest) = (text[..at].trim(), &text[at + 1..]);
    let key = quoted.trim_matches(['"', '\'']);
    // A colon inside of quotes belongs to what is quoted.
    let is_key = quoted.starts_with(['"', '\'']) == (quoted.len() > 1 && quoted.ends_with(['"', '\'']))
        && !key.is_empty()
        && key.len() <= 60
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))
        && key.split(' ').count() <= 3
        && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_key.then(|| (key, rest.trim()))
}

// The parts between commas that are not in quotes.
fn parts(text: &str) -> Vec<String> {
    let (mut found, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), char) if open == char => quote = None,
            (None, ',') => {
                found.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[from..]);
    found.into_iter().map(unquote).filter(|part| !part.is_empty()).collect()
}

fn unquote(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let end = inner.rfind(quote).unwrap_or(inner.len());
            let inner = &inner[..end];
            return if quote == '"' {
                inner.replace("\\\"", "\"").replace("\\\\", "\\")
            } else {
                inner.replace("''", "'")
            };
        }
    }
    let text = text.split_once(" #").map_or(text, |(text, _)| text);
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(text: &str) -> Front {
        Front::read(&Doc::new(text)).unwrap()
    }

    #[test]
    fn words_lists_and_maps_are_read_with_their_lines() {
        let front = front(
            "---\nphase: 01-base  # first\nplan: \"02\"\nneeds: [a, \"b, c\"]\nfiles:\n  - x.rs\n- y.rs\nflat:\n- z\n\nmust:\n  truths:\n    - \"one: two\"\n  artifacts:\n    - path: \"a.ts\"\n      contains: 'it''s'\n---\n# t\n",
        );
        assert_eq!(front.text(&["phase"]), Some("01-base"));
        assert_eq!(front.text(&["plan"]), Some("02"));
        assert_eq!(front.get(&["needs"]).unwrap().texts(), ["a", "b, c"]);
        assert_eq!(front.get(&["flat"]).unwrap().texts(), ["z"]);
        assert_eq!(front.line(&["flat"]), Some(8));
        let must = front.get(&["must"]).unwrap();
        assert_eq!(must.get("truths").unwrap().texts(), ["one: two"]);
        let first = &must.get("artifacts").unwrap().list()[0];
        assert_eq!(first.get("contains").unwrap().text(), Some("it's"));
        assert_eq!(front.range, Range { from: 0, to: 17 });
    }

    #[test]
    fn a_text_without_a_second_line_of_dashes_has_no_front_matter() {
        assert!(Front::read(&Doc::new("---\na: b\n")).is_none());
        assert!(Front::read(&Doc::new("# t\n---\na: b\n---\n")).is_none());
        assert!(front("\n---\n---\n").get(&["a"]).is_none());
        assert!(Front::read(&Doc::new("---\nwords\n---\n")).is_none());
        assert!(Front::read(&Doc::new("---\ntasks:\n- [ ] a\n---\n")).is_none());
    }

    #[test]
    fn a_list_in_brackets_may_go_over_lines_and_a_block_of_text_too() {
        let front = front("---\na: [\n  \"x\",\n  y\n]\nb: |\n  one\n  two\nc: >-\n  three\n  four\n---\n");
        assert_eq!(front.get(&["a"]).unwrap().texts(), ["x", "y"]);
        assert_eq!(front.text(&["b"]), Some("one\ntwo"));
        assert_eq!(front.text(&["c"]), Some("three four"));
    }
}
