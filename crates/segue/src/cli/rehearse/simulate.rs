//! `segue rehearse --simulate`: the policies in thousands of simulated runs, as a table that helps to choose one.

use std::io::{IsTerminal, Write};

use segue_machine::gauge::parse_tokens;
use segue_machine::policy::preset;
use segue_rehearsal::simulate::{Comparison, GROWTHS, Growth, Row, World};

use super::super::args::Rehearse;
use super::super::failure::Failure;
use super::super::open::Place;
use super::super::out;
use super::table;
use crate::driver::screen_width;

/// The window of a simulation, unless another one is asked for.
const WINDOW: &str = "200k";
/// Less than this and the first call of a session takes most of the window.
const LEAST_WINDOW: u64 = 100_000;
/// More runs than anybody waits for.
const MOST_RUNS: u64 = 1_000_000;
/// Columns of an output that is no screen.
const UNKNOWN_WIDTH: u16 = 130;
/// The least and the most runs of one point of a curve.
const CURVE_RUNS: (u64, u64) = (50, 2_000);

/// Plays the comparison and prints it.
pub(super) fn simulate(at: &Place, args: &Rehearse) -> Result<u8, Failure> {
    let comparison = comparison(args)?;
    let watched = !at.json && std::io::stderr().is_terminal();
    let rows = comparison
        .play(|row| {
            if watched {
                tell(row);
            }
        })
        .map_err(|why| Failure::usage(format!("--policy: {why}")))?;
    if watched {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    if at.json {
        out::line(&table::json(&comparison, &rows).to_string());
    } else {
        let width = Some(screen_width()).filter(|width| *width > 0).unwrap_or(UNKNOWN_WIDTH);
        out::lines(table::words(&comparison, &rows, width));
    }
    Ok(0)
}

fn tell(row: &Row) {
    let _ = write!(std::io::stderr(), "\r\x1b[K{} {}", row.policy, table::brake_words(row.brake));
}

fn comparison(args: &Rehearse) -> Result<Comparison, Failure> {
    let wanted = args.window.as_deref().unwrap_or(WINDOW);
    let window = parse_tokens(wanted).filter(|window| *window >= LEAST_WINDOW).ok_or_else(|| {
        Failure::usage(format!(
            "--window {wanted:?}: must be at least {LEAST_WINDOW} tokens, such as 200k; in a smaller window the first call of a session takes most of the room"
        ))
    })?;
    let simulate = &args.simulate;
    if !(1..=MOST_RUNS).contains(&simulate.runs) {
        return Err(Failure::usage(format!("--runs must be between 1 and {MOST_RUNS}")));
    }
    let policies = args.policy.as_deref().map_or_else(
        || preset::NAMES.iter().map(|name| (*name).to_owned()).collect(),
        |names| names.split(',').map(|name| name.trim().to_owned()).collect(),
    );
    Ok(Comparison {
        policies,
        world: World::new(window, growth(&simulate.growth)?),
        brakes: if simulate.no_brake { vec![false] } else { vec![true, false] },
        runs: simulate.runs,
        curve_runs: (simulate.runs / 10).clamp(CURVE_RUNS.0, CURVE_RUNS.1).min(simulate.runs),
        seed: simulate.seed,
    })
}

fn growth(name: &str) -> Result<Growth, Failure> {
    GROWTHS.iter().find(|growth| growth.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = GROWTHS.iter().map(|growth| growth.name).collect();
        Failure::usage(format!("--growth {name:?}: must be one of {}", names.join(", ")))
    })
}
