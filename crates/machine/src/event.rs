//! What happened. Events are past tense, owned and serialisable: they are the journal's vocabulary and the only
//! input of the machine. Nothing in them says how to show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::claims::Judged;
use crate::{AgentEvent, CheckpointRef, Circuit, DaySpent, Depth, Price, RunSpec, Timer};

/// Milliseconds since the Unix epoch, UTC.
pub type Millis = u64;

/// One event with its place and time in the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// 1 for the first event of a run, without gaps.
    pub seq: u64,
    /// When the driver took it in.
    pub at: Millis,
    /// What happened.
    pub event: Event,
}

/// What happened to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// Someone asked for the run.
    RunStarted {
        /// What it is to do and under which rules.
        spec: Box<RunSpec>,
    },
    /// A new process took the run over; whatever was in flight is lost.
    RunResumed {
        /// Processes of the dead owner that were found and ended.
        orphans: u32,
        /// Limits that were raised by hand, as a new spec.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spec: Option<Box<RunSpec>>,
        /// Continue the old conversation, where the agent can.
        #[serde(default)]
        same_session: bool,
        /// Go on from this checkpoint of the run instead of the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<CheckpointRef>,
        /// Retry now instead of waiting for the provider.
        #[serde(default)]
        now: bool,
        /// What other runs have learned about the accounts since.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        circuits: Vec<Circuit>,
        /// What somebody answers to what the agent asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// An agent process was started.
    SessionSpawned {
        /// The session's number in the run.
        session: u32,
        /// The agent's process id.
        pid: u32,
        /// The process's start time as the system counts it, so that a reused id is not mistaken for it.
        pid_start: u64,
    },
    /// The agent could not be started at all.
    SessionNotStarted {
        /// The session's number in the run.
        session: u32,
        /// What went wrong.
        why: String,
    },
    /// Something came from the agent.
    Agent {
        /// The session's number in the run.
        session: u32,
        /// What it said or did.
        event: AgentEvent,
    },
    /// A prompt was handed to the agent.
    PromptSent {
        /// The session's number in the run.
        session: u32,
        /// The weight of the whole prompt, about four for each token.
        chars: u64,
    },
    /// The agent process is gone, and so is everything it had started.
    SessionExited {
        /// The session's number in the run.
        session: u32,
        /// Its exit code; `None` when a signal ended it.
        exit: Option<i32>,
        /// Processes that outlived it and were ended.
        orphans: u32,
    },
    /// Gates begin to run on the work tree as it is.
    GatesBegan {
        /// What for.
        when: GateWhen,
        /// Hash of everything in the work tree, new files included; `None` without git.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
    },
    /// A gate ran.
    GateFinished(GateResult),
    /// The originals of what a gate runs were in place of the agent's files for one run of it.
    GateSwapped {
        /// Its name.
        gate: String,
        /// The files.
        files: Vec<String>,
    },
    /// The agent's files are back.
    GateRestored {
        /// The gate's name; empty when a swap was undone that a crash had cut off.
        gate: String,
        /// Files that somebody else changed meanwhile: they were left as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// The agent changed what a gate runs, or fewer tests are left, or nobody can tell. Told before the gate's result.
    GateChanged(GateChange),
    /// A checkpoint is on disk and the work is in git.
    CheckpointTaken {
        /// The checkpoint's id.
        checkpoint: String,
        /// The session it is about.
        session: u32,
        /// Who wrote it.
        by: CheckpointBy,
        /// How much it holds.
        depth: Depth,
        /// Where it lies, below the work tree.
        path: String,
        /// How much of what it claims was found true, false, or neither.
        claims: Claims,
        /// The work tree at that moment.
        work: WorkState,
        /// How long it took.
        ms: u64,
        /// What it claims, each with what was found about it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judged: Vec<Judged>,
        /// Where its words come from; `None` in runs from before this was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<WordsSource>,
    },
    /// A checkpoint could not be written. The one before it still stands, and the agent's answer is not lost.
    CheckpointFailed {
        /// The id that it was to have.
        checkpoint: String,
        /// The session it is about.
        session: u32,
        /// Whose words it was to hold.
        by: CheckpointBy,
        /// How much it was to hold.
        depth: Depth,
        /// Why.
        why: String,
        /// The work tree at that moment, which may be saved all the same.
        work: WorkState,
    },
    /// The words of a prompt could not be made, so nothing was sent.
    PromptFailed {
        /// The session's number in the run.
        session: u32,
        /// Why.
        why: String,
    },
    /// The agent's last words were held against the repository and the gates.
    WordsJudged {
        /// The session's number in the run.
        session: u32,
        /// What they claim, each with what was found about it.
        judged: Vec<Judged>,
        /// Hash of everything in the work tree, where that was asked for and can be known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
        /// Why they could not be held against everything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    },
    /// The work was saved without a checkpoint.
    WorkSaved {
        /// The work tree at that moment.
        work: WorkState,
    },
    /// The worker left a note from inside the run.
    NoteLeft {
        /// Its words.
        text: String,
    },
    /// The worker said from inside the run that it is done.
    DoneClaimed {
        /// Its words.
        text: String,
    },
    /// A tool has ended, and the agent asks whether it may go on to its next call.
    BrakeAsked {
        /// The session's number in the run.
        session: u32,
        /// The driver's id for the question.
        request: String,
        /// The agent's id for the tool call.
        tool: String,
        /// The weight of the tool's result, about four for each token.
        chars: u64,
    },
    /// Secrets were taken out of what is kept.
    SecretsRedacted {
        /// How many.
        count: u32,
        /// Of which kinds.
        kinds: Vec<String>,
    },
    /// A timer that the machine had set ran out.
    TimerFired {
        /// Which one.
        timer: Timer,
        /// For how long the agent had not written a byte.
        quiet_ms: u64,
        /// What the session's processes and files showed; `None` when nobody looked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<Activity>,
    },
    /// Someone wants the run to stop.
    StopAsked {
        /// Gently or at once.
        how: StopHow,
    },
    /// Someone does not want to wait any longer.
    TryAsked,
    /// What the run stands on is not what it was when the last session ended: the checked-out commit, or the task's file.
    BaseMoved {
        /// The session that is told.
        session: u32,
        /// What was found, in one sentence.
        text: String,
    },
    /// The price of a session's model was looked up; told before the session is ready.
    ModelPriced {
        /// The session's number in the run.
        session: u32,
        /// The model, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its price, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        price: Option<Price>,
        /// Tokens beyond which it loses track, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quality: Option<u64>,
    },
    /// The day's book was looked at.
    DaySpent(DaySpent),
}

/// Who wrote a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointBy {
    /// The agent was asked and answered.
    Agent,
    /// segue, from its own facts.
    Segue,
}

/// How the words of a checkpoint were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointHow {
    /// The agent answered a side question; its work was not interrupted.
    Side,
    /// The agent was asked inside the conversation and stopped its work for the answer.
    InBand,
    /// The conversation was asked after its process had ended.
    PostMortem,
    /// The agent wrote the checkpoint without being asked.
    Volunteered,
    /// segue wrote the checkpoint from its own facts.
    Segue,
}

