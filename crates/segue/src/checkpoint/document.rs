//! One checkpoint: everything that the next session, a person or another program must know about one moment of a run.
//!
//! These are only the fields, with their JSON Schema. How they lie on disk is in `stored.rs`, how people read them in
//! `markdown.rs`.

use schemars::JsonSchema;
use segue_machine::claims::{self, ClaimKind, Counted, Judged};
use segue_machine::ledger::Ledger;
use segue_machine::{CheckpointBy, Claims, Depth, GateResult, GateWhen, WordsSource};
use segue_redact::Redactor;
use segue_report::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format. Readers accept every older one and refuse newer ones.
pub(crate) const VERSION: u32 = 2;

/// The window when the checkpoint was taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Tokens {
    /// Tokens in the window, projected ones included.
    pub(crate) used: Option<u64>,
    /// Where the agent itself would compact, block or fail.
    pub(crate) ceiling: Option<u64>,
    /// The size of the window.
    pub(crate) window: Option<u64>,
    /// How full it is, in percent of the ceiling.
    pub(crate) percent: Option<f64>,
}

/// Files that differ from the start of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Files {
    /// Files that were not there, committed or not.
    pub(crate) created: Vec<String>,
    /// Files that are not as they were.
    pub(crate) modified: Vec<String>,
    /// Files that are gone.
    pub(crate) deleted: Vec<String>,
}

/// What happened, for whoever wants more than the summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct History {
    /// Where everything that the agent wrote in this session is kept, from the work tree.
    pub(crate) transcript: Option<String>,
    /// The last sessions of the run, oldest first, with the tool calls that ended in them; at most 5.
    pub(crate) iterations: Vec<Iteration>,
    /// The last lines of the transcript; at most 500, long ones cut.
    pub(crate) lines: Vec<String>,
}

/// What was done in one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Iteration {
    /// The session's number in the run.
    pub(crate) session: u32,
    /// Its tool calls, in the agent's words; those that failed say so.
    pub(crate) tools: Vec<String>,
}

/// A gate's last result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GateEntry {
    /// Its name.
    pub(crate) name: String,
    /// Whether its exit code was 0.
    pub(crate) passed: bool,
    /// Its exit code; null when a signal or the time-out ended it.
    pub(crate) exit: Option<i32>,
    /// `before` the work, `after` it, or for a `checkpoint` that claims what only the gate can tell.
    pub(crate) when: String,
    /// The end of its output.
    pub(crate) tail: String,
}

impl From<&GateResult> for GateEntry {
    fn from(gate: &GateResult) -> Self {
        let when = match gate.when {
            GateWhen::Before => "before",
            GateWhen::After => "after",
            GateWhen::Checkpoint => "checkpoint",
        };
        Self {
            name: gate.gate.clone(),
            passed: gate.passed,
            exit: gate.exit,
            when: when.to_owned(),
            tail: gate.tail.clone(),
        }
    }
}

/// What the evidence says about a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finding {
    /// It agrees.
    Confirmed,
    /// It disagrees.
    Contradicted,
    /// There is none.
    #[default]
    Unknown,
}

impl Finding {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Contradicted => "contradicted",
            Self::Unknown => "unknown",
        }
    }
}

/// Something that the agent said, and what is to be thought of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClaimEntry {
    /// What it is about: completed, file, tests, commit, decision, constraint, dead_end, failure, remaining,
    /// do_not_redo, rule.
    pub(crate) kind: String,
    /// In the agent's words.
    pub(crate) text: String,
    /// What the evidence says.
    pub(crate) finding: Finding,
    /// The evidence, in one sentence.
    pub(crate) evidence: Option<String>,
}

impl From<&Judged> for ClaimEntry {
    fn from(judged: &Judged) -> Self {
        let kind = match judged.claim.kind {
            ClaimKind::Done => "completed",
            ClaimKind::File { .. } => "file",
            ClaimKind::TestsPass { .. } => "tests",
            ClaimKind::Committed { .. } | ClaimKind::Count { of: Counted::Commits, .. } => "commit",
            ClaimKind::Count { of: Counted::Files, .. } => "file",
            ClaimKind::Decision => "decision",
            ClaimKind::Constraint => "constraint",
            ClaimKind::DeadEnd => "dead_end",
            ClaimKind::Failure => "failure",
            ClaimKind::Remaining => "remaining",
            ClaimKind::DoNotRedo => "do_not_redo",
            ClaimKind::Rule => "rule",
        };
        let finding = match judged.finding {
            claims::Finding::Confirmed => Finding::Confirmed,
            claims::Finding::Contradicted => Finding::Contradicted,
            claims::Finding::Unknown => Finding::Unknown,
        };
        let evidence = (!judged.evidence.is_empty()).then(|| judged.evidence.clone());
        Self { kind: kind.to_owned(), text: judged.claim.text.clone(), finding, evidence }
    }
}

