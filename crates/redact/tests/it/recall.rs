//! How many of the planted secrets get through, and the texts that they stand in.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    after, before, fresh,
    plant::{Chance, Form, Place, Plant, make},
    unseen,
};
use segue_redact::{Lines, Options, Redactor};

/// The text or lines that a plant stands in, as a program or an agent would write them.
pub(crate) fn scene(place: Place, secret: &str) -> String {
    match place {
        Place::Goal(text)
        | Place::Tool(text)
        | Place::FileName(text)
        | Place::Diff(text)
        | Place::Error(text) => text.replace('§', secret),
        Place::Stream(form, size, text) => stream(form, size, &text.replace('§', secret)),
    }
}

fn stream(form: Form, size: usize, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for (n, piece) in chars.chunks(size).enumerate() {
        let text: String = piece.iter().collect();
        out.push_str(&delta(form, n, &text).to_string());
        out.push('\n');
    }
    out
}

pub(crate) fn delta(form: Form, n: usize, text: &str) -> serde_json::Value {
    use serde_json::json;
    match form {
        Form::Claude => json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}}, "session_id": "s", "uuid": format!("0000-{n:04}")}),
        Form::ClaudeTool => {
            json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": text}}, "session_id": "s"})
        }
        Form::Acp => {
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update":
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})
        }
        Form::Codex => {
            json!({"method": "item/agentMessage/delta", "params": {"threadId": "t", "itemId": "i", "delta": text}})
        }
        Form::OpenCode => {
            json!({"type": "message.part.delta", "properties": {"partID": "p", "field": "text", "delta": text}})
        }
    }
}

pub(crate) fn redactor() -> Redactor {
    Redactor::new(Options::default()).unwrap()
}

/// What is left of a scene: streams go through the lines, everything else is cleaned as a text and as a string in JSON.
pub(crate) fn cleaned(place: Place, scene: &str) -> Vec<String> {
    let redactor = redactor();
    let in_lines = |text: &str| {
        let (mut lines, mut out) = (Lines::new(redactor.clone()), Vec::new());
        lines.push(text.as_bytes(), &mut out);
        lines.finish(&mut out);
        String::from_utf8(out).unwrap()
    };
    if let Place::Stream(..) = place {
        return vec![in_lines(scene)];
    }
    let json =
        serde_json::json!({"type": "tool_result", "content": [{"type": "text", "text": scene}]}).to_string();
    let twice = serde_json::json!({ "line": json }).to_string();
    let mut out = vec![redactor.text(scene).text.into_owned(), in_lines(scene)];
    for text in [json, twice] {
        let clean = redactor.text(&text).text.into_owned();
        serde_json::from_str::<serde_json::Value>(&clean)
            .unwrap_or_else(|error| panic!("{error} in {clean}"));
        out.extend([clean, in_lines(&text)]);
    }
    out
}

/// What a reader of a stream puts together again.
fn joined(text: &str) -> String {
    let mut whole = text.to_owned();
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        for path in [
            "/event/delta/text",
            "/event/delta/partial_json",
            "/params/update/content/text",
            "/params/delta",
            "/properties/delta",
        ] {
            whole.push_str(value.pointer(path).and_then(serde_json::Value::as_str).unwrap_or_default());
        }
    }
    whole
}

/// Eight characters of a random part are enough to call a secret seen.
pub(crate) fn seen(text: &str, parts: &[String]) -> bool {
    let shows = |part: &String| {
        let chars: Vec<char> = part.chars().collect();
        chars
            .windows(8.min(chars.len()))
            .any(|window| chars.len() >= 6 && text.contains(&window.iter().collect::<String>()))
    };
    parts.iter().any(shows)
}

/// Which plants got through, and a table by kind.
fn recall(plants: &[Plant], seed: u64) -> (usize, String) {
    let mut table: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut report = String::new();
    for (n, plant) in plants.iter().enumerate() {
        let made = make(plant.pattern, &mut Chance::new(seed + u64::try_from(n).unwrap()));
        let scene = scene(plant.place, &made.text);
        let through = cleaned(plant.place, &scene).into_iter().find(|text| seen(&joined(text), &made.parts));
        let row = table.entry(plant.kind).or_default();
        row.0 += 1;
        row.1 += usize::from(through.is_none());
        if let Some(text) = through {
            let _ = writeln!(report, "through: {} {} in {scene:?}: {text:?}", plant.kind, plant.pattern);
        }
    }
    let caught = table.values().map(|(_, caught)| caught).sum();
    for (kind, (all, caught)) in &table {
        let _ = writeln!(report, "{kind:16} {caught:3} of {all:3}");
    }
    let _ = writeln!(report, "{:16} {caught:3} of {:3} of {} kinds", "all", plants.len(), table.len());
    (caught, report)
}

#[test]
fn the_corpus_is_made_the_same_each_time() {
    for (n, plant) in before::PLANTS.iter().enumerate() {
        let seed = u64::try_from(n).unwrap();
        let (one, two) =
            (make(plant.pattern, &mut Chance::new(seed)), make(plant.pattern, &mut Chance::new(seed)));
        assert_eq!(scene(plant.place, &one.text), scene(plant.place, &two.text), "{}", plant.kind);
        assert!(!one.parts.is_empty(), "{} has nothing to hide", plant.kind);
        assert!(
            seen(&joined(&scene(plant.place, &one.text)), &one.parts),
            "{} is not to be seen",
            plant.kind
        );
    }
}

#[test]
fn c8_planted_secrets_do_not_get_through() {
    let (first, one) = recall(before::PLANTS, 1);
    let (second, two) = recall(after::PLANTS, 1001);
    let (third, three) = recall(fresh::PLANTS, 2001);
    let all = before::PLANTS.len() + after::PLANTS.len() + fresh::PLANTS.len();
    let caught = first + second + third;
    let report = format!(
        "before the rules\n{one}\nafter the rules\n{two}\nafterwards\n{three}\ntogether {caught} of {all}"
    );
    println!("{report}");
    assert!(all >= 200 && caught * 100 >= all * 99, "{report}");
}

// The rules were written without sight of these plants, and have not been changed since they were first measured.
#[test]
fn c8_of_the_plants_that_the_rules_were_not_written_for_at_least_99_percent_are_caught() {
    let (caught, report) = recall(unseen::PLANTS, 3001);
    println!("{report}");
    assert!(caught * 100 >= unseen::PLANTS.len() * 99, "{caught} of {}", unseen::PLANTS.len());
}
