//! Which model works, and how much it holds: what the server is configured with and what it offers.

use std::collections::BTreeMap;

use serde_json::Value;

/// What OpenCode asks a model for at most, whatever the model could give.
const MOST_OUTPUT: u64 = 32_000;
/// What it keeps free of a model with a limit for its input alone.
const RESERVED: u64 = 20_000;

/// How much a model holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) window: Option<u64>,
    /// Where OpenCode would compact, or the model's input ends, if that is below the window.
    pub(super) ceiling: Option<u64>,
}

/// The server's models.
#[derive(Debug, Default)]
pub(super) struct Models {
    chosen: Option<String>,
    compacts: bool,
    reserved: Option<u64>,
    limits: BTreeMap<String, Limit>,
}

impl Models {
    /// Takes in the server's configuration.
    pub(super) fn configured(&mut self, config: &Value) {
        self.chosen = config["model"].as_str().map(str::to_owned);
        self.compacts = config.pointer("/compaction/auto") != Some(&Value::Bool(false));
        self.reserved = config.pointer("/compaction/reserved").and_then(Value::as_u64);
    }

    /// Takes in the providers that can be used, with their models.
    pub(super) fn offered(&mut self, offer: &Value) {
        let providers = offer["providers"].as_array().into_iter().flatten();
        for provider in providers {
            let name = provider["id"].as_str().unwrap_or_default();
            for (model, facts) in provider["models"].as_object().into_iter().flatten() {
                let limit = self.read(&facts["limit"]);
                self.limits.insert(format!("{name}/{model}"), limit);
            }
        }
    }

    // The rule by which OpenCode itself decides when to compact.
    fn read(&self, limit: &Value) -> Limit {
        let count = |name: &str| limit[name].as_u64().filter(|n| *n > 0);
        let (window, input) = (count("context"), count("input"));
        let output = count("output").unwrap_or(MOST_OUTPUT).min(MOST_OUTPUT);
        let compacts_at = match (input, window) {
            (Some(input), _) => Some(input.saturating_sub(self.reserved.unwrap_or(output.min(RESERVED)))),
            (None, window) => window.map(|window| window.saturating_sub(output)),
        };
        Limit { window, ceiling: if self.compacts { compacts_at } else { input } }
    }

    /// The full name of a model, given as `provider/model` or by its own name if only one provider has it.
    pub(super) fn find(&self, name: &str) -> Option<String> {
        if self.limits.contains_key(name) {
            return Some(name.to_owned());
        }
        let mut found =
            self.limits.keys().filter(|full| full.split_once('/').is_some_and(|(_, m)| m == name));
        found.next().filter(|_| found.next().is_none()).cloned()
    }

    /// The model that the configuration names.
    pub(super) fn default_model(&self) -> Option<String> {
        self.chosen.clone()
    }

    /// What a model holds, as far as the server says.
    pub(super) fn limit(&self, name: &str) -> Limit {
        self.limits.get(name).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn models(config: &Value, limit: &Value) -> Models {
        let mut models = Models::default();
        models.configured(config);
        models.offered(&json!({ "providers": [{ "id": "rig", "models": { "m": { "limit": limit } } }] }));
        models
    }

    #[test]
    fn the_ceiling_is_where_opencode_would_compact_and_the_window_when_it_may_not() {
        let (on, off) = (json!({}), json!({ "compaction": { "auto": false } }));
        for (config, limit, window, ceiling) in [
            (&on, json!({ "context": 60_000, "output": 4_000 }), 60_000, Some(56_000)),
            (&off, json!({ "context": 60_000, "output": 4_000 }), 60_000, None),
            (&on, json!({ "context": 200_000, "output": 128_000 }), 200_000, Some(168_000)),
            (&on, json!({ "context": 200_000 }), 200_000, Some(168_000)),
            (&on, json!({ "context": 400_000, "input": 272_000, "output": 128_000 }), 400_000, Some(252_000)),
            (
                &off,
                json!({ "context": 400_000, "input": 272_000, "output": 128_000 }),
                400_000,
                Some(272_000),
            ),
        ] {
            let limit = models(config, &limit).limit("rig/m");
            assert_eq!(limit, Limit { window: Some(window), ceiling });
        }
        assert_eq!(models(&on, &json!({ "context": 0, "output": 0 })).limit("rig/m"), Limit::default());
        assert_eq!(models(&on, &json!({})).limit("other/m"), Limit::default());
    }

    #[test]
    fn a_model_is_found_by_its_full_name_or_by_its_own_if_that_is_clear() {
        let mut models = models(&json!({}), &json!({ "context": 1 }));
        assert_eq!(models.find("rig/m").as_deref(), Some("rig/m"));
        assert_eq!(models.find("m").as_deref(), Some("rig/m"));
        assert_eq!(models.find("rig"), None);
        models.offered(&json!({ "providers": [{ "id": "two", "models": { "m": {}, "a/b": {} } }] }));
        assert_eq!(models.find("m"), None, "two have it");
        assert_eq!(models.find("a/b").as_deref(), Some("two/a/b"));
    }
}
