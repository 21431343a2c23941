//! Text that is safe to print and fits: cleaning, measuring, cutting, wrapping, painting. Everything that came from
//! an agent or a user passes [`plain`] before it is measured.

use std::iter::Peekable;
use std::str::Chars;

/// The text on one line without control characters, escape sequences and marks that hide text. Marks that reorder text
/// are shown by their number.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    each_shown(text, |c| {
        if c.is_whitespace() {
            space = true;
            return;
        }
        if std::mem::take(&mut space) && !out.is_empty() {
            out.push(' ');
        }
        push_shown(c, &mut out);
    });
    out
}

/// The text as [`plain`] has it, with its lines, tabs and spaces as they are.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    each_shown(text, |c| {
        if c != '\r' {
            push_shown(c, &mut out);
        }
    });
    out
}

fn each_shown(text: &str, mut show: impl FnMut(char)) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\n' | '\t' | '\r' | ' ' => show(c),
            c if c.is_whitespace() => show(' '),
            c if reorders(c) => show(c),
            c if c.is_control() || is_invisible(c) => {}
            c => show(c),
        }
    }
}

fn push_shown(c: char, out: &mut String) {
    if reorders(c) {
        out.push_str(&format!("<U+{:04X}>", u32::from(c)));
    } else {
        out.push(c);
    }
}

/// Whether a character changes the direction in which others are shown.
pub(crate) fn reorders(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars),
        Some(' '..='~') => {
            // Two-character sequences, and three with an intermediate byte such as `ESC ( B`.
            let first = chars.next();
            if matches!(first, Some(' '..='/')) {
                chars.next_if(|c| matches!(c, '0'..='~'));
            }
        }
        _ => {}
    }
}

fn skip_csi(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

// A string that is never closed ends with its line: it must not swallow what comes after.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        if matches!(c, '\u{7}' | '\u{9c}') {
            return;
        }
        if c == '\u{1b}' {
            chars.next_if(|c| *c == '\\');
            return;
        }
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115f}' | '\u{231a}'..='\u{231b}' | '\u{23e9}'..='\u{23f3}' | '\u{25fd}'..='\u{25fe}'
        | '\u{2614}'..='\u{2615}' | '\u{2648}'..='\u{2653}' | '\u{267f}' | '\u{2693}' | '\u{26a1}'
        | '\u{26aa}'..='\u{26ab}' | '\u{26bd}'..='\u{26be}' | '\u{26c4}'..='\u{26c5}' | '\u{26ce}' | '\u{26d4}'
        | '\u{26ea}' | '\u{26f2}'..='\u{26f5}' | '\u{26fa}' | '\u{26fd}' | '\u{2705}' | '\u{270a}'..='\u{270b}'
        | '\u{2728}' | '\u{274c}' | '\u{274e}' | '\u{2753}'..='\u{2757}' | '\u{2795}'..='\u{2797}' | '\u{27b0}'
        | '\u{27bf}' | '\u{2b1b}'..='\u{2b1c}' | '\u{2b50}' | '\u{2b55}' | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}'
        | '\u{16fe0}'..='\u{18cff}' | '\u{1b000}'..='\u{1b2ff}' | '\u{1f000}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}')
}

fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}

/// Columns that a character takes; too many rather than too few where terminals disagree.
pub(crate) fn columns_of(c: char) -> usize {
    if is_combining(c) { 0 } else { 1 + usize::from(is_wide(c)) }
}

/// Columns that a text takes which is [`plain`].
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text, cut to so many columns; `mark` shows the cut.
pub(crate) fn cut(text: &str, width: usize, mark: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mark = if columns(mark) < width { mark } else { "" };
    let mut out = head(text, width - columns(mark)).trim_end().to_owned();
    out.push_str(mark);
    out
}

fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += columns_of(c);
        if used > width {
            return &text[..at];
        }
    }
    text
}

/// The text in lines of at most so many columns; every line but the first begins with so many spaces.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(1);
    let margin = " ".repeat(indent.min(width / 2));
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut fresh = true;
    for word in text.split(' ').map(|word| (word, columns(word))) {
        let (mut word, size) = word;
        let gap = usize::from(!fresh);
        if !fresh && columns(&line) + gap + size > width {
            lines.push(std::mem::replace(&mut line, margin.clone()));
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        while columns(&line) + columns(word) > width {
            let part = head(word, width - columns(&line));
            // A character wider than the whole line cannot be shown.
            let (part, rest) =
                if part.is_empty() { ("?", after_first(word)) } else { (part, &word[part.len()..]) };
            line.push_str(part);
            lines.push(std::mem::replace(&mut line, margin.clone()));
            word = rest;
        }
        line.push_str(word);
        fresh = false;
    }
    lines.push(line);
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

fn after_first(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

/// The text in ASCII, for terminals that can show nothing else.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '█' => out.push('#'),
            '░' | '·' => out.push('-'),
            '→' => out.push_str("->"),
            '…' => out.push_str("..."),
            '–' | '−' => out.push('-'),
            '“' | '”' => out.push('"'),
            '≈' => out.push('~'),
            '✓' => out.push_str("ok"),
            '✗' => out.push_str("no"),
            c if c.is_ascii() => out.push(c),
            c if columns_of(c) == 0 => {}
            _ => out.push('?'),
        }
    }
    out
}

/// How a piece of text stands out, where colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    Plain,
    Dim,
    Bold,
    Good,
    Careful,
    Bad,
}

impl Tint {
    /// The text, painted.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Good => "32",
            Self::Careful => "33",
            Self::Bad => "31",
        };
        if color && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_controls_from_outside_are_gone() {
        for (raw, clean) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("\u{9b}2Jcleared", "cleared"),
            ("\u{1b}(Bplain\u{1b}c", "plain"),
            ("a\r\n\tb\0\u{8}c", "a bc"),
            ("safe\u{202e}txt.exe", "safe<U+202E>txt.exe"),
            ("hid\u{200b}den", "hidden"),
            ("\u{1b}]never closed\nnext", "next"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(plain(raw), clean, "{raw:?}");
        }
    }

    #[test]
    fn s4_lines_and_indentation_stay_and_nothing_else_that_a_terminal_acts_on() {
        let raw = "a:\r\n\tb  c\u{1b}]52;c;aGk=\u{7}\n  \u{2066}d\u{9b}5m\u{85}e\n";
        assert_eq!(printable(raw), "a:\n\tb  c\n  <U+2066>d e\n");
    }

    #[test]
    fn a_cut_text_shows_that_it_was_cut() {
        assert_eq!(cut("a long title", 8, "…"), "a long…");
        assert_eq!(cut("short", 8, "…"), "short");
        assert_eq!(cut("日本語です", 5, "…"), "日本…");
        assert_eq!(cut("abc", 1, "…"), "a");
        assert_eq!(cut("abc", 0, "…"), "");
    }

    #[test]
    fn long_text_is_wrapped_at_words_and_inside_only_what_is_too_long() {
        assert_eq!(wrap("one two three four", 9, 2), ["one two", "  three", "  four"]);
        assert_eq!(wrap("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("日", 1, 0).concat(), "?");
        assert_eq!(wrap("", 10, 2), [""]);
    }
}
