//! What a new user types first: init, a run without any set-up, finding runs again, and removing everything.

use std::os::unix::fs::PermissionsExt;

use segue_rehearsal::script::Script;

use crate::support::World;

/// A world in which only these agents are installed, each a program that does nothing.
fn with_agents(names: &[&str]) -> World {
    let mut world = World::new(1, Script::default());
    let bin = world.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in names {
        let program = bin.join(name);
        std::fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.set_env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    world
}

#[test]
fn init_proposes_what_it_finds_and_writes_a_file_that_is_right() {
    let world = with_agents(&["claude", "codex", "cargo"]);
    world.write("Cargo.toml", "[package]\nname = \"x\"\n");
    std::fs::create_dir_all(world.root().join(".codex")).unwrap();
    std::fs::write(world.root().join(".codex/auth.json"), "{}").unwrap();
    let done = world.segue(&["init"]);
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(done.out.contains("codex (login: ~/.codex/auth.json)") && done.out.contains("segue rehearse"));
    let file = world.read("segue.toml");
    assert!(file.contains("agents = [\"codex\"]") && file.contains("run = \"cargo test\""), "{file}");
    assert!(file.contains("[agent.codex]\npermissions = \"edit\"") && file.lines().count() < 25, "{file}");
    let check = world.segue(&["config", "check"]);
    assert_eq!(check.code, Some(0), "{}", check.all());
    // What init wrote for the user is allowed; what somebody adds to it is asked for.
    let missing = |what: &str| {
        let mut run = world.command(&["run", "TASK.md"]);
        let output = run.env_remove("SEGUE_TRUST").output().unwrap();
        String::from_utf8_lossy(&output.stderr).contains(what)
    };
    assert!(!missing("that you have not allowed"));
    world.write("segue.toml", &file.replace("cargo test", "cargo bench"));
    assert!(missing("that you have not allowed"));
}

#[test]
fn init_never_overwrites_and_prints_what_it_would_write() {
    let world = with_agents(&["claude"]);
    world.write("segue.toml", "# mine\n");
    let done = world.segue(&["init", "--yes"]);
    assert_eq!((done.code, world.read("segue.toml").as_str()), (Some(2), "# mine\n"), "{}", done.all());
    assert!(done.err.contains("segue init --print"), "{}", done.err);
    let printed = world.segue(&["init", "--print", "--gate", "make check", "--permissions", "deny"]);
    assert_eq!((printed.code, world.read("segue.toml").as_str()), (Some(0), "# mine\n"));
    assert!(printed.out.contains("run = \"make check\"") && printed.out.contains("permissions = \"deny\""));
}

#[test]
fn init_with_flags_only_takes_them_and_without_an_agent_says_so() {
    let world = with_agents(&[]);
    let none = world.segue(&["init"]);
    assert_eq!(none.code, Some(2), "{}", none.all());
    assert!(none.err.contains("no known agent is installed"), "{}", none.err);
    let json = world.segue(&["init", "--json", "--agent", "claude,gemini", "--no-gate"]);
    assert_eq!(json.code, Some(0), "{}", json.all());
    assert_eq!(json.lines()[0]["agents"], serde_json::json!(["claude", "gemini"]));
    assert!(world.read("segue.toml").contains("# [[gate]]"));
    let unknown = world.segue(&["-C", "parts", "init", "--agent", "clod"]);
    assert_eq!(unknown.code, Some(2));
}

#[test]
fn init_finds_the_tests_of_each_kind_of_repository() {
    let cases: [(&str, &str, &str); 7] = [
        ("package.json", "{\"scripts\": {\"test\": \"node t.js\"}}", "npm test"),
        ("go.mod", "module x\n", "go test ./..."),
        ("pytest.ini", "[pytest]\n", "pytest"),
        ("Makefile", "all:\n\ttrue\ntest: all\n\ttrue\n", "make test"),
        ("justfile", "check:\n  true\n", "just check"),
        ("Cargo.toml", "[workspace]\nmembers = []\n", "cargo test --workspace"),
        (
            "package.json",
            "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}",
            "none",
        ),
    ];
    let world = with_agents(&["claude", "npm", "go", "pytest", "make", "just", "cargo"]);
    for (name, text, gate) in cases {
        world.write(name, text);
        let json = world.segue(&["init", "--json"]);
        let line = &json.lines()[0];
        let found = line["gates"][0]["run"].as_str().unwrap_or("none");
        assert_eq!(found, gate, "{name}: {}", json.all());
        std::fs::remove_file(world.repo().join(name)).unwrap();
        std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    }
}

#[test]
fn a_run_without_any_set_up_uses_the_one_installed_agent_and_says_so() {
    let world = with_agents(&["claude"]);
    let one = world.segue(&["run", "do it", "--dry-run"]);
    assert_eq!(one.code, Some(0), "{}", one.all());
    assert!(one.err.contains("using claude, the only agent installed"), "{}", one.err);
    assert!(one.out.contains("agents     claude"), "{}", one.out);
    let two = with_agents(&["claude", "codex"]);
    let two = two.segue(&["run", "do it", "--dry-run"]);
    assert_eq!(two.code, Some(2), "{}", two.all());
    assert!(two.err.contains("claude, codex"), "{}", two.err);
}

#[test]
fn before_the_first_token_it_says_what_the_agent_may_do() {
    let world = World::new(1, Script::default());
    let deny = world.segue(&["run", "TASK.md", "--agent", "scripted"]);
    assert!(deny.err.contains("segue: scripted: its own settings decide"), "{}", deny.err);
    let edit = world.segue(&["doctor"]);
    assert!(edit.out.contains("permissions"), "{}", edit.out);
    let world = World::new(1, Script::default());
    let edit = world.segue(&["run", "TASK.md", "--permissions", "edit"]);
    let says = "scripted may edit files in this directory and run `sh check.sh`; denied: other commands, files outside";
    assert!(edit.err.contains(says), "{}", edit.err);
}

#[test]
fn a_run_is_found_by_its_id_its_end_last_and_words_of_its_task() {
    let world = World::new(1, Script::default());
    world.write("other.md", "# Paint the fence\n");
    for task in ["TASK.md", "other.md"] {
        let done = world.segue(&["run", task, "--json"]);
        assert!(done.code.is_some(), "{}", done.all());
    }
    let runs = world.segue(&["list", "--json"]).lines();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let (newest, first) = (runs[0]["run"].as_str().unwrap(), runs[1]["run"].as_str().unwrap());
    let status = |typed: &str| {
        let done = world.segue(&["status", typed, "--json"]);
        assert_eq!(done.code, Some(0), "{typed}: {}", done.all());
        done.lines()[0]["run"].as_str().unwrap().to_owned()
    };
    let end = |id: &str| id.rsplit('-').next().unwrap().to_owned();
    assert_eq!((status("last"), status(newest)), (newest.to_owned(), newest.to_owned()));
    assert_eq!(status(&end(first)), first);
    assert_eq!(status("FENCE paint"), newest);
    assert_eq!(status("write parts"), first);
    let none = world.segue(&["log", "no such words"]);
    assert!(none.code == Some(2) && none.err.contains("segue list"), "{}", none.all());
    let both = world.segue(&["show", "p"]);
    assert!(both.code == Some(2) && both.err.contains(first) && both.err.contains(newest), "{}", both.all());
    let shown = world.segue(&["list"]);
    assert!(shown.out.contains("Paint the fence") && shown.out.contains(" ago"), "{}", shown.out);
}

#[test]
fn runs_of_other_repositories_are_listed_too() {
    let mut here = World::new(1, Script::default());
    let there = World::new(1, Script::default());
    here.set_env("XDG_STATE_HOME", there.root().join("state").display().to_string());
    assert!(here.segue(&["run", "TASK.md", "--json"]).code.is_some());
    let state = here.root().join("elsewhere");
    std::fs::create_dir_all(&state).unwrap();
    let args = ["-C", state.to_str().unwrap(), "list", "--all", "--json"];
    let listed = here.segue(&args).lines();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["workdir"], here.repo().canonicalize().unwrap().display().to_string());
    assert!(here.segue(&args[..3]).out.contains("no runs"), "only this directory");
}

