//! Gemini CLI: ACP for control, the chat file that it writes for the gauge, a hook before each model call as brake.
//!
//! Its ACP says nothing about tokens while a turn runs. Each answer's own usage stands in the chat file as soon as it is
//! there. The hook stops a turn between a tool and the next call with the tool's result kept, so that is where a
//! checkpoint is asked for. It reports no window: that comes from the configuration or the table of models.

use std::collections::BTreeMap;

use segue_machine::{AgentEvent, Reading};
use serde_json::{Value, json};

use crate::acp::Acp;
use crate::{Act, Adapter, Extras, Io, Tail, text_chars};

/// What a conversation is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The work tree.
    pub cwd: String,
    /// The model, if the user chose one.
    pub model: Option<String>,
    /// Its permission checks are switched off, because the user said so.
    pub bypass: bool,
    /// The command that its hook runs before each model call, if the brake is wanted.
    pub brake: Option<String>,
    /// Where segue's own settings for this run may be written.
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
}

impl Gemini {
    /// A conversation as the options say. An old one is never taken up again: Gemini CLI then sends every tool result twice.
    pub fn new(options: Options) -> Self {
        let acp = Acp::new(options.cwd.clone(), None);
        let acp = if options.brake.is_some() { acp.with_brake() } else { acp };
        Self { options, acp, conversation: None, ended: BTreeMap::new() }
    }

    // What the protocol leaves out is known from how the agent was started, or stands in the chat file a moment later.
    fn complete(&mut self, io: &mut Io) {
        for mut event in std::mem::take(&mut io.events) {
            #[expect(clippy::wildcard_enum_match_arm, reason = "every other event goes through as it is")]
            match &mut event {
                AgentEvent::ToolEnded { tool, chars: 0, .. } => {
                    self.ended.insert(tool.clone(), event);
                    continue;
                }
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

    // Its ACP ends a tool without its output; the chat file has it, in a list that grows.
    fn results(&mut self, calls: &Value, io: &mut Io) {
        for call in calls.as_array().into_iter().flatten() {
            let ended = call["id"].as_str().and_then(|id| self.ended.remove(id));
            if let Some(AgentEvent::ToolEnded { tool, title, ok, .. }) = ended {
                let chars = text_chars(&call["result"]);
                io.events.push(AgentEvent::ToolEnded { tool, title, ok, chars });
            }
        }
    }

    fn settings(&self) -> Option<Value> {
        let command = self.options.brake.as_ref()?;
        let hook = json!({ "type": "command", "name": "segue", "command": command, "timeout": 10_000 });
        Some(json!({
            // Its own compression is off: the policy may replace the session.
            "model": { "compressionThreshold": 1 },
            "hooksConfig": { "enabled": true },
            "hooks": { "BeforeModel": [{ "matcher": "*", "hooks": [hook] }] },
        }))
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
        Some(Tail {
            home: "GEMINI_CLI_HOME",
            below: ".gemini",
            fallback: ".gemini",
            folder: "tmp",
            ends_with,
        })
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
        if let Some(settings) = self.settings() {
            env.push(("GEMINI_CLI_SYSTEM_SETTINGS_PATH".to_owned(), self.options.settings.clone()));
            files.push((self.options.settings.clone(), settings.to_string()));
        }
        Extras { args, env, files, ..Extras::default() }
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
