//! Gemini CLI. It knows no way to set the window: the one of the model's name holds, so segue has to be told.

use serde_json::json;

use super::{KEY, Recipe, Setup};

/// Others are asked for by the CLI itself where this one fails.
const MODEL: &str = "gemini-2.5-pro";

pub(super) fn recipe(setup: &Setup) -> Recipe {
    let mut recipe = Recipe::new(&[
        ("GEMINI_API_KEY", KEY),
        ("GOOGLE_GEMINI_BASE_URL", &setup.url),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ]);
    recipe.model = Some(MODEL.to_owned());
    let settings = json!({
        // The user may have signed in; in the work tree it is the key that counts.
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "general": { "enableAutoUpdate": false, "maxAttempts": 3 },
    });
    recipe.files.push((".gemini/settings.json".to_owned(), settings.to_string()));
    recipe
}
