//! What is wrong with a configuration, where, and what to do about it.

use std::fmt;

use serde::Serialize;

use crate::config::origin::Origin;

/// One thing that is wrong, or worth a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where, if it is in one place.
    pub(crate) at: Option<Origin>,
    /// What.
    pub(crate) what: Box<Trouble>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// Not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// Not text.
    #[error("the file is not UTF-8 text; save it as UTF-8")]
    NotText,
    /// The file is there but cannot be read.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        why: String,
    },
    /// No such key.
    #[error("unknown key {name:?}{section}; {hint}")]
    UnknownKey {
        /// As it was typed.
        name: String,
        /// ` in [limits]`, or nothing at the top.
        section: String,
        /// What may have been meant.
        hint: String,
    },
    /// No such environment variable.
    #[error("{name} is not a setting of segue and was ignored{hint}")]
    UnknownVariable {
        /// As it was typed.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// The value does not fit the key.
    #[error("{key}: {why}")]
    BadValue {
        /// The key, as a path.
        key: String,
        /// What was expected and found.
        why: String,
    },
    /// Values that do not go together.
    #[error("{0}")]
    Clash(String),
    /// Nobody said which agent.
    #[error(
        "no agent is chosen; use --agent NAME, set SEGUE_AGENT, or write agents = [\"NAME\"] in segue.toml (known names: {known})"
    )]
    NoAgent {
        /// The names that need no configuration.
        known: String,
    },
    /// An agent that nobody defined.
    #[error(
        "agent {name:?} is not known and has no command{hint}. Known names: {known}. To define it:\n  [agent.{quoted}]\n  kind = \"acp\"\n  command = [\"PROGRAM\", \"--acp\"]"
    )]
    UnknownAgent {
        /// As it was typed.
        name: String,
        /// As it is written in a table header.
        quoted: String,
        /// What may have been meant.
        hint: String,
        /// The names that need no configuration.
        known: String,
    },
}

impl Problem {
    /// A problem at a place.
    pub(crate) fn at(at: &Origin, what: Trouble) -> Self {
        Self { at: Some(at.clone()), what: Box::new(what) }
    }

    /// A problem that has no one place.
    pub(crate) fn nowhere(what: Trouble) -> Self {
        Self { at: None, what: Box::new(what) }
    }

    /// Values that do not go together, named at the place of one of them.
    pub(crate) fn clash(at: &Origin, what: impl Into<String>) -> Self {
        Self::at(at, Trouble::Clash(what.into()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            None => {}
            Some(at) => match at.spot() {
                Some(spot) => write!(f, "{}:{}:{}: ", spot.file, spot.line, spot.column)?,
                None => write!(f, "{at}: ")?,
            },
        }
        self.what.fmt(f)
    }
}

impl Serialize for Problem {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spot = self.at.as_ref().and_then(Origin::spot);
        serde_json::json!({
            "file": spot.map(|s| &s.file),
            "line": spot.map(|s| s.line),
            "column": spot.map(|s| s.column),
            "from": self.at.as_ref().map(ToString::to_string),
            "message": self.what.to_string(),
        })
        .serialize(serializer)
    }
}

/// Everything that is wrong, in the order of the layers. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct ConfigErrors(Vec<Problem>);

impl ConfigErrors {
    /// `Err` when there is a problem.
    pub(crate) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    /// Whether all that is missing is the choice of an agent; the caller then adds what it found on `PATH`.
    pub(crate) fn only_no_agent(&self) -> bool {
        self.0.iter().all(|p| matches!(*p.what, Trouble::NoAgent { .. }))
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
