//! `cargo xtask nightly`: what is too slow for each change. Random inputs are new each night, and their seed is printed.
//!
//! The matrix of continuity keeps its figures in `target/matrix.json`, cell by cell with the commit, the date and the seed,
//! and goes on where it stopped; `docs/continuity.md` is written from them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use segue_rehearsal::matrix::{self, Cell};
use serde_json::{Value, json};

use crate::bench::{self, redact};
use crate::{Outcome, agents, deny, faults, fuzz, shell, test};

/// The figures of each cell, by its name.
type Results = BTreeMap<String, Value>;

/// Runs one part, or all of them.
pub(crate) fn nightly(words: &[&str]) -> Outcome {
    match words {
        [] => {
            let parts =
                random().and(redact::check()).and(bench::bench(Some("longest"))).and(deny::with_cargo_deny());
            parts.and(fuzz::fuzz(&[])).and(faults::faults(&[])).and(continuity(&[]))
        }
        ["random"] => random(),
        ["redact"] => redact::check(),
        ["longest"] => bench::bench(Some("longest")),
        ["fuzz"] => fuzz::fuzz(&[]),
        ["deny"] => deny::with_cargo_deny(),
        ["faults"] => faults::faults(&[]),
        ["matrix", words @ ..] => continuity(words),
        _ => {
            let parts =
                "random | redact | longest | fuzz | faults | deny | matrix [--pairwise] [--again] [WORD…]";
            Err(format!("cargo xtask nightly [{parts}]").into())
        }
    }
}

// The pure tests with inputs that nobody has seen.
fn random() -> Outcome {
    let seed = now().to_string();
    shell::say(&format!("PROPTEST_RNG_SEED={seed}"));
    let env = [("PROPTEST_RNG_SEED", Path::new(&seed)), ("PROPTEST_CASES", Path::new("2000"))];
    shell::run_with(
        &env,
        "cargo",
        &["test", "--workspace", "--no-fail-fast", "--lib", "--test", "properties"],
    )
}

fn continuity(words: &[&str]) -> Outcome {
    let has = |flag: &str| words.contains(&flag);
    let names: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with("--")).collect();
    let cells = if has("--pairwise") { matrix::pairwise() } else { matrix::all() };
    let commit = shell::read("git", &["rev-parse", "--short", "HEAD"])?.trim().to_owned();
    let mut results = load();
    let done = |results: &Results, cell: &Cell| {
        results.get(&cell.to_string()).is_some_and(|figures| figures["commit"] == commit.as_str())
    };
    let chosen = cells.into_iter().filter(|cell| names.iter().all(|word| cell.to_string().contains(word)));
    let chosen: Vec<Cell> = chosen.filter(|cell| has("--again") || !done(&results, cell)).collect();
    let programs = match std::env::var_os("SEGUE_REAL_AGENTS") {
        Some(dir) => PathBuf::from(dir),
        None => agents::install()?,
    };
    let flags = ["test", "--package", "segue", "--test", "real"];
    let binaries = test::build(&flags)?;
    let real = binaries
        .iter()
        .find(|binary| binary.name == "segue/real")
        .ok_or("there is no test program `real`")?;
    let out = shell::target().join("matrix.cell.json");
    for (n, cell) in chosen.iter().enumerate() {
        // Left from the cell before.
        let _ = std::fs::remove_file(&out);
        let output = Command::new(&real.program)
            .args(["--exact", "matrix::one_cell", "--nocapture"])
            .current_dir(&real.folder)
            .env("SEGUE_REAL_AGENTS", &programs)
            .env("SEGUE_MATRIX_CELL", cell.to_string())
            .env("SEGUE_MATRIX_OUT", &out)
            .output()?;
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        let mut figures: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        figures["commit"] = commit.as_str().into();
        figures["date"] = date()?.into();
        figures["seed"] = "fixed by the cell's name".into();
        figures["passed"] = output.status.success().into();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            let broken: Vec<&str> = said
                .lines()
                .filter_map(|line| line.trim().strip_prefix("\"broken: "))
                .map(|line| line.trim_end_matches("\","))
                .collect();
            figures["broken"] = broken.into();
            if text.is_empty() {
                figures["trouble"] = said.chars().take(3_000).collect::<String>().into();
            }
        }
        shell::say(&format!("{}/{} {}", n + 1, chosen.len(), row(&cell.to_string(), &figures)));
        results.insert(cell.to_string(), figures);
        save(&results)?;
    }
    std::fs::write(shell::root().join("docs/continuity.md"), page(&results))?;
    let failed = results.values().filter(|figures| figures["passed"] != true).count();
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} of {} cells break a promise", results.len()).into())
    }
}

