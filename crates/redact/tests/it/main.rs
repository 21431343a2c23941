//! Planted secrets, and text in which there are none.

mod before;
mod plant;

use plant::{Chance, Form, Place, make};

/// The text or lines that a plant stands in, as a program or an agent would write them.
fn scene(place: Place, secret: &str) -> String {
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

fn delta(form: Form, n: usize, text: &str) -> serde_json::Value {
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

#[test]
fn the_corpus_is_made_the_same_each_time() {
    for (n, plant) in before::PLANTS.iter().enumerate() {
        let seed = u64::try_from(n).unwrap();
        let (one, two) =
            (make(plant.pattern, &mut Chance::new(seed)), make(plant.pattern, &mut Chance::new(seed)));
        assert_eq!(scene(plant.place, &one.text), scene(plant.place, &two.text), "{}", plant.kind);
        assert!(!one.parts.is_empty(), "{} has nothing to hide", plant.kind);
    }
}
