//! Cutting an agent's text into what can be true or false by itself: sentences of list items and paragraphs.
//!
//! Code blocks and quotations are no claims of the agent and give nothing.

use std::ops::Range;

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Where it is in the text.
    pub(crate) range: Range<usize>,
    /// The whole list item or paragraph that it is a part of, with its mark and line ends.
    pub(crate) block: Range<usize>,
    /// Its words, with single spaces.
    pub(crate) text: String,
    /// Whether it is part of a list item or table row.
    pub(crate) list: bool,
    /// A ticked (`Some(true)`) or empty (`Some(false)`) box before it.
    pub(crate) ticked: Option<bool>,
    /// The heading above it.
    pub(crate) heading: Option<String>,
    /// The line that introduces its list.
    pub(crate) lead: Option<String>,
}

impl Unit {
    /// What a claim of it names as its section.
    pub(crate) fn section(&self) -> Option<&str> {
        self.lead.as_deref().or(self.heading.as_deref())
    }
}

struct Block {
    whole: Range<usize>,
    words: Range<usize>,
    list: bool,
    ticked: Option<bool>,
    lead: Option<String>,
}

struct Cutter {
    /// Whether a line is a sentence of its own, such as a field of a report.
    alone: fn(&str) -> bool,
    units: Vec<Unit>,
    heading: Option<String>,
    /// Lines that introduce lists, with their indentation.
    leads: Vec<(usize, String)>,
    block: Option<Block>,
    fence: Option<char>,
}

/// Every sentence of a text that is not code or quotation, as said.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    units(text, |_| false).into_iter().map(|unit| unit.text).collect()
}

/// Every sentence of a text, in order; a line that is one by itself (`alone`) is not joined with the lines around it.
pub(crate) fn units(text: &str, alone: fn(&str) -> bool) -> Vec<Unit> {
    let mut cutter =
        Cutter { alone, units: Vec::new(), heading: None, leads: Vec::new(), block: None, fence: None };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        cutter.line(text, at, line);
        at += line.len();
    }
    cutter.close(text);
    cutter.units
}

impl Cutter {
    fn line(&mut self, text: &str, at: usize, line: &str) {
        let (trimmed, end) = (line.trim(), at + line.len());
        if let Some(mark) = fence(trimmed) {
            self.close(text);
            self.fence = match self.fence {
                Some(open) if open == mark => None,
                Some(open) => Some(open),
                None => Some(mark),
            };
            return;
        }
        if self.fence.is_some() {
            return;
        }
        let rule = trimmed.len() >= 3 && trimmed.chars().all(|c| matches!(c, '-' | '='));
        if trimmed.is_empty() || trimmed.starts_with('>') || rule {
            if rule {
                self.introduce(text);
            }
            self.close(text);
        } else if let Some(title) = heading(trimmed) {
            self.close(text);
            self.heading = Some(title);
            self.leads.clear();
        } else if let Some((mark, ticked)) = bullet(line) {
            self.introduce(text);
            self.close(text);
            self.open(text, at..end, mark, true, ticked);
        } else if trimmed.starts_with('|') {
            self.close(text);
            if trimmed.chars().any(char::is_alphanumeric) {
                self.open(text, at..end, indent(line), true, None);
                self.close(text);
            }
        } else if let Some(block) =
            self.block.as_mut().filter(|block| !stands_alone(text, line, block, self.alone))
        {
            block.whole.end = end;
            block.words.end = end;
        } else {
            self.close(text);
            self.open(text, at..end, indent(line), false, None);
            if (self.alone)(trimmed) {
                self.close(text);
            }
        }
    }

    fn open(&mut self, text: &str, whole: Range<usize>, mark: usize, list: bool, ticked: Option<bool>) {
        let depth = if list { indent(&text[whole.clone()]) + 1 } else { 0 };
        self.leads.retain(|(at, _)| *at < depth);
        let lead = if list { self.leads.last().map(|(_, l)| l.clone()) } else { None };
        let words = whole.start + mark..whole.end;
        self.block = Some(Block { whole, words, list, ticked, lead });
    }

    // A short line right above a list is its heading.
    fn introduce(&mut self, text: &str) {
        let Some(block) = self.block.as_ref().filter(|block| !block.list) else { return };
        let title = plain(&text[block.words.clone()]);
        if title.split(' ').count() <= 3 && !title.ends_with([':', '.', '!', '?']) && !title.is_empty() {
            self.heading = Some(title);
            self.leads.clear();
        }
    }

    fn close(&mut self, text: &str) {
        let Some(block) = self.block.take() else { return };
        let words = text[block.words.clone()].trim_end();
        if let Some(lead) = words.strip_suffix(':').or_else(|| words.strip_suffix(":**")) {
            let last = lead.rfind(['.', '\n']).map_or(lead, |at| &lead[at + 1..]);
            let depth = if block.list { indent(&text[block.whole.clone()]) + 1 } else { 0 };
            self.leads.push((depth, plain(last)));
        }
        for range in cut(text, block.words.clone()) {
            let words = plain(&text[range.clone()]);
            if words.chars().any(char::is_alphanumeric) {
                self.units.push(Unit {
                    range,
                    block: block.whole.clone(),
                    text: words,
                    list: block.list,
                    ticked: block.ticked,
                    heading: self.heading.clone(),
                    lead: block.lead.clone(),
                });
            }
        }
    }
}

