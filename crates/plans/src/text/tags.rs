//! Tags as plans use them: at the start of a line or right behind another tag, never in prose or code.

use super::doc::{Doc, Line, Range, lead};

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
pub(crate) struct Element<'a> {
    /// Its attributes.
    pub(crate) tag: Tag,
    /// The line it opens on.
    pub(crate) line: u32,
    /// Its lines, the first and the last without the tags.
    pub(crate) parts: Vec<(u32, &'a str)>,
    /// The lines it covers, the tags' own included.
    pub(crate) range: Range,
    /// Whether its end is there.
    pub(crate) closed: bool,
}

impl<'a> Element<'a> {
    /// Its text, without the indentation that all of it has.
    pub(crate) fn text(&self) -> String {
        let Some(((_, first), rest)) = self.parts.split_first() else { return String::new() };
        if rest.is_empty() {
            return first.trim().to_owned();
        }
        let common = rest.iter().filter(|(_, l)| !l.trim().is_empty()).map(|(_, l)| lead(l)).min();
        let mut text = first.trim().to_owned();
        for (_, line) in rest {
            text.push('\n');
            text.push_str(line.get(lead(line).min(common.unwrap_or(0))..).unwrap_or("").trim_end());
        }
        text.trim().to_owned()
    }

    /// What it holds, as a text of its own.
    pub(crate) fn doc(&self) -> Doc<'a> {
        Doc::of(self.parts.iter().map(|(_, part)| *part))
    }
}

/// The name of every tag that opens at the start of a line of prose, with the line's index.
pub(super) fn opened<'a>(lines: &[Line<'a>]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.is_prose()) {
        let mut rest = line.text;
        while let Some((tag, after)) = leading(rest) {
            found.extend(tag.opens().then_some((index, tag.name)));
            rest = after.trim_start();
        }
    }
    found
}

/// The first element of that name.
pub(crate) fn element<'a>(doc: &Doc<'a>, range: Range, name: &str) -> Option<Element<'a>> {
    read(doc, range, name, 1).pop()
}

/// Every element of that name, one after the other. An element does not hold another of its name.
pub(crate) fn elements<'a>(doc: &Doc<'a>, range: Range, name: &str) -> Vec<Element<'a>> {
    read(doc, range, name, usize::MAX)
}

fn read<'a>(doc: &Doc<'a>, range: Range, name: &str, most: usize) -> Vec<Element<'a>> {
    let (mut found, mut open): (Vec<Element<'a>>, Option<Element<'a>>) = (Vec::new(), None);
    let mut index = range.from;
    while found.len() < most {
        if open.is_none() {
            let Some(next) = doc.opening(Range { from: index, to: range.to }, name) else { break };
            index = next;
        }
        let Some(line) = doc.lines.get(index).filter(|_| index < range.to) else { break };
        let mut rest = line.raw;
        loop {
            if let Some(element) = &mut open {
                if !line.code
                    && let Some((inner, after)) = cut_at_end(rest, name)
                {
                    element.parts.push((line.no, inner));
                    element.range.to = index + 1;
                    element.closed = true;
                    found.extend(open.take());
                    rest = after;
                    continue;
                }
                // Another one begins although this one has no end.
                if line.is_prose() && find_open(rest.trim_start(), name).is_some() {
                    element.range.to = index;
                    found.extend(open.take());
                    continue;
                }
                element.parts.push((line.no, rest));
            } else if line.is_prose()
                && found.len() < most
                && let Some((tag, after)) = find_open(rest.trim_start(), name)
            {
                let (tag, range) = (tag.read(), Range { from: index, to: range.to });
                open = Some(Element { tag, line: line.no, parts: Vec::new(), range, closed: false });
                rest = after;
                continue;
            }
            break;
        }
        index += 1;
    }
    found.extend(open);
    found
}

// What stands before and behind the end of an element.
fn cut_at_end<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let after = text[at..].strip_prefix("</")?.strip_prefix(name)?.strip_prefix('>')?;
        Some((&text[..at], after))
    })
}

/// What stands between the angle brackets of a tag.
#[derive(Clone, Copy)]
struct Inside<'t> {
    name: &'t str,
    rest: &'t str,
}

impl Inside<'_> {
    fn opens(&self) -> bool {
        !self.name.is_empty() && !self.rest.ends_with('/')
    }

    fn read(&self) -> Tag {
        Tag { attributes: attributes(self.rest) }
    }
}

// The tag and what follows it. Only other tags may stand before it.
fn find_open<'t>(text: &'t str, name: &str) -> Option<(Inside<'t>, &'t str)> {
    let mut rest = text;
    loop {
        let (tag, after) = leading(rest)?;
        if tag.name == name && tag.opens() {
            return Some((tag, after));
        }
        rest = after.trim_start();
    }
}

// The tag that a text begins with, and what follows it.
fn leading(text: &str) -> Option<(Inside<'_>, &str)> {
    let inner = text.strip_prefix('<')?;
    let (whole, after) = inner.split_at_checked(tag_end(inner)?)?;
    let (name, rest) =
        whole.split_at(whole.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(whole.len()));
    Some((Inside { name, rest }, after.strip_prefix('>')?))
}

/// How many characters a tag has at the most.
const LONGEST: usize = 2_000;

// Where a tag ends, past a `>` inside quotes.
fn tag_end(inner: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in inner.bytes().enumerate().take(4 * LONGEST) {
        match (quote, byte) {
            (None, b'>') => return (at < LONGEST || inner[..at].chars().count() < LONGEST).then_some(at),
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
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
