//! What came of a phase's run: facts from its journal and from git, and what they mean for the phase.
//!
//! The contents of files are never looked at here: exit code, verdict, gates, commits and the agent's report decide.

use segue_journal::Journal;
use segue_machine::{AgentEvent, Event, GateChange, GateResult, Limit, Outcome, TurnEnd, Verdict, View};
use segue_plans::report::{self, FailureCategory, Recommendation, Report, ReportStatus};

use super::PlanError;
use super::state::Spent;
use crate::git::Repo;
use crate::history;
use crate::store::Store;

/// What is known about a run without asking its agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// How it ended; nothing while it has not.
    pub(super) outcome: Option<Outcome>,
    /// What the agent said last.
    pub(super) words: String,
    /// Show the last output of each gate.
    pub(super) gates: Vec<GateResult>,
    /// What the agent changed of what they run.
    pub(super) gate_changes: Vec<GateChange>,
    /// How many gates decide.
    pub(super) decided: bool,
    /// A claim without a gate is not enough.
    pub(super) must_verify: bool,
    /// What it used.
    pub(super) spent: Spent,
    /// How full the windows were at their fullest, all together, in tokens.
    pub(super) fill: u64,
    /// How full the last window was, in percent.
    pub(super) percent: Option<u64>,
    /// Commits since it began, oldest first.
    pub(super) commits: Vec<String>,
    /// The last commit there is.
    pub(super) last_commit: Option<String>,
    /// Files that differ from when it began.
    pub(super) files: Vec<String>,
}

/// Looks at a run; nothing when it never began.
pub(super) fn look(store: &Store, run: &str) -> Result<Option<Facts>, PlanError> {
    let reader = Journal::read(&store.runs());
    let Ok(row) = reader.run(run) else { return Ok(None) };
    let past = history::read(&reader, &row.id, 0)?;
    if past.is_empty() {
        return Ok(None);
    }
    let mut facts = Facts::default();
    let mut fills: std::collections::BTreeMap<u32, u64> = Default::default();
    let machine = history::replay(&past, |step, _, run| {
        if let Event::Agent { event: AgentEvent::TurnEnded(TurnEnd::Finished { text }), .. } =
            &step.record.event
        {
            facts.words.clone_from(text);
        }
        if let Some(session) = &run.view().session {
            let fill = fills.entry(session.n).or_default();
            *fill = (*fill).max(session.gauge.fill().unwrap_or(0));
            facts.percent = session.gauge.percent().map(|percent| u64::from(percent.hundredths() / 100));
        }
    });
    let view = machine.view();
    facts.fill = fills.values().sum();
    facts.take(view);
    facts.ask_git(store, view);
    Ok(Some(facts))
}

impl Facts {
    fn take(&mut self, view: &View) {
        self.outcome.clone_from(&view.outcome);
        self.gates = view.gates.values().cloned().collect();
        self.gate_changes.clone_from(&view.gate_changes);
        self.decided = view.spec.as_ref().is_some_and(|spec| !spec.gates.is_empty());
        self.must_verify = view.spec.as_ref().is_some_and(|spec| spec.require_verified);
        self.spent = Spent::of(view);
    }

    fn ask_git(&mut self, store: &Store, view: &View) {
        let Some(git) = view.spec.as_ref().map(|spec| &spec.git).filter(|git| git.enabled) else { return };
        let Ok(repo) = Repo::find(store.workdir()) else { return };
        let facts = repo.facts(git.base.as_deref(), git.base_tree.as_deref());
        let mut commits: Vec<String> = facts.commits.iter().map(|(hash, _)| hash.clone()).collect();
        commits.reverse();
        self.commits = commits;
        self.last_commit =
            facts.commits.first().map(|(hash, subject)| format!("{hash} {subject}")).or(facts.head);
        let new = facts.added.into_iter().map(|file| format!("{file} (new)"));
        let gone = facts.deleted.into_iter().map(|file| format!("{file} (deleted)"));
        self.files = new.chain(facts.modified).chain(gone).collect();
    }
}

/// What a run's end means for its phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// It is done; only unverified when there was no gate.
    Completed { unverified: bool },
    /// It is not.
    Failed,
    /// It did not fit.
    TooLarge,
    /// The agent asks for smaller phases.
    Split,
    /// A person must decide.
    NeedsInput,
    /// It was stopped, by a person or a limit, and can go on.
    Stopped,
    /// Its process is gone without a word.
    Lost,
    /// It could not begin.
    Refused,
}

/// An end with its reason and the report that goes with it.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    pub(super) end: End,
    pub(super) why: String,
    pub(super) report: Report,
    /// The agent gave it; else it was derived.
    pub(super) by_agent: bool,
    /// What was not as the contract says.
    pub(super) mended: Vec<String>,
}

