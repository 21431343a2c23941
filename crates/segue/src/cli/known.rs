//! What is known of agents beside how they are started: how exact their gauge is, which versions were tested, what they
//! must be able to do, and how to get them. Data; it asks nobody.

use crate::config::{AgentKind, KNOWN_AGENTS};

/// What is known of one agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// How it is driven, in one word.
    pub(super) driven_by: &'static str,
    /// The same in words.
    pub(super) driven: &'static str,
    /// How exact its gauge is.
    pub(super) gauge: &'static str,
    /// The versions that segue's own tests or measurements ran with.
    pub(super) tested: &'static [&'static str],
    /// How to get it.
    pub(super) get: Option<&'static str>,
    /// What to know before relying on it.
    pub(super) notes: &'static [&'static str],
    /// The agent to take when a version lacks something.
    pub(super) instead: Option<&'static str>,
    /// What its help must speak of, as `(arguments, words)`.
    pub(super) needs: Option<(&'static [&'static str], &'static [&'static str])>,
}

const EXACT: &str = "exact, from each model call";
const SILENT: &str = "estimated: it reports nothing while it works";

const CLAUDE: Facts = Facts {
    driven_by: "stream-json",
    driven: "Claude Code, stream-json in and out",
    gauge: EXACT,
    tested: &["2.1.325"],
    get: Some("npm install -g @anthropic-ai/claude-code"),
    notes: &[],
    instead: None,
    needs: Some((
        &["--help"],
        &[
            "--input-format",
            "--output-format",
            "--include-partial-messages",
            "--session-id",
            "--resume",
            "--settings",
        ],
    )),
};

const CODEX: Facts = Facts {
    driven_by: "app-server",
    driven: "Codex app-server",
    gauge: EXACT,
    tested: &["0.166.0"],
    get: Some("npm install -g @openai/codex"),
    notes: &[],
    instead: Some("codex-exec"),
    needs: Some((&["app-server", "--help"], &["codex app-server"])),
};

const CODEX_EXEC: Facts = Facts {
    driven_by: "exec",
    driven: "codex exec, one prompt at a time",
    gauge: "exact, from the rollout file that Codex writes beside its work",
    notes: &["takes no messages while it works: segue writes its checkpoints; `codex` can"],
    instead: None,
    needs: Some((&["exec", "--help"], &["--json"])),
    ..CODEX
};

const OPENCODE: Facts = Facts {
    driven_by: "serve",
    driven: "opencode serve, through a bridge of segue's own",
    gauge: EXACT,
    tested: &["1.18.33"],
    get: Some("npm install -g opencode-ai"),
    notes: &[],
    instead: Some("opencode-acp"),
    needs: Some((&["serve", "--help"], &["--port", "--hostname"])),
};

const ACP: Facts = Facts {
    driven_by: "acp",
    driven: "Agent Client Protocol",
    gauge: "reported by the agent where it does, else estimated",
    tested: &[],
    get: None,
    notes: &[],
    instead: None,
    needs: None,
};

const COMMAND: Facts = Facts {
    driven_by: "command",
    driven: "one command per prompt",
    gauge: "estimated from what is sent and printed",
    ..ACP
};

impl Facts {
    /// The words that its help must speak of.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.needs.map_or(&[] as &[&str], |(_, words)| words).iter().copied()
    }
}

