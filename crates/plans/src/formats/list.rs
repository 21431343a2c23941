//! Lists as trees: each item with the lines and the items below it.

use std::borrow::Cow;

use super::Reading;
use crate::text::{Item, Mark, Range, item};

/// An item of a list.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// Its line, by index.
    pub(crate) index: usize,
    /// Its check box.
    pub(crate) mark: Option<Mark>,
    /// Its number, when that is its marker.
    pub(crate) number: Option<&'a str>,
    /// Its words, with the lines that go on with them.
    pub(crate) text: Cow<'a, str>,
    /// The items below it.
    pub(crate) children: Vec<Self>,
    /// Where it ends, by index.
    pub(crate) end: usize,
}

/// The lists in a range that satisfy `keep`, as trees. Code and comments are no part of them.
pub(crate) fn trees<'a>(
    reading: &Reading<'_, 'a>,
    range: Range,
    keep: impl Fn(usize) -> bool,
) -> Vec<Node<'a>> {
    // The open items, outermost first, each with its indentation.
    let mut open: Vec<(usize, Node<'a>)> = Vec::new();
    let mut found: Vec<Node<'a>> = Vec::new();
    let (mut blank, mut end) = (false, range.from);
    for (offset, line) in reading.doc.slice(range).iter().enumerate() {
        let index = range.from + offset;
        if line.text.is_empty() {
            blank = true;
            continue;
        }
        if line.code || line.hidden {
            end = index + 1;
            continue;
        }
        let heading = line.text.starts_with('#') && line.indent < 4;
        match item(line.text).filter(|_| !heading && keep(index)) {
            Some(item) => {
                close(&mut open, &mut found, end, |indent| line.indent <= indent);
                open.push((line.indent, node(item, index)));
            }
            None => {
                let goes_on = !heading && (line.indent > 0 || !blank);
                if !goes_on {
                    close(&mut open, &mut found, end, |_| true);
                } else if blank {
                    close(&mut open, &mut found, end, |indent| line.indent <= indent);
                }
                if let Some((_, node)) = open.last_mut() {
                    let text = node.text.to_mut();
                    text.push(' ');
                    text.push_str(line.text);
                }
            }
        }
        (blank, end) = (false, index + 1);
    }
    close(&mut open, &mut found, end, |_| true);
    found
}

fn node(item: Item<'_>, index: usize) -> Node<'_> {
    let text = Cow::Borrowed(item.text);
    Node { index, mark: item.mark, number: item.number, text, children: Vec::new(), end: index + 1 }
}

// Ends the open items that satisfy `ends` before line `end`, innermost first.
fn close<'a>(
    open: &mut Vec<(usize, Node<'a>)>,
    found: &mut Vec<Node<'a>>,
    end: usize,
    ends: impl Fn(usize) -> bool,
) {
    while open.last().is_some_and(|(indent, _)| ends(*indent)) {
        let Some((_, mut node)) = open.pop() else { return };
        node.end = end;
        match open.last_mut() {
            Some((_, parent)) => parent.children.push(node),
            None => found.push(node),
        }
    }
}

impl Node<'_> {
    /// Its words and those of everything below it, in one line.
    pub(crate) fn whole(&self) -> Cow<'_, str> {
        if self.children.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut text = self.text.to_string();
        let mut stack: Vec<&Self> = self.children.iter().rev().collect();
        while let Some(node) = stack.pop() {
            text.push(' ');
            text.push_str(&node.text);
            stack.extend(node.children.iter().rev());
        }
        Cow::Owned(text)
    }

    /// Every item below it that has a check box.
    pub(crate) fn boxes(&self) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut stack: Vec<&Self> = self.children.iter().rev().collect();
        while let Some(node) = stack.pop() {
            found.extend(node.mark.is_some().then_some(node));
            stack.extend(node.children.iter().rev());
        }
        found
    }
}

// A tree can be as deep as its text is long; the usual way of dropping it is a call for each level.
impl Drop for Node<'_> {
    fn drop(&mut self) {
        let mut stack = std::mem::take(&mut self.children);
        while let Some(mut node) = stack.pop() {
            stack.append(&mut node.children);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Doc;

    fn told(text: &str) -> String {
        let doc = Doc::new(text);
        let reading = Reading { doc: &doc, file: 0, offset: 0 };
        fn show(node: &Node<'_>) -> String {
            let inner: Vec<String> = node.children.iter().map(show).collect();
            if inner.is_empty() {
                node.text.to_string()
            } else {
                format!("{}({})", node.text, inner.join(","))
            }
        }
        trees(&reading, doc.all(), |_| true).iter().map(show).collect::<Vec<_>>().join(" / ")
    }

    #[test]
    fn nested_lists_become_trees() {
        assert_eq!(told("- a\n  - b\n    - c\n  - d\n- e\n"), "a(b(c),d) / e");
        assert_eq!(told("- a\n\t- b\n\n- c"), "a(b) / c");
        assert_eq!(told("1. a\n   more of a\n   - b\nlazy\n\nprose\n- c"), "a more of a(b lazy) / c");
        assert_eq!(told("- a\n  ```\n  - x\n  ```\n- b\n## h\n- c"), "a / b / c");
    }

    #[test]
    fn a_list_of_any_depth_is_read() {
        let text: String = (0..3_000).map(|n| format!("{}- x\n", " ".repeat(n))).collect();
        assert_eq!(
            trees(&Reading { doc: &Doc::new(&text), file: 0, offset: 0 }, Doc::new(&text).all(), |_| true)
                .len(),
            1
        );
    }
}
