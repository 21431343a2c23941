//! How fast texts are cleaned, measured by the crate's own example as a release build.

use super::Row;
use crate::{Outcome, shell};

/// What every kind of text must reach, in megabytes a second.
const LEAST: f64 = 50.0;

/// A kind of text, the speed of it as a whole, and as output by lines.
type Speed = (String, f64, f64);

pub(super) fn rows() -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let rows = speeds()?.into_iter().map(|(kind, whole, by_line)| Row {
        what: format!("redaction of {kind}").leak(),
        figure: format!("{whole:.0} MB/s"),
        beside: format!("as output by lines: {by_line:.0} MB/s"),
        bar: "≥ 50 MB/s",
    });
    Ok(rows.collect())
}

/// Fails if a kind of text is too slow in the better of a few rounds: another program may have had the machine in one.
pub(crate) fn check() -> Outcome {
    let mut best = speeds()?;
    for _ in 0..2 {
        for (one, again) in best.iter_mut().zip(speeds()?) {
            (one.1, one.2) = (one.1.max(again.1), one.2.max(again.2));
        }
    }
    let line =
        |(kind, whole, by_line): &Speed| format!("{kind}: {whole:.0} MB/s, by lines {by_line:.0} MB/s");
    best.iter().for_each(|speed| shell::say(&line(speed)));
    let slow: Vec<String> = best.iter().filter(|speed| speed.1.min(speed.2) < LEAST).map(line).collect();
    if slow.is_empty() {
        Ok(())
    } else {
        Err(format!("slower than {LEAST:.0} MB/s: {}", slow.join("; ")).into())
    }
}

fn speeds() -> Result<Vec<Speed>, Box<dyn std::error::Error>> {
    let run = ["run", "--quiet", "--release", "--package", "segue-redact", "--example", "speed"];
    let measured = shell::read("cargo", &run)?;
    let speed = |line: &str| -> Option<Speed> {
        let mut fields = line.split('\t');
        Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let speeds: Vec<Speed> = measured.lines().filter_map(speed).collect();
    if speeds.len() < 11 { Err("the example that measures printed too little".into()) } else { Ok(speeds) }
}
