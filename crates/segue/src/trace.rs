//! What segue itself does, for whoever looks for a fault: lines into `segue.log` in the run's folder, and on standard
//! error with `-v`.
//!
//! Whoever logs only hands a line over: a thread takes the secrets out and writes. Lines that do not fit are counted.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{OnceLock, RwLock};
use std::time::Duration;

use log::{LevelFilter, Log, Metadata, Record};
use segue_machine::checkpoint::cut_chars;
use segue_machine::{Effect, Event};
use segue_redact::{Options, Redactor};
use segue_report::{Time, printable};

use crate::clock;
use crate::store::safely;

/// The variable that says what is written.
const VARIABLE: &str = "SEGUE_LOG";

/// The file in the run's folder.
const NAME: &str = "segue.log";

/// What is written without the variable.
const USUAL: LevelFilter = LevelFilter::Info;

/// The most lines that wait to be written.
const WAITING: usize = 4_096;

/// The most bytes that one process adds to the file.
const MOST: usize = 32 << 20;

/// The most characters of a line.
const MOST_CHARS: usize = 2_000;

/// How long the end of the program waits for the last lines.
const LAST_WORDS: Duration = Duration::from_millis(300);

static TRACE: OnceLock<Trace> = OnceLock::new();

/// The one logger of the process.
#[derive(Debug)]
struct Trace {
    /// What goes into the file.
    file: Filter,
    /// What goes to standard error.
    shown: LevelFilter,
    pen: RwLock<Option<SyncSender<Order>>>,
    dropped: AtomicUsize,
}

#[derive(Debug)]
enum Order {
    Line { text: String, file: bool, shown: bool },
    File(File, Redactor),
    Flush(SyncSender<()>),
}

/// Takes the flag and the variable in; called once, when the program starts.
///
/// # Errors
/// When the variable holds something else than levels.
pub(crate) fn begin(verbose: u8) -> Result<(), String> {
    let given = std::env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty());
    let shown = match verbose {
        0 => LevelFilter::Off,
        1 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    let usual = if verbose == 0 { USUAL } else { shown };
    let file = given.map_or(Ok(Filter::all(usual)), |text| Filter::parse(&text))?;
    let trace = Trace { file, shown, pen: RwLock::default(), dropped: AtomicUsize::new(0) };
    if TRACE.set(trace).is_ok()
        && let Some(trace) = TRACE.get()
        && log::set_logger(trace).is_ok()
        && shown != LevelFilter::Off
    {
        trace.open();
        log::set_max_level(shown);
    }
    Ok(())
}

/// Whether lines go to standard error.
pub(crate) fn is_shown() -> bool {
    TRACE.get().is_some_and(|trace| trace.shown != LevelFilter::Off)
}

/// From here on lines go into the folder of a run, without its secrets.
pub(crate) fn into_run(dir: &Path, redactor: &Redactor) {
    let Some(trace) = TRACE.get() else { return };
    let most = trace.file.most().max(trace.shown);
    if trace.file.most() == LevelFilter::Off {
        return;
    }
    match safely::append(&dir.join(NAME)) {
        Ok(file) => {
            trace.open();
            trace.order(Order::File(file, redactor.clone()));
            log::set_max_level(most);
        }
        Err(error) => log::warn!("{} cannot be written: {error}", dir.join(NAME).display()),
    }
}

/// Writes what waits; called once, when the program ends.
pub(crate) fn finish() {
    let Some(trace) = TRACE.get() else { return };
    let (done, all) = sync_channel(1);
    if trace.order(Order::Flush(done)) {
        let _ = all.recv_timeout(LAST_WORDS);
    }
}

impl Trace {
    fn open(&self) {
        let Ok(mut pen) = self.pen.write() else { return };
        if pen.is_none() {
            let (orders, waiting) = sync_channel(WAITING);
            let started = std::thread::Builder::new().name("segue-log".to_owned());
            *pen = started.spawn(move || Pen::default().serve(&waiting)).is_ok().then_some(orders);
        }
    }

    fn order(&self, order: Order) -> bool {
        let Ok(pen) = self.pen.read() else { return false };
        let Some(orders) = pen.as_ref() else { return false };
        match orders.try_send(order) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }
}

impl Log for Trace {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.shown || self.file.takes(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        let (shown, file) = (record.level() <= self.shown, self.file.takes(record.metadata()));
        if !shown && !file {
            return;
        }
        let mut text = format!("{} {:<5} {}: ", Time(clock::now()), record.level(), short(record.target()));
        let missing = self.dropped.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = write!(text, "({missing} lines before this one did not fit) ");
        }
        let _ = write!(text, "{}", record.args());
        self.order(Order::Line { text, file, shown });
    }

    fn flush(&self) {}
}

/// The thread that writes.
#[derive(Default)]
struct Pen {
    file: Option<File>,
    redactor: Option<Redactor>,
    written: usize,
}

