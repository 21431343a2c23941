//! `cargo xtask simulate`: the policies in 10,000 simulated runs each, written into `docs/simulator.md`; with options a
//! comparison of one's own, printed. The seed is fixed, so the page changes only when a decision does.

use std::io::{IsTerminal, Write};

use segue_machine::gauge::parse_tokens;
use segue_machine::policy::preset;

use super::{Comparison, GROWTHS, Row, World, words};
use crate::{Outcome, shell};

const PAGE: &str = "docs/simulator.md";
const BEGIN: &str = "<!-- simulation -->\n";
const END: &str = "<!-- end of simulation -->";

/// Columns of an output that is no screen.
const WIDTH: u16 = 130;
/// Less than this and the first call of a session takes most of the window.
const LEAST_WINDOW: u64 = 100_000;
/// The least and the most runs of one point of a curve.
const CURVE_RUNS: (u64, u64) = (50, 2_000);

/// Plays a comparison; without options the one of the page, which it writes.
pub(crate) fn command(args: &[&str]) -> Outcome {
    // Thousands of runs in a debug build are waited for.
    if cfg!(debug_assertions) {
        let call = ["run", "--quiet", "--release", "--package", "xtask", "--", "simulate"];
        return shell::run("cargo", &[&call[..], args].concat());
    }
    if !args.is_empty() {
        let (comparison, json) = comparison(args)?;
        let rows = play(&comparison)?;
        if json {
            shell::say(&words::json(&comparison, &rows).to_string());
        } else {
            words::words(&comparison, &rows, WIDTH).iter().for_each(|line| shell::say(line));
        }
        return Ok(());
    }
    let (comparison, _) = comparison(&["--runs", "10000"])?;
    let table = words::words(&comparison, &play(&comparison)?, WIDTH).join("\n");
    let path = shell::root().join(PAGE);
    let page = std::fs::read_to_string(&path)?;
    let missing = || format!("{PAGE} has no place for the table: {} … {END}", BEGIN.trim_end());
    let (head, rest) = page.split_once(BEGIN).ok_or_else(missing)?;
    let (_, tail) = rest.split_once(END).ok_or_else(missing)?;
    let table = format!("```\n$ cargo xtask simulate\n{table}\n```\n");
    std::fs::write(&path, format!("{head}{BEGIN}{table}{END}{tail}"))?;
    shell::say(&format!("wrote {PAGE}"));
    Ok(())
}

fn play(comparison: &Comparison) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let watched = std::io::stderr().is_terminal();
    let tell = |row: &Row| {
        if watched {
            let _ = writeln!(std::io::stderr(), "{} {}", row.policy, words::brake_words(row.brake));
        }
    };
    Ok(comparison.play(tell)?)
}

fn comparison(args: &[&str]) -> Result<(Comparison, bool), Box<dyn std::error::Error>> {
    let (mut window, mut growth, mut runs, mut seed) = ("200k", "claude", 1_000, 2_026);
    let (mut policies, mut brakes, mut json): (Vec<&str>, _, _) =
        (preset::NAMES.to_vec(), vec![true, false], false);
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let mut value = || args.next().copied().ok_or_else(|| format!("{flag} needs a value"));
        match *flag {
            "--json" => json = true,
            "--no-brake" => brakes = vec![false],
            "--window" => window = value()?,
            "--growth" => growth = value()?,
            "--runs" => runs = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--policy" => policies = value()?.split(',').map(str::trim).collect(),
            other => {
                let flags = "--policy A,B --window N --growth NAME --runs N --seed N --no-brake --json";
                return Err(format!("{other}: there are {flags}").into());
            }
        }
    }
    let window = parse_tokens(window).filter(|window| *window >= LEAST_WINDOW);
    let window = window.ok_or_else(|| format!("--window is a number of tokens from {LEAST_WINDOW} on"))?;
    let found = GROWTHS.iter().find(|known| known.name == growth).copied();
    let growth = found.ok_or_else(|| {
        let names: Vec<&str> = GROWTHS.iter().map(|growth| growth.name).collect();
        format!("--growth {growth:?}: one of {}", names.join(", "))
    })?;
    if runs == 0 {
        return Err("--runs is a number from 1 on".into());
    }
    let comparison = Comparison {
        policies: policies.into_iter().map(str::to_owned).collect(),
        world: World::new(window, growth),
        brakes,
        runs,
        curve_runs: (runs / 10).clamp(CURVE_RUNS.0, CURVE_RUNS.1).min(runs),
        seed,
    };
    Ok((comparison, json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_of_ones_own_is_read_from_flags_and_what_it_cannot_do_is_said() {
        let (asked, json) =
            comparison(&["--policy", "auto, seamless", "--runs", "2", "--no-brake", "--seed", "5", "--json"])
                .unwrap();
        assert_eq!(
            (asked.policies.as_slice(), asked.runs, asked.seed),
            (&["auto".to_owned(), "seamless".to_owned()][..], 2, 5)
        );
        assert!(json && asked.brakes == [false]);
        let rows = play(&asked).unwrap();
        let doc = words::json(&asked, &rows);
        assert_eq!((&doc["type"], &doc["seed"]), (&"simulation.finished".into(), &5.into()));
        for row in doc["policies"].as_array().unwrap() {
            assert!(row["figures"]["handoffs"].as_u64().unwrap() > 1 && row["figures"]["lost"] == 0, "{row}");
            assert_eq!(row["curve"].as_array().unwrap().len(), 10, "{row}");
        }
        let text = words::words(&asked, &rows, WIDTH).join("\n");
        assert!(text.contains("2 simulated runs") && text.contains("without a brake"), "{text}");
        for (args, says) in [
            (["--window", "60k"], "from 100000 on"),
            (["--runs", "0"], "from 1 on"),
            (["--growth", "wild"], "claude, codex, recordings"),
            (["--agent", "claude"], "there are --policy"),
        ] {
            assert!(comparison(&args).unwrap_err().to_string().contains(says), "{args:?}");
        }
        let (unknown, _) = comparison(&["--policy", "best", "--runs", "1"]).unwrap();
        assert!(play(&unknown).unwrap_err().to_string().contains("is no policy"));
    }
}
