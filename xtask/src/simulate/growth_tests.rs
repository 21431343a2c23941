//! The draws follow what was measured, and the recordings' figures are those of the recordings.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;

fn drawn(quantiles: Quantiles, count: usize) -> Vec<f64> {
    let mut dice = Dice::new(11, 0);
    let mut values: Vec<f64> = (0..count).map(|_| quantiles.draw(&mut dice)).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn a_million_draws_have_the_measured_quantiles_and_shares() {
    let values = drawn(CLAUDE.per_call, 1_000_000);
    for (index, measured) in [(500_000, 611.0), (900_000, 2_876.0), (990_000, 13_479.0), (999_000, 31_519.0)]
    {
        let value = values[index];
        assert!((value / measured - 1.0).abs() < 0.03, "{value} is not near {measured}");
    }
    assert!(values.last().is_some_and(|most| *most <= 78_006.0));
    for (line, percent) in [(10_000.0, 1.68), (20_000.0, 0.43), (30_000.0, 0.13), (50_000.0, 0.025)] {
        let above = values.iter().filter(|value| **value >= line).count();
        let share = f64::from(u32::try_from(above).unwrap()) / 10_000.0;
        assert!((share / percent - 1.0).abs() < 0.12, "{share} % are {line} or more, measured {percent} %");
    }
}

#[test]
fn first_calls_and_weights_are_as_measured() {
    let first = drawn(CLAUDE.first, 100_000);
    assert!((first[50_000] / 39_800.0 - 1.0).abs() < 0.01 && (first[90_000] / 45_700.0 - 1.0).abs() < 0.01);
    let weight = drawn(WEIGHT_PER_TOKEN, 100_000);
    for (index, measured) in [(1_000, 2.92), (5_000, 3.08), (50_000, 3.48), (95_000, 3.86)] {
        assert!((weight[index] / measured - 1.0).abs() < 0.02, "{} {measured}", weight[index]);
    }
}

/// What each call of a recording added to the one before, and the first calls.
fn recorded() -> (Vec<u64>, Vec<u64>) {
    let (mut grown, mut first) = (Vec::new(), Vec::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/agents/cassettes");
    for agent in std::fs::read_dir(root).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in std::fs::read_dir(agent.path()).unwrap().flatten() {
            // The recordings of side questions are about those, not about work.
            let name = file.file_name().to_string_lossy().into_owned();
            if name.ends_with(".events.json") && !name.starts_with("side") {
                let text = std::fs::read_to_string(file.path()).unwrap();
                let events: Vec<BTreeMap<String, serde_json::Value>> = serde_json::from_str(&text).unwrap();
                calls(&events, &mut grown, &mut first);
            }
        }
    }
    grown.sort_unstable();
    first.sort_unstable();
    (grown, first)
}

fn calls(events: &[BTreeMap<String, serde_json::Value>], grown: &mut Vec<u64>, first: &mut Vec<u64>) {
    let (mut last, mut call) = (None, None);
    for event in events {
        let text = |key: &str| event.get(key).and_then(serde_json::Value::as_str);
        let number = |key: &str| event.get(key).and_then(serde_json::Value::as_u64);
        if text("type") == Some("compacted") {
            last = None;
        }
        if text("type") != Some("usage_read") || text("scope") != Some("main") {
            continue;
        }
        let parts = ["input", "cache_read", "cache_write", "output"].map(|key| number(key).unwrap_or(0));
        let fill = number("total").unwrap_or_else(|| parts.iter().sum());
        if fill == 0 || (text("call").is_some() && text("call") == call) {
            continue;
        }
        call = text("call");
        match last {
            None => first.push(fill),
            Some(before) if fill >= before => grown.push(fill - before),
            Some(_) => {}
        }
        last = Some(fill);
    }
}

#[test]
fn the_figures_of_the_recordings_are_those_of_the_recordings() {
    let (grown, first) = recorded();
    let at =
        |values: &[u64], hundredths: usize| values[(values.len() * hundredths / 100).min(values.len() - 1)];
    let points = |values: &[u64], wanted: &[(f64, f64)]| {
        for (share, value) in wanted {
            let hundredths = format!("{:.0}", share * 100.0).parse().unwrap();
            let found = at(values, hundredths);
            assert_eq!(f64::from(u32::try_from(found).unwrap()), *value, "{share}: {values:?}");
        }
    };
    assert_eq!(grown.len(), 105);
    points(&grown, &RECORDINGS.per_call.0[1..]);
    points(&first, RECORDINGS.first.0);
}