/// Where the words of a checkpoint come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WordsSource {
    /// How they were obtained.
    pub how: CheckpointHow,
    /// The last model call of the session that they can know of, counted from 1; null when segue wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_call: Option<u32>,
    /// How old they were when the checkpoint was taken, in milliseconds; null when segue wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

/// How many claims of a checkpoint were found true, false, or neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// Evidence agrees.
    pub confirmed: u32,
    /// Evidence disagrees.
    pub contradicted: u32,
    /// There is no evidence.
    pub unknown: u32,
}

/// The work tree at one moment, as far as git can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkState {
    /// Hash of everything in the work tree, new files included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Stands for the secret files, which are kept beside the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<String>,
    /// The checked-out commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The ref that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The commit made on the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Branches that were rewritten, moved or deleted, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// Files that differ from the start of the run.
    #[serde(default)]
    pub changed: u32,
    /// What could not be found out or saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What stands for the tool where an agent asks before each model call instead of after each tool.
pub const MODEL_CALL: &str = "model call";

/// When a gate ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateWhen {
    /// Before the first session.
    Before,
    /// After the agent said that it was done.
    After,
    /// Because a checkpoint claims what only the gate can tell.
    Checkpoint,
}

/// How a gate ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    /// Its name.
    pub gate: String,
    /// When it ran.
    pub when: GateWhen,
    /// Whether its exit code was 0.
    pub passed: bool,
    /// Its exit code; `None` when a signal or the time-out ended it.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// Where its output is kept, below the work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The end of its output.
    #[serde(default)]
    pub tail: String,
    /// It did not end within its time-out and was ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

