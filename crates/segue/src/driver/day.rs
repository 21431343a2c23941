//! The driver's hand in the day's book: what the run spends is written down as it goes, and what others spent comes in as
//! an event. Nothing is decided here.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use segue_machine::{AgentEvent, DaySpent, Event, Price};

use super::{Driver, Input};
use crate::budget::{DayBook, Spending};
use crate::clock;

/// How many calls may go unwritten where no limit of the day depends on them.
const CALLS: u32 = 5;

/// How often others' spending is looked at while this run is quiet and the day has a limit.
pub(super) const LOOK_AT_DAY: Duration = Duration::from_secs(10);

/// What the driver knows about spending.
#[derive(Debug, Default)]
pub(super) struct Purse {
    book: Option<Arc<Mutex<DayBook>>>,
    prices: BTreeMap<String, Price>,
    calls: u32,
    /// It is being written at this moment, and once more after that.
    writing: bool,
    again: bool,
    complained: Arc<AtomicBool>,
}

impl Driver {
    /// Keeps the day's book, and prices models by the user's own list first.
    pub(crate) fn with_budget(mut self, book: Option<DayBook>, prices: BTreeMap<String, Price>) -> Self {
        let taken_up = self.machine.view().spec.is_some();
        self.queue.extend(book.as_ref().filter(|_| taken_up).map(|book| Event::DaySpent(book.look())));
        let book = book.map(|book| Arc::new(Mutex::new(book)));
        self.purse = Purse { book, prices, ..Purse::default() };
        self
    }

    /// Whether what this run learns is of use to others: nothing is kept of a rehearsal.
    pub(super) fn keeps_book(&self) -> bool {
        self.purse.book.is_some()
    }

    /// The price of the model of a session that is about to be ready.
    pub(super) fn priced(&self, session: u32, event: &AgentEvent, chosen: Option<&str>) -> Option<Event> {
        let AgentEvent::Ready { model, .. } = event else { return None };
        let model = model.as_deref().or(chosen);
        let price = model.and_then(|model| segue_agents::prices::find(model, &self.purse.prices));
        let quality = model.and_then(segue_agents::quality::find);
        Some(Event::ModelPriced { session, model: model.map(str::to_owned), price, quality })
    }

    /// Writes the book when there is reason to.
    pub(super) fn keep_day(&mut self, call: bool, now: bool) {
        self.purse.calls += u32::from(call);
        let every = if self.watches_day() { 1 } else { CALLS };
        if now || self.purse.calls >= every {
            self.write_day();
        }
    }

    /// Whether others' spending can stop this run.
    pub(super) fn watches_day(&self) -> bool {
        let limited = self.machine.view().spec.as_ref().is_some_and(|spec| spec.budget.day.any());
        limited && self.purse.book.is_some()
    }

    /// Has the book written; what others spent comes back as news.
    pub(super) fn write_day(&mut self) {
        self.purse.calls = 0;
        let Some(book) = self.purse.book.clone() else { return };
        if std::mem::replace(&mut self.purse.writing, true) {
            self.purse.again = true;
            return;
        }
        let (spending, sender) = (Spending::of(self.machine.view()), self.sender.clone());
        let (complained, notes) = (self.purse.complained.clone(), self.notes());
        self.purse.writing = self.desk.order(move || {
            let told = book.lock().unwrap_or_else(PoisonError::into_inner).write(&spending, clock::now());
            if let Err(error) = &told
                && !complained.swap(true, Ordering::Relaxed)
            {
                notes.note(&format!("the day's budget cannot be kept: {error}"));
            }
            let _ = sender.blocking_send(Input::Day(told.ok()));
        });
    }

    /// The same when nobody takes in news any more.
    pub(super) fn write_day_for_good(&mut self) {
        self.purse.writing = false;
        self.write_day();
    }

    /// Takes in what others spent, if that is news.
    pub(super) fn day_written(&mut self, told: Option<DaySpent>) {
        self.purse.writing = false;
        if let Some(told) = told {
            let known = self.machine.view().day.as_ref();
            let timed = self.machine.view().spec.as_ref().is_some_and(|s| s.budget.day.wall_ms.is_some());
            if timed || known != Some(&told) {
                self.queue.push_back(Event::DaySpent(told));
            }
        }
        if std::mem::take(&mut self.purse.again) {
            self.write_day();
        }
    }
}

/// Whether an event is a call's usage, and whether it is a moment to write at once.
pub(super) fn due(event: &Event) -> (bool, bool) {
    let call = matches!(event, Event::Agent { event: AgentEvent::UsageRead(_), .. });
    let now = matches!(
        event,
        Event::SessionExited { .. } | Event::SessionSpawned { .. } | Event::RunResumed { .. }
    );
    (call, now)
}
