//! The day's book: what all runs of this user spent today, by run and account, in the state folder.
//!
//! A run writes its own line whole, from what its journal knows, and never adds to it: however often it is written,
//! by however many lives of the run, each call is counted once.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use segue_journal::Reader;
use segue_machine::{AgentBudget, BudgetSpec, DaySpent, Millis, Opening, Spent, View};
use serde::{Deserialize, Serialize};

use crate::config::{AgentKind, AgentSettings, Settings};
use crate::history::{self, HistoryError};
use crate::state::State;

const OPENINGS: &str = "openings.json";
const OPENINGS_KEPT: usize = 20;
const DAYS_KEPT: u64 = 60;

/// One day, as it is stored.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Day {
    /// What each run spent in it, by its id.
    #[serde(default)]
    pub(crate) runs: BTreeMap<String, Line>,
}

/// What one run spent in a day.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Line {
    /// The work tree.
    #[serde(default)]
    pub(crate) workdir: String,
    /// How long it took.
    #[serde(default)]
    pub(crate) wall_ms: u64,
    /// Tokens, money and sessions by account.
    #[serde(default)]
    pub(crate) accounts: BTreeMap<String, Spent>,
}

impl Line {
    /// Everything together.
    pub(crate) fn total(&self) -> Spent {
        let spent = self.accounts.values().fold(Spent::default(), |sum, spent| sum.plus(*spent));
        Spent { wall_ms: self.wall_ms, ..spent }
    }
}

impl Day {
    /// What all runs but one spent.
    fn others(&self, run: &str) -> Spent {
        let lines = self.runs.iter().filter(|(id, _)| *id != run);
        lines.fold(Spent::default(), |sum, (_, line)| sum.plus(line.total()))
    }

    /// What all runs spent.
    pub(crate) fn total(&self) -> Spent {
        self.others("")
    }

    /// What was spent by account.
    pub(crate) fn accounts(&self) -> BTreeMap<String, Spent> {
        let mut accounts: BTreeMap<String, Spent> = BTreeMap::new();
        for (account, spent) in self.runs.values().flat_map(|line| &line.accounts) {
            let sum = accounts.entry(account.clone()).or_default();
            *sum = sum.plus(*spent);
        }
        accounts
    }
}

/// Today's name and its book.
pub(crate) fn today(now: Millis) -> (String, Day) {
    let (day, _) = local_day(now);
    let book = State::of_user().map(|state| state.read(&file(&day))).unwrap_or_default();
    (day, book)
}

/// What bounds a run's spending, by the settings and by what sessions usually take.
pub(crate) fn spec(settings: &Settings) -> BudgetSpec {
    let budget = &settings.budget;
    let history: BTreeMap<String, Vec<Opening>> =
        State::of_user().filter(|_| !budget.unkept).map(|state| state.read(OPENINGS)).unwrap_or_default();
    let of = |agent: &AgentSettings| {
        let name = agent.spec.name.clone();
        let budget = AgentBudget {
            cost_musd: budget.agents.get(&name).copied(),
            tells_cost: agent.kind == AgentKind::OpenCode,
            usual: history.get(&name).and_then(|openings| middle(openings)),
        };
        (name, budget)
    };
    BudgetSpec {
        strict: !budget.allow_unknown_cost,
        day: budget.day,
        agents: settings.agents.iter().map(of).collect(),
        today: None,
    }
}

