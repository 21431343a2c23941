//! What the run shows while it goes: JSON lines, or lines for a person with one that is redrawn. Never stops a run.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use segue_machine::{Effect, Millis, Record, View};
use segue_report::{OuterStream, Style, Terminal, plain, to_json_line};

use super::outlet::Outlet;
use super::reread::Reread;
use crate::notify::{self, Notification, Notifier};
use crate::trace;
use crate::watch::Watch;

const KEYS: &str = "Ctrl-C stops with a checkpoint; `segue resume` continues";

/// How often it is looked whether a notification has left.
const LEAVING: Duration = Duration::from_millis(5);

const BELL: char = '\u{7}';

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
    /// The record's number.
    pub(super) seq: u64,
    pub(super) lines: Vec<String>,
    /// The number of the last of the lines.
    pub(super) last: u64,
    /// The line that is redrawn; an empty one takes it off the screen.
    pub(super) status: Option<String>,
    /// Whom somebody has to be told of it.
    pub(super) notices: Vec<Notification>,
}

impl Said {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.status.is_none() && self.notices.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        let status = self.status.as_ref().map_or(0, String::len);
        self.lines.iter().map(String::len).sum::<usize>() + status
    }

    pub(super) fn lines(lines: Vec<String>) -> Self {
        Self { lines, ..Self::default() }
    }

    fn status(status: String) -> Self {
        Self { status: Some(status), ..Self::default() }
    }
}

/// The face of one run.
pub(crate) struct Face {
    look: Look,
    stream: OuterStream,
    terminal: Terminal,
    live: bool,
    /// Where the run keeps its files, and what is seen there, once its task is known.
    run_dir: PathBuf,
    watch: Option<Watch>,
    /// Until when it stops, once it was asked to.
    stopping: Option<Instant>,
    notifier: Option<Notifier>,
    out: Outlet,
    err: Outlet,
}

impl Face {
    /// A face of a run whose journal lies below `runs` that suits standard output.
    pub(crate) fn new(look: Look, runs: &Path, run: &str) -> Self {
        // A line that is redrawn and lines from elsewhere do not go together.
        let live = paints() && look == Look::Human && !trace::is_shown();
        let terminal = Terminal::new(style(live));
        let journal = (look == Look::Json).then(|| Reread::of(runs.to_owned(), run));
        let out = Outlet::open(io::stdout().as_fd(), journal);
        let err = Outlet::open(io::stderr().as_fd(), None);
        Self {
            look,
            stream: OuterStream::new(run),
            terminal,
            live,
            run_dir: runs.join(run),
            watch: None,
            stopping: None,
            notifier: None,
            out,
            err,
        }
    }

    /// The same, and what somebody wants to know is told to them as well.
    pub(crate) fn notifying(mut self, notifier: Notifier) -> Self {
        self.notifier = Some(notifier);
        self
    }

    /// Goes on where an earlier life ended: what it said is not said again.
    pub(crate) fn go_on(&mut self, stream: OuterStream) {
        self.out.has_told(stream.last());
        self.stream = stream;
    }

    /// The outer lines up to now.
    pub(super) fn stream(&self) -> &OuterStream {
        &self.stream
    }

    pub(super) fn render(&mut self, record: &Record, effects: &[Effect], view: &View) -> Said {
        let lines = self.stream.take(record, effects, view);
        let (seq, last) = (record.seq, lines.last().map_or(0, |line| line.seq));
        let notices = self.notifier.as_mut().map(|notifier| notifier.pick(&lines)).unwrap_or_default();
        match self.look {
            Look::Json => {
                let lines = lines.iter().map(to_json_line).collect();
                Said { seq, lines, last, status: None, notices }
            }
            Look::Human | Look::Plain => {
                self.look(view);
                let output = self.terminal.take(&lines, view);
                let status = output.status.filter(|_| self.live);
                Said { seq, lines: output.lines, last, status, notices }
            }
        }
    }

    pub(super) fn say(&self, mut said: Said) {
        let notices = std::mem::take(&mut said.notices);
        if let Some(notifier) = self.notifier.as_ref().filter(|_| !notices.is_empty()) {
            if let Some(first) = said.lines.first_mut().filter(|_| self.live && notifier.rings()) {
                first.insert(0, BELL);
            }
            for notice in notices {
                let notes = self.notes();
                notifier
                    .send(notice, move |why| notes.note(&format!("a notification was not delivered: {why}")));
            }
        }
        self.out.say(said, self.look == Look::Json);
    }

    /// Whether there is a line that can be redrawn.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Counts down to the end that was asked for.
    pub(super) fn stops_within(&mut self, time: Duration) {
        self.stopping = Some(Instant::now() + time);
    }

    fn look(&mut self, view: &View) {
        if !self.live {
            return;
        }
        if let (None, Some(spec)) = (&self.watch, view.spec.as_deref()) {
            self.watch = Some(Watch::new(spec, self.run_dir.clone()));
        }
        let (width, rows) = size();
        let stopping = self.stopping.map(|until| {
            let left = until.saturating_duration_since(Instant::now()).as_secs();
            format!("stopping, up to {left} s for a checkpoint · Ctrl-C again stops at once")
        });
        let keys = stopping.as_deref().unwrap_or(KEYS);
        let beside = self.watch.as_ref().map(|watch| watch.beside(rows, keys));
        self.terminal.look(beside.unwrap_or_default(), width);
    }

    /// Draws the lines that are redrawn anew between two records.
    pub(super) fn tick(&mut self, view: &View, now: Millis) {
        self.look(view);
        if let Some(status) = self.terminal.status_at(view, now) {
            self.say(Said::status(status));
        }
    }

    /// Something for the person at the terminal that is no part of the run.
    pub(super) fn note(&self, text: &str) {
        self.notes().note(text);
    }

    /// The same, from any thread.
    pub(super) fn notes(&self) -> Notes {
        Notes(if self.live { self.out.clone() } else { self.err.clone() })
    }

    /// Whether all that was said is read.
    pub(super) fn is_told(&self) -> bool {
        self.out.is_drained() && self.err.is_drained()
    }

    /// Takes the status line off the screen, and waits until all that was said is read; with a patience, no longer than
    /// that without anything being taken.
    pub(super) async fn close(&self, patience: Option<Duration>) {
        if self.live {
            self.out.say(Said::status(String::new()), false);
        }
        tokio::join!(self.out.drain(patience), self.err.drain(patience));
        let until = Instant::now() + notify::LAST_OF_ALL;
        while self.notifier.as_ref().is_some_and(|notifier| !notifier.may_leave()) && Instant::now() < until {
            tokio::time::sleep(LEAVING).await;
        }
    }
}

/// Where notes for the person go.
#[derive(Debug, Clone)]
pub(super) struct Notes(Outlet);

impl Notes {
    pub(super) fn note(&self, text: &str) {
        self.0.say(Said::lines(vec![format!("segue: {}", plain(text))]), false);
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
