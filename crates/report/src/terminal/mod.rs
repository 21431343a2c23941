//! What a person sees of a run: permanent lines, and the lines below them that the caller redraws in place.
//! It makes strings and writes none; no line is wider than the style's width.

mod beside;
mod entry;
mod fill;
mod live;
mod numbers;
mod opening;
mod outlook;
mod sentence;
mod text;

use segue_machine::{Millis, View};

use crate::Line;

pub(crate) use text::reorders;
pub use text::{columns, plain, printable, wrap};

pub use beside::{Beside, Changes, GateNow};
pub(crate) use fill::{Fill, wall};
pub(crate) use live::{left, wait_rules, waiting};
pub use numbers::duration;
pub(crate) use numbers::{clock, count, money, short, thousands};
pub(crate) use opening::title;
pub(crate) use outlook::outlook_words;
pub use sentence::limit_words;
pub(crate) use sentence::{cost_words, sentence, verdict_words};
pub(crate) use text::Tint;

/// How it should look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Use colours.
    pub color: bool,
    /// Columns of the terminal; 0 when unknown, which means 80.
    pub width: u16,
    /// Keep a status line.
    pub live: bool,
    /// Use nothing but ASCII.
    pub ascii: bool,
}

/// What one step adds to the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Lines that stay.
    pub lines: Vec<String>,
    /// The lines to be redrawn from here on; `None` when there are none.
    pub status: Option<String>,
}

/// Renders a run for a terminal.
#[derive(Debug, Clone)]
pub struct Terminal {
    style: Style,
    beside: Beside,
}

impl Terminal {
    /// A terminal of that style.
    pub fn new(style: Style) -> Self {
        Self { style, beside: Beside::default() }
    }

    /// What is known now beside the events, and how large the terminal is.
    pub fn look(&mut self, beside: Beside, width: u16) {
        self.beside = beside;
        self.style.width = width;
    }

    /// One step: the outer lines it made (perhaps none) and the view after it.
    pub fn take(&self, lines: &[Line], view: &View) -> Output {
        let entries = lines.iter().flat_map(|line| entry::entries(line, view, self.style));
        Output { lines: entries.flat_map(|e| self.style.lay_out(&e)).collect(), status: self.status(view) }
    }

    /// The lines to be redrawn alone, between steps.
    pub fn status(&self, view: &View) -> Option<String> {
        self.frame(view, None)
    }

    /// The same at a moment between steps, with the time that is left of a wait.
    pub fn status_at(&self, view: &View, now: Millis) -> Option<String> {
        self.frame(view, Some(now))
    }

    fn frame(&self, view: &View, now: Option<Millis>) -> Option<String> {
        let frame = self.style.live.then(|| live::frame(view, now, self.style, &self.beside)).flatten()?;
        Some(frame.iter().map(|pieces| self.style.fit(pieces)).collect::<Vec<_>>().join("\n"))
    }
}

/// A line that stays, before it is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Stands before the text, outside of what is wrapped.
    pub(crate) head: String,
    pub(crate) text: String,
    pub(crate) tint: Tint,
}

impl Entry {
    pub(crate) fn new(head: impl Into<String>, text: impl Into<String>, tint: Tint) -> Self {
        Self { head: head.into(), text: text.into(), tint }
    }
}

impl Style {
    pub(crate) fn columns(self) -> usize {
        if self.width == 0 { 80 } else { usize::from(self.width) }
    }

    /// The entry in as many lines as it needs.
    pub(crate) fn lay_out(self, entry: &Entry) -> Vec<String> {
        let (head, text) = (self.glyphs(&entry.head), self.glyphs(&plain(&entry.text)));
        let indent = columns(&head);
        let lines = wrap(&format!("{head}{text}"), self.columns(), indent);
        lines.iter().map(|line| entry.tint.paint(line, self.color)).collect()
    }

    /// The pieces on one line, cut where the terminal ends. The last column stays free: some terminals wrap there.
    pub(crate) fn fit(self, pieces: &[(String, Tint)]) -> String {
        let pieces: Vec<(String, Tint)> =
            pieces.iter().map(|(text, tint)| (self.glyphs(text), *tint)).collect();
        let limit = self.columns().saturating_sub(1).max(1);
        let total: usize = pieces.iter().map(|(text, _)| columns(text)).sum();
        let mark = if total > limit { self.glyphs("…") } else { String::new() };
        let mut left = limit.saturating_sub(columns(&mark));
        let mut out = String::new();
        for (text, tint) in pieces {
            let shown = text::cut(&text, left, "");
            left -= columns(&shown);
            out.push_str(&tint.paint(&shown, self.color));
            if shown.len() < text.len() {
                break;
            }
        }
        out + &text::cut(&mark, limit, "")
    }

    /// The text, cut to so many columns.
    pub(crate) fn cut(self, text: &str, width: usize) -> String {
        text::cut(&self.glyphs(text), width, &self.glyphs("…"))
    }

    fn glyphs(self, text: &str) -> String {
        if self.ascii { text::ascii(text) } else { text.to_owned() }
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
