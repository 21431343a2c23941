//! A text as numbered lines: which of them are code or comments, which are headings, and what each heading covers.

use super::item::{self, Mark};
use super::tags;

/// One line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub(crate) no: u32,
    /// How far it is indented; a tab is 4.
    pub(crate) indent: usize,
    /// Without the white space around it.
    pub(crate) text: &'a str,
    /// As it stands.
    pub(crate) raw: &'a str,
    /// Inside a fence, or the fence itself.
    pub(crate) code: bool,
    /// Inside a comment.
    pub(crate) hidden: bool,
}

impl Line<'_> {
    /// Neither code nor a comment.
    pub(crate) fn is_prose(&self) -> bool {
        !self.code && !self.hidden
    }
}

/// Lines `from..to` of a document, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Range {
    /// Whether the line is one of them.
    pub(crate) fn has(self, index: usize) -> bool {
        (self.from..self.to).contains(&index)
    }
}

/// A heading and what stands below it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading<'a> {
    /// 1 to 6.
    pub(crate) level: usize,
    /// Its words.
    pub(crate) title: &'a str,
    /// The index of its line.
    pub(crate) index: usize,
    /// What it covers, deeper headings included, itself not.
    pub(crate) body: Range,
}

/// A text in lines.
#[derive(Debug, Default)]
pub(crate) struct Doc<'a> {
    /// Every line, front matter included.
    pub(crate) lines: Vec<Line<'a>>,
    /// Every heading, in order.
    pub(crate) headings: Vec<Heading<'a>>,
    // The name of every tag that opens at the start of a line, with the line's index, in order.
    tags: Vec<(usize, &'a str)>,
}

impl<'a> Doc<'a> {
    /// Cuts a text into lines.
    pub(crate) fn new(text: &'a str) -> Self {
        Self::from_lines(text.lines().enumerate().map(line).collect())
    }

    /// Lines that were cut already.
    pub(crate) fn of_lines(parts: impl Iterator<Item = &'a str>) -> Self {
        Self::from_lines(parts.enumerate().map(line).collect())
    }

    /// Lines of another text as a text of their own. An empty line at its end is only the end of the one before.
    pub(crate) fn of(parts: impl Iterator<Item = &'a str>) -> Self {
        let mut lines: Vec<Line<'a>> = parts.enumerate().map(line).collect();
        if lines.last().is_some_and(|last| last.raw.is_empty()) {
            lines.pop();
        }
        Self::from_lines(lines)
    }

    fn from_lines(mut lines: Vec<Line<'a>>) -> Self {
        mark_code(&mut lines);
        mark_comments(&mut lines);
        let headings = headings(&lines);
        let tags = tags::opened(&lines);
        Self { lines, headings, tags }
    }

    /// All of it.
    pub(crate) fn all(&self) -> Range {
        Range { from: 0, to: self.lines.len() }
    }

    /// The lines of a range.
    pub(crate) fn slice(&self, range: Range) -> &[Line<'a>] {
        let to = range.to.min(self.lines.len());
        self.lines.get(range.from.min(to)..to).unwrap_or_default()
    }

    /// The headings in a range.
    pub(crate) fn inside(&self, range: Range) -> impl Iterator<Item = &Heading<'a>> {
        let from = self.headings.partition_point(|heading| heading.index < range.from);
        self.headings.iter().skip(from).take_while(move |heading| heading.index < range.to)
    }

    /// The heading that a line stands under, within a range.
    pub(crate) fn above(&self, index: usize, range: Range) -> Option<&Heading<'a>> {
        let after = self.headings.partition_point(|heading| heading.index < index);
        after
            .checked_sub(1)
            .and_then(|last| self.headings.get(last))
            .filter(|heading| range.has(heading.index))
    }

    /// The index of the first line of a range that opens this tag.
    pub(crate) fn opening(&self, range: Range, name: &str) -> Option<usize> {
        let first = self.tags.partition_point(|(index, _)| *index < range.from);
        let inside = self.tags.iter().skip(first).take_while(|(index, _)| *index < range.to);
        inside.filter(|(_, tag)| *tag == name).map(|(index, _)| *index).next()
    }

    /// The text of a range, without the indentation that all of it has.
    pub(crate) fn text(&self, range: Range) -> String {
        let lines = self.slice(range);
        let common = lines.iter().filter(|l| !l.text.is_empty()).map(|l| lead(l.raw)).min().unwrap_or(0);
        let mut text = String::new();
        for line in lines {
            text.push_str(line.raw.get(lead(line.raw).min(common)..).unwrap_or("").trim_end());
            text.push('\n');
        }
        text.trim_matches('\n').trim_end().to_owned()
    }

    /// How many check boxes there are, and how many of them are ticked.
    pub(crate) fn boxes(&self) -> (u32, u32) {
        let marks = self.lines.iter().filter(|l| l.is_prose()).filter_map(|l| item::item(l.text)?.mark);
        marks.fold((0, 0), |(all, done), mark| (all + 1, done + u32::from(mark == Mark::Done)))
    }
}

fn line((index, raw): (usize, &str)) -> Line<'_> {
    let no = u32::try_from(index + 1).unwrap_or(u32::MAX);
    let raw = raw.trim_end_matches('\r');
    let (space, text) = raw.split_at(lead(raw));
    let indent = space.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    Line { no, indent, text: text.trim_end(), raw, code: false, hidden: false }
}

