//! The driver: the one place where everything that happens is put in order, made durable, decided upon and carried out.
//!
//! Nothing is decided here. An effect is carried out only after the event that caused it is on disk.

mod book;
mod child;
mod circuits;
mod day;
mod desk;
mod effects;
mod face;
mod gemini_home;
mod held;
mod keyboard;
mod look;
mod outlet;
mod reread;
mod session;
mod socket;
mod stopping;
mod tail;
mod timers;
mod watchdog;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use segue_machine::{AgentEvent, Event, Outcome, Phase, Record, Run, Verdict};
use thiserror::Error;
use tokio::sync::mpsc;

use crate::checkpoint::Workplace;
use crate::config::AgentSettings;
use crate::run_state::RunState;
use crate::trace::{self, Kind};
use crate::{clean, clock, crash};

pub(crate) use book::Book;
pub(crate) use circuits::known as known_circuits;
pub(crate) use face::{
    Face, Look, colors as screen_colors, paints as screen_paints, size as screen_size, style as screen_style,
    width as screen_width,
};
pub(crate) use socket::{Message, Verdict as HookVerdict, send as say_to_run};
pub(crate) use watchdog::on_loop;

use child::News;
use day::Purse;
use desk::Desk;
use held::Held;
use keyboard::Keyboard;
use session::Live;
use socket::Listener;
use stopping::{Asked, Signals};
use timers::Timers;

/// Events that cause nothing are stored together, at the latest after this time.
const GROUP: Duration = Duration::from_millis(30);

/// How often a file that an agent writes beside its output is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How long an agent whose journal hangs is let work before it is stopped without a note of it.
const HANGS: Duration = Duration::from_secs(2);

/// How long an agent may take to be gone when the journal is lost.
const GONE: Duration = Duration::from_secs(10);

/// How often what is redrawn is drawn anew: clocks go on.
const TICK: Duration = Duration::from_secs(1);

/// What is said when the user's state folder, or what is kept of the run in it, is removed while the run is at work.
const LOST_ANCHOR: &str = "warning: somebody removed this run's checksum from your state folder (docs/state.md); the run \
                           continues, and what was changed before this cannot be noticed";

/// What can end a driver besides the run's own end.
#[derive(Debug, Error)]
pub(crate) enum DriverError {
    /// The truth about the run can no longer be kept.
    #[error("the run was stopped because its journal cannot be written: {0}")]
    Journal(#[from] segue_journal::Error),
    /// What happened cannot be put into words.
    #[error("the run was stopped because an event cannot be stored: {0}")]
    Words(#[from] serde_json::Error),
    /// It was asked to stop twice, and something outside held it up.
    #[error(
        "stopped at once, without a last checkpoint: `segue resume {run}` continues from the last saved state"
    )]
    AtOnce {
        /// The run.
        run: String,
    },
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
#[derive(Debug)]
enum Input {
    Event(Event),
    Agent(u32, News),
    Prompt {
        session: u32,
        text: String,
        warning: Option<String>,
    },
    Looked(look::Found),
    /// The day's book is written; what others spent.
    Day(Option<segue_machine::DaySpent>),
}

impl From<Event> for Input {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

/// Notes for the person at the terminal, without secrets.
#[derive(Debug, Clone)]
struct Notes {
    face: face::Notes,
    redactor: segue_redact::Redactor,
}

impl Notes {
    fn note(&self, text: &str) {
        self.face.note(&self.redactor.text(text).text);
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
    /// What is to be done once the event that caused it is on disk, in order.
    held: VecDeque<Held>,
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
    desk: Desk,
    asked: Asked,
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
        trace::into_run(&place.store.run_dir(&place.run), &place.redactor);
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
            held: VecDeque::new(),
            asked: Asked::default(),
            desk: Desk::open()
                .map_err(|source| DriverError::System { what: "a thread for the state folder", source })?,
            program: std::env::current_exe().ok(),
            crash: crash::hook("SEGUE_CRASH_AFTER").and_then(|v| v.parse().ok()),
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
        let mut signals = Signals::listen()?;
        let ended = self.turn(&mut signals).await;
        match &ended {
            // The run itself keeps no snapshot when it is not given the time.
            Ok(_) if self.asked.is_at_once() => tokio::select! {
                () = self.save_last() => {}
                () = signals.next() => {}
                () = tokio::time::sleep(GONE) => {}
            },
            Ok(outcome) => log::info!("the run is over: {}", outcome.verdict.word()),
            Err(error @ DriverError::AtOnce { .. }) => self.end_at_once(error).await,
            Err(error) => {
                log::error!("{error}");
                self.abandon(GONE).await;
                self.save_last().await;
            }
        }
        if let Some(gates) = self.gates.take() {
            gates.abort();
        }
        self.socket.close();
        self.say_the_rest(&mut signals).await;
        ended
    }

