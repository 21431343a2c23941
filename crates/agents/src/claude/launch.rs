//! How Claude Code is started: flags and settings for this run only. The user's own files are never edited.

use serde_json::{Value, json};

use crate::Extras;

/// What the agent may do without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// Every request comes to segue.
    Ask,
    /// Its permission checks are switched off, because the user said so.
    Bypass,
}

/// What a conversation is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// A UUID of this process's own: the id of a conversation that it begins, and what the ids of its messages begin with. A
    /// message whose id the conversation knows is taken for a repetition and passed over.
    pub conversation: String,
    /// The conversation to take up again instead of beginning one.
    pub resume: Option<String>,
    /// The model, if the user chose one.
    pub model: Option<String>,
    /// What it may do.
    pub permission: Permission,
    /// Switch its own compaction off, because the policy may replace the session.
    pub no_compaction: bool,
    /// The command that its hook runs after each tool, if the brake is wanted.
    pub brake: Option<String>,
    /// The command that its hook runs before it compacts, if the transcript is to be kept.
    pub archive: Option<String>,
}

/// Longer than segue holds a hook back: the agent is asked for a checkpoint meanwhile.
const HOOK_SECONDS: u32 = 330;

impl Options {
    /// The conversation that is begun or taken up.
    pub(super) fn talk(&self) -> &str {
        self.resume.as_ref().unwrap_or(&self.conversation)
    }

    /// The flags that belong to these options.
    pub(super) fn extras(&self) -> Extras {
        let mut args: Vec<String> = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
            .into_iter()
            .chain(["--verbose", "--include-partial-messages"])
            .map(str::to_owned)
            .collect();
        let flag = if self.resume.is_some() { "--resume" } else { "--session-id" };
        args.extend([flag.to_owned(), self.talk().to_owned()]);
        if let Some(model) = &self.model {
            args.extend(["--model".to_owned(), model.clone()]);
        }
        match self.permission {
            Permission::Bypass => args.push("--dangerously-skip-permissions".to_owned()),
            Permission::Ask => args.extend(["--permission-prompt-tool".to_owned(), "stdio".to_owned()]),
        }
        if let Some(settings) = self.settings() {
            args.extend(["--settings".to_owned(), settings.to_string()]);
        }
        Extras { args, ..Extras::default() }
    }

    fn settings(&self) -> Option<Value> {
        let mut settings = serde_json::Map::new();
        if self.no_compaction {
            settings.insert("autoCompactEnabled".to_owned(), json!(false));
        }
        let mut hooks = serde_json::Map::new();
        for (event, command) in [("PostToolUse", &self.brake), ("PreCompact", &self.archive)] {
            if let Some(command) = command {
                let hook = json!({ "type": "command", "command": command, "timeout": HOOK_SECONDS });
                hooks.insert(event.to_owned(), json!([{ "matcher": "*", "hooks": [hook] }]));
            }
        }
        if !hooks.is_empty() {
            settings.insert("hooks".to_owned(), Value::Object(hooks));
        }
        (!settings.is_empty()).then_some(Value::Object(settings))
    }
}