fn row(name: &str, figures: &Value) -> String {
    let list = |name: &str| figures[name].as_array().map_or(0, Vec::len);
    let fills: Vec<String> = figures["fill"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|fill| format!("{:.0}", fill.as_f64().unwrap_or(0.0)))
        .collect();
    let how: std::collections::BTreeSet<&str> =
        figures["how"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let broken: Vec<&str> =
        figures["broken"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let verdict = match (figures["passed"] == true, figures.get("trouble")) {
        (true, _) => "✓".to_owned(),
        (false, Some(_)) => "✗ it came to no end".to_owned(),
        (false, None) => format!("✗ {}", broken.join("; ")),
    };
    format!(
        "| {} | {} | {} of {} {} | {} of {} | {} | {} | {} | {}/{}/{} | {} | {verdict} |",
        name.replace('/', " | "),
        figures["handoffs"],
        figures["by_agent"],
        figures["handoffs"],
        how.into_iter().collect::<Vec<_>>().join(", "),
        figures["facts_reached"],
        figures["facts_said"],
        figures["prompt_tokens"],
        figures["overflows"],
        fills.join(" "),
        list("lost"),
        list("repeated"),
        list("cut"),
        figures["cost_usd"],
    )
}

fn page(results: &Results) -> String {
    let passed = results.values().filter(|figures| figures["passed"] == true).count();
    let mut commits: Vec<String> = results
        .values()
        .map(|figures| {
            format!(
                "{} ({})",
                figures["commit"].as_str().unwrap_or("?"),
                figures["date"].as_str().unwrap_or("?")
            )
        })
        .collect();
    commits.sort();
    commits.dedup();
    let mut text = format!(
        "{INTRODUCTION}{passed} of {} cells that ran keep every promise; the whole matrix has {}. Commits: {}.\n\n{HEAD}",
        results.len(),
        matrix::all().len(),
        commits.join(", ")
    );
    for (name, figures) in results {
        writeln!(text, "{}", row(name, figures)).unwrap_or_default();
    }
    text
}

fn file() -> PathBuf {
    shell::target().join("matrix.json")
}

fn load() -> Results {
    serde_json::from_str(&std::fs::read_to_string(file()).unwrap_or_default()).unwrap_or_default()
}

fn save(results: &Results) -> Outcome {
    let next = file().with_extension("next");
    std::fs::write(&next, serde_json::to_string_pretty(results)?)?;
    Ok(std::fs::rename(&next, file())?)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn date() -> Result<String, Box<dyn std::error::Error>> {
    Ok(shell::read("date", &["-u", "+%Y-%m-%d"])?.trim().to_owned())
}

const HEAD: &str = "| agent | window | results | worker | policy | handoffs | checkpoints by the agent, how | facts that reached the successor | longest prompt, tokens | overflow answers | context used at handoff, % of the ceiling | steps lost/repeated/cut | cost, $ | |\n\
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

const INTRODUCTION: &str = "# Continuity\n\n\
Made by `cargo xtask nightly matrix`: what becomes of an agent's knowledge when its session is replaced. Each cell is a job\n\
of 24 steps with the real CLI against the scripted model server, which counts tokens with a real vocabulary. The worker reads\n\
files of prose, code, Chinese, base64 and minified data between its steps, several at a time, and changes some of them. While it\n\
works it says 24 facts, once each, without a word that marks them, in more than 20,000 tokens of its own prose, a third of\n\
them in the first tenth. A fact reached the successor when it stands in the first request that the server got from it. The\n\
script recites what it said when it is asked, so this measures the transport and not a model's memory.\n\n\
One cell again, with everything it printed:\n\n\
```\n\
SEGUE_MATRIX_CELL=claude/200k/7k/no-list/auto SEGUE_REAL_AGENTS=$PWD/target/agents cargo test -p segue --test real matrix::one_cell -- --nocapture\n\
```\n\n\
A cell keeps its promises when the run is verified, all facts reach every successor (nine in ten from a worker that never\n\
answers), the agent writes the checkpoints, the prompt has at most 10,000 tokens, no step is lost, repeated or cut, nothing\n\
overflows where there is a brake, and the window is used: 90 % of the ceiling with equal results of 2.5k and 7k tokens, 80 % with\n\
others, 60 % on OpenCode, which has no brake.\n\n";
