//! Test programs run one after the other, each test with its time: the slowest are named, and what was skipped or is gone
//! fails unless `xtask/tests.json` lists it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::{Outcome, shell};

/// So many of the slowest tests are named.
const SLOWEST: usize = 10;

/// A test program.
#[derive(Debug, Clone)]
pub(crate) struct Binary {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) folder: PathBuf,
}

/// What is expected of the whole suite.
#[derive(Debug, Deserialize)]
struct Expected {
    /// The fewest tests of each program; a program that is not named has none.
    counts: BTreeMap<String, usize>,
    /// Tests that may be skipped or ignored, with the reason.
    skipped: BTreeMap<String, String>,
}

/// What ran so far.
#[derive(Debug)]
pub(crate) struct Suite {
    agents: PathBuf,
    seed: String,
    times: Vec<(f64, String)>,
    counts: BTreeMap<String, usize>,
    skipped: Vec<String>,
    failed: Vec<String>,
}

impl Suite {
    /// A suite with the real agents in a folder. The same inputs each time, so that what passes here passes again, unless
    /// `PROPTEST_RNG_SEED` says otherwise.
    pub(crate) fn new(agents: &Path) -> Self {
        let seed = std::env::var("PROPTEST_RNG_SEED").unwrap_or_else(|_| "20261116".to_owned());
        Self {
            agents: agents.to_owned(),
            seed,
            times: Vec::new(),
            counts: BTreeMap::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Runs the tests of a program whose names hold one of the words; all of them without words.
    pub(crate) fn run(&mut self, binary: &Binary, threads: usize, words: &[&str]) -> Outcome {
        shell::say(&format!("$ {} --test-threads={threads} {}", binary.name, words.join(" ")));
        let mut command = Command::new(&binary.program);
        command
            .args(words)
            .args([&format!("--test-threads={threads}"), "-Zunstable-options", "--report-time"])
            // The times of single tests are not stable yet; the compiler is not touched by this.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("PROPTEST_RNG_SEED", &self.seed)
            .current_dir(&binary.folder)
            .stdout(Stdio::piped());
        if !self.agents.as_os_str().is_empty() {
            command.env("SEGUE_REAL_AGENTS", &self.agents);
        }
        let mut child = command.spawn()?;
        if let Some(out) = child.stdout.take() {
            for line in BufReader::new(out).lines() {
                let line = line?;
                if !self.take(&binary.name, &line) {
                    shell::say(&line);
                }
            }
        }
        if !child.wait()?.success() {
            self.failed.push(binary.name.clone());
        }
        Ok(())
    }

    /// Reads one line of a test program; whether it is a test that passed, which need not be shown.
    fn take(&mut self, binary: &str, line: &str) -> bool {
        if let Some((test, _)) = line.split_once(": skipped: ") {
            self.skipped.push(test.to_owned());
            return false;
        }
        let Some((test, outcome)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        else {
            return false;
        };
        *self.counts.entry(binary.to_owned()).or_default() += 1;
        if outcome.starts_with("ignored") {
            self.skipped.push(test.to_owned());
            return false;
        }
        let seconds = outcome.rsplit_once('<').and_then(|(_, time)| time.trim_end_matches("s>").parse().ok());
        self.times.extend(seconds.map(|seconds: f64| (seconds, format!("{binary} {test}"))));
        outcome.starts_with("ok")
    }

    /// Names the slowest tests, and fails for what failed, was skipped, or is gone.
    pub(crate) fn finish(mut self, whole: bool) -> Outcome {
        self.times.sort_by(|a, b| b.0.total_cmp(&a.0));
        shell::say("the slowest tests:");
        for (seconds, test) in self.times.iter().take(SLOWEST) {
            shell::say(&format!("{seconds:>8.1} s  {test}"));
        }
        let total: usize = self.counts.values().sum();
        shell::say(&format!("{total} tests, {} skipped, seed {}", self.skipped.len(), self.seed));
        let expected: Expected = serde_json::from_str(include_str!("../tests.json"))?;
        let mut wrong: Vec<String> = self.failed.iter().map(|name| format!("{name} failed")).collect();
        if whole {
            wrong.extend(self.missing(&expected));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
    }

    fn missing(&self, expected: &Expected) -> Vec<String> {
        let skipped = self.skipped.iter().filter(|test| !expected.skipped.contains_key(*test));
        let mut wrong: Vec<String> =
            skipped.map(|test| format!("{test} was skipped and xtask/tests.json does not list it")).collect();
        for (name, least) in &expected.counts {
            let ran = self.counts.get(name).copied().unwrap_or(0);
            if ran < *least {
                wrong.push(format!("{name}: {ran} tests, {least} in xtask/tests.json"));
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_and_missing_tests_are_named_unless_they_are_listed() {
        let mut suite = Suite::new(Path::new(""));
        assert!(suite.take("it", "test a::b ... ok <1.250s>"));
        assert!(!suite.take("it", "test a::slow ... FAILED <9.000s>"));
        assert!(!suite.take("it", "test a::later ... ignored"));
        assert!(!suite.take("real", "gauge::x: skipped: SEGUE_REAL_AGENTS is not set"));
        assert!(!suite.take("it", "test result: ok. 1 passed"));
        assert_eq!(suite.times, [(1.25, "it a::b".to_owned()), (9.0, "it a::slow".to_owned())]);
        let counts = BTreeMap::from([("it".to_owned(), 4), ("real".to_owned(), 0)]);
        let skipped = BTreeMap::from([("a::later".to_owned(), "why".to_owned())]);
        let wrong = suite.missing(&Expected { counts, skipped });
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(
            wrong[0].starts_with("gauge::x was skipped") && wrong[1] == "it: 3 tests, 4 in xtask/tests.json"
        );
    }
}