fn middle(openings: &[Opening]) -> Option<Opening> {
    let mut sorted = openings.to_vec();
    sorted.sort_by_key(|opening| (opening.tokens, opening.cost_musd));
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// What one run has spent so far, taken out of its view so that it can be written down elsewhere.
#[derive(Debug)]
pub(crate) struct Spending {
    by_agent: BTreeMap<String, Spent>,
    openings: Vec<(String, Opening)>,
}

impl Spending {
    /// What a run has spent.
    pub(crate) fn of(view: &View) -> Self {
        Self { by_agent: by_agent(view), openings: view.openings.clone() }
    }
}

/// One run's hand in the day's book.
#[derive(Debug)]
pub(crate) struct DayBook {
    state: State,
    run: String,
    workdir: String,
    /// The account of each agent.
    accounts: BTreeMap<String, String>,
    day: String,
    /// What each agent had spent when the day began.
    before: BTreeMap<String, Spent>,
    /// What this run took today in earlier lives.
    earlier_ms: u64,
    since: Millis,
    openings: usize,
}

impl DayBook {
    /// The book of a run that begins or is taken up; `None` when nothing is to be kept or there is no home.
    pub(crate) fn open(
        run: &str,
        workdir: &str,
        settings: &Settings,
        past: Option<&Reader>,
        now: Millis,
    ) -> Result<Option<Self>, HistoryError> {
        let Some(state) = State::of_user().filter(|_| !settings.budget.unkept) else { return Ok(None) };
        let (day, midnight) = local_day(now);
        prune(&state, now);
        let line = state.read::<Day>(&file(&day)).runs.remove(run).unwrap_or_default();
        let account = |agent: &AgentSettings| {
            let name = agent.spec.name.clone();
            let account = agent.account.as_ref().map_or_else(|| name.clone(), |a| format!("{name}/{a}"));
            (name, account)
        };
        // What the run had spent when the day began, by its own journal.
        let before = past.map(|reader| history::folded_before(reader, run, midnight)).transpose()?;
        Ok(Some(Self {
            state,
            run: run.to_owned(),
            workdir: workdir.to_owned(),
            accounts: settings.agents.iter().map(account).collect(),
            day,
            before: before.map(|before| by_agent(before.state.machine.view())).unwrap_or_default(),
            earlier_ms: line.wall_ms,
            since: now,
            openings: 0,
        }))
    }

    /// Leaves out the openings that the run had before this life.
    pub(crate) fn knows(mut self, view: &View) -> Self {
        self.openings = view.openings.len();
        self
    }

    /// The day as others left it.
    pub(crate) fn look(&self) -> DaySpent {
        let book: Day = self.state.read(&file(&self.day));
        self.told(book.others(&self.run))
    }

    /// Writes down what the run has spent today, and says what the others have.
    ///
    /// # Errors
    /// When the state folder cannot be written.
    pub(crate) fn write(&mut self, spending: &Spending, now: Millis) -> io::Result<DaySpent> {
        let (day, midnight) = local_day(now);
        if day != self.day {
            self.put(spending, midnight)?;
            self.before.clone_from(&spending.by_agent);
            self.earlier_ms = 0;
            self.since = self.since.max(midnight);
            self.day = day;
        }
        let others = self.put(spending, now)?;
        self.keep_openings(&spending.openings)?;
        Ok(self.told(others))
    }

    fn put(&self, spending: &Spending, now: Millis) -> io::Result<Spent> {
        let mut accounts: BTreeMap<String, Spent> = BTreeMap::new();
        for (agent, spent) in &spending.by_agent {
            let today = spent.less(self.before.get(agent).copied().unwrap_or_default());
            let sum = accounts.entry(self.accounts.get(agent).unwrap_or(agent).clone()).or_default();
            *sum = sum.plus(today);
        }
        let wall_ms = self.earlier_ms.saturating_add(now.saturating_sub(self.since));
        let line = Line { workdir: self.workdir.clone(), wall_ms, accounts };
        self.state.update(&file(&self.day), |book: &mut Day| {
            book.runs.insert(self.run.clone(), line);
            book.others(&self.run)
        })
    }

    fn told(&self, others: Spent) -> DaySpent {
        let before = self.before.values().fold(Spent::default(), |sum, spent| sum.plus(*spent));
        let wall_ms = others.wall_ms.saturating_add(self.earlier_ms);
        DaySpent { day: self.day.clone(), others: Spent { wall_ms, ..others }, before, since: self.since }
    }

    fn keep_openings(&mut self, all: &[(String, Opening)]) -> io::Result<()> {
        let new = all.get(self.openings..).unwrap_or_default();
        if new.is_empty() {
            return Ok(());
        }
        self.state.update(OPENINGS, |known: &mut BTreeMap<String, Vec<Opening>>| {
            for (agent, opening) in new {
                let openings = known.entry(agent.clone()).or_default();
                openings.push(*opening);
                let old = openings.len().saturating_sub(OPENINGS_KEPT);
                openings.drain(..old);
            }
        })?;
        self.openings = all.len();
        Ok(())
    }
}

fn by_agent(view: &View) -> BTreeMap<String, Spent> {
    let at_work = view.session.iter().map(|session| &session.agent);
    let names = view.by_agent.keys().chain(at_work);
    let spent = |name: &String| {
        let spent = view.spent_by(name);
        (name.clone(), Spent::of(spent.totals, spent.sessions))
    };
    names.map(spent).collect()
}

/// The local day of a moment, and when it began.
fn local_day(at: Millis) -> (String, Millis) {
    let zoned = i64::try_from(at).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let zoned = zoned.unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system());
    let began = zoned.start_of_day().map_or(0, |start| start.timestamp().as_millisecond());
    (zoned.date().to_string(), u64::try_from(began).unwrap_or(0))
}

fn file(day: &str) -> String {
    format!("budget-{day}.json")
}

// Old days are of no use to any limit.
fn prune(state: &State, now: Millis) {
    let Ok(entries) = std::fs::read_dir(state.path("")) else { return };
    let oldest = now.saturating_sub(DAYS_KEPT * 86_400_000);
    let oldest = file(&local_day(oldest).0);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let old = name.to_str().is_some_and(|name| name.starts_with("budget-") && *name < *oldest);
        if old {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
