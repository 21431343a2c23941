//! What a simulation looks like: a table, curves, and what they say about choosing; or all of it as JSON.

use super::{Comparison, FITTING_SEEDS, Row, Tally};
use serde_json::{Value, json};

const COLUMNS: usize = 11;

/// The whole table as text.
pub(super) fn words(comparison: &Comparison, rows: &[Row], width: u16) -> Vec<String> {
    let world = &comparison.world;
    let mut lines = vec![
        format!("{} simulated runs of each policy", comparison.runs),
        format!("window {}, ceiling {}, growth of {}", world.window, world.ceiling, world.growth.name),
        seed_words(comparison),
    ];
    for brake in &comparison.brakes {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.brake == *brake).collect();
        lines.extend([String::new(), brake_words(*brake).to_owned()]);
        lines.extend(Some(wide(&rows)).filter(|table| fits(table, width)).unwrap_or_else(|| narrow(&rows)));
        lines.extend(curves(&rows, comparison.curve_runs, width));
        lines.extend(advice(&rows));
    }
    lines
}

/// The world in a phrase.
pub(super) fn brake_words(brake: bool) -> &'static str {
    if brake { "with the brake (Claude Code, Gemini CLI)" } else { "without a brake (every other agent)" }
}

fn seed_words(comparison: &Comparison) -> String {
    if comparison.draws_fitting_seeds() {
        return format!(
            "seed {}: one of those that the policies were fitted with; from {FITTING_SEEDS} on they are fresh",
            comparison.seed
        );
    }
    format!("seed {}; the policies were fitted with seeds below {FITTING_SEEDS}", comparison.seed)
}

fn fits(table: &[String], width: u16) -> bool {
    table.iter().all(|line| line.chars().count() <= usize::from(width))
}

const HEAD: [&str; COLUMNS] = [
    "policy",
    "overflows/10k runs",
    "overflows/1k handoffs",
    "recovered",
    "fill",
    "good moment",
    "handoffs/run",
    "steps redone/run",
    "tokens re-spent/run",
    "compactions/run",
    "finished",
];

fn cells(row: &Row) -> [String; COLUMNS] {
    let tally = &row.tally;
    let percent = |share: Option<f64>| share.map_or_else(none, |share| format!("{share:.1} %"));
    let rate = |what: u64| tally.per_run(what).map_or_else(none, |rate| format!("{rate:.2}"));
    let handed = tally.handoffs > 0;
    [
        row.policy.clone(),
        tally.overflows_per(10_000).map_or_else(none, |count| format!("{count:.0}")),
        tally.overflows_per_handoff().map_or_else(none, |count| format!("{count:.1}")),
        if tally.overflows == 0 { none() } else { format!("{} of {}", tally.recovered, tally.overflows) },
        percent(tally.mean_fill()),
        percent(tally.at_good_moment()),
        rate(tally.handoffs),
        if handed { rate(tally.redone) } else { none() },
        if handed {
            tally.per_run(tally.respent).map_or_else(none, |n| format!("{:.0}k", n / 1_000.0))
        } else {
            none()
        },
        if tally.compactions > 0 { rate(tally.compactions) } else { none() },
        percent(tally.per_run(tally.finished * 100)),
    ]
}

fn none() -> String {
    "–".to_owned()
}

