//! Agents that need no configuration: their names and how they are started.

use crate::config::settings::AgentKind;

/// An agent that segue knows by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Builtin {
    /// The name in `agents = [...]`.
    pub(crate) name: &'static str,
    /// How segue talks to it.
    pub(crate) kind: AgentKind,
    /// The program and its first arguments.
    pub(crate) command: &'static [&'static str],
}

/// Every agent that segue knows by name.
pub(crate) const KNOWN: &[Builtin] = &[
    Builtin { name: "claude", kind: AgentKind::Claude, command: &["claude"] },
    Builtin { name: "codex", kind: AgentKind::Codex, command: &["codex"] },
    Builtin { name: "codex-exec", kind: AgentKind::CodexExec, command: &["codex"] },
    acp("claude-acp", &["claude-agent-acp"]),
    acp("codex-acp", &["codex-acp"]),
    Builtin { name: "gemini", kind: AgentKind::Gemini, command: &["gemini"] },
    acp("goose", &["goose", "acp"]),
    Builtin { name: "opencode", kind: AgentKind::OpenCode, command: &["opencode"] },
    acp("opencode-acp", &["opencode", "acp"]),
    acp("qwen", &["qwen", "--acp"]),
];

/// The agent of that name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    KNOWN.iter().find(|known| known.name == name)
}

/// The names, for messages.
pub(crate) fn names() -> String {
    KNOWN.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
}

const fn acp(name: &'static str, command: &'static [&'static str]) -> Builtin {
    Builtin { name, kind: AgentKind::Acp, command }
}
