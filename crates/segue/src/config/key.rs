//! Every key that segue knows, in one table: its type, its meaning, its environment variable.
//!
//! Reading, errors, `config show` and the reference documentation are all driven by this table.

use std::fmt;

use segue_machine::policy::preset;

/// One key of the configuration.
#[derive(Debug)]
pub(crate) struct Key {
    /// The dotted path; `*` stands for a name that the user chooses.
    pub(crate) path: &'static str,
    /// What its value is.
    pub(crate) kind: Kind,
    /// What it means, in one line.
    pub(crate) about: &'static str,
    /// The short environment variable, beside the one that is made from the path.
    pub(crate) short: Option<&'static str>,
    /// Whether `"none"` lifts it.
    pub(crate) none: bool,
}

/// What the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text but the empty one.
    Text,
    /// Text that is never shown.
    Secret,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// One text or several.
    List,
    /// Several texts, never split.
    Words,
    /// A command line, or its words.
    Command,
    /// Yes or no.
    Bool,
    /// A whole number of at least this.
    Count(u32),
    /// Tokens, above 0.
    Tokens,
    /// A percentage.
    Percent,
    /// A percentage, or tokens.
    Threshold,
    /// `auto`, `off` or tokens.
    Line,
    /// A duration, above 0.
    Duration,
    /// Dollars, above 0.
    Money,
    /// Dollars per million tokens; 0 is free.
    Price,
    /// What may run without asking.
    Permissions,
    /// `[[stage]]` tables.
    Stages,
    /// `[[gate]]` tables.
    Gates,
}

