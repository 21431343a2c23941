//! Whether an agent looks logged in: a variable that is set, or a file that its login leaves. No file is opened.

use std::path::PathBuf;

struct Signs {
    agent: &'static str,
    variables: &'static [&'static str],
    files: &'static [&'static str],
}

const SIGNS: &[Signs] = &[
    Signs {
        agent: "claude",
        variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        files: &[".claude/.credentials.json"],
    },
    Signs { agent: "codex", variables: &["OPENAI_API_KEY", "CODEX_API_KEY"], files: &[".codex/auth.json"] },
    Signs {
        agent: "gemini",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        files: &[".gemini/oauth_creds.json"],
    },
    Signs {
        agent: "opencode",
        variables: &["OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
        files: &[".local/share/opencode/auth.json"],
    },
    Signs { agent: "qwen", variables: &["OPENAI_API_KEY"], files: &[".qwen/oauth_creds.json"] },
];

/// The installed agents in order of preference: those that look logged in, or else all of them.
pub(super) fn first(installed: &[String]) -> Vec<String> {
    let ready: Vec<String> = installed.iter().filter(|name| sign(name).is_some()).cloned().collect();
    if ready.is_empty() { installed.to_vec() } else { ready }
}

/// What is known of its login, to stand behind its name.
pub(super) fn words(agent: &str) -> String {
    match sign(agent) {
        Some(sign) => format!(" (login: {sign})"),
        None if SIGNS.iter().any(|signs| signs.agent == agent) => " (no login found)".to_owned(),
        None => String::new(),
    }
}

fn sign(agent: &str) -> Option<String> {
    let signs = SIGNS.iter().find(|signs| signs.agent == agent)?;
    let set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = signs.variables.iter().find(set) {
        return Some((*name).to_owned());
    }
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let file = signs.files.iter().find(|file| home.join(file).exists())?;
    Some(format!("~/{file}"))
}
