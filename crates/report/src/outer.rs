//! The public contract: the types of outer events by name, one line of `--json`, and the JSON Schema of both.
//! Nothing here decides anything; see `stream.rs` for which inner step makes which line.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use segue_machine::GateChange;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::Time;
use crate::fields::{
    AgentSaid, CheckpointFailed, CheckpointRequested, CheckpointTaken, GateFinished, GaugeRead,
    HandoffDecided, ItemsSeen, LimitReached, PhaseFields, PromptFailed, RunFinished, RunStarted,
    SessionContinued, SessionEnded, SessionStarted, StageReached, WaitFields, Warning,
};

/// The version of the contract. It changes only when a name or a meaning does; added fields do not count.
pub const SCHEMA: u32 = 2;

/// The one table of names: the enum, its serialised tags and the order of a line's fields all come from it.
macro_rules! outer_events {
    ($($(#[$doc:meta])* $variant:ident($body:ident) = $name:tt,)*) => {
        /// What happened, in the words of the public contract.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type")]
        pub enum Outer {
            $($(#[$doc])* #[serde(rename = $name)] $variant($body),)*
        }

        impl Outer {
            /// Every type there is.
            pub const TYPES: &[&str] = &[$($name),*];

            /// The type by its public name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }
        }

        impl Serialize for Line {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.event {
                    $(Outer::$variant(body) => Flat::new(self, body).serialize(serializer),)*
                }
            }
        }
    };
}

outer_events! {
    /// A run began.
    RunStarted(RunStarted) = "run.started",
    /// A session takes prompts.
    SessionStarted(SessionStarted) = "session.started",
    /// The gauge moved.
    GaugeRead(GaugeRead) = "gauge.read",
    /// The agent said something in its main thread.
    AgentSaid(AgentSaid) = "agent.said",
    /// The agent's own list changed.
    ItemsSeen(ItemsSeen) = "items.seen",
    /// The gauge passed a stage.
    StageReached(StageReached) = "stage.reached",
    /// The agent was asked for a checkpoint.
    CheckpointRequested(CheckpointRequested) = "checkpoint.requested",
    /// A checkpoint is on disk and the work is saved.
    CheckpointTaken(CheckpointTaken) = "checkpoint.taken",
    /// A checkpoint could not be written.
    CheckpointFailed(CheckpointFailed) = "checkpoint.failed",
    /// The words of a prompt could not be made.
    PromptFailed(PromptFailed) = "prompt.failed",
    /// What comes after a session was decided.
    HandoffDecided(HandoffDecided) = "handoff.decided",
    /// A conversation is continued after a failure.
    SessionContinued(SessionContinued) = "session.continued",
    /// A session is over.
    SessionEnded(SessionEnded) = "session.ended",
    /// A gate ran.
    GateFinished(GateFinished) = "gate.finished",
    /// What a gate runs was changed, or could not be checked.
    GateChanged(GateChange) = "gate.changed",
    /// A phase of a plan began.
    PhaseStarted(PhaseFields) = "phase.started",
    /// A phase of a plan ended.
    PhaseFinished(PhaseFields) = "phase.finished",
    /// Waiting began.
    WaitStarted(WaitFields) = "wait.started",
    /// Waiting ended.
    WaitEnded(WaitFields) = "wait.ended",
    /// A limit was reached.
    LimitReached(LimitReached) = "limit.reached",
    /// Something a person should know and that changes nothing.
    Warning(Warning) = "warning",
    /// A run is over.
    RunFinished(RunFinished) = "run.finished",
}

/// One line of `--json`. In JSON: `type`, `run`, `seq`, `at`, then the event's own fields.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Line {
    /// The run's id.
    pub run: String,
    /// 1 for the run's first line, without gaps; the same in every replay.
    pub seq: u64,
    /// When it happened.
    pub at: Time,
    /// What happened.
    #[serde(flatten)]
    pub event: Outer,
}

/// A line with its type first, as people read it.
#[derive(Serialize)]
struct Flat<'a, B: Serialize> {
    #[serde(rename = "type")]
    name: &'static str,
    run: &'a str,
    seq: u64,
    at: Time,
    #[serde(flatten)]
    body: &'a B,
}

impl<'a, B: Serialize> Flat<'a, B> {
    fn new(line: &'a Line, body: &'a B) -> Self {
        Self { name: line.event.name(), run: &line.run, seq: line.seq, at: line.at, body }
    }
}

/// The JSON Schema of one line, as it is written: fields that are always there are required, `null` or not.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Line>();
    schema.insert("$id".to_owned(), format!("urn:segue:events:{SCHEMA}").into());
    schema.insert("title".to_owned(), format!("One line of segue --json, version {SCHEMA}").into());
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{sample, to_json_line};

    #[test]
    fn every_line_begins_with_type_run_seq_and_at() {
        for line in sample::one_of_each() {
            let json = to_json_line(&line);
            let name = line.event.name();
            let head = format!(r#"{{"type":"{name}","run":"r1","seq":7,"at":"2026-01-31T12:00:00.000Z","#);
            assert!(json.starts_with(&head), "{json}");
        }
    }

    #[test]
    fn every_line_reads_back_as_what_it_was() {
        for line in sample::one_of_each() {
            assert_eq!(serde_json::from_str::<Line>(&to_json_line(&line)).unwrap(), line);
        }
    }

    #[test]
    fn the_sample_holds_every_type_there_is() {
        let names: Vec<&str> = sample::one_of_each().iter().map(|l| l.event.name()).collect();
        assert_eq!(names, Outer::TYPES);
    }

    #[test]
    fn a_tagged_event_and_a_line_use_the_same_name() {
        for line in sample::one_of_each() {
            assert_eq!(serde_json::to_value(&line.event).unwrap()["type"], line.event.name());
        }
    }

    #[test]
    fn what_is_unknown_is_null_and_there() {
        let line = sample::line(Outer::GaugeRead(sample::unknown_gauge()));
        let value = serde_json::to_value(&line).unwrap();
        for field in ["tokens", "projected", "window", "ceiling", "percent"] {
            assert_eq!(value.get(field), Some(&Value::Null), "{field}");
        }
        assert_eq!(value["final"], json!(true));
    }

    #[test]
    fn the_schema_names_every_type_and_requires_what_is_always_there() {
        let schema = schema();
        let variants = schema["oneOf"].as_array().unwrap();
        assert_eq!(variants.len(), Outer::TYPES.len());
        let text = schema.to_string();
        assert!(Outer::TYPES.iter().all(|name| text.contains(&format!(r#""const":"{name}""#))));
        assert_eq!(schema["required"], json!(["run", "seq", "at"]));
        let gauge = &schema["$defs"]["GaugeRead"]["required"];
        assert!(gauge.as_array().unwrap().contains(&json!("percent")), "{gauge}");
        assert!(!gauge.as_array().unwrap().contains(&json!("usage_pct")), "{gauge}");
    }
}
