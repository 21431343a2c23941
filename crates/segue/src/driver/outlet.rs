//! A stream that the run writes to, with a thread of its own: whoever reads it slowly, or not at all, holds up nobody.
//!
//! What waits is bounded. For a person the oldest lines give way, and their number is said; lines of JSON are read back
//! from the journal, so that none is ever missing.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::face::{Said, width as screen_width};
use super::reread::Reread;
use crate::foot::Foot;

/// The most bytes that wait for a reader.
const MOST: usize = 64 * 1024;

/// How long to wait before a stream that takes nothing at the moment is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// How often, and how long apart, a journal that cannot be read is tried again.
const MISSES: u32 = 60;
const MISSED: Duration = Duration::from_millis(500);

/// One stream and its thread.
#[derive(Debug, Clone)]
pub(super) struct Outlet(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Said>,
    bytes: usize,
    /// How many pieces have been written: it stands still when nobody reads.
    written: u64,
    /// The number of the last line that needs no telling any more.
    told: u64,
    /// How many lines gave way.
    dropped: usize,
    /// The last event of which lines were left for the journal to tell.
    left_to_journal: Option<u64>,
    writing: bool,
    closed: bool,
}

impl Outlet {
    /// A thread that writes to `to`; `journal` is where lines are read back from that did not fit.
    pub(super) fn open(to: BorrowedFd<'_>, journal: Option<Reread>) -> Self {
        let outlet = Self(Arc::new(Shared::default()));
        let shared = outlet.0.clone();
        // A stream of its own: the standard one is locked while it is written to.
        let started = to.try_clone_to_owned().and_then(|stream| {
            let pen =
                Pen { to: File::from(stream), foot: Foot::default(), misses: 0, shared: shared.clone() };
            std::thread::Builder::new().name("segue-out".to_owned()).spawn(move || pen.serve(journal))
        });
        if started.is_err() {
            shared.lock().closed = true;
        }
        outlet
    }

    /// Writes this as soon as the reader takes it.
    pub(super) fn say(&self, said: Said, whole: bool) {
        let mut state = self.0.lock();
        if state.closed || said.is_empty() {
            return;
        }
        let full = state.bytes + said.bytes() > MOST && !state.waiting.is_empty();
        if whole && (full || state.left_to_journal.is_some()) {
            state.left_to_journal = Some(said.seq);
        } else {
            // A status line that nobody has seen yet is old by now.
            let old = state.waiting.back().is_some_and(|last| last.lines.is_empty());
            if old && said.status.is_some() {
                let gone = state.waiting.pop_back();
                state.bytes -= gone.map_or(0, |gone| gone.bytes());
            }
            while state.bytes + said.bytes() > MOST
                && let Some(oldest) = state.waiting.pop_front()
            {
                state.bytes -= oldest.bytes();
                state.dropped += oldest.lines.len();
            }
            state.bytes += said.bytes();
            state.waiting.push_back(said);
        }
        self.0.news.notify_one();
    }

    /// Lines up to this one were written in an earlier life.
    pub(super) fn has_told(&self, number: u64) {
        let mut state = self.0.lock();
        state.told = state.told.max(number);
    }

    /// Whether everything is written.
    pub(super) fn is_drained(&self) -> bool {
        self.0.lock().progress().is_none()
    }

