//! Standard output of a plan whose phases run side by side: lines that stay, and below them the frame of all phases.
//! On a pipe there are only the lines that stay.
//!
//! No mode of the terminal is switched, not even the cursor's: whoever dies leaves his last frame and nothing else.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use segue_redact::Redactor;
use segue_report::{PhaseTree, Row, Standing, Style, plain};
use serde_json::Value;

use crate::clock;
use crate::driver::{screen_paints, screen_size, screen_style};
use crate::foot::Foot;

/// The time between two frames.
const PAUSE: Duration = Duration::from_millis(100);
/// Rows of a terminal that does not say how many it has.
const USUAL_ROWS: u16 = 24;
/// Rows above the frame for what stays, at the least.
const ROWS_ABOVE: usize = 3;

/// The screen of a plan. Call [`tick`](Self::tick) about ten times a second; what is told meanwhile is shown then.
#[derive(Debug)]
pub(super) struct Screen {
    tree: PhaseTree,
    redactor: Redactor,
    live: bool,
    /// Lines that stay and are not written yet.
    pending: Vec<String>,
    foot: Foot,
    painted: Option<Instant>,
}

impl Screen {
    /// A screen that suits standard output.
    pub(super) fn new(title: &str, rows: &[Row], redactor: Redactor) -> Self {
        let tree = PhaseTree::new(&redactor.text(title).text, &[], clock::utc_offset_s());
        let live = screen_paints();
        let mut screen =
            Self { tree, redactor, live, pending: Vec::new(), foot: Foot::default(), painted: None };
        screen.set_rows(rows);
        screen
    }

    /// The plan has other phases, or one was split.
    pub(super) fn set_rows(&mut self, rows: &[Row]) {
        let title = |row: &Row| self.redactor.text(&row.title).text.into_owned();
        let rows: Vec<Row> = rows.iter().map(|row| Row { title: title(row), ..row.clone() }).collect();
        self.tree.set_rows(&rows);
    }

    /// Where a phase stands, and why.
    pub(super) fn tell(&mut self, id: &str, standing: Standing, why: &str) {
        self.tree.tell(id, standing, &self.redactor.text(why).text);
        self.tick();
    }

    /// One line that a phase's process wrote; what is not JSON is passed over.
    pub(super) fn line(&mut self, id: &str, line: &[u8]) {
        let Ok(value) = serde_json::from_slice::<Value>(&self.redactor.bytes(line).bytes) else { return };
        self.tree.line(id, &value);
        let spoken = self.tree.spoken(id, &value, self.style());
        self.keep(spoken);
    }

    /// Words of the plan itself, to stay.
    pub(super) fn say(&mut self, words: &str) {
        let above = words.starts_with('\n').then(String::new);
        let line = plain(&self.redactor.text(words).text);
        self.keep(above.into_iter().chain([line]).collect());
    }

    /// Lines that are laid out already, to stay.
    pub(super) fn show(&mut self, lines: &[String]) {
        self.keep(lines.iter().map(|line| self.redactor.text(line).text.into_owned()).collect());
    }

    /// Shows what has changed, unless that was done a moment ago.
    pub(super) fn tick(&mut self) {
        if !self.live || self.painted.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        let (width, height) = screen_size();
        let frame = self.tree.frame(clock::now(), self.style(), frame_rows(height));
        let stay = std::mem::take(&mut self.pending);
        put(&self.foot.repaint(&stay, frame, width));
        self.painted = Some(Instant::now());
    }

    /// Takes the frame off the screen; what has to stay is written. The next tick draws it again.
    pub(super) fn clear(&mut self) {
        let stay = std::mem::take(&mut self.pending);
        put(&self.foot.repaint(&stay, Vec::new(), screen_size().0));
        self.painted = None;
    }

    fn keep(&mut self, lines: Vec<String>) {
        self.pending.extend(lines);
        if self.live {
            self.tick();
        } else {
            self.clear();
        }
    }

    // Lines in a file are for other tools as well: they are not wrapped.
    fn style(&self) -> Style {
        let style = screen_style(self.live);
        if self.live { style } else { Style { width: u16::MAX, ..style } }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.clear();
    }
}

/// How much of the screen the frame may take.
fn frame_rows(height: u16) -> usize {
    let height = usize::from(if height == 0 { USUAL_ROWS } else { height });
    height.saturating_sub(ROWS_ABOVE.max(height / 3)).max(1)
}

fn put(text: &str) {
    if !text.is_empty() {
        let mut out = io::stdout().lock();
        // Whoever read this has gone away; the plan goes on.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
