//! What belongs to a plan beside its work: how it was recognised, its header, notes and neighbouring documents.

use serde::Serialize;

use crate::model::{Format, Place};

/// How sure a reader is of a format, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Recognition {
    /// From 0 to 100.
    pub score: u8,
    /// What speaks for it, in words.
    pub reasons: Vec<String>,
    /// Formats that came next, with their scores, best first.
    pub others: Vec<(Format, u8)>,
    /// Whether a person said so.
    pub told: bool,
}

/// A section of a plan that is no work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Where its heading stands.
    #[serde(skip)]
    pub at: Place,
    /// What it is about.
    pub kind: SectionKind,
    /// Its heading.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// What a section is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// Notes, context, patterns, decisions.
    #[default]
    Notes,
    /// What must be kept to: constraints, rules, risks.
    Constraints,
    /// What must not be done.
    OutOfScope,
    /// How it is tested.
    Testing,
    /// What comes before what.
    Order,
}
