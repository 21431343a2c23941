//! What programs answered about themselves, kept until their files change: asking a CLI for its version takes a second.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::state::State;

const FILE: &str = "agents.json";
/// More than anybody has installed; older answers go.
const MOST: usize = 200;

/// What a program said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) version: String,
    /// Words that its help lacks.
    pub(super) lacks: Vec<String>,
}

/// The answer of a program whose file is as it was.
pub(super) fn known(program: &Path, command: &[String]) -> Option<Answer> {
    let answers: BTreeMap<String, Answer> = State::of_user()?.read(FILE);
    answers.get(&key(program, command)?).cloned()
}

/// Keeps an answer. Without a place for it, it is asked again the next time.
pub(super) fn keep(program: &Path, command: &[String], answer: &Answer) {
    let (Some(state), Some(key)) = (State::of_user(), key(program, command)) else { return };
    let _ = state.update(FILE, |answers: &mut BTreeMap<String, Answer>| {
        if answers.len() >= MOST {
            answers.clear();
        }
        answers.insert(key, answer.clone());
    });
}

// The file that is run in the end, when it was changed, and how large it is.
fn key(program: &Path, command: &[String]) -> Option<String> {
    let file = program.canonicalize().ok()?;
    let meta = file.metadata().ok()?;
    let (changed, part, size) = (meta.mtime(), meta.mtime_nsec(), meta.size());
    Some(format!("{} {changed}.{part} {size} {}", file.display(), command.join(" ")))
}
