//! Requests that a CLI makes for itself, beside the conversation with the user, and short answers to them.

use serde_json::Value;

use super::answer::{Answer, Call, Input, Kind, Thread};
use super::conversation::{Conversation, Takes, Tool, Turn};
use super::persona::{asks_for_summary, believe, user};
use super::shape;
use crate::brain;

/// The title of every conversation.
const TITLE: &str = "Write the parts";

/// The tool with which Qwen Code wants an answer in a given shape.
const SHAPED_ANSWER: &str = "respond_in_schema";

/// The answer, if it is such a request.
pub(super) fn answer(conversation: &Conversation) -> Option<Answer> {
    let side = |kind, text: &str| Some(Answer::words(Thread::Side, kind, text));
    if conversation.max_tokens == Some(1) {
        return side(Kind::Probe, "#");
    }
    if let Some(call) = shaped_call(&conversation.tools) {
        return Some(Answer { calls: vec![call], ..Answer::words(Thread::Side, Kind::Check, "") });
    }
    if !conversation.tools.is_empty() {
        return None;
    }
    if let Some(schema) = &conversation.schema {
        return Some(shaped(schema));
    }
    let turns = &conversation.turns;
    if turns.iter().any(asks_for_title) {
        return side(Kind::Title, TITLE);
    }
    if !believe(turns).listed.is_empty() {
        return None;
    }
    if turns.iter().any(speaks_of_title) {
        return side(Kind::Title, TITLE);
    }
    let asked = turns.iter().any(|turn| user(turn).is_some_and(brain::asks_for_checkpoint));
    if asked || asks_for_summary(conversation) { None } else { side(Kind::Probe, "OK") }
}

// A question whose answer must have a given shape: a title, who speaks next, which model is to answer.
fn shaped(schema: &Value) -> Answer {
    let mut value = shape::fill(schema);
    match value.as_object_mut() {
        Some(fields) if !schema["properties"]["title"].is_null() => {
            fields.insert("title".to_owned(), TITLE.into());
            Answer::words(Thread::Side, Kind::Title, value.to_string())
        }
        _ => Answer::words(Thread::Side, Kind::Check, value.to_string()),
    }
}

// The same question, where the CLI offers one tool only, to answer with.
fn shaped_call(tools: &[Tool]) -> Option<Call> {
    let [Tool { name, takes: Takes::Object(Value::Object(properties)) }] = tools else { return None };
    (name == SHAPED_ANSWER)
        .then(|| Call { name: name.clone(), input: Input::Object(shape::object(properties)) })
}

// The words of OpenCode, which sends the task along.
fn asks_for_title(turn: &Turn) -> bool {
    match turn {
        Turn::System(text) => text.starts_with("You are a title generator"),
        Turn::User(text) => text.trim_start().starts_with("Generate a title for this conversation"),
        Turn::Agent(_) | Turn::Call(..) | Turn::Result(_) => false,
    }
}

fn speaks_of_title(turn: &Turn) -> bool {
    match turn {
        Turn::System(text) | Turn::User(text) => text.to_lowercase().contains("title"),
        Turn::Agent(_) | Turn::Call(..) | Turn::Result(_) => false,
    }
}
