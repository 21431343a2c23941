//! What a run looks like from outside. `(record, effects, view)` in, lines out: JSON for programs, text for people.
//!
//! Pure: nothing is written from here, and no clock is read, so a replay renders exactly as the live run did. The
//! words that programs rely on are in [`Outer`]; they are public and versioned, unlike the journal's.

mod fields;
mod json;
mod outer;
mod phases;
mod status;
mod stream;
mod terminal;
mod time;
mod words;

pub use fields::{
    AgentSaid, CallsLeft, CheckpointFailed, CheckpointRequested, CheckpointTaken, ForecastBasis,
    ForecastFields, GateFinished, GateTime, GaugeRead, HandoffDecided, ItemsSeen, LimitReached, PhaseFields,
    PhaseStatus, PromptFailed, RunFinished, RunStarted, SessionContinued, SessionEnded, SessionStarted,
    StageReached, WaitFields, Warning,
};
pub use json::{escape_json, to_json_line};
pub use outer::{Line, Outer, SCHEMA, schema};
pub use phases::{PhaseTree, Row, Standing};
pub use status::{
    CheckpointDoc, DayDoc, GateDoc, LimitsDoc, NoteDoc, SessionDoc, StatusDoc, Use, VerdictDoc, render,
    schema as status_schema,
};
pub use stream::OuterStream;
pub use terminal::{
    Beside, Changes, GateNow, Output, Style, Terminal, columns, duration, limit_words, plain, printable, wrap,
};
pub use time::Time;

#[cfg(test)]
mod real_run_tests;
#[cfg(test)]
mod sample;