fn wide(rows: &[&Row]) -> Vec<String> {
    const SPLIT: [[&str; 2]; COLUMNS] = [
        ["", "policy"],
        ["overflows", "/10k runs"],
        ["", "/1k handoffs"],
        ["", "recovered"],
        ["used at", "handoff"],
        ["at a good", "moment"],
        ["handoffs", "/run"],
        ["redone", "/run"],
        ["re-spent", "/run"],
        ["compacted", "/run"],
        ["", "finished"],
    ];
    let body: Vec<[String; COLUMNS]> = rows.iter().map(|row| cells(row)).collect();
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| {
            let head = SPLIT[column].iter().map(|text| text.chars().count());
            head.chain(body.iter().map(|row| row[column].chars().count())).max().unwrap_or(0)
        })
        .collect();
    let line = |texts: [&str; COLUMNS]| {
        let cells = texts.iter().zip(&widths).enumerate().map(|(column, (text, width))| {
            if column == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head = [0, 1].map(|half| line(SPLIT.map(|texts| texts[half])));
    head.into_iter().chain(body.iter().map(|row| line(row.each_ref().map(String::as_str)))).collect()
}

fn narrow(rows: &[&Row]) -> Vec<String> {
    let block = |row: &&Row| {
        let cells = cells(row);
        let mut lines = vec![cells[0].clone()];
        let rest = HEAD.iter().zip(&cells).skip(1).filter(|(_, cell)| *cell != "–");
        lines.extend(rest.map(|(head, cell)| format!("  {head}: {cell}")));
        lines
    };
    rows.iter().flat_map(block).collect()
}

// Each threshold with the mean context used at handoff and the overflows in a thousand handoffs.
fn curves(rows: &[&Row], runs: u64, width: u16) -> Vec<String> {
    let drawn: Vec<&&Row> = rows.iter().filter(|row| !row.curve.is_empty()).collect();
    if drawn.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        format!(
            "context used against overflows: threshold → mean use at handoff, overflows in 1,000 handoffs ({runs} runs)"
        ),
    ];
    let each = |tally: &Tally, threshold: u32| {
        let fill = tally.mean_fill().map_or_else(none, |fill| format!("{fill:.0} %"));
        let over = tally.overflows_per_handoff().map_or_else(none, |over| format!("{over:.1}"));
        format!("{threshold} → {fill}, {over}")
    };
    let most = usize::from(width).saturating_sub(11).max(20);
    for row in drawn {
        let points = row.curve.iter().map(|point| each(&point.tally, point.threshold));
        let mut line = format!("{:<9}", row.policy);
        let mut used = 0;
        for point in points {
            let wide = point.chars().count() + 3;
            if used > 0 && used + wide > most {
                lines.push(line.trim_end().to_owned());
                (line, used) = (" ".repeat(9), 0);
            }
            line.push_str(&point);
            line.push_str("   ");
            used += wide;
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

// What a user wants to know first, in sentences.
fn advice(rows: &[&Row]) -> Vec<String> {
    let replacing: Vec<&Row> = rows.iter().copied().filter(|row| row.tally.handoffs > 0).collect();
    let least = |by: fn(&Tally) -> Option<f64>| {
        let known = replacing.iter().filter_map(|row| by(&row.tally).map(|value| (row, value)));
        known.min_by(|(_, a), (_, b)| a.total_cmp(b))
    };
    let mut lines = vec![String::new()];
    if replacing.len() > 1 {
        let names = |wanted: fn(&Tally) -> Option<f64>, value: f64| {
            let same = replacing.iter().filter(|row| wanted(&row.tally).is_some_and(|v| v <= value));
            same.map(|row| row.policy.as_str()).collect::<Vec<_>>().join(", ")
        };
        let overflows: fn(&Tally) -> Option<f64> = Tally::overflows_per_handoff;
        let cut: fn(&Tally) -> Option<f64> = |tally| tally.at_good_moment().map(|good| 100.0 - good);
        let respent: fn(&Tally) -> Option<f64> = |tally| tally.per_run(tally.respent);
        if let Some((_, value)) = least(overflows) {
            lines.push(format!(
                "fewest overflows: {} ({value:.1} in 1,000 handoffs)",
                names(overflows, value)
            ));
        }
        if let Some((row, value)) = least(cut) {
            lines.push(format!("most handoffs at a good moment: {} ({:.1} %)", row.policy, 100.0 - value));
        }
        let done: Vec<&Row> =
            replacing.iter().copied().filter(|row| row.tally.finished == row.tally.runs).collect();
        let cheap = done.iter().filter_map(|row| respent(&row.tally).map(|value| (row, value)));
        if let Some((row, value)) = cheap.min_by(|(_, a), (_, b)| a.total_cmp(b)) {
            lines.push(format!(
                "fewest tokens re-spent of those that finish every run: {} ({:.0}k a run)",
                row.policy,
                value / 1_000.0
            ));
        }
    }
    for row in rows.iter().filter(|row| row.tally.stopped > 0) {
        let share = row.tally.per_run(row.tally.stopped * 100).unwrap_or(0.0);
        lines.push(format!("{} stops {share:.0} % of these runs at its limit of restarts", row.policy));
    }
    for row in rows.iter().filter(|row| row.tally.compactions > 0) {
        lines.push(format!(
            "{} replaces nothing: the agent compacts by itself, and what it forgets then is not simulated",
            row.policy
        ));
    }
    lines
}

/// The whole table as JSON.
pub(super) fn json(comparison: &Comparison, rows: &[Row]) -> Value {
    let figures = |tally: &Tally| {
        let mut value = json!(tally);
        value["overflows_per_10000_runs"] = json!(tally.overflows_per(10_000));
        value["overflows_per_1000_handoffs"] = json!(tally.overflows_per_handoff());
        value["mean_fill_percent"] = json!(tally.mean_fill());
        value["good_moment_percent"] = json!(tally.at_good_moment());
        value
    };
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let curve: Vec<Value> = row
                .curve
                .iter()
                .map(|point| json!({ "threshold": point.threshold, "figures": figures(&point.tally) }))
                .collect();
            json!({ "policy": row.policy, "brake": row.brake, "figures": figures(&row.tally), "curve": curve })
        })
        .collect();
    json!({
        "type": "simulation.finished",
        "runs": comparison.runs,
        "curve_runs": comparison.curve_runs,
        "seed": comparison.seed,
        "fitted_with_seeds_below": FITTING_SEEDS,
        "window": comparison.world.window,
        "ceiling": comparison.world.ceiling,
        "growth": comparison.world.growth.name,
        "policies": rows,
    })
}
