//! `cargo xtask forecast`: how good the forecast of a window's growth is, as a table into `docs/forecast.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use segue_machine::AgentEvent;

use crate::accuracy::{FITTING_SEEDS, Regime, Score, generated, recorded};
use crate::{Outcome, shell};

const SESSIONS: u64 = 1_000;
const HEAD: &str = "<!-- table -->";
const FOOT: &str = "<!-- end of table -->";

/// Writes the table.
pub(crate) fn forecast() -> Outcome {
    let mut scores: Vec<Score> =
        Regime::ALL.into_iter().map(|regime| generated(regime, SESSIONS, FITTING_SEEDS + 1)).collect();
    scores.push(recorded(&recordings(&shell::root().join("crates/rehearsal/recordings"))?));
    let path = shell::root().join("docs/forecast.md");
    let page = std::fs::read_to_string(&path)?;
    let (before, rest) = page.split_once(HEAD).ok_or("docs/forecast.md has no place for the table")?;
    let (_, after) = rest.split_once(FOOT).ok_or("docs/forecast.md has no end of the table")?;
    std::fs::write(&path, format!("{before}{HEAD}\n{}{FOOT}{after}", table(&scores)))?;
    match scores.iter().find(|score| !score.meets_the_bar()) {
        Some(score) => Err(format!("the forecast misses its bar: {score:?}").into()),
        None => Ok(()),
    }
}

fn table(scores: &[Score]) -> String {
    let mut text = String::from(
        "| sessions | cases | 90 % interval held | error: forecast | no change | running mean | width: forecast | no change | running mean |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for score in scores {
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} % | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
            score.name,
            score.cases,
            score.held * 100.0,
            score.error,
            score.no_change.error,
            score.running_mean.error,
            score.width,
            score.no_change.width,
            score.running_mean.width
        );
    }
    text
}

fn recordings(root: &Path) -> Result<Vec<Vec<AgentEvent>>, Box<dyn std::error::Error>> {
    let mut paths = Vec::new();
    for file in std::fs::read_dir(root)? {
        paths.push(file?.path());
    }
    paths.retain(|path: &PathBuf| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths.iter().map(|path| Ok(serde_json::from_slice(&std::fs::read(path)?)?)).collect()
}
