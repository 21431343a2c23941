//! The layers together: which one wins, and what the settings are in the end.

use segue_machine::policy::preset;
use segue_machine::{CommitMode, OnRateLimit};

use super::layers::Source;
use super::problem::ConfigErrors;
use super::settings::{AgentKind, PromptBy, Settings};
use super::value::Permissions;
use super::{Flags, Layers, resolve, show, to_json};

#[derive(Default)]
pub(crate) struct Given {
    user: Option<Source>,
    project: Option<Source>,
    env: Vec<(String, String)>,
    flags: Flags,
}

pub(crate) fn project(text: &str) -> Given {
    Given::default().project(text)
}

impl Given {
    pub(crate) fn project(mut self, text: impl AsRef<[u8]>) -> Self {
        self.project = Some(Source { name: "segue.toml".to_owned(), bytes: text.as_ref().to_vec() });
        self
    }

    fn user(mut self, text: &str) -> Self {
        self.user = Some(Source { name: "~/config.toml".to_owned(), bytes: text.as_bytes().to_vec() });
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flags(mut self, flags: Flags) -> Self {
        self.flags = flags;
        self
    }

    pub(crate) fn layers(&self) -> Result<Layers, ConfigErrors> {
        Layers::from_sources(Ok(self.user.clone()), Ok(self.project.clone()), self.env.clone(), &self.flags)
    }

    pub(crate) fn resolve(&self) -> Result<Settings, ConfigErrors> {
        self.layers().and_then(|layers| resolve(&layers))
    }

    fn settings(&self) -> Settings {
        self.resolve().unwrap_or_else(|errors| panic!("{errors}"))
    }

    pub(crate) fn errors(&self) -> String {
        self.resolve().err().map(|errors| errors.to_string()).expect("should be refused")
    }

    fn shown(&self, key: &str) -> String {
        let shown = show(&self.layers().unwrap());
        shown.iter().find(|s| s.key == key).map(ToString::to_string).unwrap_or_default()
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn stage_points(settings: &Settings) -> Vec<String> {
    settings.policy.stages.iter().map(|stage| stage.at.to_string()).collect()
}

const CLAUDE: &str = "agent = \"claude\"\n";

#[test]
fn t5_flag_beats_env_beats_project_beats_user_beats_preset() {
    let mut given =
        project("agents = [\"claude\"]").flags(Flags { policy: text("loop"), ..Flags::default() });
    assert_eq!(given.settings().limits.max_restarts, Some(3));
    given = given.user("limits.max_restarts = 1");
    assert_eq!(given.settings().limits.max_restarts, Some(1));
    given = given.project("agents = [\"claude\"]\nlimits.max_restarts = 2");
    assert_eq!(given.settings().limits.max_restarts, Some(2));
    given = given.env("SEGUE_MAX_RESTARTS", "4");
    assert_eq!(given.settings().limits.max_restarts, Some(4));
    given.flags.max_restarts = text("5");
    assert_eq!(given.settings().limits.max_restarts, Some(5));
    assert_eq!(given.shown("limits.max_restarts"), "limits.max_restarts = 5 (from --max-restarts)");
}

#[test]
fn t5_an_absent_flag_keeps_the_value_of_the_file() {
    let file = "agent = \"claude\"\npolicy = \"staged\"\ncontext_threshold = 50\nrequire_verified = true\n\
                [limits]\nmax_restarts = 7\ndeadline = \"2h\"\ncost_usd = 5.5\nidle_timeout = 90\n\
                [git]\nenabled = false\nallow_dirty = false\n[[gate]]\nname = \"tests\"\nrun = \"true\"\n";
    let settings = project(file).settings();
    assert_eq!(settings.preset, "staged");
    assert_eq!(stage_points(&settings).last().map(String::as_str), Some("50%"));
    assert!(settings.require_verified && !settings.git.enabled && !settings.git.allow_dirty);
    assert_eq!(settings.limits.max_restarts, Some(7));
    assert_eq!(settings.limits.deadline_ms, Some(7_200_000));
    assert_eq!(settings.limits.cost_musd, Some(5_500_000));
    assert_eq!(settings.limits.idle_ms, 90_000);
    assert_eq!(settings.gates.len(), 1);
}

#[test]
fn every_value_says_where_it_came_from() {
    let given = project("agent = \"claude\"\n\npolicy = \"staged\"\n").env("SEGUE_DEADLINE", "1h");
    assert_eq!(given.shown("policy"), "policy = staged (from segue.toml:3)");
    assert_eq!(given.shown("limits.deadline"), "limits.deadline = 1h (from SEGUE_DEADLINE)");
    assert_eq!(given.shown("git.commit"), "git.commit = snapshot (from preset staged)");
    assert_eq!(given.shown("limits.gate_rounds"), "limits.gate_rounds = 5 (from default)");
    assert_eq!(given.shown("context_threshold"), "context_threshold = not set (from default)");
    let json = to_json(&show(&given.layers().unwrap()));
    let policy = json.as_array().unwrap().iter().find(|s| s["key"] == "policy").unwrap();
    assert_eq!((policy["value"].as_str(), policy["from"].as_str()), (Some("staged"), Some("segue.toml:3")));
}

#[test]
fn each_preset_resolves_to_its_own_values() {
    for name in preset::NAMES {
        let settings = project(CLAUDE).env("SEGUE_POLICY", name).settings();
        let preset = preset::find(name).unwrap();
        assert_eq!(settings.policy, preset.policy, "{name}");
        assert_eq!(settings.limits.max_restarts, preset.max_restarts);
        assert_eq!(settings.git.commit, preset.commit);
        assert_eq!(settings.git.allow_dirty, preset.commit != CommitMode::Branch);
        assert!(settings.warnings.is_empty());
    }
}

#[test]
fn stages_replace_those_of_the_preset_and_the_rest_of_it_stays() {
    let file = "agent = \"claude\"\npolicy = \"loop\"\n[[stage]]\nat = \"60%\"\ndo = \"warn\"\n\
                [[stage]]\nat = \"20k left\"\ndo = [\"checkpoint:brief\", \"handoff\"]\n";
    let settings = project(file).settings();
    assert_eq!(stage_points(&settings), ["60%", "20k left"]);
    assert_eq!((settings.policy.name.as_str(), settings.preset.as_str()), ("custom", "loop"));
    assert_eq!(settings.policy.max_chars, Some(2_000));
    let given = project(file).flags(Flags { policy: text("staged"), ..Flags::default() });
    assert!(given.settings().warnings[0].to_string().contains("segue.toml:3 replaces them"));
}

#[test]
fn a_threshold_scales_the_stages_and_says_so() {
    let given = project(CLAUDE).env("SEGUE_POLICY", "staged").env("SEGUE_CONTEXT_THRESHOLD", "49%");
    assert_eq!(stage_points(&given.settings()), ["40%", "45%", "47.5%", "49%"]);
    let shown = given.shown("stage");
    assert!(
        shown.ends_with("(from preset staged, changed by context_threshold from SEGUE_CONTEXT_THRESHOLD)"),
        "{shown}"
    );
}

#[test]
fn a_threshold_of_a_lower_layer_yields_to_stages_of_a_higher_one_with_a_warning() {
    let file = "agent = \"claude\"\n[[stage]]\nat = \"90%\"\ndo = [\"restart\"]\n";
    let settings = project(file).user("context_threshold = 50").settings();
    assert_eq!(stage_points(&settings), ["90%"]);
    assert!(settings.warnings[0].to_string().contains("stage (from segue.toml:2) takes precedence"));
}

#[test]
fn a_threshold_that_moves_nothing_is_a_warning() {
    let settings =
        project(CLAUDE).env("SEGUE_POLICY", "observe").env("SEGUE_CONTEXT_THRESHOLD", "50").settings();
    assert!(settings.warnings[0].to_string().contains("no effect"), "{:?}", settings.warnings);
}

#[test]
fn t5_a_threshold_of_a_hundred_or_no_restarts_switch_replacing_off() {
    for (name, value) in [("SEGUE_CONTEXT_THRESHOLD", "100"), ("SEGUE_MAX_RESTARTS", "0")] {
        assert!(!project(CLAUDE).env(name, value).settings().policy.replaces(), "{name}");
    }
}

#[test]
fn a_fraction_is_asked_back_in_every_layer() {
    let said = project("context_threshold = 0.9").errors();
    assert!(
        said.starts_with("segue.toml:1:1: context_threshold: 0.9") && said.contains("percent?"),
        "{said}"
    );
    let said = project(CLAUDE).env("SEGUE_CONTEXT_THRESHOLD", "1.5").errors();
    assert!(said.starts_with("SEGUE_CONTEXT_THRESHOLD: ") && said.contains("percent?"), "{said}");
    let said = project(CLAUDE).flags(Flags { context_threshold: text("0.85"), ..Flags::default() }).errors();
    assert!(said.starts_with("--context-threshold: ") && said.contains("write 85"), "{said}");
}

#[test]
fn the_loop_policy_never_restarts_more_than_five_times() {
    let file = "agent = \"claude\"\npolicy = \"loop\"\n[limits]\nmax_restarts = ";
    for more in ["6", "\"none\""] {
        let said = project(&format!("{file}{more}")).errors();
        assert!(
            said.starts_with("segue.toml:4:1: limits.max_restarts") && said.contains("more than 5"),
            "{said}"
        );
    }
    assert_eq!(project(&format!("{file}5")).settings().limits.max_restarts, Some(5));
}

#[test]
fn none_lifts_a_limit_of_a_lower_layer() {
    let given = project("agent = \"claude\"\npolicy = \"phased\"\n[limits]\ndeadline = \"1h\"")
        .env("SEGUE_DEADLINE", "none")
        .flags(Flags { max_restarts: text("unlimited"), ..Flags::default() });
    let settings = given.settings();
    assert_eq!((settings.limits.deadline_ms, settings.limits.max_restarts), (None, None));
}

#[test]
fn no_auto_commit_only_matters_to_a_policy_that_commits() {
    let flags = Flags { no_auto_commit: true, ..Flags::default() };
    let phased = project(CLAUDE).env("SEGUE_POLICY", "phased").flags(flags.clone());
    assert_eq!(phased.settings().git.commit, CommitMode::Snapshot);
    assert_eq!(phased.shown("git.commit"), "git.commit = snapshot (from --no-auto-commit)");
    let never = project(CLAUDE).env("SEGUE_COMMIT", "never").flags(flags);
    assert_eq!(never.settings().git.commit, CommitMode::Never);
}

#[test]
fn known_agents_need_no_configuration() {
    for known in super::builtin::KNOWN {
        let settings = Given::default().env("SEGUE_AGENT", known.name).settings();
        assert_eq!(
            (settings.agents[0].kind, settings.agents[0].command.len()),
            (known.kind, known.command.len())
        );
    }
}

#[test]
fn switches_on_the_command_line_reach_the_settings() {
    let flags =
        Flags { agent: text("codex, gemini"), no_git: true, require_verified: true, ..Flags::default() };
    let given = project("agent = \"claude\"\ngit.commit = \"branch\"");
    assert!(!given.settings().git.allow_dirty);
    let settings = given.flags(Flags { allow_dirty: true, ..flags }).settings();
    let names: Vec<_> = settings.agents.iter().map(|agent| agent.spec.name.as_str()).collect();
    assert_eq!(names, ["codex", "gemini"]);
    assert!(settings.require_verified && settings.git.allow_dirty && !settings.git.enabled);
    assert_eq!((settings.checkpoint.forms.dir.as_deref(), settings.checkpoint.max_chars), (None, None));
}

#[test]
fn an_agent_of_ones_own_is_defined_in_three_lines() {
    let file = "[agent.mine]\nkind = \"command\"\ncommand = \"mytool run 'a b'\"\nargs = [\"-x\"]\nprompt = \"stdin\"\n\
                model = \"m\"\nwindow = \"200k\"\nbudget = 180_000\npermissions = [\"read\"]\nenv = { KEY = \"s3cret\" }\n";
    let given = project(file);
    let agent = given.settings().agents[0].clone();
    assert_eq!(
        (agent.spec.name.as_str(), agent.kind, agent.prompt_by),
        ("mine", AgentKind::Command, PromptBy::Stdin)
    );
    assert_eq!(agent.command, ["mytool", "run", "a b"]);
    assert_eq!((agent.spec.window, agent.spec.budget), (Some(200_000), Some(180_000)));
    assert_eq!((agent.spec.allow, agent.args), (vec!["read".to_owned()], vec!["-x".to_owned()]));
    assert_eq!(agent.env["KEY"], "s3cret");
    assert!(!given.shown("agent.mine.env.KEY").contains("s3cret"));
}

#[test]
fn an_unknown_agent_lists_the_known_ones_and_how_to_define_it() {
    let said = project("agents = [\"claude\", \"codexx\", \"my.tool\"]").errors();
    for part in
        ["segue.toml:1:1", "did you mean \"codex\"?", "gemini", "[agent.codexx]", "[agent.\"my.tool\"]"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let said = project("[agent.mine]\ncommand = [\"x\"]").errors();
    assert!(said.contains("no kind"), "{said}");
}

#[test]
fn no_agent_at_all_says_how_to_choose_one() {
    for given in
        [Given::default(), project("agents = []"), project("[agent.a]\nmodel=\"x\"\n[agent.b]\nmodel=\"x\"")]
    {
        let errors = given.resolve().unwrap_err();
        assert!(errors.only_no_agent());
        assert!(errors.to_string().contains("--agent NAME"), "{errors}");
    }
}

#[test]
fn model_and_window_of_a_flag_are_for_the_first_agent_and_permissions_for_all() {
    let flags = Flags { model: text("m"), permissions: text("allow=read,edit"), ..Flags::default() };
    let file = "agents = [\"claude\", \"codex\"]\n[agent.claude]\nmodel = \"opus\"\nwindow = 100";
    let settings = project(file).env("SEGUE_WINDOW", "1M").flags(flags).settings();
    let [first, second] = &settings.agents[..] else { panic!("two agents") };
    assert_eq!((first.spec.model.as_deref(), first.spec.window), (Some("m"), Some(1_000_000)));
    assert_eq!((second.spec.model.as_deref(), second.spec.window), (None, None));
    assert_eq!(second.permissions, Permissions::Allow(vec!["read".to_owned(), "edit".to_owned()]));
}

#[test]
fn a_project_that_switches_permission_checks_off_is_a_warning() {
    let settings = project("[agent.claude]\npermissions = \"bypass\"").settings();
    assert_eq!(settings.agents[0].spec.allow, ["*"]);
    assert!(settings.warnings[0].to_string().starts_with("segue.toml:2:1: "));
}

#[test]
fn p3_gates_of_flags_are_used_verbatim_and_a_configured_name_stands_for_its_gate() {
    let file = "agent = \"claude\"\n[[gate]]\nname = \"unit\"\nrun = \"cargo test\"\ntimeout = \"1m\"\n\
                [gates.lint]\nrun = \"cargo clippy\"\n[gates.review]\nmanual = true\n";
    let given = project(file);
    let settings = given.settings();
    assert_eq!((settings.gates[0].name.as_str(), settings.gates[0].timeout_ms), ("unit", 60_000));
    assert_eq!(settings.named_gates["lint"].timeout_ms, 600_000);
    assert!(settings.named_gates["review"].manual);
    let typed = ["lint", "unit", "make  check", "make check", "make  check"];
    let flags = Flags { gates: typed.map(str::to_owned).to_vec(), ..Flags::default() };
    let gates = given.flags(flags).settings().gates;
    let pairs: Vec<_> = gates.iter().map(|g| (g.name.as_str(), g.run.as_str())).collect();
    let all = [
        ("lint", "cargo clippy"),
        ("unit", "cargo test"),
        ("make check", "make  check"),
        ("make check (2)", "make check"),
    ];
    assert_eq!(pairs, all);
}

#[test]
fn roles_bring_their_agents_and_prompts_their_files() {
    let file = "agent = \"claude\"\n[roles.backend]\nagents = [\"codex\", \"nope\"]\nsections = \"API\"\n";
    assert!(project(file).errors().contains("\"nope\""));
    let file = file.replace(", \"nope\"", "") + "[prompts]\ncontinuation = \"p.md\"\n";
    let settings = project(&file).settings();
    assert_eq!(settings.roles["backend"].agents[0].command, ["codex"]);
    assert_eq!(settings.roles["backend"].sections, ["API"]);
    assert_eq!(settings.prompts["continuation"], "p.md");
}

#[test]
fn a_run_works_as_a_role_with_its_agents_unless_an_agent_is_typed() {
    let file = "agent = \"claude\"\nrole = \"backend\"\n[roles.backend]\nagents = [\"codex\"]\n\
                sections = [\"API\"]\ntrack = [\"src/**/*.rs\"]\n";
    let settings = project(file).settings();
    let role = settings.role.unwrap();
    assert_eq!((role.name.as_str(), role.sections, role.track.len()), ("backend", vec!["API".to_owned()], 1));
    assert_eq!(settings.agents[0].spec.name, "codex");
    let typed = project(file).flags(Flags { agent: text("gemini"), ..Flags::default() }).settings();
    assert_eq!(typed.agents[0].spec.name, "gemini");
    let flag = Flags { role: text("backed"), ..Flags::default() };
    assert!(project(file).flags(flag).errors().contains("did you mean \"backend\""));
    assert!(project(&file.replace("**/*.rs", "[")).errors().contains("roles.backend.track"));
}

#[test]
fn what_is_redacted_can_be_set() {
    let file = "agent = \"claude\"\n[redact]\nemails = true\nallow = [\"abc*\"]\n[redact.patterns]\nbadge = \"b-[0-9]+\"\n";
    let redact = project(file).settings().redact;
    assert!(redact.enabled && redact.emails && !redact.payment);
    assert_eq!((redact.allow, redact.patterns["badge"].as_str()), (vec!["abc*".to_owned()], "b-[0-9]+"));
}

#[test]
fn an_unknown_variable_is_a_warning_and_those_of_segue_itself_are_not() {
    let given =
        Given::default().env("SEGUE_AGENT", "claude").env("SEGUE_MAX_RESTART", "1").env("SEGUE_RUN", "r");
    let given = given.env("SEGUE_CRASH_AT", "3").env("SEGUE_POLICY", "").env("SEGUEX", "1");
    let settings = given.settings();
    let said: Vec<String> = settings.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["SEGUE_MAX_RESTART is not a setting of segue and was ignored; did you mean SEGUE_MAX_RESTARTS?"]
    );
    assert_eq!(settings.preset, "auto");
}

#[test]
fn problems_of_all_layers_come_together() {
    let given = project("polcy = 1").user("[limits]\nmax_restarts = -1").env("SEGUE_POLICY", "fast");
    let said =
        given.flags(Flags { window: text("0"), gates: vec![" ".to_owned()], ..Flags::default() }).errors();
    for part in [
        "~/config.toml:2:1",
        "segue.toml:1:1",
        "SEGUE_POLICY: policy: expected one of auto,",
        "--window",
        "--gate",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(said.lines().count(), 5, "{said}");
}

#[test]
fn a_soft_line_above_the_hard_one_is_refused() {
    let said = project("agent = \"claude\"\n[forecast]\nsoft = 95").errors();
    assert_eq!(said, "segue.toml:3:1: forecast.soft (95%) must not be above forecast.hard (88%)");
}

#[test]
fn waiting_is_set_in_its_own_table_by_environment_and_by_flag() {
    let wait = project("agent = \"claude\"").settings().wait;
    assert_eq!((wait.enabled, wait.first_ms, wait.longest_ms), (true, 5_000, Some(6 * 3_600_000)));
    let file = "agents = [\"claude\"]\n[wait]\non_rate_limit = \"wait\"\nfirst = \"1s\"\nmost = \"10s\"\n\
                [limits]\nmax_wait = \"none\"\nmax_failures = 3\n[agent.claude]\naccount = \"team\"\n";
    let settings = project(file).settings();
    let wait = settings.wait;
    assert_eq!((wait.on_rate_limit, wait.first_ms, wait.most_ms), (OnRateLimit::Wait, 1_000, 10_000));
    assert_eq!((wait.longest_ms, wait.failures, wait.shared), (None, 3, true));
    assert_eq!(settings.agents[0].spec.account(), "team");
    assert!(!project(file).env("SEGUE_WAIT", "false").settings().wait.enabled);
    let flag = Flags { no_wait: true, ..Flags::default() };
    assert!(!project(file).env("SEGUE_WAIT", "true").flags(flag).settings().wait.enabled);
    assert!(project("agent = \"claude\"\n[wait]\non_rate_limit = \"sleep\"").errors().contains("fallback"));
}

#[test]
fn a_role_named_verifier_is_asked_for_a_second_opinion_unless_the_gates_alone_decide() {
    let names = |file: &str| {
        let settings = project(file).settings();
        settings.verifiers.iter().map(|a| a.spec.name.clone()).collect::<Vec<_>>()
    };
    let role = "[roles.verifier]\nagents = [\"gemini\", \"codex\"]\n";
    assert_eq!(names("agent = \"claude\"\n"), [""; 0]);
    assert_eq!(names(&format!("agent = \"claude\"\n{role}")), ["gemini", "codex"]);
    assert_eq!(names(&format!("agent = \"claude\"\nverify = \"gates\"\n{role}")), [""; 0]);
    assert_eq!(names("agent = \"claude\"\nverify = \"helper\"\n"), ["claude"]);
    let everyone = project(&format!("agents = [\"claude\", \"codex\"]\n{role}")).settings().everyone();
    let all: Vec<&str> = everyone.iter().map(|a| a.spec.name.as_str()).collect();
    assert_eq!(all, ["claude", "codex", "gemini"]);
}

#[test]
fn a_line_that_the_policy_does_not_have_is_said_to_have_no_effect() {
    let file = "agent = \"claude\"\nprice_line = \"300k\"\n";
    let said = |policy: &str| {
        let settings = project(&format!("{file}policy = \"{policy}\"\n")).settings();
        settings.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert!(said("staged").contains("price_line has no effect with policy \"staged\""), "{}", said("staged"));
    assert_eq!(said("auto"), "");
}
