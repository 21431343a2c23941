//! The forecast of the next five calls, held against generated sessions and against this project's recordings.

use std::path::{Path, PathBuf};

use super::*;
use segue_machine::AgentEvent;

fn show(score: &Score) -> String {
    format!(
        "{}: {} cases, held {:.1} %, error {:.0} (no change {:.0}, running mean {:.0}), width {:.0} ({:.0}, {:.0})",
        score.name,
        score.cases,
        score.held * 100.0,
        score.error,
        score.no_change.error,
        score.running_mean.error,
        score.width,
        score.no_change.width,
        score.running_mean.width
    )
}

#[test]
fn on_sessions_it_was_not_fitted_to_the_interval_holds_nine_times_in_ten_and_is_no_worse_than_a_naive_one() {
    for regime in Regime::ALL {
        let score = generated(regime, 120, FITTING_SEEDS + 31);
        assert!(score.meets_the_bar(), "{}", show(&score));
    }
}

#[test]
fn on_this_projects_recordings_it_does_too() {
    let score = recorded(&recordings());
    assert!(score.cases > 50 && score.meets_the_bar(), "{}", show(&score));
}

fn recordings() -> Vec<Vec<AgentEvent>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/rehearsal/recordings");
    let files = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path());
    let mut paths: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).collect()
}