impl Document {
    /// What the run remembered when it was taken; nothing that this version cannot read.
    pub(crate) fn memory(&self) -> Option<Box<Ledger>> {
        self.ledger.clone().and_then(|ledger| serde_json::from_value(ledger).ok())
    }

    /// The same without secrets; how many there were is part of it.
    ///
    /// # Errors
    /// When it cannot be told without them: then it is not to be stored.
    pub(crate) fn clean(self, redactor: &Redactor) -> serde_json::Result<Self> {
        let mut value = serde_json::to_value(&self)?;
        let mut count = 0;
        clean(&mut value, redactor, &mut count);
        let document: Self = serde_json::from_value(value)?;
        Ok(Self { redacted: self.redacted.saturating_add(count), ..document })
    }
}

fn clean(value: &mut Value, redactor: &Redactor, count: &mut u32) {
    match value {
        Value::String(text) => {
            let clean = redactor.text(text);
            let found = u32::try_from(clean.counts.total()).unwrap_or(u32::MAX);
            if found > 0 {
                *count = count.saturating_add(found);
                *text = clean.text.into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, redactor, count)),
        Value::Object(fields) => fields.values_mut().for_each(|field| clean(field, redactor, count)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A file that the run made or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OutputFile {
    /// From the work tree.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
}

/// What was to follow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Next {
    /// continue, gates, restart, fallback, forced, resume or stop.
    pub(crate) kind: Option<String>,
    /// Who goes on.
    pub(crate) agent: Option<String>,
    /// In which role.
    pub(crate) role: Option<String>,
    /// What to begin with.
    pub(crate) instruction: Option<String>,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "segue checkpoint")]
pub(crate) struct Document {
    /// The version of this format.
    pub(crate) version: u32,
    /// The run's id, a dash, and its own name in the run.
    pub(crate) id: String,
    /// When it was taken.
    pub(crate) created_at: Time,
    /// The run.
    pub(crate) run: String,
    /// The session's number in the run.
    pub(crate) session: u32,
    /// Which fresh window of the run this was, from 1.
    pub(crate) iteration: u32,
    /// The agent of that session.
    pub(crate) agent: String,
    /// The policy in force.
    pub(crate) policy: String,
    /// Who wrote the summary.
    pub(crate) by: CheckpointBy,
    /// Where its words come from; null in checkpoints from before this was recorded.
    #[serde(default)]
    pub(crate) source: Option<WordsSource>,
    /// How much was asked for.
    pub(crate) depth: Depth,
    /// The stage that asked for it, as configured; null when a person or a limit did.
    pub(crate) stage: Option<String>,
    /// Why it was taken.
    pub(crate) reason: String,
    /// The checkpoint that this one was copied from, when a run began with it.
    #[serde(default)]
    pub(crate) from: Option<String>,
    /// How full the window was.
    pub(crate) tokens: Tokens,
    /// The task, as far as it may be stored.
    pub(crate) task: String,
    /// What the next session is told: the agent's words, or segue's in their place.
    pub(crate) summary: String,
    /// What happened.
    pub(crate) history: History,
    /// Files that differ from the start of the run.
    pub(crate) files: Files,
    /// The size of the difference, on one line.
    pub(crate) diffstat: Option<String>,
    /// Commits since the run began, newest first: short hash and subject.
    pub(crate) commits: Vec<String>,
    /// The last result of each gate.
    pub(crate) gates: Vec<GateEntry>,
    /// What failed last, newest first.
    pub(crate) errors: Vec<String>,
    /// The agent's claims, each with a finding.
    pub(crate) claims: Vec<ClaimEntry>,
    /// How many claims were found true, false, or neither.
    pub(crate) counts: Claims,
    /// The run's memory, in its own format.
    #[serde(default)]
    pub(crate) ledger: Option<Value>,
    /// Files that the run made or changed, with their sizes.
    pub(crate) outputs: Vec<OutputFile>,
    /// What was to follow.
    pub(crate) next: Next,
    /// The git reference that holds the work tree of that moment.
    pub(crate) snapshot: Option<String>,
    /// The hash of the files in it.
    pub(crate) tree: Option<String>,
    /// The worker's notes, oldest first.
    pub(crate) notes: Vec<String>,
    /// What could not be found out or saved.
    pub(crate) trouble: Option<String>,
    /// How many secrets were taken out before it was stored.
    pub(crate) redacted: u32,
    /// BLAKE3 of everything else: compact JSON with sorted keys. Filled in when it is stored.
    pub(crate) checksum: String,
}

/// The JSON Schema of a stored checkpoint.
pub(crate) fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}
