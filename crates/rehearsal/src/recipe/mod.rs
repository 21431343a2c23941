//! What makes a real agent CLI talk to the scripted model server, with the user's own home and files left as they are.
//!
//! Variables, arguments, the model to name, and files for the throw-away work tree. Where the user's own settings would
//! win over a variable, a file of the work tree wins over them. Nothing is written here and no program is started.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod qwen;

/// The key that every agent is given. It opens nothing.
pub const KEY: &str = "rehearsal";

/// Every agent that there is a recipe for.
pub const AGENTS: [&str; 8] =
    ["claude", "codex", "codex-exec", "gemini", "opencode", "qwen", "codex-acp", "claude-acp"];

/// Variables that may hold a real key or lead an agent to a real server.
const SECRETS: [&str; 20] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "CODEX_ACCESS_TOKEN",
    "CODEX_API_KEY",
    "DASHSCOPE_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GROQ_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "QWEN_OAUTH",
];

/// The server that an agent is to talk to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Where it is, without a path: `http://127.0.0.1:PORT`.
    pub url: String,
    /// Tokens that one request can hold.
    pub window: u64,
    /// Tokens that one answer can have, where the agent has to be told.
    pub output: u64,
    /// How long the agent waits for a byte, where that can be set.
    pub patience_ms: u64,
}

/// How an agent is made to talk to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Variables. Those that may hold a real key are among them, emptied or with [`KEY`].
    pub env: Vec<(String, String)>,
    /// Arguments, to stand behind those that it has.
    pub args: Vec<String>,
    /// The model to ask for, where the agent takes one.
    pub model: Option<String>,
    /// Files, by their path from the work tree.
    pub files: Vec<(String, String)>,
    /// Arguments that switch its own permission checks off, where segue has no adapter of its own for it.
    pub bypass: Vec<String>,
}

impl Recipe {
    fn new(set: &[(&str, &str)]) -> Self {
        let mut recipe = Self::default();
        recipe.env.extend(SECRETS.map(|name| (name.to_owned(), String::new())));
        for (name, value) in set {
            recipe.set(name, value);
        }
        recipe
    }

    fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(old, _)| old != name);
        self.env.push((name.to_owned(), value.to_owned()));
    }
}

/// The recipe for an agent by its name, if there is one.
pub fn recipe(agent: &str, setup: &Setup) -> Option<Recipe> {
    let mut recipe = match agent {
        "claude" | "claude-acp" => claude::recipe(setup),
        "codex" | "codex-exec" | "codex-acp" => codex::recipe(setup),
        "gemini" => gemini::recipe(setup),
        "opencode" => opencode::recipe(setup),
        "qwen" => qwen::recipe(setup),
        _ => return None,
    };
    let bypass: &[&str] = match agent {
        "qwen" => &["--yolo"],
        "codex-acp" => &["-c", "approval_policy=\"never\"", "-c", "sandbox_mode=\"danger-full-access\""],
        _ => &[],
    };
    recipe.bypass.extend(bypass.iter().map(ToString::to_string));
    Some(recipe)
}

#[cfg(test)]
#[path = "recipe_tests.rs"]
mod tests;
