//! What agents and gates get of the user's environment: each agent only its own provider's keys, gates none of them and
//! nothing of segue's own, and whatever `env.pass` and `env.drop` change about that.

use std::ffi::OsString;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::config::{AgentKind, AgentSettings};

/// The keys of providers, by the provider's name as models and agents use it.
const KEYS: &[(&str, &[&str])] = &[
    (
        "anthropic",
        &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_API_KEY"],
    ),
    ("openai", &["OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "CODEX_API_KEY"]),
    ("google", &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]),
    ("azure", &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"]),
    ("amazon-bedrock", &["AWS_BEARER_TOKEN_BEDROCK"]),
    ("qwen", &["DASHSCOPE_API_KEY", "QWEN_API_KEY", "BAILIAN_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("mistral", &["MISTRAL_API_KEY", "CODESTRAL_API_KEY"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("xai", &["XAI_API_KEY", "GROK_API_KEY"]),
    ("cohere", &["COHERE_API_KEY", "CO_API_KEY"]),
    ("togetherai", &["TOGETHER_API_KEY", "TOGETHERAI_API_KEY"]),
    ("fireworks-ai", &["FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"]),
    ("cerebras", &["CEREBRAS_API_KEY"]),
    ("perplexity", &["PERPLEXITY_API_KEY"]),
    ("moonshotai", &["MOONSHOT_API_KEY", "KIMI_API_KEY"]),
    ("zai", &["ZAI_API_KEY", "ZHIPU_API_KEY"]),
    ("minimax", &["MINIMAX_API_KEY"]),
    ("huggingface", &["HF_TOKEN", "HUGGINGFACE_API_KEY"]),
    ("opencode", &["OPENCODE_API_KEY"]),
];

/// What the configuration says about the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct EnvRules {
    pass: GlobSet,
    drop: GlobSet,
}

impl EnvRules {
    /// Rules from patterns of names; the error names the key and says what is wrong.
    pub(crate) fn new(pass: &[String], drop: &[String]) -> Result<Self, (&'static str, String)> {
        let set = |key: &'static str, names: &[String]| {
            let mut set = GlobSetBuilder::new();
            for name in names {
                set.add(Glob::new(name).map_err(|error| (key, error.to_string()))?);
            }
            set.build().map_err(|error| (key, error.to_string()))
        };
        Ok(Self { pass: set("env.pass", pass)?, drop: set("env.drop", drop)? })
    }

    /// The variables of this process that a gate does not get. What marks its processes is set anew for each.
    pub(crate) fn kept_from_gates(&self) -> Vec<OsString> {
        self.kept_back(|name| key_of(name).is_some() || name.starts_with("SEGUE_"))
    }

    /// The variables of this process that an agent does not get.
    pub(crate) fn kept_from(&self, agent: &AgentSettings) -> Vec<OsString> {
        let own = providers(agent);
        self.kept_back(|name| {
            name == "SEGUE_TRUST" || key_of(name).is_some_and(|provider| !own.contains(&provider))
        })
    }

    fn kept_back(&self, kept: impl Fn(&str) -> bool) -> Vec<OsString> {
        let names = std::env::vars_os().map(|(name, _)| name);
        names
            .filter(|name| {
                let text = name.to_string_lossy();
                let text = text.as_ref();
                self.drop.is_match(text) || (kept(text) && !self.pass.is_match(text))
            })
            .collect()
    }
}

/// The variables that a program which is only looked at does not get: every provider's keys and all that is segue's.
pub(crate) fn kept_from_looking() -> Vec<OsString> {
    EnvRules::default().kept_from_gates()
}

/// Where programs are looked for: a relative folder on `PATH` would be one of whichever repository is worked in.
pub(crate) fn search_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    std::env::join_paths(dirs).unwrap_or_default()
}

fn key_of(name: &str) -> Option<&'static str> {
    KEYS.iter().find(|(_, keys)| keys.contains(&name)).map(|(provider, _)| *provider)
}

/// The providers whose keys an agent gets, by what it is. One that works with any provider gets that of its model, and
/// every key only where nothing says which; one that segue does not know gets none.
fn providers(agent: &AgentSettings) -> Vec<&'static str> {
    let every = || KEYS.iter().map(|(provider, _)| *provider);
    match (agent.kind, agent.spec.name.as_str()) {
        (AgentKind::Claude, _) | (AgentKind::Acp, "claude-acp") => vec!["anthropic", "amazon-bedrock"],
        (AgentKind::Codex | AgentKind::CodexExec, _) | (AgentKind::Acp, "codex-acp") => {
            vec!["openai", "azure"]
        }
        (AgentKind::Gemini, _) => vec!["google"],
        (AgentKind::Acp, "qwen") => vec!["qwen", "openai"],
        (AgentKind::OpenCode, _) | (AgentKind::Acp, "opencode-acp" | "goose") => {
            let named = agent.spec.model.as_deref().and_then(|model| Some(model.split_once('/')?.0));
            let known: Vec<&str> = every().filter(|provider| named == Some(*provider)).collect();
            if known.is_empty() { every().collect() } else { known }
        }
        (AgentKind::Acp | AgentKind::Command, _) => Vec::new(),
    }
}
