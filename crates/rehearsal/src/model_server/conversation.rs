//! One model request in words that all APIs share: what the model would see, in which order, and which tools it has.
//!
//! The pieces are the text that is counted; the turns are the same text as the persona reads it.

use std::collections::BTreeSet;

use serde_json::Value;

/// One model request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The name of the model.
    pub model: String,
    /// The session that the client names, if it names one.
    pub session: Option<String>,
    /// Whether the answer is to come as a stream.
    pub stream: bool,
    /// The most tokens that the answer may have, if the client says so.
    pub max_tokens: Option<u64>,
    /// The answer must be JSON of this shape.
    pub schema: Option<Value>,
    /// Whether it is a question beside the conversation and not part of it.
    pub forked: bool,
    /// Whether the client asks for its prompt to be cached.
    pub caches: bool,
    /// The tools on offer.
    pub tools: Vec<Tool>,
    /// The conversation, oldest first.
    pub turns: Vec<Turn>,
    /// Every text that the model would see, in the order in which it is cached.
    pub pieces: Vec<String>,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
}

/// What a tool takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Takes {
    /// An object with these properties.
    Object(Value),
    /// Free text.
    Text,
}

impl Tool {
    /// The schema of one property, if the tool has it.
    pub fn property(&self, name: &str) -> Option<&Value> {
        match &self.takes {
            Takes::Object(properties) => properties.get(name),
            Takes::Text => None,
        }
    }
}

/// One piece of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Instructions, and what the CLI slips in beside the user's words.
    System(String),
    /// The user's words.
    User(String),
    /// The model's own words.
    Agent(String),
    /// A tool call of the model: name and input as text.
    Call(String, String),
    /// What a tool gave back.
    Result(String),
}

impl Conversation {
    /// The truth: tokens of all pieces together, 4 characters each, rounded up once.
    pub fn tokens(&self) -> u64 {
        tokens(self.pieces.iter().map(|piece| chars(piece)).sum())
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The names of the tools on offer.
    pub fn tool_names(&self) -> BTreeSet<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// Adds a user's text; what stands between reminder tags is not the user's.
    pub(super) fn user(&mut self, text: &str) {
        self.pieces.push(text.to_owned());
        let (plain, reminders) = split_reminders(text);
        let context =
            ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<session_context>"];
        if context.iter().any(|start| plain.trim_start().starts_with(start)) {
            self.turns.push(Turn::System(plain));
        } else if !plain.trim().is_empty() {
            self.turns.push(Turn::User(plain));
        }
        self.turns.extend(reminders.into_iter().map(Turn::System));
    }

    /// Adds instructions.
    pub(super) fn system(&mut self, text: &str) {
        self.pieces.push(text.to_owned());
        self.turns.push(Turn::System(text.to_owned()));
    }

    /// Adds the model's words.
    pub(super) fn agent(&mut self, text: &str) {
        self.pieces.push(text.to_owned());
        self.turns.push(Turn::Agent(text.to_owned()));
    }

    /// Adds a tool call.
    pub(super) fn call(&mut self, name: &str, input: &str) {
        self.pieces.push(format!("{name}{input}"));
        self.turns.push(Turn::Call(name.to_owned(), input.to_owned()));
    }

    /// Adds a tool result; a CLI may slip a reminder or a new message of the user into it.
    pub(super) fn result(&mut self, text: &str) {
        self.pieces.push(text.to_owned());
        let (plain, reminders) = split_reminders(text);
        self.turns.push(Turn::Result(unlabelled(&plain)));
        self.turns.extend(reminders.into_iter().map(Turn::System));
    }

    /// Adds something that is only counted, as JSON.
    pub(super) fn other(&mut self, value: &Value) {
        self.pieces.push(value.to_string());
    }
}

/// Characters of a text.
pub fn chars(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// Tokens of so many characters.
pub fn tokens(chars: u64) -> u64 {
    chars.div_ceil(4)
}

/// The text of a content field: a string, or a list of blocks that have a `text`.
pub(super) fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |block: &Value| block["text"].as_str().map_or_else(|| block.to_string(), str::to_owned);
    blocks.iter().map(text).collect::<Vec<_>>().join("\n")
}

// Gemini CLI and Qwen Code put a label before what a command printed, in the same line.
fn unlabelled(text: &str) -> String {
    text.split('\n').map(|line| line.strip_prefix("Output: ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn split_reminders(text: &str) -> (String, Vec<String>) {
    let (plain, mut reminders) = split_out(text, "<system-reminder>", "</system-reminder>");
    let (plain, hooks) = split_out(&plain, "<hook_context>", "</hook_context>");
    reminders.extend(hooks);
    (plain, reminders)
}

fn split_out(text: &str, open: &str, close: &str) -> (String, Vec<String>) {
    let (mut plain, mut inners, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once(open) {
        plain.push_str(before);
        let (inner, behind) = after.split_once(close).unwrap_or((after, ""));
        inners.push(inner.trim().to_owned());
        rest = behind;
    }
    plain.push_str(rest);
    (plain, inners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_are_counted_and_are_not_the_users_words() {
        let mut conversation = Conversation::default();
        conversation.user("do it<system-reminder>\nstep 3 done\n</system-reminder>");
        conversation.result("out<system-reminder>cut off");
        let turns = [
            Turn::User("do it".to_owned()),
            Turn::System("step 3 done".to_owned()),
            Turn::Result("out".to_owned()),
            Turn::System("cut off".to_owned()),
        ];
        assert_eq!(conversation.turns, turns);
        assert_eq!(conversation.tokens(), (5 + 17 + 13 + 18 + 3 + 17 + 7_u64).div_ceil(4));
    }

    #[test]
    fn what_a_cli_wraps_around_a_result_is_counted_and_does_not_hide_it() {
        let mut conversation = Conversation::default();
        let text = "Command: sh step.sh 1\nOutput: step 1 done\n<hook_context>look up</hook_context>";
        conversation.result(text);
        conversation.user("<session_context>\nToday is a day.\n</session_context>");
        let turns = [
            Turn::Result("Command: sh step.sh 1\nstep 1 done\n".to_owned()),
            Turn::System("look up".to_owned()),
            Turn::System("<session_context>\nToday is a day.\n</session_context>".to_owned()),
        ];
        assert_eq!(conversation.turns, turns);
        assert_eq!(conversation.pieces[0], text);
    }

    #[test]
    fn text_is_found_in_strings_and_blocks() {
        assert_eq!(text_of(&serde_json::json!("a")), "a");
        assert_eq!(text_of(&serde_json::json!([{"text": "a"}, {"text": "b"}])), "a\nb");
        assert_eq!(text_of(&Value::Null), "");
    }
}
