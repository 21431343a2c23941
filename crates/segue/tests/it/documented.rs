//! What the documents tell people to type works: every `segue` command line is accepted by the program, and every piece
//! of TOML is a configuration without faults.
//!
//! Command lines are parsed here (`--help` is put behind them) and executed in `executed`. The README's first steps are run
//! with a real CLI in `real::newcomer`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{World, small};
use crate::words::shown_by_the_program;

pub(crate) fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files: Vec<PathBuf> = ["docs", "docs/guide"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.push(root.join("README.md"));
    files.sort();
    let name = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    let mut documents: Vec<(String, String)> =
        files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect();
    let example = include_str!("../../../../docs/examples/segue.toml");
    documents.push(("docs/examples/segue.toml".to_owned(), format!("```toml\n{example}```\n")));
    documents
}

/// The fenced blocks of a document, with their languages.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|l| !l.trim_start().starts_with("```")).collect();
            found.push((language, body.join("\n")));
        }
    }
    found
}

/// The command lines in a document: lines of blocks that begin with `segue`, and inline code that does.
pub(crate) fn commands(text: &str) -> Vec<String> {
    let mut found: Vec<String> = blocks(text)
        .iter()
        .flat_map(|(_, body)| body.lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| line.trim_start_matches(['$', ' ']).to_owned())
        .collect();
    let mut prose = text.to_owned();
    blocks(text).iter().for_each(|(_, body)| prose = prose.replace(body.as_str(), ""));
    found.extend(
        prose.split('`').skip(1).step_by(2).map(|code| code.split_whitespace().collect::<Vec<_>>().join(" ")),
    );
    found.retain(|line| line.starts_with("segue ") && !line.starts_with("segue …"));
    found
}

/// The words of a command line up to where its explanation begins: two spaces, a comment, a pipe, or an ellipsis.
pub(crate) fn words(line: &str) -> Vec<String> {
    let end = ["  ", " #", " | ", " > "].iter().filter_map(|mark| line.find(mark)).min();
    let line = &line[..end.unwrap_or(line.len())];
    let mut words = Vec::new();
    let (mut word, mut quote, mut quoted) = (String::new(), None, false);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            ('\'' | '"', None) => (quote, quoted) = (Some(c), true),
            (' ', None) => {
                if quoted || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                quoted = false;
            }
            (c, _) => word.push(c),
        }
    }
    if quoted || !word.is_empty() {
        words.push(word);
    }
    // What stands in brackets may be left out; of alternatives the first one is typed.
    words.retain(|word| !word.starts_with('[') && !word.ends_with(']'));
    // An ellipsis stands for a value, in tables of what other tools call it.
    words
        .iter()
        .map(|word| if word == "…" { "1" } else { word.split('|').next().unwrap() }.to_owned())
        .collect()
}

#[test]
fn documented_command_lines_are_ones_that_the_program_takes() {
    let mut faults = Vec::new();
    let mut parsed = 0;
    for (name, text) in documents() {
        for line in commands(&text) {
            parsed += 1;
            if let Err(said) = takes(&line) {
                faults.push(format!("{name}: {line}\n    {said}"));
            }
        }
    }
    assert!(parsed > 100, "only {parsed} command lines were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn documented_advice_in_messages_is_a_command_that_the_program_takes() {
    let mut faults = Vec::new();
    let mut parsed = 0;
    for (name, text) in shown_by_the_program() {
        for line in text.split('`').skip(1).step_by(2).filter(|code| code.starts_with("segue ")) {
            parsed += 1;
            // The bridge starts what stands behind it; the words of an answer are the user's own.
            if line.starts_with("segue bridge ") || line.contains("\"…\"") {
                continue;
            }
            if line.contains('…') {
                faults.push(format!("{name}: {line}\n    cannot be pasted as it is"));
            } else if let Err(said) = takes(&filled_in(line)) {
                faults.push(format!("{name}: {line}\n    {said}"));
            }
        }
    }
    assert!(parsed > 50, "only {parsed} pieces of advice were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The line with something for what a message fills in.
pub(crate) fn filled_in(line: &str) -> String {
    let mut filled = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (what, after) = after.split_once('}').unwrap();
        filled.push_str(match what {
            "flag" => "--max-sessions",
            "time" => "2h",
            _ => "1",
        });
        rest = after;
    }
    filled + rest
}

fn takes(line: &str) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(&words(line)[1..]).arg("--help").current_dir(std::env::temp_dir());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

#[test]
fn documented_settings_are_a_configuration_without_faults() {
    let world = World::new(1, small());
    let mut faults = Vec::new();
    let mut checked = 0;
    for (name, text) in documents() {
        for (_, body) in blocks(&text).into_iter().filter(|(language, _)| *language == "toml") {
            // A plan of one's own and a fragment of another tool's file are no settings.
            if body.contains("[[phase") || body.contains("[[task") {
                continue;
            }
            world.write("segue.toml", &body);
            let done = world.segue(&["config", "check"]);
            checked += 1;
            if done.code != Some(0) {
                faults.push(format!("{name}:\n{body}\n    {}", done.all()));
            }
        }
    }
    assert!(checked > 10, "only {checked} pieces of configuration were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
