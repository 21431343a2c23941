//! One model request in words that all APIs share: what the model would see, in which order, and which tools it has.
//!
//! The pieces are the text that is counted; the turns are the same text as the persona reads it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::count::fingerprint;

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
    /// Everything that the model would see, in the order in which it is cached.
    pub pieces: Vec<Piece>,
    /// The tool calls and their results, by id, in order.
    pub links: Vec<Link>,
    /// What the client wants its prompt to be cached under, where the API knows that.
    pub cache_key: Option<String>,
}

/// Something that the model would see.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The text; of a picture what tells it from others.
    pub text: String,
    /// What it costs, where that is not a matter of its text.
    pub worth: Option<u64>,
}

/// A tool call or the result of one, by the call's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// A call.
    Call(String),
    /// A result.
    Result(String),
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
    /// Why an API would refuse the calls and results: a call without a result, a result without a call, an id used twice.
    pub fn broken_pair(&self) -> Option<&str> {
        let (mut called, mut answered) = (BTreeSet::new(), BTreeSet::new());
        for link in &self.links {
            let fits = match link {
                Link::Call(id) => called.insert(id.as_str()),
                Link::Result(id) => called.contains(id.as_str()) && answered.insert(id.as_str()),
            };
            if !fits {
                let (Link::Call(id) | Link::Result(id)) = link;
                return Some(id);
            }
        }
        called.difference(&answered).next().copied()
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
        self.text(text);
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
        self.text(text);
        self.turns.push(Turn::System(text.to_owned()));
    }

    /// Adds the model's words.
    pub(super) fn agent(&mut self, text: &str) {
        self.text(text);
        self.turns.push(Turn::Agent(text.to_owned()));
    }

    /// Adds a tool call.
    pub(super) fn call(&mut self, name: &str, input: &str) {
        self.text(&format!("{name}{input}"));
        self.turns.push(Turn::Call(name.to_owned(), input.to_owned()));
    }

    /// Adds a tool result; a CLI may slip a reminder or a new message of the user into it.
    pub(super) fn result(&mut self, text: &str) {
        self.text(text);
        let (plain, reminders) = split_reminders(text);
        self.turns.push(Turn::Result(unlabelled(&plain)));
        self.turns.extend(reminders.into_iter().map(Turn::System));
    }

    /// Adds something that is only counted, as JSON.
    pub(super) fn other(&mut self, value: &Value) {
        match picture(value) {
            Some(piece) => self.pieces.push(piece),
            None => self.text(&value.to_string()),
        }
    }

    /// Adds text that is only counted.
    pub(super) fn text(&mut self, text: &str) {
        self.pieces.push(Piece { text: text.to_owned(), worth: None });
    }

    /// Adds what a tool gave back as blocks: its pictures are counted by their size.
    pub(super) fn result_of(&mut self, content: &Value) {
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let (pictures, rest): (Vec<&Value>, Vec<&Value>) =
            blocks.iter().partition(|block| picture(block).is_some());
        if pictures.is_empty() {
            return self.result(&text_of(content));
        }
        self.result(&text_of(&rest.into_iter().cloned().collect()));
        pictures.into_iter().for_each(|block| self.other(block));
    }
}

// A picture in any API's form: base64 data, which begins with the picture's own head.
fn picture(block: &Value) -> Option<Piece> {
    let url = block["image_url"].as_str().or(block["image_url"]["url"].as_str());
    let in_url = url.and_then(|url| url.split_once(";base64,")).map(|(_, data)| data);
    let source = ["/source/data", "/inlineData/data"].iter().find_map(|path| block.pointer(path)?.as_str());
    let data = source.or(in_url)?;
    Some(Piece { text: format!("picture {:x}", fingerprint(data)), worth: Some(picture_tokens(data)) })
}

// Width times height over 750, as one provider has it; 1,600 at most, and where the head is not that of a PNG.
fn picture_tokens(base64: &str) -> u64 {
    const MOST: u64 = 1_600;
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(u64::from(c - b'A')),
        b'a'..=b'z' => Some(u64::from(c - b'a') + 26),
        b'0'..=b'9' => Some(u64::from(c - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Option<Vec<u64>> = base64.bytes().take(32).map(digit).collect();
    let Some(digits) = digits.filter(|digits| digits.len() == 32) else { return MOST };
    let bytes: Vec<u64> = digits
        .chunks(4)
        .flat_map(|four| {
            let all = four.iter().fold(0, |all, digit| all << 6 | digit);
            [all >> 16 & 255, all >> 8 & 255, all & 255]
        })
        .collect();
    if bytes[1..4] != [80, 78, 71] {
        return MOST;
    }
    let number = |at: usize| bytes[at..at + 4].iter().fold(0, |all, byte| all << 8 | byte);
    (number(16) * number(20) / 750).clamp(1, MOST)
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
        let all: u64 = conversation.pieces.iter().map(|piece| chars(&piece.text)).sum();
        assert_eq!(all, 5 + 17 + 13 + 18 + 3 + 17 + 7);
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
        assert_eq!(conversation.pieces[0].text, text);
    }

    #[test]
    fn text_is_found_in_strings_and_blocks() {
        assert_eq!(text_of(&serde_json::json!("a")), "a");
        assert_eq!(text_of(&serde_json::json!([{"text": "a"}, {"text": "b"}])), "a\nb");
        assert_eq!(text_of(&Value::Null), "");
    }

    #[test]
    fn calls_and_results_that_do_not_fit_are_found() {
        let of = |links: &[&str]| {
            let link = |name: &&str| match name.split_once(' ') {
                Some(("call", id)) => Link::Call(id.to_owned()),
                _ => Link::Result(name.trim_start_matches("result ").to_owned()),
            };
            Conversation { links: links.iter().map(link).collect(), ..Conversation::default() }
        };
        assert_eq!(of(&["call a", "call b", "result b", "result a"]).broken_pair(), None);
        assert_eq!(of(&["call a", "result a", "call b"]).broken_pair(), Some("b"));
        assert_eq!(of(&["result c"]).broken_pair(), Some("c"));
        assert_eq!(of(&["call a", "result a", "result a"]).broken_pair(), Some("a"));
        assert_eq!(of(&["call a", "result a", "call a", "result a"]).broken_pair(), Some("a"));
    }

    #[test]
    fn a_picture_is_counted_by_its_size_and_not_by_its_bytes() {
        let png = format!("iVBORw0KGgoAAAANSUhEUgAAAyAAAAJYCAIAAA{}", "A".repeat(9_000));
        let mut conversation = Conversation::default();
        let block = serde_json::json!({ "type": "image", "source": { "type": "base64", "data": png } });
        conversation.result_of(&serde_json::json!([{ "type": "text", "text": "seen" }, block]));
        conversation
            .other(&serde_json::json!({ "image_url": { "url": format!("data:image/png;base64,{png}") } }));
        let worth: Vec<Option<u64>> = conversation.pieces.iter().map(|piece| piece.worth).collect();
        assert_eq!(worth, [None, Some(800 * 600 / 750), Some(640)]);
        assert_eq!(conversation.turns, [Turn::Result("seen".to_owned())]);
    }
}
