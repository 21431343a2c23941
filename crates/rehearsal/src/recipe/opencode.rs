//! OpenCode: a provider of its own in the configuration that it takes from its environment, which wins over files.

use serde_json::json;

use super::{KEY, Recipe, Setup};

/// Provider and model.
const MODEL: &str = "rehearsal/scripted";

pub(super) fn recipe(setup: &Setup) -> Recipe {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "rehearsal",
        "options": { "baseURL": format!("{}/v1", setup.url), "apiKey": KEY, "timeout": setup.patience_ms },
        "models": { "scripted": {
            "name": "scripted", "limit": { "context": setup.window, "output": setup.output },
        } },
    });
    let config = json!({
        "model": MODEL, "small_model": MODEL, "provider": { "rehearsal": provider },
        "autoupdate": false, "share": "disabled",
    });
    let config = config.to_string();
    let mut recipe = Recipe::new(&[
        ("OPENCODE_CONFIG_CONTENT", &config),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
    ]);
    recipe.model = Some(MODEL.to_owned());
    // For whoever needs that variable for something else: it is laid over the work tree's file, not put in its place.
    recipe.files.push(("opencode.json".to_owned(), config));
    recipe
}