/// Every known key, in the order in which they are shown.
pub(crate) const KEYS: &[Key] = &[
    key("agents", Kind::List, "agents in order of preference; the rest are fallbacks"),
    key("agent", Kind::List, "the one agent to use; the same as agents with one name"),
    key("policy", Kind::Choice(&preset::NAMES), "the preset that the other values start from"),
    key("require_verified", Kind::Bool, "require a gate: without one the run ends with exit 3"),
    key(
        "claims",
        Kind::Choice(&["shown", "strict"]),
        "what follows from a false claim in the last message when the gates pass: it is shown, or (strict) the run fails",
    ),
    key(
        "context_threshold",
        Kind::Threshold,
        "where the session is replaced, in percent of the ceiling or in tokens (160k); 100 never replaces it",
    ),
    key(
        "price_line",
        Kind::Line,
        "with auto: hand over where a fresh session is cheaper: auto, off or a number of tokens",
    ),
    key(
        "quality_line",
        Kind::Line,
        "with auto: hand over before the model loses track of long contexts: auto, off or a number of tokens",
    ),
    key(
        "tool_call_threshold",
        Kind::Count(0),
        "replaces the session after this many tool calls; 0 removes that stage",
    ),
    key("stage", Kind::Stages, "points on the gauge and the actions there; replaces the preset's stages"),
    key(
        "forecast.soft",
        Kind::Percent,
        "from this percentage on, hand over at the next good moment; if set, no forecast moves it",
    ),
    key(
        "forecast.hard",
        Kind::Percent,
        "from this percentage on, hand over at any moment; if set, no forecast moves it",
    ),
    key("tell", Kind::Bool, "send the agent usage hints, if it can receive them while it works"),
    lifted(env(
        key("limits.max_restarts", Kind::Count(0), "how many fresh sessions may follow a full context"),
        "SEGUE_MAX_RESTARTS",
    )),
    key(
        "limits.max_handoffs_without_progress",
        Kind::Count(1),
        "how many handoffs in a row may pass without progress",
    ),
    key("limits.gate_rounds", Kind::Count(0), "how many times failing gates are sent back to the agent"),
    lifted(env(
        key("limits.deadline", Kind::Duration, "wall time for the whole run, over all its sessions"),
        "SEGUE_DEADLINE",
    )),
    lifted(env(key("limits.cost_usd", Kind::Money, "dollars for the whole run"), "SEGUE_MAX_COST")),
    lifted(key("limits.tokens", Kind::Tokens, "tokens sent and received, over all sessions")),
    key(
        "limits.idle_timeout",
        Kind::Duration,
        "how long there may be no sign of life: no output, no CPU time, no file change",
    ),
    key(
        "limits.tool_timeout",
        Kind::Duration,
        "how long a tool may run without any output of the agent, however busy it is",
    ),
    key(
        "limits.thinking_timeout",
        Kind::Duration,
        "how long the agent may write nothing while its processes are busy",
    ),
    key("limits.tool_idle_timeout", Kind::Duration, "the same as idle_timeout, while a tool runs"),
    key("limits.tool_warning", Kind::Duration, "when to warn that a tool is still running"),
    key(
        "limits.permission_timeout",
        Kind::Duration,
        "how long the agent may pause after a denied permission",
    ),
    key("limits.retry_timeout", Kind::Duration, "how long the agent may retry a call"),
    lifted(key(
        "limits.max_wait",
        Kind::Duration,
        "the longest wait for a time that a provider names; a longer one stops the run, resumable, with exit 75",
    )),
    key(
        "limits.max_failures",
        Kind::Count(1),
        "provider failures in a row without progress, after which the run stops",
    ),
    key("gate", Kind::Gates, "commands whose exit code decides, in the order in which they run"),
    key("gates.*.run", Kind::Text, "the command of a gate that a plan names"),
    key("gates.*.timeout", Kind::Duration, "how long it may take"),
    key("gates.*.manual", Kind::Bool, "true: you decide, and the gate is never run"),
    key("gates.*.protect", Kind::Words, "globs of more files that the gate depends on"),
    key("gates.*.may_change", Kind::Bool, "the agent may change what it runs"),
    key(
        "plan_gates_first",
        Kind::Bool,
        "also run a plan's own gates before its first session, before anything is saved",
    ),
    key("git.enabled", Kind::Bool, "use git"),
    env(
        key(
            "git.commit",
            Kind::Choice(&["snapshot", "branch", "never"]),
            "how work is saved: a ref under refs/segue/, a commit on the branch, or not at all",
        ),
        "SEGUE_COMMIT",
    ),
    key("git.commit_on_failure", Kind::Bool, "with commit = branch: commit even when the run fails"),
    key("git.message", Kind::Text, "the message of commits on the branch; {task} and {status} are filled in"),
    key("git.allow_dirty", Kind::Bool, "start even if the work tree has changes that are not committed"),
    key(
        "checkpoint.ask_timeout",
        Kind::Duration,
        "how long the agent may take to answer a checkpoint request",
    ),
    key("checkpoint.max_chars", Kind::Count(1), "the longest checkpoint text passed to the next session"),
    key(
        "checkpoint.account_tokens",
        Kind::Tokens,
        "the longest checkpoint that segue writes itself, from the agent's list, messages and tool calls",
    ),
    key(
        "checkpoint.dir",
        Kind::Text,
        "where checkpoints are stored, relative to the work tree; by default in the state folder",
    ),
    lifted(key(
        "checkpoint.handoff_file",
        Kind::Text,
        "a readable file, written when the agent gives up, relative to the work tree",
    )),
    lifted(key(
        "checkpoint.summary_file",
        Kind::Text,
        "a file with the last checkpoint in at most 2,000 characters, relative to the work tree",
    )),
    lifted(key(
        "checkpoint.project_dir",
        Kind::Text,
        "a folder with a page for each project and task and readable copies of checkpoints, relative to the work tree",
    )),
    key("checkpoint.project", Kind::Text, "the project's name in that folder; by default the work tree's"),
    key("checkpoint.task", Kind::Text, "the task's name in that folder; by default made from its title"),
    lifted(key("checkpoint.retention.days", Kind::Count(0), "checkpoints older than this are removed")),
    lifted(key("checkpoint.retention.count", Kind::Count(1), "how many checkpoints of one run are kept")),
    key(
        "checkpoint.retention.until_done",
        Kind::Bool,
        "keep every checkpoint until its run is done, and none after that",
    ),
    key(
        "checkpoint.memory",
        Kind::Choice(&["ledger", "last-summary"]),
        "what the next session gets besides the last checkpoint: the run's ledger, or nothing",
    ),
    key("redact.enabled", Kind::Bool, "remove secrets from everything that is stored, shown or passed on"),
    key(
        "redact.allow",
        Kind::Words,
        "what is not a secret: its text, a glob over the whole of it, or kind:NAME",
    ),
    key("redact.emails", Kind::Bool, "also remove e-mail addresses"),
    key("redact.payment", Kind::Bool, "also remove card numbers and IBANs"),
    key(
        "redact.patterns.*",
        Kind::Text,
        "a regular expression for secrets of your own, by the name they are shown with",
    ),
    key(
        "agent.*.kind",
        Kind::Choice(&["acp", "command", "claude", "codex", "codex-exec", "gemini", "opencode"]),
        "how segue talks to it: the Agent Client Protocol, or one command a session",
    ),
    key("agent.*.command", Kind::Command, "the program that starts it, with its arguments"),
    key("agent.*.args", Kind::Words, "arguments added to the command"),
    key("agent.*.prompt", Kind::Choice(&["argument", "stdin"]), "how a command agent takes its prompt"),
    env(key("agent.*.model", Kind::Text, "the model to ask for"), "SEGUE_MODEL"),
    env(
        key("agent.*.window", Kind::Tokens, "the size of its window, if it does not report it"),
        "SEGUE_WINDOW",
    ),
    key("agent.*.budget", Kind::Tokens, "a ceiling below the window"),
    key(
        "agent.*.permissions",
        Kind::Permissions,
        "what it may do without asking: deny, edit (files here and the gates), bypass, or kinds of tool",
    ),
    key("agent.*.account", Kind::Text, "the account to use, if the agent has several"),
    key("agent.*.env.*", Kind::Secret, "environment variables for the agent"),
    key(
        "env.pass",
        Kind::Words,
        "environment variables that agents and gates get even if they hold a provider's key; * matches any text",
    ),
    key("env.drop", Kind::Words, "environment variables that neither agents nor gates get"),
    key("role", Kind::Text, "who the run works as: its agents, checkpoint sections and files"),
    key("roles.*.agents", Kind::List, "agents of this role in order of preference"),
    key("roles.*.sections", Kind::List, "checkpoint sections that belong to this role"),
    key("roles.*.track", Kind::List, "globs of the files that this role looks after"),
    env(
        key(
            "wait.enabled",
            Kind::Bool,
            "wait for a rate-limited or overloaded provider; false: stop with exit 75, resumable",
        ),
        "SEGUE_WAIT",
    ),
    key(
        "wait.on_rate_limit",
        Kind::Choice(&["fallback", "wait"]),
        "what to do about a rate limit of more than a minute while another agent is free",
    ),
    key(
        "wait.first",
        Kind::Duration,
        "the first pause when the provider names no time; it doubles with each failure, and is three times as long for rate limits",
    ),
    key("wait.most", Kind::Duration, "the longest of these pauses"),
    key(
        "verify",
        Kind::Choice(&["helper", "gates"]),
        "what decides that a run is done: the gates alone, or also a helper session of [roles.verifier]",
    ),
    key(
        "parallel.dir",
        Kind::Text,
        "where the work trees of parallel phases are created; by default in your state folder",
    ),
    key("prompts.*", Kind::Text, "the file of a prompt template: task, continuation, checkpoint and others"),
    lifted(env(key("limits.sessions", Kind::Count(1), "sessions that may be started"), "SEGUE_MAX_SESSIONS")),
    lifted(key("budget.day.cost_usd", Kind::Money, "dollars for all runs of a day")),
    lifted(key("budget.day.tokens", Kind::Tokens, "tokens sent and received by all runs of a day")),
    lifted(key("budget.day.sessions", Kind::Count(1), "sessions that all runs of a day may start")),
    lifted(key("budget.day.wall", Kind::Duration, "wall time of all runs of a day, added up")),
    key(
        "budget.allow_unknown_cost",
        Kind::Bool,
        "run even if a cost limit cannot be enforced because the model's price is unknown",
    ),
    key(
        "agent.*.max_cost",
        Kind::Money,
        "dollars that this agent may spend in a run; then the next agent continues",
    ),
    key("prices.*.input", Kind::Price, "dollars per million tokens of fresh input, by the model's name"),
    key(
        "prices.*.cache_read",
        Kind::Price,
        "the same for input read from a cache; by default as fresh input",
    ),
    key(
        "prices.*.cache_write",
        Kind::Price,
        "the same for input written to a cache; by default as fresh input",
    ),
    key("prices.*.cache_write_1h", Kind::Price, "the same for a cache that lasts an hour"),
    key("prices.*.output", Kind::Price, "dollars per million tokens of output"),
    key("prices.*.date", Kind::Text, "the day on which you looked up the price"),
    key(
        "notify.on",
        Kind::List,
        "events to notify about: needs_input, failed, done, limit, waiting; by default all of them",
    ),
    key(
        "notify.command",
        Kind::Command,
        "a program that gets each notification as JSON on its standard input",
    ),
    key("notify.webhook", Kind::Secret, "an address that each notification is posted to"),
    key(
        "notify.format",
        Kind::Choice(&["json", "ntfy", "slack"]),
        "the body that is sent: segue's own JSON, a message for ntfy, or one for Slack and compatible services",
    ),
    key("notify.secret", Kind::Secret, "signs the webhook's body: X-Segue-Signature is its HMAC-SHA256"),
    key("notify.bell", Kind::Bool, "ring the terminal's bell as well"),
    key(
        "notify.every",
        Kind::Duration,
        "the shortest time between two notifications about waiting or about a limit; the end of a run is always sent",
    ),
];

