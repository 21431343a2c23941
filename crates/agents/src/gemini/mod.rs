//! Gemini CLI: ACP for control, the chat file that it writes for the gauge, a hook before each model call as brake.
//!
//! Its ACP says nothing about tokens while a turn runs. Each answer's own usage stands in the chat file as soon as it is
//! there. The hook stops a turn between a tool and the next call with the tool's result kept, so that is where a
//! checkpoint is asked for. It reports no window: that comes from the configuration or the table of models.

use std::collections::BTreeMap;

use segue_machine::{AgentEvent, Reading};
use serde_json::Value;

use crate::acp::Acp;
use crate::{Act, Adapter, Extras, Io, Tail, text_weight};

/// The variable that moves its home.
const HOME: &str = "GEMINI_CLI_HOME";

/// What a conversation is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The work tree.
    pub cwd: String,
    /// The model, if the user chose one.
    pub model: Option<String>,
    /// Its permission checks are switched off, because the user said so.
    pub bypass: bool,
    /// The home that it is given, if the brake is wanted: the user's own, with a hook in its settings that asks segue
    /// before each model call.
    pub brake: Option<Braked>,
}

/// A home with the brake in it.
#[derive(Debug, Clone)]
pub struct Braked {
    /// The folder.
    pub home: String,
    /// The settings for it.
    pub settings: String,
}

/// One Gemini CLI conversation.
#[derive(Debug)]
pub struct Gemini {
    options: Options,
    acp: Acp,
    conversation: Option<String>,
    /// Tools that have ended and whose results the chat file has not shown.
    ended: BTreeMap<String, AgentEvent>,
    /// The results that it has shown, in characters.
    results: BTreeMap<String, u64>,
}

impl Gemini {
    /// A conversation as the options say. An old one is never taken up again: Gemini CLI then sends every tool result twice.
    pub fn new(options: Options) -> Self {
        let acp = Acp::new(options.cwd.clone(), None).without_loading();
        let acp = if options.brake.is_some() { acp.with_brake() } else { acp };
        Self { options, acp, conversation: None, ended: BTreeMap::new(), results: BTreeMap::new() }
    }

    // What the protocol leaves out is known from how the agent was started, or stands in the chat file a moment later.
    fn complete(&mut self, io: &mut Io) {
        for mut event in std::mem::take(&mut io.events) {
            #[expect(clippy::wildcard_enum_match_arm, reason = "every other event goes through as it is")]
            match &mut event {
                AgentEvent::ToolEnded { tool, chars, .. } => match self.results.get(tool) {
                    Some(known) => *chars = *known,
                    None => {
                        self.ended.insert(tool.clone(), event);
                        continue;
                    }
                },
                AgentEvent::Ready { conversation, model, .. } => {
                    self.conversation = Some(conversation.clone());
                    *model = model.take().or_else(|| self.options.model.clone());
                }
                AgentEvent::TurnEnded(_) | AgentEvent::Answered { .. } => self.flush_ended(io),
                _ => {}
            }
            io.events.push(event);
        }
    }

    // A tool whose result never showed up has ended all the same.
    fn flush_ended(&mut self, io: &mut Io) {
        io.events.extend(std::mem::take(&mut self.ended).into_values());
    }

    // Its ACP ends a tool without what the model is sent of it; the chat file has that, in a list that grows.
    fn results(&mut self, calls: &Value, io: &mut Io) {
        for call in calls.as_array().into_iter().flatten() {
            let Some(id) = call["id"].as_str() else { continue };
            if call["name"] == "write_todos" && !self.results.contains_key(id) {
                io.events.extend(crate::list(&call["args"]["todos"], &["description"]));
            }
            let chars = text_weight(&call["result"]);
            if let Some(AgentEvent::ToolEnded { tool, title, ok, .. }) = self.ended.remove(id) {
                io.events.push(AgentEvent::ToolEnded { tool, title, ok, chars });
            }
            self.results.insert(id.to_owned(), chars);
        }
    }
}

impl Adapter for Gemini {
    fn open(&mut self, io: &mut Io) {
        self.acp.open(io);
    }

    fn line(&mut self, line: &[u8], io: &mut Io) {
        self.acp.line(line, io);
        self.complete(io);
    }

    fn tailed(&mut self, line: &[u8], io: &mut Io) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return };
        self.results(&line["toolCalls"], io);
        let tokens = &line["tokens"];
        if line["type"] != "gemini" || !tokens.is_object() {
            return;
        }
        // The input includes what came from the cache, and the thoughts are part of the answer.
        let count = |name: &str| tokens[name].as_u64().unwrap_or(0);
        let (input, cached) = (count("input"), count("cached"));
        let output = count("total").saturating_sub(input);
        let reading = Reading {
            call: line["id"].as_str().map(str::to_owned),
            ..Reading::exact(input.saturating_sub(cached), cached, 0, output)
        };
        self.flush_ended(io);
        io.events.push(AgentEvent::UsageRead(reading));
    }

    fn tail(&self) -> Option<Tail> {
        let id = self.conversation.as_ref()?.get(..8)?;
        let ends_with = format!("-{id}.jsonl");
        Some(Tail { home: HOME, below: ".gemini", fallback: ".gemini", folder: "tmp", ends_with })
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        self.acp.act(act, io);
    }

    fn exited(&mut self, exit: Option<i32>, io: &mut Io) {
        self.acp.exited(exit, io);
        self.flush_ended(io);
    }

    fn extras(&self) -> Extras {
        let mut args = vec!["--acp".to_owned()];
        if let Some(model) = &self.options.model {
            args.extend(["-m".to_owned(), model.clone()]);
        }
        if self.options.bypass {
            args.push("--yolo".to_owned());
        }
        // Without this it starts a second process of itself, which outlives the first.
        let mut env = vec![("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned())];
        let mut files = Vec::new();
        if let Some(Braked { home, settings }) = &self.options.brake {
            env.push((HOME.to_owned(), home.clone()));
            files.push((format!("{home}/.gemini/settings.json"), settings.clone()));
        }
        Extras { args, env, files, ..Extras::default() }
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