impl Pen {
    fn serve(mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            match order {
                Order::File(file, redactor) => {
                    self.file = Some(file);
                    self.redactor = Some(redactor);
                }
                Order::Line { text, file, shown } => self.write(&text, file, shown),
                Order::Flush(done) => {
                    let _ = done.send(());
                }
            }
        }
    }

    fn write(&mut self, text: &str, to_file: bool, shown: bool) {
        // Before a run has settings, what is secret in the environment is known all the same.
        if self.redactor.is_none() {
            let values = segue_redact::secret_env(std::env::vars());
            self.redactor = Redactor::new(Options { values, ..Options::default() }).ok();
        }
        let Some(redactor) = &self.redactor else { return };
        let text = redactor.text(text).text;
        let line = format!("{}\n", printable(&cut_chars(&text, MOST_CHARS)));
        if shown {
            let _ = io::stderr().lock().write_all(line.as_bytes());
        }
        let Some(file) = self.file.as_mut().filter(|_| to_file && self.written < MOST) else { return };
        self.written += line.len();
        let end = if self.written < MOST { "" } else { "this file is full\n" };
        if file.write_all(format!("{line}{end}").as_bytes()).is_err() {
            self.file = None;
        }
    }
}

/// The name of a variant alone, however much is in it.
pub(crate) struct Kind<'a, T>(pub(crate) &'a T);

impl<'a> Kind<'a, Event> {
    /// What happened; of an agent's event, what the agent did.
    pub(crate) fn of_event(event: &'a Event) -> String {
        if let Event::Agent { session, event } = event {
            return format!("s{session} {}", Kind(event));
        }
        Kind(event).to_string()
    }
}

impl Kind<'_, Effect> {
    /// What is to be done.
    pub(crate) fn list(effects: &[Effect]) -> String {
        let names: Vec<String> = effects.iter().map(|effect| Kind(effect).to_string()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl<T: fmt::Debug> fmt::Display for Kind<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = Name(String::new());
        // It refuses what comes after the name.
        let _ = write!(name, "{:?}", self.0);
        f.write_str(&name.0)
    }
}

struct Name(String);

impl fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        self.0.push_str(&text[..end]);
        if end == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Which lines are wanted: a level for all, and others for parts of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Filter {
    rest: LevelFilter,
    parts: Vec<(String, LevelFilter)>,
}

impl Filter {
    fn all(rest: LevelFilter) -> Self {
        Self { rest, parts: Vec::new() }
    }

    // `debug`, or `info,git=debug,driver=trace`.
    fn parse(text: &str) -> Result<Self, String> {
        let level = |word: &str| {
            word.parse().map_err(|_| {
                format!("{VARIABLE}: {word:?} is not a level; there are off, error, warn, info, debug and trace, and `git=debug` for a part")
            })
        };
        let mut filter = Self::all(USUAL);
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                Some((part, wanted)) => filter.parts.push((part.trim().to_owned(), level(wanted.trim())?)),
                None => filter.rest = level(word)?,
            }
        }
        // The longest name that fits decides.
        filter.parts.sort_by_key(|(part, _)| std::cmp::Reverse(part.len()));
        Ok(filter)
    }

    fn most(&self) -> LevelFilter {
        self.parts.iter().map(|(_, level)| *level).chain([self.rest]).max().unwrap_or(LevelFilter::Off)
    }

    fn takes(&self, metadata: &Metadata<'_>) -> bool {
        let target = short(metadata.target());
        let of = |part: &str| {
            target.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let level = self.parts.iter().find(|(part, _)| of(part)).map_or(self.rest, |(_, level)| *level);
        metadata.level() <= level
    }
}

// A module without the name of the program before it.
fn short(target: &str) -> &str {
    target.strip_prefix("segue::").unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(filter: &str, target: &str, level: log::Level) -> bool {
        Filter::parse(filter).unwrap().takes(&Metadata::builder().target(target).level(level).build())
    }

    #[test]
    fn the_longest_part_that_fits_decides_about_a_line() {
        use log::Level::{Debug, Info, Trace, Warn};
        let filter = "warn,git=debug,driver=off,driver::book=trace";
        assert!(takes(filter, "segue::cli::run", Warn) && !takes(filter, "segue::cli::run", Info));
        assert!(takes(filter, "segue::git::call", Debug) && !takes(filter, "segue::git::call", Trace));
        assert!(!takes(filter, "segue::gitter", Info), "a part is a whole name");
        assert!(!takes(filter, "segue::driver", Warn) && takes(filter, "segue::driver::book", Trace));
        assert_eq!(Filter::parse(filter).unwrap().most(), LevelFilter::Trace);
        assert!(takes("git=debug", "segue::cli", Info), "what is not named stays as it is");
        assert!(Filter::parse("loud").unwrap_err().contains("off, error, warn"));
    }
}
