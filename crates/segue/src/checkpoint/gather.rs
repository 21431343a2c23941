//! The parts of a checkpoint that are counted, copied or looked up, never asked for: history, sizes, errors, what is next.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use segue_machine::checkpoint::parse;
use segue_machine::{GateWhen, NextKind, NextStep, ToolDone};

use super::document::{Files, History, Iteration, Next, OutputFile};
use super::tool_calls::failure_line;
use super::{Situation, Workplace};
use crate::store::safely;

/// How many sessions and lines of the past a checkpoint holds.
const ITERATIONS: usize = 5;
const LINES: usize = 500;
/// Lines are cut to this many characters, and no more than this many bytes are looked at.
const LINE_CHARS: usize = 2_000;
const LOOKED_AT: u64 = 256 * 1024;
/// How many sizes and errors a checkpoint holds.
const OUTPUTS: usize = 1_000;
const ERRORS: usize = 20;

/// What happened up to now.
pub(super) fn history(place: &Workplace, situation: &Situation, session: u32) -> History {
    let transcript = place.store.output(&place.run, session);
    let mut sessions: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for tool in &situation.tools {
        sessions.entry(tool.session).or_default().push(tool_line(tool));
    }
    let skip = sessions.len().saturating_sub(ITERATIONS);
    let iterations = sessions.into_iter().skip(skip).map(|(session, tools)| Iteration { session, tools });
    History {
        iterations: iterations.collect(),
        lines: last_lines(&transcript).unwrap_or_default(),
        transcript: transcript.exists().then(|| place.store.shown(&transcript)),
    }
}

fn tool_line(tool: &ToolDone) -> String {
    if tool.ok { tool.title.clone() } else { format!("{} (failed)", tool.title) }
}

/// The end of a file, by lines.
fn last_lines(path: &Path) -> std::io::Result<Vec<String>> {
    let mut file = safely::open(path)?;
    let start = file.metadata()?.len().saturating_sub(LOOKED_AT);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line is whole only at the beginning of the file.
    let lines: Vec<&str> = text.lines().skip(usize::from(start > 0)).collect();
    let cut = |line: &&str| match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}… (cut)", &line[..at]),
        None => (*line).to_owned(),
    };
    Ok(lines.iter().skip(lines.len().saturating_sub(LINES)).map(cut).collect())
}

/// Files that were made or changed, with their sizes.
pub(super) fn outputs(workdir: &Path, files: &Files) -> Vec<OutputFile> {
    let made = files.created.iter().chain(&files.modified).take(OUTPUTS);
    let size = |path: &String| Some(std::fs::symlink_metadata(workdir.join(path)).ok()?.len());
    made.filter_map(|path| Some(OutputFile { path: path.clone(), bytes: size(path)? })).collect()
}

/// What failed last, newest first: gates, then tool calls.
pub(super) fn errors(situation: &Situation) -> Vec<String> {
    let gates = situation.gates.iter().filter(|gate| !gate.passed).map(|gate| {
        let exit = gate.ended();
        let when = if gate.when == GateWhen::Before { ", before the work began" } else { "" };
        format!("gate {}: {exit}{when}", gate.gate)
    });
    let tools = situation.tools.iter().rev().filter(|tool| !tool.ok);
    let tools = tools.map(|tool| format!("session {}: {}", tool.session, failure_line(tool)));
    gates.chain(tools).take(ERRORS).collect()
}

/// What is to follow, and what to begin with.
pub(super) fn next(step: Option<&NextStep>, summary: &str) -> Next {
    let first = parse(summary).items(&["next", "remaining"]).first().cloned();
    let word = |kind| match kind {
        NextKind::Continue => "continue",
        NextKind::Gates => "gates",
        NextKind::Restart => "restart",
        NextKind::Fallback => "fallback",
        NextKind::Forced => "forced",
        NextKind::Helper => "helper",
        NextKind::Split => "split",
        NextKind::Resume => "resume",
        NextKind::Stop => "stop",
    };
    Next {
        kind: step.map(|step| word(step.kind).to_owned()),
        agent: step.and_then(|step| step.agent.clone()),
        role: None,
        instruction: first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_500_lines_are_kept_and_long_ones_are_cut_between_characters() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s1.out");
        let short: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, &short).unwrap();
        let lines = last_lines(&path).unwrap();
        assert_eq!((lines.len(), lines[0].as_str(), lines[499].as_str()), (500, "line 1500", "line 1999"));
        std::fs::write(&path, format!("{short}{}\n", "ä€😀".repeat(1_000))).unwrap();
        let last = last_lines(&path).unwrap().pop().unwrap();
        assert_eq!(last.chars().count(), LINE_CHARS + "… (cut)".chars().count());
        std::fs::write(&path, "x".repeat(1_000_000)).unwrap();
        assert!(last_lines(&path).unwrap().is_empty(), "half a line says nothing");
        assert!(last_lines(&dir.path().join("none")).is_err());
    }
}