/// What the end of a run means. `exit` is the code of its process; nothing when a signal ended it.
pub(super) fn settle(exit: Option<i32>, facts: Option<&Facts>) -> Settled {
    let empty = Facts::default();
    let known = facts.unwrap_or(&empty);
    let Some(outcome) = &known.outcome else {
        let (end, why) = match exit {
            None => (End::Lost, "its process was killed".to_owned()),
            Some(130) => (End::Stopped, "it was interrupted".to_owned()),
            Some(code) => {
                (End::Refused, format!("its run could not start (exit {code}); the reason is above"))
            }
        };
        return derived(end, why, known);
    };
    let end = end_of(outcome, known);
    let why = outcome.reason.clone();
    match report::read(&known.words) {
        Ok(read) if fits(&end, &read.report) => {
            let mut report = read.report;
            if end == End::TooLarge {
                let halt =
                    (ReportStatus::Failed, Recommendation::Halt, Some(FailureCategory::ContextExhaustion));
                (report.status, report.recommendation, report.failure) = halt;
            }
            if report.commits.is_empty() {
                report.commits = known.commits.iter().take(report::ENTRIES).cloned().collect();
            }
            Settled { end, why, report, by_agent: true, mended: read.mended }
        }
        Ok(_) | Err(_) if end == End::Split => derived(End::TooLarge, why, known),
        Ok(read) => {
            // The agent says one thing and the gates another: the facts decide, its tasks and words are kept.
            let mut settled = derived(end, why, known);
            settled.report.tasks = read.report.tasks;
            settled.report.issues.extend(read.report.issues);
            settled.report.issues.truncate(report::ENTRIES);
            settled.report.summary = read.report.summary;
            settled.mended = vec!["its status contradicts the gates".to_owned()];
            settled
        }
        Err(none) => {
            let mut settled = derived(end, why, known);
            settled.mended = vec![none.to_string()];
            settled
        }
    }
}

/// The end of a phase that was run in parts.
pub(super) fn of_parts(end: End, why: String) -> Settled {
    let mut settled = derived(end, why, &Facts { decided: true, ..Facts::default() });
    settled.report.summary.clone_from(&settled.why);
    settled
}

fn end_of(outcome: &Outcome, facts: &Facts) -> End {
    let asked = report::read(&facts.words).is_ok_and(|read| read.report.status == ReportStatus::SplitRequest);
    match outcome.verdict {
        Verdict::Verified => End::Completed { unverified: false },
        Verdict::Unverified if facts.must_verify => End::NeedsInput,
        Verdict::Unverified => End::Completed { unverified: true },
        Verdict::NeedsInput => End::NeedsInput,
        Verdict::Stopped if outcome.interrupted => End::Stopped,
        Verdict::Stopped => match outcome.limit {
            None if asked => End::Split,
            Some(Limit::Futile | Limit::MaxRestarts) => End::TooLarge,
            Some(Limit::NoProgress | Limit::GateRounds | Limit::SameError | Limit::Oscillation) => {
                End::Failed
            }
            Some(
                Limit::Deadline
                | Limit::Cost
                | Limit::Tokens
                | Limit::Stall
                | Limit::Permissions
                | Limit::Wait
                | Limit::Failures
                | Limit::Sessions
                | Limit::AgentCost
                | Limit::UnknownCost
                | Limit::DayCost
                | Limit::DayTokens
                | Limit::DaySessions
                | Limit::DayTime,
            )
            | None => End::Stopped,
        },
        Verdict::Failed if outcome.reason.starts_with("the context overflowed") => End::TooLarge,
        Verdict::Failed => End::Failed,
    }
}

fn fits(end: &End, report: &Report) -> bool {
    match end {
        End::Completed { .. } => report.status == ReportStatus::Completed,
        End::Failed => report.status == ReportStatus::Failed,
        End::Split => report.status == ReportStatus::SplitRequest,
        End::NeedsInput => report.status == ReportStatus::NeedsHumanVerification,
        End::TooLarge | End::Stopped | End::Lost | End::Refused => true,
    }
}

fn derived(end: End, why: String, facts: &Facts) -> Settled {
    let failing = facts.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.gate.clone()).collect();
    let known = report::Facts {
        failing,
        decided: facts.decided,
        commits: facts.commits.clone(),
        exhausted: end == End::TooLarge,
    };
    let mut report = Report::derived(&known);
    let (status, recommendation) = match end {
        End::Completed { .. } => (ReportStatus::Completed, Recommendation::Proceed),
        End::NeedsInput => (ReportStatus::NeedsHumanVerification, Recommendation::Halt),
        End::TooLarge | End::Split | End::Stopped | End::Lost | End::Refused => {
            (ReportStatus::Failed, Recommendation::Halt)
        }
        End::Failed => (ReportStatus::Failed, Recommendation::Debug),
    };
    (report.status, report.recommendation) = (status, recommendation);
    if status == ReportStatus::Failed && report.failure.is_none() {
        report.failure = Some(FailureCategory::Other);
    }
    if status != ReportStatus::Failed {
        report.failure = None;
        report.issues.clear();
    }
    Settled { end, why, report, by_agent: false, mended: Vec::new() }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