// A field of a report has its line to itself, so have short lines; what introduces the next list is no part of this one.
fn stands_alone(text: &str, line: &str, block: &Block, alone: fn(&str) -> bool) -> bool {
    const SHORT: usize = 40;
    let last = text[block.words.clone()].trim_end().lines().last().unwrap_or_default();
    let deeper = indent(&text[block.whole.clone()]) > 0;
    let introduces = block.list && indent(line) == 0 && (deeper || line.trim_end().ends_with(':'));
    alone(line.trim()) || introduces || (indent(line) == 0 && last.len() < SHORT)
}

/// The words of a text with single spaces between them.
pub(crate) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fence(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.chars().take_while(|c| *c == mark).count();
    (run >= 3 && !line.trim_start_matches(mark).contains(mark)).then_some(mark)
}

fn heading(line: &str) -> Option<String> {
    for mark in ['#', '='] {
        if let Some(rest) = line.strip_prefix(mark) {
            let title = rest.trim_start_matches(mark);
            return title
                .starts_with(' ')
                .then(|| title.trim().trim_end_matches([mark, ':', ' ']).to_owned());
        }
    }
    let bold = line.strip_prefix("**")?;
    let title = bold.strip_suffix("**").or_else(|| bold.strip_suffix("**:"))?;
    (!title.contains("**")).then(|| title.trim_end_matches(':').to_owned())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

const BOXES: [(&str, bool); 5] =
    [("[x]", true), ("[X]", true), ("[ ]", false), ("[-]", false), ("[~]", false)];
const TICKS: [(&str, bool); 10] = [
    ("✅", true),
    ("✓", true),
    ("✔", true),
    ("☑", true),
    ("☐", false),
    ("❌", false),
    ("⬜", false),
    ("🔲", false),
    ("⏳", false),
    ("🚧", false),
];

// How many bytes of a list item's first line are its mark, and what its box says.
fn bullet(line: &str) -> Option<(usize, Option<bool>)> {
    let start = indent(line);
    let rest = &line[start..];
    let first = rest.chars().next()?;
    if let Some((sign, ticked)) = TICKS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        let body = rest[sign.len()..].trim_start_matches('\u{fe0f}');
        return (!body.trim().is_empty()).then(|| (line.len() - body.trim_start().len(), Some(*ticked)));
    }
    let mark = match first {
        '-' | '*' | '+' | '•' | '–' => first.len_utf8(),
        _ => numbered(rest)?,
    };
    let after = &rest[mark..];
    let gap = indent(after);
    if gap == 0 || after.trim().is_empty() {
        return None;
    }
    let body = &after[gap..];
    if let Some((sign, ticked)) = TICKS.iter().find(|(sign, _)| body.starts_with(sign)) {
        let words = body[sign.len()..].trim_start_matches('\u{fe0f}');
        return (!words.trim().is_empty()).then(|| (line.len() - words.trim_start().len(), Some(*ticked)));
    }
    for (sign, ticked) in BOXES {
        if let Some(words) = body.strip_prefix(sign) {
            return Some((start + mark + gap + sign.len() + indent(words), Some(ticked)));
        }
    }
    Some((start + mark + gap, None))
}

fn numbered(line: &str) -> Option<usize> {
    let digits = line.find(|c: char| !c.is_ascii_digit()).filter(|n| (1..=3).contains(n))?;
    line[digits..].starts_with(['.', ')']).then_some(digits + 1)
}

const SHORT: [&str; 9] = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "resp.", "incl."];

// A sentence ends with a mark that white space follows; `a.rs` and `e.g.` do not end one.
fn cut(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let body = &text[within.clone()];
    let (mut found, mut from) = (Vec::new(), 0);
    for (at, c) in body.char_indices() {
        let end = at + c.len_utf8();
        let stops = matches!(c, '.' | '!' | '?' | '。')
            && !body[..at].ends_with("..")
            && !SHORT.contains(&last_word(&body[from..end]).as_str());

        let closers = body[end..].trim_start_matches(['"', '`', ')', '*', '”', '\'']);
        let code = || body[from..end].matches('`').count() % 2 == 1;
        if stops && !code() && (closers.starts_with(char::is_whitespace) || c == '。') {
            let end = body.len() - closers.len();
            found.push(from..end);
            from = end;
        }
    }
    found.push(from..body.len());
    found
        .into_iter()
        .filter_map(|r| trimmed(body, r))
        .map(|r| within.start + r.start..within.start + r.end)
        .collect()
}

fn last_word(text: &str) -> String {
    text.split_whitespace().next_back().unwrap_or_default().trim_start_matches(['(', '"', '`']).to_lowercase()
}

fn trimmed(body: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = body.get(range.clone())?;
    let start = range.start + indent(part);
    let words = part.trim();
    (!words.is_empty()).then(|| start..start + words.len())
}