#[test]
fn clean_lists_everything_and_removes_only_when_told_to() {
    let mut world = World::new(1, Script::default());
    world.set_env("TMPDIR", world.root().join("tmp").display().to_string());
    std::fs::create_dir_all(world.root().join("tmp")).unwrap();
    let demo = world.segue(&["demo", "--fast", "--json"]);
    assert_eq!(demo.code, Some(0), "{}", demo.all());
    let run = world.segue(&["run", "TASK.md", "--json", "--permissions", "bypass"]);
    assert_eq!(run.code, Some(0), "{}", run.all());
    let refs = || world.git(&["for-each-ref", "refs/segue"]);
    assert!(!refs().is_empty());
    let listed = world.segue(&["clean", "--all", "--dry-run", "--json"]).lines();
    let whats: Vec<&str> = listed.iter().map(|line| line["what"].as_str().unwrap()).collect();
    let all =
        ["runs, checkpoints and outputs", "snapshots (refs/segue)", "demo or rehearsal", "your user state"];
    assert!(all.iter().all(|what| whats.contains(what)), "{whats:?}");
    let unasked = world.segue(&["clean"]);
    assert_eq!(unasked.code, Some(2), "{}", unasked.all());
    assert!(!refs().is_empty() && unasked.err.contains("--yes"), "{}", unasked.all());
    let done = world.segue(&["clean", "--all", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(refs().is_empty() && world.repo().join("segue.toml").exists(), "{}", done.all());
    assert_eq!(world.segue(&["clean", "--all", "--dry-run"]).out.trim(), "nothing to remove");
}

#[test]
fn in_ci_a_deadline_is_required_and_the_results_are_files() {
    let world = World::new(1, Script::default());
    let without = world.segue(&["run", "TASK.md", "--ci"]);
    assert!(without.code == Some(2) && without.err.contains("--deadline 2h"), "{}", without.all());
    let done = world.segue(&["run", "TASK.md", "--ci", "--deadline", "10m", "--permissions", "bypass"]);
    assert_eq!(done.code, Some(0), "{}", done.all());
    assert!(!done.out.contains('\u{1b}'), "{}", done.out);
    assert!(
        world.read("segue-junit.xml").contains("<testsuite")
            && world.read("segue-summary.md").contains("check")
    );
}

#[test]
fn the_transcript_shows_what_the_agent_said_and_did() {
    let world = World::new(2, Script::default());
    let run = world.segue(&["run", "TASK.md", "--json", "--permissions", "bypass"]);
    assert_eq!(run.code, Some(0), "{}", run.all());
    let shown = world.segue(&["show", "last", "--transcript", "-f"]);
    assert_eq!(shown.code, Some(0), "{}", shown.all());
    for part in ["session 1 · scripted", "scripted:\n", "✓ "] {
        assert!(shown.out.contains(part), "{part:?}: {}", shown.out);
    }
    assert!(!shown.out.contains("jsonrpc"), "{}", shown.out);
    let wire = world.segue(&["show", "last", "--transcript", "--raw"]);
    assert!(wire.out.contains("jsonrpc"), "{}", wire.all());
}

#[test]
fn outputs_of_gates_are_numbered_on_and_never_overwritten() {
    let world = World::new(4, Script { permissions: true, ..Script::default() });
    let first = world.segue(&["run", "TASK.md", "--json"]);
    assert_eq!(first.code, Some(3), "{}", first.all());
    let run = first.lines()[0]["run"].as_str().unwrap().to_owned();
    let dir = world.state_dir().join("runs").join(&run);
    let outputs = || {
        let names = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("gate-")).collect::<std::collections::BTreeSet<_>>()
    };
    let before = outputs();
    let texts: Vec<(String, String)> =
        before.iter().map(|n| (n.clone(), std::fs::read_to_string(dir.join(n)).unwrap())).collect();
    let second = world.segue(&["resume", "last", "--json", "--permissions", "bypass"]);
    assert_eq!(second.code, Some(0), "{}", second.all());
    assert!(outputs().len() > before.len(), "{:?}", outputs());
    for (name, text) in texts {
        assert_eq!(std::fs::read_to_string(dir.join(&name)).unwrap(), text, "{name}");
    }
}

#[test]
fn edit_denies_other_commands_and_its_advice_works_as_it_is_printed() {
    let world = World::new(4, Script { permissions: true, ..Script::default() });
    let denied = world.segue(&["run", "TASK.md", "--json", "--permissions", "edit"]);
    assert_eq!(denied.code, Some(3), "{}", denied.all());
    let finished = denied.of("run.finished").pop().unwrap();
    let advice = finished["advice"].as_str().unwrap();
    let value = advice.split_once("--permissions ").unwrap().1.split(", or").next().unwrap();
    let allowed = world.segue(&["resume", "--json", "--permissions", value]);
    assert_eq!((value, allowed.code), ("allow=edit,execute", Some(0)), "{}", allowed.all());
}

#[test]
fn doctor_asks_a_program_for_its_version_once_until_it_changes() {
    let world = with_agents(&["claude"]);
    const WORDS: &str =
        "--input-format --output-format --include-partial-messages --session-id --resume --settings";
    let asked = world.root().join("asked");
    let program = |version: &str| {
        let script = format!("#!/bin/sh\necho asked >> {}\necho {version} {WORDS}\n", asked.display());
        std::fs::write(world.root().join("bin/claude"), script).unwrap();
    };
    let times = || std::fs::read_to_string(&asked).unwrap_or_default().lines().count();
    program("9.1.1");
    let first = world.segue(&["doctor"]);
    assert!(first.out.contains("9.1.1"), "{}", first.all());
    let after = times();
    assert!(after > 0);
    let second = world.segue(&["doctor"]);
    assert!(second.out.contains("9.1.1") && second.out.contains("agent claude"), "{}", second.all());
    assert_eq!(times(), after, "it was asked again");
    program("9.1.22");
    assert!(world.segue(&["doctor"]).out.contains("9.1.22"));
}

#[test]
fn a_mistyped_command_is_answered_with_the_right_one() {
    let world = World::new(1, Script::default());
    let done = world.segue(&["stauts"]);
    assert!(done.code == Some(2) && done.err.contains("'status'"), "{}", done.all());
}

#[test]
fn shells_complete_commands_runs_agents_and_the_scripts_load() {
    let mut world = World::new(1, Script::default());
    let run = world.segue(&["run", "TASK.md", "--json"]);
    let id = run.lines()[0]["run"].as_str().unwrap().to_owned();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.segue(&["completions", shell]);
        assert!(script.code == Some(0) && script.out.contains("SEGUE_COMPLETE"), "{}", script.all());
    }
    world.set_env("SEGUE_COMPLETE", "fish");
    let asked = |words: &[&str]| {
        let mut args = vec!["--", "segue"];
        args.extend(words);
        world.segue(&args).out
    };
    assert!(asked(&["sta"]).contains("status"));
    assert!(asked(&["log", &id[..6]]).contains(&id), "{}", asked(&["log", &id[..6]]));
    assert!(asked(&["rehearse", "--fa"]).contains("--fault"));
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let world = World::new(1, Script::default());
    let first = world.segue(&["man"]);
    assert!(first.code == Some(0) && first.out.contains(".TH segue 1"), "{}", first.all());
    assert_eq!(world.segue(&["man", "pages"]).code, Some(0));
    assert!(
        world.read("pages/segue-run.1").contains("permissions")
            && world.read("pages/segue.1").contains("init")
    );
}

