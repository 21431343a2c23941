//! `cargo xtask test` and `quick`: what CI checks and what a contributor runs all the time, in the order in which it fails
//! fastest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use crate::suite::{Binary, Suite};
use crate::{Outcome, agents, deny, edges, fuzz, generate, shell};

/// The test programs with real agents: they wait for most of their time.
const REAL: [&str; 1] = ["segue/real"];
/// The test programs that start segue from end to end: they wait too.
const FROM_END_TO_END: [&str; 1] = ["segue/it"];
/// Every other test program besides those in the sources of the crates themselves.
const PURE: [&str; 13] = [
    "agents/cassettes",
    "agents/words",
    "fuzz/seeds",
    "machine/claims",
    "machine/ledger",
    "machine/properties",
    "machine/statement",
    "plans/corpus",
    "plans/properties",
    "plans/shapes",
    "redact/it",
    "rehearsal/model_server",
    "rehearsal/wire",
];
/// The lists, what fails fast first.
const LISTS: [&[&str]; 3] = [&PURE, &FROM_END_TO_END, &REAL];

/// Side by side where a test mostly waits.
const MANY: usize = 4;

/// Runs every check.
pub(crate) fn test() -> Outcome {
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    edges::check()?;
    deny::check()?;
    shell::run("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    generate::generate(true)?;
    fuzz::short()?;
    let agents = agents::install()?;
    let mut suite = Suite::new(&agents);
    let binaries = build(&["test", "--workspace", "--lib", "--bins", "--tests"])?;
    for binary in &binaries {
        suite.run(binary, threads(&binary.name), &[])?;
    }
    suite.finish(true)
}

/// Runs what answers within a minute: format, the pure tests, and those from end to end whose names hold one of the words.
pub(crate) fn quick(words: &[&str]) -> Outcome {
    let since = Instant::now();
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    let mut suite = Suite::new(Path::new(""));
    // The fast ones by name, so that nothing else is linked.
    let mut flags = vec!["test", "--workspace", "--lib", "--bins"];
    let named = |list: &'static [&'static str]| list.iter().filter_map(|name| name.split_once('/'));
    flags.extend(named(&PURE).flat_map(|(_, name)| ["--test", name]));
    for binary in &build(&flags)? {
        let from_end_to_end = FROM_END_TO_END.contains(&binary.name.as_str());
        if !from_end_to_end || !words.is_empty() {
            suite.run(binary, threads(&binary.name), if from_end_to_end { words } else { &[] })?;
        }
    }
    suite.finish(false)?;
    shell::say(&format!("quick: {} s", since.elapsed().as_secs()));
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn threads(binary: &str) -> usize {
    if FROM_END_TO_END.contains(&binary) {
        MANY
    } else if REAL.contains(&binary) {
        cores() + 1
    } else {
        cores()
    }
}

/// Builds the test programs and says where they are; one that stands in no list is an error.
pub(crate) fn build(flags: &[&str]) -> Result<Vec<Binary>, Box<dyn std::error::Error>> {
    let flags = [flags, &["--no-run", "--message-format=json-render-diagnostics"]].concat();
    let text = shell::read_shown("cargo", &flags)?;
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let Some(program) = message["executable"].as_str() else { continue };
        if message["profile"]["test"] != true {
            continue;
        }
        let target = &message["target"];
        let manifest = PathBuf::from(message["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().map(Path::to_owned).unwrap_or_default();
        let package = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (kind, name) = (target["kind"][0].as_str(), target["name"].as_str().unwrap_or_default());
        let (name, place) = if kind == Some("test") {
            let name = format!("{package}/{name}");
            let Some(place) = LISTS.iter().position(|list| list.contains(&name.as_str())) else {
                return Err(format!("{name} stands in no list of xtask/src/test.rs").into());
            };
            (name, place + 1)
        } else {
            (format!("{package}/{}", kind.unwrap_or("src")), 0)
        };
        found.insert((place, name.clone()), Binary { name, program: program.into(), folder });
    }
    Ok(found.into_values().collect())
}
