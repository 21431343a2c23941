//! Qwen Code, over Chat Completions.

use serde_json::json;

use super::{KEY, Recipe, Setup};

const MODEL: &str = "scripted";

pub(super) fn recipe(setup: &Setup) -> Recipe {
    let mut recipe = Recipe::new(&[
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", &format!("{}/v1", setup.url)),
        ("OPENAI_MODEL", MODEL),
        // Without this it starts a second process of itself, which outlives the first.
        ("QWEN_CODE_NO_RELAUNCH", "true"),
        ("QWEN_CODE_API_TIMEOUT_MS", &setup.patience_ms.to_string()),
    ]);
    recipe.args = ["--auth-type", "openai", "-m", MODEL].map(str::to_owned).to_vec();
    recipe.model = Some(MODEL.to_owned());
    let settings = json!({
        // The user may have signed in; in the work tree it is the key that counts.
        "security": { "auth": { "selectedType": "openai" } },
        "model": { "name": MODEL, "generationConfig": { "contextWindowSize": setup.window, "maxRetries": 1 } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
    });
    recipe.files.push((".qwen/settings.json".to_owned(), settings.to_string()));
    recipe
}
