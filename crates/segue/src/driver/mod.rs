//! The driver: the one place where everything that happens is put in order, made durable, decided upon and carried out.
//!
//! Nothing is decided here. An effect is carried out only after the event that caused it is on disk.

mod book;
mod child;
mod circuits;
mod day;
mod effects;
mod face;
mod gemini_home;
mod keyboard;
mod look;
mod session;
mod socket;
mod tail;
mod timers;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use segue_machine::{AgentEvent, Event, Outcome, Phase, Record, Run, StopHow, Verdict};
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::checkpoint::Workplace;
use crate::config::AgentSettings;
use crate::{clean, clock};

pub(crate) use book::Book;
pub(crate) use circuits::known as known_circuits;
pub(crate) use face::{
    Face, Look, colors as screen_colors, paints as screen_paints, size as screen_size, style as screen_style,
    width as screen_width,
};
pub(crate) use socket::{Message, Verdict as HookVerdict, send as say_to_run};

use child::News;
use day::Purse;
use keyboard::Keyboard;
use session::Live;
use socket::Listener;
use timers::Timers;

/// Events that cause nothing are stored together, at the latest after this time.
const GROUP: Duration = Duration::from_millis(30);

/// How often a file that an agent writes beside its output is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How often the time that is left of a wait is shown anew.
const TICK: Duration = Duration::from_secs(1);