impl Key {
    /// The environment variables that set it, the one made from its path first.
    pub(crate) fn env_names(&self) -> Vec<String> {
        let made = !self.path.contains('*') && !matches!(self.kind, Kind::Stages | Kind::Gates);
        let long = made.then(|| format!("SEGUE_{}", self.path.replace('.', "_").to_uppercase()));
        long.into_iter().chain(self.short.map(str::to_owned)).collect()
    }

    /// The last part of the path.
    pub(crate) fn leaf(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('.')
    }
}

/// A key's path with real names in the place of `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyPath(Vec<String>);

impl KeyPath {
    /// The top of a file.
    pub(crate) fn top() -> Self {
        Self(Vec::new())
    }

    /// A path of which no part has a dot of its own.
    pub(crate) fn dotted(path: &str) -> Self {
        Self(path.split('.').map(str::to_owned).collect())
    }

    /// `section.name.leaf`.
    pub(crate) fn named(section: &str, name: &str, leaf: &str) -> Self {
        Self([section, name, leaf].map(str::to_owned).to_vec())
    }

    /// The path one level down.
    pub(crate) fn child(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([name.to_owned()]).collect())
    }

    /// Its parts.
    pub(crate) fn parts(&self) -> &[String] {
        &self.0
    }

    /// The key of the table that it stands for.
    pub(crate) fn key(&self) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.parts().count() == self.0.len() && self.begins(key))
    }

    /// Whether there are keys below it.
    pub(crate) fn is_section(&self) -> bool {
        KEYS.iter().any(|key| key.parts().count() > self.0.len() && self.begins(key))
    }

    /// What may come next below it, each once; `*` where the user chooses.
    pub(crate) fn children(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for key in KEYS.iter().filter(|key| self.begins(key)) {
            names.extend(key.parts().nth(self.0.len()).filter(|name| !names.contains(name)));
        }
        names
    }

    /// A name is never `*` itself: that is how overrides for the chosen agent are kept.
    fn begins(&self, key: &Key) -> bool {
        self.0.iter().zip(key.parts()).all(|(own, part)| if part == "*" { own != "*" } else { own == part })
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            let bare =
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_*".contains(&b));
            let dot = if i > 0 { "." } else { "" };
            if bare { write!(f, "{dot}{part}")? } else { write!(f, "{dot}{part:?}")? }
        }
        Ok(())
    }
}