#[test]
fn a_key_is_got_and_set_and_comments_stay() {
    let world = World::new(1, Script::default());
    let head = "# my settings\n";
    world.write("segue.toml", &format!("{head}{}", world.read("segue.toml")));
    let set = |key: &str, value: &str| world.segue(&["config", "set", key, value]);
    assert_eq!(set("limits.deadline", "2h").code, Some(0));
    assert_eq!(set("agent.scripted.permissions", "edit").code, Some(0));
    assert_eq!(set("limits.deadline", "3h").code, Some(0));
    let file = world.read("segue.toml");
    assert!(file.starts_with(head) && file.matches("deadline").count() == 1, "{file}");
    let got = world.segue(&["config", "get", "limits.deadline"]);
    assert_eq!(got.out.trim(), "3h", "{}", got.all());
    for (key, value) in [("limits.deadlin", "1h"), ("limits.deadline", "soon"), ("gate", "x")] {
        assert_eq!(set(key, value).code, Some(2), "{key}");
    }
    assert_eq!(world.read("segue.toml"), file, "what is refused is not written");
    let schema = world.segue(&["config", "schema"]);
    let schema: serde_json::Value = serde_json::from_str(&schema.out).unwrap();
    let toml: serde_json::Value = toml_of(&file);
    let known = jsonschema::validator_for(&schema).unwrap();
    assert!(
        known.is_valid(&toml),
        "{:?}",
        known.iter_errors(&toml).map(|e| e.to_string()).collect::<Vec<_>>()
    );
    assert!(!known.is_valid(&serde_json::json!({ "polcy": "auto" })));
}

#[test]
fn an_editor_is_opened_on_the_file_and_what_it_leaves_is_checked() {
    let mut world = World::new(1, Script::default());
    world.set_env("EDITOR", "sed -i 1s/^/no-such-key=1\\\\n/");
    let done = world.segue(&["config", "edit"]);
    assert_eq!(done.code, Some(2), "{}", done.all());
    assert!(world.read("segue.toml").contains("no-such-key"), "{}", world.read("segue.toml"));
}

fn toml_of(text: &str) -> serde_json::Value {
    let table: toml::Table = toml::from_str(text).unwrap();
    serde_json::to_value(table).unwrap()
}
