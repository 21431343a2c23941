//! One thing that is wrong: a code that does not change, where it is, what it is, and what to do.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Place;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The plan cannot be run as it is.
    Error,
    /// It can, but look at this.
    Warning,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal $severity:ident,)*) => {
        /// What is wrong, by a name that does not change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// How bad it is, as a rule.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A file that the plan links to is not there.
    MissingFile = "missing-file" Error,
    /// A file that the plan links to is no text.
    UnreadableFile = "unreadable-file" Error,
    /// Two phases, or two tasks of a phase, have the same id.
    DuplicateId = "duplicate-id" Error,
    /// A phase needs one that is not in the plan.
    UnknownDependency = "unknown-dependency" Error,
    /// A phase that was read alone needs others.
    OutsideDependency = "outside-dependency" Warning,
    /// Phases need one another in a circle.
    Cycle = "cycle" Error,
    /// A phase can never begin.
    Unreachable = "unreachable" Error,
    /// Nothing decides whether a phase is done.
    MissingGates = "missing-gates" Error,
    /// A gate has no command, and the configuration knows none for its name.
    GateWithoutCommand = "gate-without-command" Error,
    /// A gate's command always passes.
    GateDecidesNothing = "gate-decides-nothing" Error,
    /// A check's command always passes.
    CheckDecidesNothing = "check-decides-nothing" Warning,
    /// What a check expects is no regular expression.
    BadPattern = "bad-pattern" Error,
    /// There is nothing to do in a phase.
    EmptyPhase = "empty-phase" Warning,
    /// A note that a phase must read is not there, and no phase writes it.
    MissingNote = "missing-note" Warning,
    /// A tag has no end.
    UnclosedTag = "unclosed-tag" Warning,
    /// Open items of a file are not part of the plan.
    NotRead = "not-read" Warning,
    /// A phase is called finished and has open items.
    OpenInFinished = "open-in-finished" Warning,
    /// A phase is larger than a window.
    PhaseTooLarge = "phase-too-large" Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: String,
    /// The line, counted from 1; 0 is the whole file.
    pub line: u32,
    /// The same, by the file's number.
    #[serde(skip)]
    pub at: Place,
    /// The phase it is about.
    pub phase: Option<String>,
    /// What it is, in words.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}
