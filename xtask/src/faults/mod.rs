//! `cargo xtask faults`: everything that can go wrong at a provider, at three moments, on every agent, as a table.
//!
//! Each cell is one `segue rehearse` of a small job with a home of its own, in a network namespace where the system has
//! them. Results are kept in `target/faults.json`, so that a part of the table can be run again; `docs/faults.md` is
//! written from them.

mod cell;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::{Outcome, agents, shell};
use cell::Cell;

/// Every agent of the table, with the window that it gets: large enough for its instructions and a few steps.
const AGENTS: [(&str, &str); 6] = [
    ("claude", "90k"),
    ("codex", "60k"),
    ("gemini", "60k"),
    ("opencode", "60k"),
    ("qwen", "70k"),
    ("codex-acp", "60k"),
];

/// Every fault, as `segue rehearse --fault` knows it.
const FAULTS: [&str; 10] =
    ["429", "429-no-reset", "529", "401", "500", "quota", "cut", "stall", "hang", "overflow"];

/// The moments.
const MOMENTS: [&str; 3] = ["start", "middle", "checkpoint"];

/// How many cells run at a time: most of their time is spent waiting for a provider that does not answer.
const SIDE_BY_SIDE: usize = 6;

/// What each cell said, by its name.
type Results = BTreeMap<String, Value>;

/// Runs the cells that the words choose, then writes the page.
pub(crate) fn faults(words: &[&str]) -> Outcome {
    let only_missing = words.contains(&"--missing");
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "--missing").collect();
    let mut chosen = choose(&words)?;
    if only_missing {
        let known = load();
        chosen.retain(|cell| !known.contains_key(&cell.name()));
    }
    shell::run("cargo", &["build", "--quiet", "--package", "segue"])?;
    let programs = match std::env::var_os("SEGUE_REAL_AGENTS") {
        Some(dir) => PathBuf::from(dir),
        None => agents::install()?,
    };
    let programs = cell::programs(&programs)?;
    let (here, missing): (Vec<Cell>, Vec<Cell>) =
        chosen.into_iter().partition(|cell| programs.contains_key(cell.agent));
    for agent in AGENTS.map(|(name, _)| name).iter().filter(|name| missing.iter().any(|c| c.agent == **name))
    {
        shell::say(&format!("skipped {agent}: it is not installed"));
    }
    let results = Mutex::new(load());
    let waiting = Mutex::new(VecDeque::from(here));
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                // The lock is let go before the cell runs.
                let next = || lock(&waiting).pop_front();
                while let Some(cell) = next() {
                    let result = cell.run(&programs);
                    shell::say(&format!("{:<32} {}", cell.name(), table::words(&result)));
                    let mut results = lock(&results);
                    results.insert(cell.name(), result);
                    save(&results);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let page = table::page(&results);
    std::fs::write(shell::root().join("docs/faults.md"), &page)?;
    shell::say(&table::summary(&results));
    Ok(())
}

fn choose(words: &[&str]) -> Result<Vec<Cell>, Box<dyn std::error::Error>> {
    let (mut agents, mut faults, mut moments) =
        (AGENTS.map(|(name, _)| name).to_vec(), FAULTS.to_vec(), MOMENTS.to_vec());
    for pair in words.chunks(2) {
        let [flag, value] = pair else { return Err(format!("{} needs a value", pair[0]).into()) };
        let list = match *flag {
            "--agent" => &mut agents,
            "--fault" => &mut faults,
            "--when" => &mut moments,
            _ => {
                return Err(format!(
                    "{flag}: cargo xtask faults [--missing] [--agent A,B] [--fault F] [--when W]"
                )
                .into());
            }
        };
        let wanted: Vec<&str> = value.split(',').collect();
        if let Some(unknown) = wanted.iter().find(|name| !list.contains(name)) {
            return Err(format!("{flag}: {unknown:?} is none of {}", list.join(", ")).into());
        }
        list.retain(|name| wanted.contains(name));
    }
    let mut cells = Vec::new();
    for fault in &faults {
        for when in &moments {
            let of = |(agent, window)| Cell { agent, window, fault, when };
            cells.extend(AGENTS.into_iter().filter(|(agent, _)| agents.contains(agent)).map(of));
        }
    }
    Ok(cells)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file() -> PathBuf {
    shell::target().join("faults.json")
}

fn load() -> Results {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

// What cannot be kept is in the page all the same.
fn save(results: &Results) {
    let next = file().with_extension("next");
    let text = serde_json::to_string_pretty(results).unwrap_or_default();
    let _ = std::fs::write(&next, text).and_then(|()| std::fs::rename(&next, file()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table_has_every_fault_at_every_moment_on_every_agent() {
        assert_eq!(choose(&[]).unwrap().len(), AGENTS.len() * FAULTS.len() * MOMENTS.len());
        assert_eq!(choose(&["--agent", "claude,codex", "--fault", "401"]).unwrap().len(), 6);
        assert_eq!(choose(&["--when", "start"]).unwrap().len(), AGENTS.len() * FAULTS.len());
        for bad in [&["--agent", "nobody"][..], &["--agent"], &["--what", "x"]] {
            assert!(choose(bad).is_err(), "{bad:?}");
        }
    }
}