/// What is known of an agent of that name and kind.
pub(super) fn facts(name: &str, kind: AgentKind) -> Facts {
    match (kind, name) {
        (AgentKind::Claude, _) => CLAUDE,
        (AgentKind::Codex, _) => CODEX,
        (AgentKind::CodexExec, _) => CODEX_EXEC,
        (AgentKind::Command, _) => COMMAND,
        (AgentKind::Acp, "claude-acp") => Facts {
            gauge: "reported by the agent at each model call",
            get: Some("npm install -g @agentclientprotocol/claude-agent-acp"),
            notes: &["needs Node 22 or newer; `claude` needs neither it nor Node"],
            ..ACP
        },
        (AgentKind::Acp, "codex-acp") => Facts {
            gauge: "reported by the agent after the tools of each model call",
            tested: &["0.16.0"],
            get: Some("npm install -g @zed-industries/codex-acp"),
            notes: &["brings a Codex of its own, older than the one installed; `codex` uses yours"],
            ..ACP
        },
        (AgentKind::Gemini, _) => Facts {
            driven_by: "gemini",
            driven: "Agent Client Protocol, with its chat file and a hook before each model call",
            gauge: "exact, from the chat file that Gemini CLI writes",
            tested: &["0.61.0"],
            get: Some("npm install -g @google/gemini-cli"),
            notes: &["reports no window: name a known model with --model, or set `window`"],
            ..ACP
        },
        (AgentKind::Acp, "qwen") => {
            let get = Some("npm install -g @qwen-code/qwen-code");
            Facts { gauge: SILENT, tested: &["0.15.10"], get, ..ACP }
        }
        (AgentKind::OpenCode, _) => OPENCODE,
        (AgentKind::Acp, "opencode-acp") => Facts {
            gauge: "reported once at the end of each prompt, estimated in between",
            get: OPENCODE.get,
            notes: &["its gauge is poor; `opencode` drives the same program with an exact one"],
            ..ACP
        },
        (AgentKind::Acp, _) => ACP,
    }
}

/// The command that asks for the version, where it is known that asking does no harm.
pub(super) fn version_command(kind: AgentKind, command: &[String]) -> Option<Vec<String>> {
    let program = command.first()?;
    let file = program.rsplit('/').next().unwrap_or(program);
    let mut asking = match kind {
        AgentKind::Claude
        | AgentKind::Codex
        | AgentKind::CodexExec
        | AgentKind::Gemini
        | AgentKind::OpenCode => command.to_vec(),
        AgentKind::Acp if KNOWN_AGENTS.iter().any(|known| known.command.first() == Some(&file)) => {
            vec![program.clone()]
        }
        AgentKind::Acp | AgentKind::Command => return None,
    };
    asking.push("--version".to_owned());
    Some(asking)
}

/// What an agent's help does not speak of although it must.
pub(super) fn lacking(words: &[&'static str], help: &str) -> Vec<&'static str> {
    words.iter().copied().filter(|word| !help.contains(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_that_the_tests_install_counts_as_tested() {
        let pins: serde_json::Value =
            serde_json::from_str(include_str!("../../../../xtask/agents.json")).unwrap();
        for pin in pins.as_array().unwrap() {
            let name = pin["name"].as_str().unwrap();
            let Some(known) = KNOWN_AGENTS.iter().find(|known| known.name == name) else { continue };
            let tested = facts(name, known.kind).tested;
            assert!(tested.contains(&pin["version"].as_str().unwrap()), "{name}: {tested:?}");
        }
    }

    #[test]
    fn only_programs_that_are_known_to_answer_are_asked_for_their_version() {
        let asked = |kind, command: &[&str]| {
            version_command(kind, &command.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>())
                .map(|words| words.join(" "))
        };
        assert_eq!(asked(AgentKind::Claude, &["npx", "claude"]).as_deref(), Some("npx claude --version"));
        assert_eq!(
            asked(AgentKind::Acp, &["/opt/gemini", "--acp"]).as_deref(),
            Some("/opt/gemini --version")
        );
        assert_eq!(asked(AgentKind::Acp, &["./deploy-now"]), None);
        assert_eq!(asked(AgentKind::Command, &["codex"]), None);
        assert_eq!(asked(AgentKind::Claude, &[]), None);
    }

    #[test]
    fn what_the_help_is_silent_about_is_lacking() {
        assert_eq!(lacking(&["--settings", "--resume"], "  --resume [id]  take up"), ["--settings"]);
    }
}