/// What can end a driver besides the run's own end.
#[derive(Debug, Error)]
pub(crate) enum DriverError {
    /// The truth about the run can no longer be kept.
    #[error("the run was stopped because its journal cannot be written: {0}")]
    Journal(#[from] segue_journal::Error),
    /// Something the run needs from the system is not to be had.
    #[error("the run was stopped: {what}: {source}")]
    System {
        /// What it is.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

/// What comes in from everywhere, to be put in order.
#[expect(clippy::large_enum_variant, reason = "few are on their way at a time, and most of them are events")]
#[derive(Debug)]
enum Input {
    Event(Event),
    Agent(u32, News),
    Prompt { session: u32, text: String, warning: Option<String> },
    Looked(look::Found),
}

impl From<Event> for Input {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

/// One run being driven.
pub(crate) struct Driver {
    place: Arc<Workplace>,
    agents: Vec<AgentSettings>,
    machine: Run,
    book: Book,
    face: Face,
    timers: Timers,
    live: Option<Live>,
    looks: look::Looks,
    /// Events to be taken in before anything else, in order.
    queue: VecDeque<Event>,
    inbox: mpsc::Receiver<Input>,
    sender: mpsc::Sender<Input>,
    socket: Listener,
    gates: Option<tokio::task::JoinHandle<()>>,
    outcome: Option<Outcome>,
    crash: Option<u64>,
    keyboard: Keyboard,
    /// This program, for hooks and bridges. Asked for once: an update in the middle of a run takes the name away.
    program: Option<PathBuf>,
    purse: Purse,
}

impl Driver {
    /// A driver for a run that is new or was replayed into `machine`.
    pub(crate) fn new(
        place: Workplace,
        agents: Vec<AgentSettings>,
        machine: Run,
        book: Book,
        face: Face,
    ) -> Result<Self, DriverError> {
        let (sender, inbox) = mpsc::channel(256);
        let socket = Listener::open(&place.run)
            .map_err(|source| DriverError::System { what: "the run's socket", source })?;
        Ok(Self {
            place: Arc::new(place),
            agents,
            machine,
            book,
            face,
            timers: Timers::default(),
            live: None,
            looks: look::Looks::default(),
            queue: VecDeque::new(),
            inbox,
            sender,
            socket,
            gates: None,
            outcome: None,
            keyboard: Keyboard::default(),
            purse: Purse::default(),
            program: std::env::current_exe().ok(),
            crash: std::env::var("SEGUE_CRASH_AFTER").ok().and_then(|v| v.parse().ok()),
        })
    }

    /// The same, with something to tell before the run is taken up.
    pub(crate) fn telling(mut self, event: Option<Event>) -> Self {
        self.queue.extend(event);
        self
    }

    /// Drives the run from `first` to its end.
    pub(crate) async fn drive(mut self, first: Event) -> Result<Outcome, DriverError> {
        self.queue.push_back(first);
        let ended = self.turn().await;
        self.face.clear();
        self.write_day();
        if ended.is_err() {
            self.abandon().await;
        }
        if matches!(ended, Err(DriverError::Journal(_))) {
            self.save_last().await;
        }
        if let Some(gates) = self.gates.take() {
            gates.abort();
        }
        self.socket.close();
        ended
    }

    async fn turn(&mut self) -> Result<Outcome, DriverError> {
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut terminate = listen(SignalKind::terminate())?;
        let mut hang_up = listen(SignalKind::hangup())?;
        loop {
            self.settle()?;
            if let Some(outcome) = self.outcome.take() {
                return Ok(outcome);
            }
            let group = self.book.waits_since();
            let due = tokio::time::Instant::from_std(group.unwrap_or_else(Instant::now) + GROUP);
            tokio::select! {
                biased;
                _ = interrupt.recv() => self.stop_asked(),
                _ = terminate.recv() => self.stop_asked(),
                _ = hang_up.recv() => self.stop_asked(),
                timer = self.timers.next() => self.timer_fired(timer),
                // Before the inbox: an agent that never pauses must not keep its events from the disk.
                () = tokio::time::sleep_until(due), if group.is_some() => self.flush()?,
                said = self.socket.next() => {
                    self.heard();
                    self.read_along();
                    self.queue.extend(said);
                }
                Some(input) = self.inbox.recv() => self.input(input),
                () = self.keyboard.enter() => self.queue.push_back(Event::TryAsked),
                () = tokio::time::sleep(TICK), if self.counts_down() => self.tick(),
                () = tokio::time::sleep(day::LOOK_AT_DAY), if self.watches_day() => self.write_day(),
                () = tokio::time::sleep(LOOK), if self.live.as_ref().is_some_and(Live::tails) => self.read_along(),
            }
        }
    }

    /// Takes in everything that is waiting.
    fn settle(&mut self) -> Result<(), DriverError> {
        while let Some(event) = self.queue.pop_front() {
            self.take_in(event)?;
        }
        Ok(())
    }

    fn take_in(&mut self, mut event: Event) -> Result<(), DriverError> {
        let found = clean::event(&self.place.redactor, &mut event);
        self.queue.extend(found.event());
        if matches!(event, Event::SessionExited { .. } | Event::GateFinished(_)) {
            let count = self.place.found.take();
            let told = Event::SecretsRedacted { count, kinds: vec!["output".to_owned()] };
            self.queue.extend((count > 0).then_some(told));
        }
        let record = Record { seq: self.book.next_seq(), at: clock::now(), event };
        let effects = self.machine.handle(&record);
        self.keyboard.listen(self.machine.view().waiting.is_some());
        let said = self.face.render(&record, &effects, self.machine.view());
        let crash_here = self.crash == Some(record.seq);
        self.book.add(&record, &effects, said);
        if !effects.is_empty() || crash_here {
            self.flush()?;
        }
        if crash_here {
            die();
        }
        if let Event::Agent { session, event: AgentEvent::Said { text } } = &record.event {
            self.keep_message(*session, text);
        }
        for effect in effects {
            self.carry_out(effect, record.seq);
        }
        let (call, now) = day::due(&record.event);
        self.keep_day(call, now);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        let status = status_word(self.machine.view());
        for said in self.book.flush(status, self.machine.view().finished_at)? {
            self.face.say(said);
        }
        Ok(())
    }

    fn stop_asked(&mut self) {
        if self.machine.view().session.is_some() {
            let spec = self.machine.view().spec.as_deref();
            let most = spec.map_or(0, |spec| spec.limits.ask_timeout_ms / 1_000);
            let text = format!(
                "stopping: the agent is writing a checkpoint (at most {most} s); press Ctrl-C again to stop at once. \
                 The files are saved in any case; `segue resume` continues"
            );
            self.face.note(&text);
        }
        self.queue.push_back(Event::StopAsked { how: StopHow::Gently });
    }

    fn counts_down(&self) -> bool {
        self.face.is_live() && self.machine.view().waiting.is_some()
    }

    fn tick(&mut self) {
        self.face.tick(self.machine.view(), clock::now());
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Event(event) => self.queue.push_back(event),
            Input::Agent(session, news) => self.agent_news(session, news),
            Input::Prompt { session, text, warning } => {
                if let Some(warning) = warning {
                    self.note(&warning);
                }
                self.prompt_agent(session, text);
            }
            Input::Looked(found) => self.looked(&found),
        }
    }

    fn note(&mut self, text: &str) {
        self.face.note(&self.place.redactor.text(text).text);
    }

    // The journal is gone, and with it the right to let an agent work on.
    async fn abandon(&mut self) {
        if let Some(live) = self.live.take() {
            live.kill();
            let gone = async {
                while let Some(input) = self.inbox.recv().await {
                    if let Input::Agent(_, News::Gone { .. }) = input {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(Duration::from_secs(10), gone).await;
        }
    }
}

/// The word for where a run stands, for lists of runs.
fn status_word(view: &segue_machine::View) -> &'static str {
    if view.phase != Phase::Finished {
        return "running";
    }
    view.outcome.as_ref().map_or(Verdict::Stopped, |outcome| outcome.verdict).word()
}

fn listen(kind: SignalKind) -> Result<Signal, DriverError> {
    signal(kind).map_err(|source| DriverError::System { what: "signals", source })
}

/// Dies as `kill -9` would have it: for tests of what survives that.
pub(crate) fn die() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}
