//! Claude Code, by itself and behind its ACP adapter.

use serde_json::{Map, json};

use super::{KEY, Recipe, Setup};

/// A name that Claude Code does not know: only then does it take the size of the window from its environment.
const MODEL: &str = "scripted-model";

pub(super) fn recipe(setup: &Setup) -> Recipe {
    let (window, patience) = (setup.window.to_string(), setup.patience_ms.to_string());
    let set = [
        ("ANTHROPIC_BASE_URL", setup.url.as_str()),
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_MODEL", MODEL),
        ("ANTHROPIC_SMALL_FAST_MODEL", MODEL),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", MODEL),
        ("CLAUDE_CODE_MAX_CONTEXT_TOKENS", window.as_str()),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("API_TIMEOUT_MS", patience.as_str()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ];
    let mut recipe = Recipe::new(&set);
    recipe.model = Some(MODEL.to_owned());
    // The `env` of the user's own settings would win over the environment, and their key helper would be asked.
    let env: Map<_, _> = recipe.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let settings = json!({ "env": env, "model": MODEL, "apiKeyHelper": format!("echo {KEY}") });
    recipe.files.push((".claude/settings.local.json".to_owned(), settings.to_string()));
    recipe
}
