//! Whatever comes in, a frame stays inside the terminal.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{sample, to_json_line};

fn standing(n: u8, id: &str) -> Standing {
    match n % 11 {
        0 => Standing::Waiting,
        1 => Standing::Held { by: vec![id.to_owned()] },
        2 => Standing::Done,
        3 => Standing::Merging,
        4 => Standing::Mending,
        5 => Standing::Completed,
        6 => Standing::Failed,
        7 => Standing::NeedsInput,
        8 => Standing::Blocked,
        9 => Standing::Stopped,
        _ => Standing::Working,
    }
}

/// Every type of line as it should be, with figures that nobody expects, and broken.
fn odd_values(text: &str, n: f64) -> Vec<Value> {
    let usual: Vec<Value> = sample::each_with(text)
        .iter()
        .map(|line| serde_json::from_str(&to_json_line(line)).unwrap())
        .collect();
    let with = |fields: &[&str], figure: Value| {
        let mut values = usual.clone();
        for field in values.iter_mut().flat_map(|value| value.as_object_mut().unwrap()) {
            if fields.contains(&field.0.as_str()) {
                *field.1 = figure.clone();
            }
        }
        values
    };
    let mut odd = with(&["percent", "cost_usd"], json!(n));
    odd.extend(with(&["tokens", "projected", "ceiling", "tokens_in", "tokens_out", "ms"], json!(u64::MAX)));
    odd.extend(with(&["session", "n", "when", "verdict", "kind", "at"], json!(n)));
    odd.extend(usual);
    odd
}

proptest! {
    #[test]
    fn any_lines_in_any_order_fit_the_terminal(
        steps in prop::collection::vec((0..4_usize, 0..64_usize, any::<u8>()), 0..60),
        texts in prop::collection::vec("(?s)[a-z\u{1b}\\[ \n語🦀\u{301}]{0,60}", 4),
        number in prop::num::f64::NORMAL,
        width in 0..140_u16, rows in 0..30_usize, color: bool, ascii: bool,
    ) {
        let ids = ["1", "2", "2a", "2b"];
        let plan: Vec<Row> = ids.iter().zip(&texts)
            .map(|(id, title)| Row {
                id: (*id).into(),
                title: title.clone(),
                part_of: (id.len() > 1).then(|| "2".into()),
                needs: vec!["1".into()],
            }).collect();
        let mut tree = PhaseTree::new(&texts[0], &plan, -7_200);
        let values: Vec<Vec<Value>> = texts.iter().map(|text| odd_values(text, number)).collect();
        let style = Style { color, width, live: true, ascii };
        let columns = if width == 0 { 80 } else { usize::from(width) };
        for (id, line, kind) in steps {
            let value = &values[id][line % values[id].len()];
            tree.line(ids[id], value);
            tree.tell(ids[id], standing(kind, ids[0]), &texts[id]);
            let frame = tree.frame(sample::START, style, rows);
            prop_assert!(frame.len() <= rows, "{} rows of {rows}", frame.len());
            for line in frame.iter().chain(&tree.spoken(ids[id], value, style)) {
                let shown = if color { plain_keeping_spaces(line) } else { line.clone() };
                prop_assert!(crate::columns(&shown) <= columns, "{shown:?} in {columns}");
                prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
                prop_assert!(!ascii || shown.is_ascii(), "{shown:?}");
            }
        }
    }
}

fn plain_keeping_spaces(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}