    async fn turn(&mut self, signals: &mut Signals) -> Result<Outcome, DriverError> {
        loop {
            self.settle()?;
            if let Some(outcome) = self.outcome.take() {
                return Ok(outcome);
            }
            if !self.held.is_empty() {
                self.store();
            }
            let group = self.book.waits_since();
            let due = tokio::time::Instant::from_std(group.unwrap_or_else(Instant::now) + GROUP);
            let hangs = self.hangs_from();
            let room = !self.book.is_full();
            tokio::select! {
                biased;
                () = signals.next() => self.stop_asked(),
                () = self.asked.last_moment() => {
                    return Err(DriverError::AtOnce { run: self.place.run.clone() });
                }
                timer = self.timers.next() => self.timer_fired(timer),
                stored = self.book.stored(), if self.book.is_busy() => self.stored(stored?),
                () = tokio::time::sleep_until(hangs.unwrap_or(due)), if hangs.is_some() => self.do_what_is_safe(),
                // Before the inbox: an agent that never pauses must not keep its events from the disk.
                () = tokio::time::sleep_until(due), if group.is_some() => self.store(),
                said = self.socket.next(), if room => {
                    self.heard();
                    self.read_along();
                    self.queue.extend(said);
                }
                Some(input) = self.inbox.recv(), if room => self.input(input),
                () = self.keyboard.enter() => self.queue.push_back(Event::TryAsked),
                () = tokio::time::sleep(TICK), if self.face.is_live() => self.tick(),
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
        log::trace!(
            "event {}: {}, effects {}",
            record.seq,
            Kind::of_event(&record.event),
            Kind::list(&effects)
        );
        self.keyboard.listen(self.machine.view().waiting.is_some());
        let said = self.face.render(&record, &effects, self.machine.view());
        self.book.add(&record, &effects, said)?;
        if let Event::Agent { session, event: AgentEvent::Said { text } } = &record.event {
            self.keep_message(*session, text);
        }
        self.hold(effects, record.seq);
        if self.crash == Some(record.seq) {
            self.crash_at(record.seq);
        }
        let (call, now) = day::due(&record.event);
        self.keep_day(call, now);
        Ok(())
    }

    fn store(&mut self) {
        let (machine, face) = (&self.machine, &self.face);
        let state = || RunState { machine: machine.clone(), stream: face.stream().clone() };
        self.book.store(status_word(machine.view()), machine.view().finished_at, state);
    }

    /// Everything up to this event is on disk.
    fn stored(&mut self, upto: u64) {
        for said in self.book.said(upto) {
            self.face.say(said);
        }
        if self.book.lost_anchor() {
            self.note(LOST_ANCHOR);
        }
        self.carry_out_held(upto);
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
            Input::Day(told) => self.day_written(told),
        }
    }

    fn note(&self, text: &str) {
        self.notes().note(text);
    }

    /// Notes for the person, from any thread.
    fn notes(&self) -> Notes {
        Notes { face: self.face.notes(), redactor: self.place.redactor.clone() }
    }
}

/// The word for where a run stands, for lists of runs.
fn status_word(view: &segue_machine::View) -> &'static str {
    if view.phase != Phase::Finished {
        return "running";
    }
    view.outcome.as_ref().map_or(Verdict::Stopped, |outcome| outcome.verdict).word()
}