/// The candidate that was most likely meant, if any is near enough.
pub(crate) fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace('-', "_");
    let typed = plain(&typed.chars().take(80).collect::<String>());
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&typed, &plain(candidate)), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4 && *distance < candidate.len())
        .map(|(_, candidate)| candidate)
}

const fn key(path: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { path, kind, about, short: None, none: false }
}

const fn env(key: Key, short: &'static str) -> Key {
    Key { short: Some(short), ..key }
}

const fn lifted(key: Key) -> Key {
    Key { none: true, ..key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_finds_itself_and_has_a_meaning() {
        for key in KEYS {
            let path = KeyPath::dotted(&key.path.replace('*', "name"));
            assert_eq!(path.key().map(|k| k.path), Some(key.path));
            assert!(!key.about.is_empty());
        }
    }

    #[test]
    fn no_environment_variable_stands_for_two_keys() {
        let mut names: Vec<String> = KEYS.iter().flat_map(Key::env_names).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.iter().any(|n| n == "SEGUE_LIMITS_MAX_RESTARTS"));
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not_made_up() {
        let names = KeyPath::dotted("limits").children();
        assert_eq!(nearest("max_restart", names.clone()), Some("max_restarts"));
        assert_eq!(nearest("Gate-Rounds", names.clone()), Some("gate_rounds"));
        assert_eq!(nearest("zzz", names), None);
    }
}