/// White space at the start, in bytes.
pub(super) fn lead(raw: &str) -> usize {
    raw.len() - raw.trim_start().len()
}

/// A run of three or more back-ticks or tildes: which, how many, and what follows.
pub(crate) fn fence(text: &str) -> Option<(char, usize, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = text.chars().take_while(|c| *c == mark).count();
    let rest = text.get(count..)?.trim();
    (count >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, count, rest))
}

// A fence that is never closed is no fence: one slip must not swallow the rest of a plan.
fn mark_code(lines: &mut [Line<'_>]) {
    if !lines.iter().any(|line| fence(line.text).is_some()) {
        return;
    }
    let closers = longest_closers(lines);
    let mut open: Option<(char, usize, bool)> = None;
    let mut depth = 0_usize;
    for (index, line) in lines.iter_mut().enumerate() {
        let found = fence(line.text);
        match (open, found) {
            (None, Some((mark, count, info))) if closers[index][usize::from(mark == '~')] >= count => {
                open = Some((mark, count, matches!(info, "markdown" | "md")));
                depth = 1;
                line.code = true;
            }
            (None, _) => {}
            (Some((mark, count, nests)), Some((this, many, info))) if this == mark && many >= count => {
                line.code = true;
                // An example of Markdown often holds fences of the same length.
                depth = if info.is_empty() { depth - 1 } else { depth + usize::from(nests) };
                if depth == 0 {
                    open = None;
                }
            }
            (Some(_), _) => line.code = true,
        }
    }
}

// For each line, the longest bare fence of either kind below it.
fn longest_closers(lines: &[Line<'_>]) -> Vec<[usize; 2]> {
    let mut best = [0_usize; 2];
    let mut below = vec![best; lines.len()];
    for (index, line) in lines.iter().enumerate().rev() {
        below[index] = best;
        if let Some((mark, count, "")) = fence(line.text) {
            let slot = &mut best[usize::from(mark == '~')];
            *slot = (*slot).max(count);
        }
    }
    below
}

// A comment hides whole lines; one that is never closed hides nothing.
fn mark_comments(lines: &mut [Line<'_>]) {
    if !lines.iter().any(|line| line.text.starts_with("<!--")) {
        return;
    }
    let Some(last) = lines.iter().rposition(|l| !l.code && l.text.contains("-->")) else { return };
    let mut open = false;
    for (index, line) in lines.iter_mut().enumerate() {
        if line.code {
            continue;
        }
        if open {
            line.hidden = true;
            open = !line.text.contains("-->");
        } else if line.text.starts_with("<!--") {
            let closed = line.text.contains("-->");
            line.hidden = closed || index < last;
            open = !closed && index < last;
        }
    }
}

fn headings<'a>(lines: &[Line<'a>]) -> Vec<Heading<'a>> {
    let mut found: Vec<Heading<'a>> = Vec::new();
    let prose = lines.iter().enumerate().filter(|(_, line)| line.is_prose() && line.text.starts_with('#'));
    found.extend(prose.filter_map(|(index, line)| {
        let level = line.text.chars().take_while(|c| *c == '#').count();
        let title = line.text.get(level..)?;
        let is_one = (1..=6).contains(&level) && line.indent < 4 && title.starts_with([' ', '\t']);
        let title = title.trim().trim_end_matches('#').trim();
        let body = Range { from: index + 1, to: lines.len() };
        is_one.then_some(Heading { level, title, index, body })
    }));
    // The last heading seen of each level, from the end: where a body ends.
    let mut next = [lines.len(); 7];
    for heading in found.iter_mut().rev() {
        heading.body.to = next.iter().take(heading.level + 1).copied().min().unwrap_or(lines.len());
        next[heading.level] = heading.index;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<u32> {
        Doc::new(text).lines.iter().filter(|l| l.code).map(|l| l.no).collect()
    }

    #[test]
    fn what_a_fence_holds_is_code_and_a_fence_that_never_ends_is_none() {
        assert_eq!(code("a\n```sh\n- [ ] b\n```\nc"), [2, 3, 4]);
        assert_eq!(code("a\n  ~~~\n```\n  ~~~\nc"), [2, 3, 4]);
        assert_eq!(code("```sh\n- [ ] a\n# b"), [0_u32; 0]);
        assert_eq!(code("````\n```\n````\n```x`y"), [1, 2, 3]);
    }

    #[test]
    fn a_fence_inside_an_example_of_markdown_does_not_end_it() {
        assert_eq!(code("```markdown\n# x\n```sh\nls\n```\n## y\n```\n# z"), [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn comments_hide_boxes_and_a_comment_without_an_end_hides_nothing() {
        assert_eq!(Doc::new("<!--\n- [ ] a\n-->\n- [x] b\n<!-- c -->\n- [ ] d\n").boxes(), (2, 1));
        assert_eq!(Doc::new("<!-- \n- [ ] a\n").boxes(), (1, 0));
    }

    #[test]
    fn a_heading_covers_all_up_to_the_next_of_its_level() {
        let doc = Doc::new("# a\n## b\n### c\nx\n## d ##\n# e");
        let bodies: Vec<(usize, usize)> = doc.headings.iter().map(|h| (h.body.from, h.body.to)).collect();
        assert_eq!(bodies, [(1, 5), (2, 4), (3, 4), (5, 5), (6, 6)]);
        assert_eq!(doc.headings[3].title, "d");
    }
}