    /// Waits until everything is written; with a patience, no longer than that without a piece being taken.
    pub(super) async fn drain(&self, patience: Option<Duration>) {
        loop {
            let Some(before) = self.0.lock().progress() else { return };
            let taken = self.0.taken.notified();
            match patience {
                None => taken.await,
                Some(patience) => {
                    let late = tokio::time::timeout(patience, taken).await.is_err();
                    if late && self.0.lock().progress() == Some(before) {
                        return;
                    }
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How much has been written, while there is more.
    fn progress(&self) -> Option<u64> {
        let more = !self.waiting.is_empty() || self.writing || self.left_to_journal.is_some();
        (more && !self.closed).then_some(self.written)
    }
}

/// What the thread writes with.
struct Pen {
    to: File,
    /// The lines that are redrawn.
    foot: Foot,
    misses: u32,
    shared: Arc<Shared>,
}

/// What is to be done next.
enum Next {
    Piece(Said, usize),
    Journal(u64),
}

impl Pen {
    fn serve(mut self, mut journal: Option<Reread>) {
        loop {
            let written = match self.next() {
                Next::Piece(said, dropped) => self.write(&said, dropped),
                Next::Journal(upto) => self.tell_from(journal.as_mut(), upto),
            };
            let mut state = self.shared.lock();
            state.writing = false;
            state.written += 1;
            if written.is_err() {
                // Nobody is there any more, which is no reason to stop the run.
                *state = State { closed: true, ..State::default() };
            }
            let over = state.closed;
            drop(state);
            self.shared.taken.notify_one();
            if over {
                return;
            }
        }
    }

    fn next(&self) -> Next {
        let mut state = self.shared.lock();
        loop {
            if let Some(said) = state.waiting.pop_front() {
                state.bytes -= said.bytes();
                state.writing = true;
                return Next::Piece(said, std::mem::take(&mut state.dropped));
            }
            if let Some(upto) = state.left_to_journal {
                return Next::Journal(upto);
            }
            state = self.shared.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    // The lines of some events that did not fit. More may be left out in the meantime.
    fn tell_from(&mut self, journal: Option<&mut Reread>, upto: u64) -> io::Result<()> {
        let Some(journal) = journal else { return Err(io::Error::other("there is no journal")) };
        let lines = match journal.next() {
            Ok(lines) => lines,
            // Somebody may hold it.
            Err(_) if self.misses < MISSES => {
                self.misses += 1;
                std::thread::sleep(MISSED);
                return Ok(());
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        self.misses = 0;
        for (number, line) in lines {
            if number > self.shared.lock().told {
                self.put(format!("{line}\n").as_bytes())?;
                let mut state = self.shared.lock();
                (state.told, state.written) = (number, state.written + 1);
                drop(state);
                self.shared.taken.notify_one();
            }
        }
        if journal.at() >= upto {
            let mut state = self.shared.lock();
            state.left_to_journal = state.left_to_journal.filter(|left| *left > journal.at());
        }
        Ok(())
    }

    fn write(&mut self, said: &Said, dropped: usize) -> io::Result<()> {
        let dropped = (dropped > 0)
            .then(|| format!("segue: {dropped} lines were left out here because nothing read them"));
        let stay: Vec<String> = dropped.into_iter().chain(said.lines.iter().cloned()).collect();
        let frame = match said.status.as_deref() {
            None => self.foot.lines().to_vec(),
            Some("") => Vec::new(),
            Some(status) => status.split('\n').map(str::to_owned).collect(),
        };
        let text = self.foot.repaint(&stay, frame, screen_width());
        self.put(text.as_bytes())?;
        let mut state = self.shared.lock();
        state.told = state.told.max(said.last);
        Ok(())
    }

    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.to.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(taken) => bytes = &bytes[taken..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(RETRY),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn of_many_lines_that_nobody_takes_the_last_ones_are_kept_and_the_number_of_the_others_is_said() {
        let (mut reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::open(writer.as_fd(), None);
        drop(writer);
        const LINES: usize = 40_000;
        for n in 0..LINES {
            outlet.say(Said::lines(vec![format!("line {n}")]), false);
        }
        assert!(!outlet.is_drained());
        outlet.say(Said::lines(vec!["the verdict".to_owned()]), false);
        let mut text = vec![0; 1];
        while !text.ends_with(b"the verdict\n") {
            let mut more = [0; 4096];
            let read = reader.read(&mut more).unwrap();
            text.extend_from_slice(&more[..read]);
        }
        let text = String::from_utf8(text).unwrap();
        let said =
            text.split("segue: ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        let dropped: usize = said.sum();
        assert!(dropped > 0);
        assert_eq!(dropped + text.matches("line ").count(), LINES);
    }
}
