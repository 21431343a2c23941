//! The names, a row each. `docs/from-other-tools.md` is the same table for people; a test holds the two together.

use super::Name;

const DEBUSSY: &str = ".debussy/config.yaml";
const MALA: &str = "mala.yaml";
const AUTOPILOT: &str = ".planning/config.json";
const SHIPWRIGHT: &str = ".claude/daemon-config.json";

/// Every name that is known.
pub(super) const NAMES: &[Name] = &[
    debussy("timeout", "[limits] deadline = \"{}s\"", "of the whole run, not of a phase"),
    debussy("max_retries", "[limits] gate_rounds = {}", ""),
    debussy("model", "[agent.claude] model = \"{}\"", ""),
    debussy("auto_commit", "[git] commit = \"branch\"", "false: commit = \"snapshot\""),
    debussy("commit_on_failure", "[git] commit_on_failure = {}", ""),
    debussy(
        "commit_message_template",
        "[git] message = \"Phase {task} {status}\"",
        "placeholders are {task} and {status}",
    ),
    debussy("context_threshold", "context_threshold = {}", ""),
    debussy("tool_call_threshold", "tool_call_threshold = {}", ""),
    debussy("max_restarts", "[limits] max_restarts = {}", ""),
    debussy("strict_compliance", "require_verified = {}", ""),
    debussy("sandbox_mode", "", "start segue itself in the container"),
    debussy("interactive", "", "the terminal view is on where there is a terminal; --json for programs"),
    flag("debussy", "--yolo", "--permissions bypass", ""),
    flag("debussy", "--no-interactive", "--json", ""),
    mala("timeout_minutes", "[limits] deadline = \"{}m\"", ""),
    mala("idle_timeout_seconds", "[limits] idle_timeout = \"{}s\"", ""),
    mala("max_idle_retries", "[limits] max_failures = {}", ""),
    mala("coder", "agents = [\"{}\"]", ""),
    mala("context_restart_threshold", "context_threshold = {}", "percent: 0.90 is 90"),
    mala("context_limit", "[agent.NAME] window = \"{}\"", "only where the agent does not say so itself"),
    mala("commands.test", "[[gate]] name = \"test\" run = \"{}\"", ""),
    mala("commands.lint", "[[gate]] name = \"lint\" run = \"{}\"", ""),
    mala("commands.build", "[[gate]] name = \"build\" run = \"{}\"", ""),
    mala("commands.format", "[[gate]] name = \"format\" run = \"{}\"", ""),
    mala("commands.typecheck", "[[gate]] name = \"typecheck\" run = \"{}\"", ""),
    mala("commands.e2e", "[[gate]] name = \"e2e\" run = \"{}\"", ""),
    mala("commands.setup", "", "run it before segue; work trees have tracked files only"),
    flag("mala", "--max-agents", "--parallel {}", ""),
    flag("mala", "--max-issues", "--phase 1-{}", ""),
    flag("mala", "--timeout", "--deadline {}m", ""),
    flag("mala", "--coder", "--agent {}", ""),
    autopilot("project.commands.test", "[[gate]] name = \"test\" run = \"{}\"", ""),
    autopilot("project.commands.lint", "[[gate]] name = \"lint\" run = \"{}\"", ""),
    autopilot("project.commands.build", "[[gate]] name = \"build\" run = \"{}\"", ""),
    autopilot("project.commands.compile", "[[gate]] name = \"compile\" run = \"{}\"", ""),
    autopilot(
        "model_profile",
        "[agent.claude] model = \"{}\"",
        "quality is opus, balanced sonnet, speed haiku",
    ),
    autopilot("pass_threshold", "", "gates decide; there is no score"),
    autopilot("checkpoint_every_phase", "[git] commit = \"branch\"", ""),
    flag("autopilot", "--phases", "--phase {}", "3-5 and 1,4 are understood"),
    flag("autopilot", "--quality-gates", "--quality", ""),
    shipwright("max_parallel", "--parallel {}", "a flag of `segue run PLAN`"),
    shipwright("model", "[agent.claude] model = \"{}\"", ""),
    shipwright("loop.max_restarts", "[limits] max_restarts = {}", ""),
    shipwright("pipeline.max_iterations", "segue loop PROMPT --max-iterations {}", ""),
    shipwright("pipeline_template", "", "name the policy: --policy loop; gates are in segue.toml"),
    flag("shipwright", "--test-cmd", "--gate \"{}\"", ""),
    flag(
        "shipwright",
        "--fast-test-cmd",
        "--gate \"{}\"",
        "every gate is asked when the agent says that it is done",
    ),
    flag("shipwright", "--max-iterations", "segue loop PROMPT --max-iterations {}", ""),
    flag("shipwright", "--max-turns", "--tool-call-threshold {}", ""),
    flag("shipwright", "--agents", "--parallel {}", "phases of a plan in parallel; --agent names who works"),
    flag("shipwright", "--worktree", "--parallel 2", "every phase has a work tree of its own"),
    flag("shipwright", "--skip-permissions", "--permissions bypass", ""),
    flag(
        "shipwright",
        "--definition-of-done",
        "--require-verified",
        "write what must hold as gates or criteria of the plan",
    ),
    flag("shipwright", "--goal", "segue run \"{}\"", ""),
    flag("supervisor", "--checkpoint-file", "--from-checkpoint {}", ""),
    flag("supervisor", "--context-limit", "--window {}", ""),
    flag("ralph", "--max-loops", "segue loop PROMPT --max-iterations {}", ""),
    flag("ralph", "--completion-promise", "segue loop PROMPT --completion-word {}", ""),
    flag("claude", "--dangerously-skip-permissions", "--permissions bypass", ""),
    flag("claude", "--permission-mode", "--permissions {}", "deny, edit, bypass, or allow=execute,edit"),
    flag("codex", "--full-auto", "--permissions bypass", ""),
];

const fn debussy(theirs: &'static str, here: &'static str, note: &'static str) -> Name {
    Name { tool: "debussy", file: DEBUSSY, theirs, here, note }
}

const fn mala(theirs: &'static str, here: &'static str, note: &'static str) -> Name {
    Name { tool: "mala", file: MALA, theirs, here, note }
}

const fn autopilot(theirs: &'static str, here: &'static str, note: &'static str) -> Name {
    Name { tool: "autopilot", file: AUTOPILOT, theirs, here, note }
}

const fn shipwright(theirs: &'static str, here: &'static str, note: &'static str) -> Name {
    Name { tool: "shipwright", file: SHIPWRIGHT, theirs, here, note }
}

const fn flag(tool: &'static str, theirs: &'static str, here: &'static str, note: &'static str) -> Name {
    Name { tool, file: "", theirs, here, note }
}
