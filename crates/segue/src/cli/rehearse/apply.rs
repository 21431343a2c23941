//! The user's settings, changed as little as a rehearsal needs: the model is the scripted one, nothing takes long, and
//! the gate is the job's.

use std::path::Path;

use segue_machine::GateSpec;
use segue_rehearsal::recipe::{self, Recipe, Setup};

use crate::cli::failure::Failure;
use crate::config::{AgentKind, AgentSettings, BudgetSettings, Permissions, PromptBy, Settings};

/// The name of the agent that needs no CLI.
pub(super) const STAND_IN: &str = "scripted";
/// How long an agent waits for a byte of its model.
pub(super) const PATIENCE_MS: u64 = 8_000;
/// Tokens of one answer, for agents that have to be told.
const OUTPUT: u64 = 8_000;
/// Silence of the agent, silence of a tool, an unanswered request, the whole run.
const MOST_MS: [u64; 4] = [40_000, 60_000, 15_000, 15 * 60_000];

/// The first pause, the longest one, the longest wait for a time that is named.
const WAIT_MS: [u64; 3] = [500, 2_000, 30_000];
/// Failures in a row without progress.
const FAILURES: u32 = 4;

/// The programs that a recipe is known for, where an agent has a name of the user's own.
const PROGRAMS: [(&str, &str); 7] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
    ("qwen", "qwen"),
    ("codex-acp", "codex-acp"),
    ("claude-agent-acp", "claude-acp"),
];

/// The recipe for an agent.
pub(super) fn recipe_for(agent: &AgentSettings, url: &str, window: u64) -> Result<Recipe, Failure> {
    let program = agent.command.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    let own = Some(agent.spec.name.as_str()).filter(|name| recipe::AGENTS.contains(name));
    let by_program = PROGRAMS.iter().find(|(file, _)| *file == program).map(|(_, name)| *name);
    let setup = Setup { url: url.to_owned(), window, output: OUTPUT, patience_ms: PATIENCE_MS };
    own.or(by_program).and_then(|name| recipe::recipe(name, &setup)).ok_or_else(|| {
        Failure::usage(format!(
            "segue cannot point agent {:?} at another model server; a rehearsal works with {} and {STAND_IN}",
            agent.spec.name,
            recipe::AGENTS.join(", ")
        ))
    })
}

/// Leads an agent to the server. What the user had set is overridden only where the recipe says so.
pub(super) fn lead(agent: &mut AgentSettings, recipe: &Recipe, window: u64, repository: &Path) {
    agent.env.extend(recipe.env.iter().cloned());
    agent.args.extend(recipe.args.iter().cloned());
    if agent.permissions == Permissions::Bypass {
        agent.args.extend(recipe.bypass.iter().cloned());
    }
    // Codex lets nothing be written in a folder that nobody has trusted.
    if recipe.args.iter().any(|arg| arg.starts_with("model_provider")) {
        let folder = serde_json::Value::from(repository.display().to_string());
        let trusted = format!("projects={{{folder}={{trust_level=\"trusted\"}}}}");
        agent.args.extend(["-c".to_owned(), trusted]);
    }
    agent.spec.model.clone_from(&recipe.model);
    agent.spec.window = Some(window);
    agent.spec.budget = agent.spec.budget.filter(|budget| *budget < window);
}

/// An agent that may not run the commands of the job can do nothing here; the user is told.
pub(super) fn allow_commands(agent: &mut AgentSettings) {
    if !may_run_commands(&agent.permissions) {
        agent.permissions = Permissions::Allow(vec!["execute".to_owned()]);
        agent.spec.allow = agent.permissions.kinds();
        agent.spec.edits = false;
    }
}

/// Whether these permissions let the steps of the job run.
pub(super) fn may_run_commands(permissions: &Permissions) -> bool {
    !matches!(permissions, Permissions::Deny | Permissions::Edit)
}

/// The rest of the settings. `home` is the folder that relative names of the user's were meant for.
pub(super) fn settle(settings: &mut Settings, gate: &str, home: &Path) {
    settings.gates = vec![GateSpec::new("check", gate, 60_000)];
    settings.git.enabled = true;
    settings.git.allow_dirty = true;
    settings.budget = BudgetSettings::of_rehearsal();
    let limits = &mut settings.limits;
    let [idle, tool, ask, whole] = MOST_MS;
    limits.idle_ms = limits.idle_ms.min(idle);
    limits.tool_ms = limits.tool_ms.min(tool);
    limits.thinking_ms = limits.thinking_ms.min(idle);
    limits.tool_idle_ms = limits.tool_idle_ms.min(tool);
    limits.retry_ms = limits.retry_ms.min(whole);
    limits.ask_timeout_ms = limits.ask_timeout_ms.min(ask);
    limits.deadline_ms = Some(limits.deadline_ms.unwrap_or(whole).min(whole));
    // A provider that is scripted to fail until the run stops is not worth a long wait, and nobody else's business.
    let wait = &mut settings.wait;
    let [first, most, longest] = WAIT_MS;
    (wait.first_ms, wait.most_ms) = (wait.first_ms.min(first), wait.most_ms.min(most));
    wait.longest_ms = Some(wait.longest_ms.unwrap_or(longest).min(longest));
    wait.failures = wait.failures.min(FAILURES);
    wait.shared = false;
    for file in settings.prompts.values_mut() {
        *file = home.join(&*file).display().to_string();
    }
}

/// The agent that needs no CLI, with its script.
pub(super) fn stand_in(script: &Path, window: u64) -> Result<AgentSettings, Failure> {
    let word = |path: &Path| path.display().to_string();
    let program = word(&std::env::current_exe()?);
    Ok(AgentSettings {
        spec: segue_machine::AgentSpec {
            name: STAND_IN.to_owned(),
            model: None,
            window: Some(window),
            budget: None,
            allow: vec!["*".to_owned()],
            edits: false,
            account: None,
        },
        kind: AgentKind::Acp,
        command: vec![program, "scripted-agent".to_owned(), "--script".to_owned(), word(script)],
        args: Vec::new(),
        prompt_by: PromptBy::Argument,
        permissions: Permissions::Bypass,
        account: None,
        env: std::collections::BTreeMap::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, command: &str) -> AgentSettings {
        let mut agent = stand_in(Path::new("/s"), 5).unwrap();
        (agent.spec.name, agent.command) = (name.to_owned(), vec![command.to_owned()]);
        agent.env.insert("ANTHROPIC_API_KEY".to_owned(), "real".to_owned());
        agent.env.insert("MINE".to_owned(), "kept".to_owned());
        agent
    }

    #[test]
    fn an_agent_is_known_by_its_name_or_by_its_program() {
        let model = |name, command| recipe_for(&agent(name, command), "http://127.0.0.1:1", 9).unwrap().model;
        assert_eq!(model("claude", "npx").as_deref(), Some("scripted-model"));
        assert_eq!(model("mine", "/opt/bin/gemini").as_deref(), Some("gemini-2.5-pro"));
        let why = recipe_for(&agent("mine", "deploy"), "", 9).unwrap_err();
        assert_eq!(why.exit, 2);
    }

    #[test]
    fn real_keys_of_the_configuration_are_replaced_and_the_rest_stands() {
        let mut mine = agent("claude", "claude");
        let recipe = recipe_for(&mine, "http://127.0.0.1:1", 9).unwrap();
        lead(&mut mine, &recipe, 9, Path::new("/r"));
        assert_eq!(mine.env["ANTHROPIC_API_KEY"], recipe::KEY);
        assert_eq!((mine.env["MINE"].as_str(), mine.spec.window), ("kept", Some(9)));
    }
}
