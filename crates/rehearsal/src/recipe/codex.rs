//! Codex: its app-server, `codex exec`, and its ACP adapter all take the same overrides.

use super::{KEY, Recipe, Setup};

/// A name that Codex does not know: the window of a known one cannot be made smaller.
const MODEL: &str = "scripted";

pub(super) fn recipe(setup: &Setup) -> Recipe {
    let mut recipe = Recipe::new(&[("REHEARSAL_KEY", KEY), ("OPENAI_API_KEY", KEY), ("CODEX_API_KEY", KEY)]);
    let provider = format!(
        "model_providers.rehearsal={{name=\"rehearsal\",base_url=\"{}/v1\",wire_api=\"responses\",\
         env_key=\"REHEARSAL_KEY\",request_max_retries=1,stream_max_retries=1,stream_idle_timeout_ms={}}}",
        setup.url, setup.patience_ms
    );
    let overrides = [
        format!("model=\"{MODEL}\""),
        "model_provider=\"rehearsal\"".to_owned(),
        provider,
        format!("model_context_window={}", setup.window),
        "check_for_update_on_startup=false".to_owned(),
        "analytics.enabled=false".to_owned(),
    ];
    recipe.args.extend(overrides.into_iter().flat_map(|set| ["-c".to_owned(), set]));
    recipe.model = Some(MODEL.to_owned());
    recipe
}
