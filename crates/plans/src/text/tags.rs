//! Tags as plans use them: at the start of a line or right behind another tag, never in prose or code.

use super::doc::{Doc, Line, Range};

/// A tag that opens: its attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tag {
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a tag holds.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// Its attributes.
    pub(crate) tag: Tag,
    /// The line it opens on.
    pub(crate) line: u32,
    /// Its lines, the first and the last without the tags.
    pub(crate) parts: Vec<(u32, String)>,
    /// The lines it covers, the tags' own included.
    pub(crate) range: Range,
    /// Whether its end is there.
    pub(crate) closed: bool,
}

impl Element {
    /// Its text, without the indentation that all of it has.
    pub(crate) fn text(&self) -> String {
        let lead = |line: &str| line.len() - line.trim_start().len();
        let rest =
            self.parts.iter().skip(1).filter(|(_, l)| !l.trim().is_empty()).map(|(_, l)| lead(l)).min();
        let common = rest.unwrap_or(0);
        let cut = |(index, (_, line)): (usize, &(u32, String))| {
            let at = if index == 0 { lead(line) } else { lead(line).min(common) };
            line.get(at..).unwrap_or("").trim_end().to_owned()
        };
        self.parts.iter().enumerate().map(cut).collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}

/// Whether a line opens this tag.
pub(crate) fn opens(line: &Line<'_>, name: &str) -> Option<Tag> {
    if line.is_prose() { find_open(line.text, name).map(|(tag, _)| tag) } else { None }
}

/// The first element of that name.
pub(crate) fn element(doc: &Doc<'_>, range: Range, name: &str) -> Option<Element> {
    read(doc, range, name, 1).pop()
}

/// Every element of that name, one after the other. An element does not hold another of its name.
pub(crate) fn elements(doc: &Doc<'_>, range: Range, name: &str) -> Vec<Element> {
    read(doc, range, name, usize::MAX)
}

fn read(doc: &Doc<'_>, range: Range, name: &str, most: usize) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let (close, mut open): (String, Option<Element>) = (format!("</{name}>"), None);
    for (offset, line) in doc.slice(range).iter().enumerate() {
        let index = range.from + offset;
        let mut rest = line.raw;
        loop {
            if let Some(element) = &mut open {
                let again = line.is_prose() && find_open(rest.trim(), name).is_some();
                if let Some(at) = rest.find(&close).filter(|_| !line.code) {
                    element.parts.push((line.no, rest[..at].to_owned()));
                    element.range.to = index + 1;
                    element.closed = true;
                    found.extend(open.take());
                    rest = &rest[at + close.len()..];
                    continue;
                }
                // Another one begins although this one has no end.
                if again {
                    element.range.to = index;
                    found.extend(open.take());
                    continue;
                }
                element.parts.push((line.no, rest.to_owned()));
            } else if line.is_prose() && found.len() < most {
                let text = rest.trim_start();
                if let Some((tag, after)) = find_open(text, name) {
                    let range = Range { from: index, to: range.to };
                    open = Some(Element { tag, line: line.no, parts: Vec::new(), range, closed: false });
                    rest = &text[after..];
                    continue;
                }
            }
            break;
        }
        if found.len() >= most {
            return found;
        }
    }
    found.extend(open);
    found
}

// The tag and where it ends. Only other tags may stand before it.
fn find_open(text: &str, name: &str) -> Option<(Tag, usize)> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let inner = rest.strip_prefix('<')?;
        let end = tag_end(inner)?;
        let whole = inner.get(..end)?;
        let after = at + 1 + end + 1;
        let word = whole.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or("");
        if word == name && !whole.ends_with('/') {
            return Some((Tag { attributes: attributes(whole.get(word.len()..)?) }, after));
        }
        at = after + text.get(after..)?.len() - text.get(after..)?.trim_start().len();
    }
}

// Where a tag ends, past a `>` inside quotes.
fn tag_end(inner: &str) -> Option<usize> {
    let mut quote = None;
    for (at, char) in inner.char_indices().take(2_000) {
        match (quote, char) {
            (None, '>') => return Some(at),
            (None, '<') => return None,
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), char) if char == open => quote = None,
            _ => {}
        }
    }
    None
}

fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name.split_whitespace().last().unwrap_or("").to_lowercase();
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = match quote {
            Some(quote) => rest[1..].split_once(quote),
            None => rest.split_once(char::is_whitespace).or(Some((rest, ""))),
        };
        let Some((value, rest)) = value else { break };
        found.push((name, super::inline::decode(value)));
        text = rest;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_at_the_start_of_a_line_and_behind_other_tags() {
        let doc = Doc::new(
            "see <verify> here\n<verify><automated>a &amp; b</automated></verify>\n```\n<verify>\n```\n",
        );
        assert_eq!(element(&doc, doc.all(), "automated").unwrap().text(), "a &amp; b");
        assert_eq!(element(&doc, doc.all(), "verify").unwrap().line, 2);
    }

    #[test]
    fn attributes_are_read_whatever_their_quotes() {
        let doc = Doc::new("<task id=\"1-2\" type='auto' tdd=true title=\"a > b\">\nx\n</task>");
        let task = element(&doc, doc.all(), "task").unwrap();
        let values = ["id", "type", "tdd", "title"].map(|name| task.tag.get(name).unwrap());
        assert_eq!(values, ["1-2", "auto", "true", "a > b"]);
        assert_eq!((task.text().as_str(), task.closed, task.range), ("x", true, Range { from: 0, to: 3 }));
    }

    #[test]
    fn an_element_without_an_end_ends_where_the_next_begins() {
        let doc = Doc::new("<task>\na\n<task>\nb\n");
        let tasks = elements(&doc, doc.all(), "task");
        let told: Vec<(String, bool)> = tasks.iter().map(|t| (t.text(), t.closed)).collect();
        assert_eq!(told, [("a".to_owned(), false), ("b".to_owned(), false)]);
    }

    #[test]
    fn the_text_of_an_element_loses_its_common_indentation_only() {
        let doc = Doc::new("  <action>\n    1. a\n       - b\n  </action>");
        assert_eq!(element(&doc, doc.all(), "action").unwrap().text(), "1. a\n   - b");
    }
}
