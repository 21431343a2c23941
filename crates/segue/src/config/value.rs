//! A value of the configuration after it was read, and how it is shown again.

use std::fmt;

use segue_machine::GateSpec;
use segue_machine::policy::{Percent, Stage};
use serde_json::json;

use crate::config::scalar;

/// A value that fits its key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Lifted, or never set.
    None,
    /// Text, or one of a few words.
    Text(String),
    /// Text that is never shown.
    Secret(String),
    /// Several texts.
    List(Vec<String>),
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Count(u32),
    /// Tokens.
    Tokens(u64),
    /// A percentage.
    Percent(f64),
    /// A duration in milliseconds.
    Millis(u64),
    /// Money in millionths of a dollar.
    Money(u64),
    /// Millionths of a dollar per million tokens.
    Price(u64),
    /// What may run without asking.
    Permissions(Permissions),
    /// Stages.
    Stages(Vec<Stage>),
    /// Gates.
    Gates(Vec<GateSpec>),
}

/// What an agent may do without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Permissions {
    /// Deny everything that the agent asks for
    #[default]
    Deny,
    /// To change files in the work tree and to run the gates' commands.
    Edit,
    /// Everything; its own checks are off.
    Bypass,
    /// These kinds of tool.
    Allow(Vec<String>),
}

impl Permissions {
    /// The kinds as the machine wants them; `*` is all.
    pub(crate) fn kinds(&self) -> Vec<String> {
        match self {
            Self::Deny | Self::Edit => Vec::new(),
            Self::Bypass => vec!["*".to_owned()],
            Self::Allow(kinds) => kinds.clone(),
        }
    }
}

impl Value {
    /// The value for a machine reader; amounts are text in the form in which they may be written.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::None => serde_json::Value::Null,
            Self::Bool(yes) => json!(yes),
            Self::Count(count) => json!(count),
            Self::Tokens(tokens) => json!(tokens),
            Self::Percent(percent) => json!(percent),
            Self::List(list) => json!(list),
            Self::Permissions(Permissions::Allow(kinds)) => json!(kinds),
            Self::Stages(stages) => stages.iter().map(|s| json!({ "at": s.at, "do": s.actions })).collect(),
            Self::Gates(gates) => gates
                .iter()
                .map(|g| {
                    let timeout = scalar::millis_text(g.timeout_ms);
                    json!({ "name": g.name, "run": g.run, "timeout": timeout, "manual": g.manual })
                })
                .collect(),
            Self::Text(_)
            | Self::Secret(_)
            | Self::Millis(_)
            | Self::Money(_)
            | Self::Price(_)
            | Self::Permissions(_) => {
                json!(self.to_string())
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Text(text) => f.write_str(text),
            Self::Secret(_) => f.write_str("(set, not shown)"),
            Self::List(list) => f.write_str(&list.join(", ")),
            Self::Bool(yes) => yes.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Tokens(tokens) => tokens.fmt(f),
            Self::Percent(percent) => Percent::from_f64(*percent).fmt(f),
            Self::Millis(millis) => f.write_str(&scalar::millis_text(*millis)),
            Self::Money(musd) | Self::Price(musd) => f.write_str(&scalar::musd_text(*musd)),
            Self::Permissions(Permissions::Deny) => f.write_str("deny"),
            Self::Permissions(Permissions::Edit) => f.write_str("edit"),
            Self::Permissions(Permissions::Bypass) => f.write_str("bypass"),
            Self::Permissions(Permissions::Allow(kinds)) => write!(f, "allow {}", kinds.join(", ")),
            Self::Stages(stages) => joined(f, stages, stage_text),
            Self::Gates(gates) => joined(f, gates, gate_text),
        }
    }
}

fn stage_text(stage: &Stage) -> String {
    let actions: Vec<String> = stage.actions.iter().map(ToString::to_string).collect();
    format!("{}: {}", stage.at, actions.join(" + "))
}

fn gate_text(gate: &GateSpec) -> String {
    if gate.manual { format!("{} (manual)", gate.name) } else { format!("{}: {}", gate.name, gate.run) }
}

fn joined<T>(f: &mut fmt::Formatter<'_>, list: &[T], text: impl Fn(&T) -> String) -> fmt::Result {
    if list.is_empty() {
        return f.write_str("none");
    }
    f.write_str(&list.iter().map(text).collect::<Vec<_>>().join("; "))
}
