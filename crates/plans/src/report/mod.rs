//! What an agent tells about a phase when it is over: one JSON object with bounded fields.
//!
//! Reading is tolerant (`read.rs`); what comes out always satisfies the published schema. The plan level works on this
//! and on facts, never on the contents of files.

mod read;
mod values;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

pub use read::{NoReport, Read, read};

/// The longest summary, in characters.
pub const SUMMARY_CHARS: usize = 2_000;
/// The longest of every other text, in characters.
pub const TEXT_CHARS: usize = 500;
/// The longest id or commit, in characters.
pub const ID_CHARS: usize = 80;
/// The most entries of any list.
pub const ENTRIES: usize = 100;
/// The most tasks of a report: every item of a phase is told by its id.
pub const TASKS: usize = 2_000;
/// The most parts of a split.
pub const PARTS: usize = 26;

/// What came of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// Everything is done.
    Completed,
    /// It is not, and cannot be as it is.
    Failed,
    /// A person must look at it.
    NeedsHumanVerification,
    /// It is too large and should be split.
    SplitRequest,
}

/// What the agent would do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recommendation {
    /// Go on with the next phase.
    Proceed,
    /// Find out what is wrong and mend it.
    Debug,
    /// Take the changes back.
    Rollback,
    /// Stop here.
    Halt,
}

/// Why a phase failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureCategory {
    /// The window was full. Always with `failed` and `halt`.
    ContextExhaustion,
    /// A gate does not pass.
    GateFailure,
    /// A criterion is not met.
    CriteriaUnmet,
    /// It does not compile or build.
    BuildFailure,
    /// Tests fail.
    TestFailure,
    /// A tool, a service or the environment does not work.
    ToolFailure,
    /// Something may not be done.
    PermissionDenied,
    /// What it needs is not there.
    DependencyMissing,
    /// The plan is wrong, or not clear enough.
    PlanUnclear,
    /// Not all of it was done.
    Incomplete,
    /// Anything else.
    Other,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutcome {
    /// It is done.
    Completed,
    /// It was tried and is not.
    Failed,
    /// It was left out.
    Skipped,
    /// It is still to be done.
    #[default]
    Remaining,
}

/// A task and how far it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskReport {
    /// The task's id in the plan.
    #[schemars(length(max = 80))]
    pub id: String,
    /// Its words in the plan, or the first of them. Where they name another task than the id, they count.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 500))]
    pub title: String,
    /// How far it is.
    pub status: TaskOutcome,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 500))]
    pub note: String,
}

/// A part that a phase should be split into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubPhaseReport {
    /// Its id, such as 20a.
    #[schemars(length(max = 80))]
    pub id: String,
    /// What it is called.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub title: String,
    /// Its tasks, by id.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(max = 500)))]
    pub tasks: Vec<String>,
    /// The files that it changes.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(max = 500)))]
    pub files: Vec<String>,
}

/// How a phase should be split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitDetails {
    /// Why.
    #[schemars(length(max = 500))]
    pub reason: String,
    /// Into what.
    #[schemars(length(min = 1, max = 26))]
    pub recommended_sub_phases: Vec<SubPhaseReport>,
}

/// What an agent tells about a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What came of it.
    pub status: ReportStatus,
    /// Its tasks.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    pub tasks: Vec<TaskReport>,
    /// Its commits.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(max = 80)))]
    pub commits: Vec<String>,
    /// What is wrong.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(max = 500)))]
    pub issues: Vec<String>,
    /// What to do next.
    pub recommendation: Recommendation,
    /// What was done, in a few sentences.
    #[schemars(length(max = 2_000))]
    pub summary: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureCategory>,
    /// How it should be split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_details: Option<SplitDetails>,
    /// What a person must know who is asked to look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2_000))]
    pub checkpoint_context: Option<String>,
}

/// What segue itself knows about a phase, where the agent tells nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Gates and criteria that do not pass, by name.
    pub failing: Vec<String>,
    /// Whether anything was asked that could have said no.
    pub decided: bool,
    /// Commits of the phase.
    pub commits: Vec<String>,
    /// Whether the window was full.
    pub exhausted: bool,
}

impl Report {
    /// A report from facts alone, for an agent that gives none even when asked again.
    pub fn derived(facts: &Facts) -> Self {
        let (status, recommendation, failure) = if facts.exhausted {
            (ReportStatus::Failed, Recommendation::Halt, Some(FailureCategory::ContextExhaustion))
        } else if !facts.failing.is_empty() {
            (ReportStatus::Failed, Recommendation::Debug, Some(FailureCategory::GateFailure))
        } else if facts.decided {
            (ReportStatus::Completed, Recommendation::Proceed, None)
        } else {
            (ReportStatus::NeedsHumanVerification, Recommendation::Halt, None)
        };
        let cut = |text: &String, most: usize| text.chars().take(most).collect::<String>();
        let issues =
            facts.failing.iter().take(ENTRIES).map(|name| cut(&format!("{name} does not pass"), TEXT_CHARS));
        Self {
            status,
            tasks: Vec::new(),
            commits: facts.commits.iter().take(ENTRIES).map(|commit| cut(commit, ID_CHARS)).collect(),
            issues: issues.collect(),
            recommendation,
            summary: "The agent gave no report; this is what gates and git say.".to_owned(),
            failure,
            split_details: None,
            checkpoint_context: None,
        }
    }

    /// Whether a split should be proposed: more issues than can be mended in what is left of the window.
    pub fn wants_split(&self, forecast_percent: Option<u64>) -> bool {
        let crowded = self.issues.len() > 3 && forecast_percent.is_some_and(|percent| percent > 60);
        self.status == ReportStatus::SplitRequest || crowded
    }
}

/// The published schema of reports.
pub fn schema() -> Schema {
    schemars::schema_for!(Report)
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