/// A file that the agent changed, and what that means for a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// From the work tree.
    pub path: String,
    /// What about it.
    pub what: String,
}

/// What was done about a change of what a gate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeHow {
    /// The gate ran once more with the originals.
    Swapped,
    /// It is told beside the verdict.
    Listed,
}

/// What the agent changed of what a gate runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateChange {
    /// The gate's name.
    pub gate: String,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// What was done about it.
    pub how: ChangeHow,
    /// Whether the gate passes with the originals; null when it was not run with them.
    pub passed_with_originals: Option<bool>,
    /// A person must look before the gate's word counts.
    pub stops: bool,
    /// Why it could not be checked; null when it was.
    pub unchecked: Option<String>,
}

impl GateChange {
    /// The change in one sentence.
    pub fn sentence(&self) -> String {
        let shown = self.files.iter().take(5).map(|file| format!("{} {}", file.path, file.what));
        let mut files = shown.collect::<Vec<_>>().join("; ");
        if self.files.len() > 5 {
            files.push_str(&format!("; and {} more files", self.files.len() - 5));
        }
        let gate = &self.gate;
        match (&self.unchecked, self.passed_with_originals) {
            (Some(why), _) if files.is_empty() => {
                format!("gate {gate}: not checked whether what it runs was changed: {why}")
            }
            (Some(why), _) => format!("gate {gate}: {files}; {why}"),
            (None, Some(true)) => format!("gate {gate} passes with the originals too: {files}"),
            (None, Some(false)) => format!("gate {gate} fails with the originals: {files}"),
            (None, None) => format!("gate {gate}: {files}"),
        }
    }
}

impl GateResult {
    /// How it ended, in words: its exit code, its time-out, or a signal.
    pub fn ended(&self) -> String {
        match self.exit {
            _ if self.timed_out => "timed out".to_owned(),
            Some(code) => format!("exit {code}"),
            None => "ended by a signal".to_owned(),
        }
    }
}

/// Why a session is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionReason {
    /// The first of the run.
    First,
    /// Same agent, fresh window.
    Restart,
    /// Another agent.
    Fallback,
    /// A short second opinion.
    Helper,
    /// One of several smaller tasks.
    Split,
    /// The run was taken up again.
    Resume,
}

/// How someone wants the run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopHow {
    /// With a checkpoint.
    Gently,
    /// At once.
    AtOnce,
}

/// What a checkpoint was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// How much it should hold.
    pub depth: Depth,
    /// The stage that asked, as configured; `None` when a person or a limit did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Why, in one phrase.
    pub reason: String,
}

/// What a session's processes and files show to somebody who looks from outside. Figures count from its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// CPU time of all its processes; `None` where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Bytes that they have read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_bytes: Option<u64>,
    /// How many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub procs: Option<u32>,
    /// The agent's own process has ended.
    #[serde(default)]
    pub gone: bool,
    /// How long ago a file of the work tree last changed; `None` when nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_ms: Option<u64>,
}
