//! What the run shows while it goes: JSON lines, or lines for a person with one that is redrawn. Never stops a run.

use std::io::{self, IsTerminal, Write};

use segue_machine::{Effect, Millis, Record, View};
use segue_report::{OuterStream, Style, Terminal, plain, to_json_line};

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// For a person.
    Human,
    /// For a person who reads a log: no colour, nothing is redrawn.
    Plain,
    /// One JSON object a line.
    Json,
}

/// What is to be shown for one record once it is durable.
#[derive(Debug, Default)]
pub(crate) struct Said {
    lines: Vec<String>,
    status: Option<String>,
}

/// The face of one run.
pub(crate) struct Face {
    look: Look,
    stream: OuterStream,
    terminal: Terminal,
    live: bool,
    /// Columns of the status line that stands on the screen.
    shown: bool,
}

impl Face {
    /// A face that suits standard output.
    pub(crate) fn new(look: Look, run: &str) -> Self {
        let live = paints() && look == Look::Human;
        let terminal = Terminal::new(style(live));
        Self { look, stream: OuterStream::new(run), terminal, live, shown: false }
    }

    /// Counts a record that was shown in an earlier life.
    pub(crate) fn skip(&mut self, record: &Record, effects: &[Effect], view: &View) {
        self.stream.take(record, effects, view);
    }

    pub(super) fn render(&mut self, record: &Record, effects: &[Effect], view: &View) -> Said {
        let lines = self.stream.take(record, effects, view);
        match self.look {
            Look::Json => Said { lines: lines.iter().map(to_json_line).collect(), status: None },
            Look::Human | Look::Plain => {
                if self.live {
                    self.terminal.resize(width());
                }
                let output = self.terminal.take(&lines, view);
                Said { lines: output.lines, status: output.status }
            }
        }
    }

    pub(super) fn say(&mut self, said: Said) {
        let mut out = io::stdout().lock();
        let _ = self.write(&mut out, &said);
    }

    fn write(&mut self, out: &mut impl Write, said: &Said) -> io::Result<()> {
        if self.shown && (!said.lines.is_empty() || said.status.is_some()) {
            write!(out, "\r\x1b[2K")?;
            self.shown = false;
        }
        for line in &said.lines {
            writeln!(out, "{line}")?;
        }
        if self.live
            && let Some(status) = &said.status
        {
            write!(out, "{status}")?;
            self.shown = true;
        }
        out.flush()
    }

    /// Whether there is a line that can be redrawn.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Draws the status line anew between two records.
    pub(super) fn tick(&mut self, view: &View, now: Millis) {
        if let Some(status) = self.terminal.status_at(view, now) {
            self.say(Said { lines: Vec::new(), status: Some(status) });
        }
    }

    /// Something for the person at the terminal that is no part of the run.
    pub(super) fn note(&mut self, text: &str) {
        let line = format!("segue: {}", plain(text));
        if self.live {
            return self.say(Said { lines: vec![line], status: None });
        }
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Takes the status line off the screen.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let mut out = io::stdout().lock();
            let _ = write!(out, "\r\x1b[2K").and_then(|()| out.flush());
        }
    }
}

/// Whether standard output is a terminal that can do more than print lines.
pub(crate) fn paints() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether what is shown at once may have colours.
pub(crate) fn colors() -> bool {
    paints() && std::env::var_os("NO_COLOR").is_none()
}

/// How lines look on standard output; live ones may have colours.
pub(crate) fn style(live: bool) -> Style {
    let color = live && std::env::var_os("NO_COLOR").is_none();
    Style { color, width: width(), live, ascii: !utf8() }
}

/// The width of the terminal; 0 when there is none.
pub(crate) fn width() -> u16 {
    size().0
}

/// The columns and rows of the terminal; 0 when there is none.
pub(crate) fn size() -> (u16, u16) {
    rustix::termios::tcgetwinsize(io::stdout()).map_or((0, 0), |size| (size.ws_col, size.ws_row))
}

fn utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    set.is_none_or(|v| v.to_uppercase().replace('-', "").contains("UTF8"))
}
