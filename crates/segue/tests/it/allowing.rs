//! What a repository brings along runs only after the user allowed it; commands that look run nothing.

use std::path::PathBuf;
use std::process::Command;

use segue_rehearsal::script::Script;

use crate::support::{Done, World};

/// The program in the world's environment, without the answer that the other tests give beforehand.
fn unasked(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(args);
    command.env_remove("SEGUE_TRUST");
    command
}

fn end(mut command: Command) -> Done {
    let output = command.output().unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn plain(world: &World, args: &[&str]) -> Done {
    end(unasked(world, args))
}

/// A file that a program of the repository would leave.
fn canary(world: &World) -> PathBuf {
    world.root().join("canary")
}

fn touch(world: &World) -> String {
    format!("touch '{}'", canary(world).display())
}

#[test]
fn s2_what_a_project_would_run_is_named_and_allowed_once_and_only_what_is_new_is_asked_again() {
    let world = World::new(1, Script::default());
    let refused = plain(&world, &["run", "TASK.md"]);
    refused.exits(2);
    let gate = world.job.gate().to_owned();
    for named in ["agent scripted is started as:", &format!("command: {gate}"), "segue trust", "--trust"] {
        assert!(refused.err.contains(named), "{named}: {}", refused.err);
    }
    assert!(world.steps().sessions().is_empty(), "no agent was started");

    plain(&world, &["trust"]).exits(0);
    let listed = plain(&world, &["trust", "--list"]);
    assert!(listed.out.contains(&format!("command: {gate}")), "{}", listed.out);
    plain(&world, &["run", "TASK.md"]).exits(0);

    // The same items in other bytes.
    let text = world.read("segue.toml");
    world.write(
        "segue.toml",
        &format!("# a comment\n{}\n", text.replace("name = \"check\"", "name   =  \"checks\"")),
    );
    plain(&world, &["run", "TASK.md"]).exits(0);

    let more =
        "[[gate]]\nname = \"more\"\nrun = \"test -d .\"\n[agent.scripted.env]\nLD_PRELOAD = \"./x.so\"\n";
    world.write("segue.toml", &format!("{text}\n{more}"));
    let again = plain(&world, &["run", "TASK.md"]);
    again.exits(2);
    assert!(
        again.err.contains("command: test -d .") && again.err.contains("LD_PRELOAD=./x.so"),
        "{}",
        again.err
    );
    assert!(!again.err.contains("is started as"), "only what is new: {}", again.err);
    plain(&world, &["run", "TASK.md", "--trust"]).exits(0);
    plain(&world, &["run", "TASK.md"]).exits(2);
    plain(&world, &["trust", "--revoke"]).exits(0);
    world.write("segue.toml", &text);
    plain(&world, &["run", "TASK.md"]).exits(2);
}

#[test]
fn s2_permissions_redaction_templates_and_limits_of_a_project_are_asked_for() {
    let world = World::new(1, Script::default());
    let config = world.root().join(".config/segue");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("segue.toml"), "[limits]\ncost_usd = 2\n").unwrap();
    world.configure(
        "[redact]\nenabled = false\nallow = [\"kind:password\"]\n[env]\npass = [\"OPENAI_API_KEY\"]\n\
         [prompts]\ntask = \"mine.md\"\n[limits]\ncost_usd = 500\n[agent.other]\nkind = \"command\"\n\
         command = \"./other.sh\"\npermissions = \"bypass\"\n",
    );
    world.write("mine.md", "{{ task }}\n");
    let refused = plain(&world, &["run", "TASK.md", "--json"]);
    refused.exits(2);
    for named in [
        "redaction: enabled = false",
        "redaction ignores: kind:password",
        "environment passed on: OPENAI_API_KEY",
        "template task: mine.md",
        "limits.cost_usd = 500",
        "agent other permissions: bypass",
        "agent other is started as: ./other.sh",
    ] {
        assert!(refused.err.contains(named), "{named}: {}", refused.err);
    }
    // What a template says is part of it, how it is laid out is not.
    plain(&world, &["trust"]).exits(0);
    world.write("mine.md", "{{ task }}   \n\n");
    let ok = plain(&world, &["trust"]);
    assert!(ok.out.contains("nothing to allow"), "{}", ok.out);
    world.write("mine.md", "{{ task }} and send it away\n");
    let changed = plain(&world, &["run", "TASK.md"]);
    changed.exits(2);
    assert!(changed.err.contains("template task"), "{}", changed.err);
}

#[test]
fn s2_the_users_own_file_and_flags_need_no_question() {
    let world = World::new(1, Script::default());
    let own = world.root().join(".config/segue");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::rename(world.repo().join("segue.toml"), own.join("segue.toml")).unwrap();
    plain(&world, &["run", "TASK.md", "--gate", "rm -f nothing.txt"]).exits(0);
}

#[test]
fn s2_nothing_is_allowed_from_inside_a_run() {
    let world = World::new(1, Script::default());
    for mark in ["SEGUE_SESSION", "SEGUE_GATE", "SEGUE_TOKEN"] {
        for (args, variable) in [
            (&["run", "TASK.md", "--trust"][..], ""),
            (&["run", "TASK.md"], "1"),
            (&["trust"], ""),
            (&["trust", "--command", "true"], ""),
        ] {
            let mut command = unasked(&world, args);
            command.env(mark, "x.1").env("SEGUE_TRUST", variable);
            let done = end(command);
            done.exits(2);
            assert!(done.err.contains("inside a run"), "{mark} {args:?}: {}", done.err);
        }
    }
    assert!(world.steps().sessions().is_empty());
    assert!(plain(&world, &["trust", "--list"]).out.contains("nothing is allowed in this repository"));
}

#[test]
fn s2_a_command_that_deletes_or_pushes_needs_its_own_yes_even_with_trust() {
    let world = World::new(1, Script::default());
    let canary = canary(&world);
    std::fs::write(&canary, "").unwrap();
    let gate = format!("rm {}", canary.display());
    world.configure(&format!("[[gate]]\nname = \"harm\"\nrun = {gate:?}\n"));
    for args in [&["run", "TASK.md", "--trust"][..], &["trust"]] {
        let done = plain(&world, args);
        let told = format!("{}{}", done.out, done.err);
        assert!(told.contains("segue trust --command") && told.contains("deletes"), "{told}");
    }
    let by_variable = world.segue(&["run", "TASK.md"]);
    by_variable.exits(2);
    assert!(canary.exists());
    plain(&world, &["trust", "--command", &gate]).exits(0);
    plain(&world, &["run", "TASK.md", "--trust"]);
    assert!(!canary.exists(), "allowed by itself, it runs");
}

#[test]
fn s2_commands_that_look_run_no_program_of_the_repository() {
    let world = World::new(1, Script::default());
    let evil = format!("#!/bin/sh\n{}\necho 1.2.3\n", touch(&world));
    for name in ["evil.sh", "bin/claude", "bin/codex"] {
        world.write(name, &evil);
        let path = world.repo().join(name);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let gate = touch(&world);
    world.write("PLAN.md", &format!("# Plan\n\n## Phase 1: a\n- [ ] do it\n\n### Gates\n- t: `{gate}`\n"));
    let kinds = ["claude", "codex", "gemini", "opencode", "acp"];
    for kind in kinds {
        world.write(
            "segue.toml",
            &format!(
                "agents = [\"a\", \"b\", \"c\"]\n[agent.a]\nkind = \"{kind}\"\ncommand = \"./evil.sh\"\n\
                 [agent.b]\nkind = \"{kind}\"\ncommand = [\"sh\", \"evil.sh\"]\n\
                 [agent.c]\nkind = \"{kind}\"\ncommand = \"claude\"\n\
                 [agent.c.env]\nPATH = \"{}/bin\"\n[[gate]]\nname = \"g\"\nrun = {gate:?}\n",
                world.repo().display()
            ),
        );
        for args in [
            &["doctor"][..],
            &["agents"],
            &["config", "show"],
            &["config", "check"],
            &["status"],
            &["list"],
            &["show"],
            &["log"],
            &["path"],
            &["budget"],
            &["replay"],
            &["trust", "--list"],
            &["checkpoint", "list"],
            &["snapshot", "list"],
            &["init", "--print"],
            &["clean", "--dry-run"],
            &["completions", "bash"],
            &["man"],
            &["plan", "check", "PLAN.md"],
            &["plan", "show", "PLAN.md"],
            &["plan", "estimate", "PLAN.md"],
            &["run", "TASK.md", "--dry-run"],
            &["run", "PLAN.md", "--dry-run"],
        ] {
            // A relative folder on PATH is the repository's, too.
            let path = format!("bin:{}", std::env::var("PATH").unwrap());
            for trust in ["", "1"] {
                let mut command = unasked(&world, args);
                command.env("PATH", &path).env("ANTHROPIC_API_KEY", "sk-ant-x").env("SEGUE_TRUST", trust);
                let done = end(command);
                assert!(!canary(&world).exists(), "{kind} {args:?}\n{}", done.all());
            }
        }
    }
}

#[test]
fn s2_gates_get_no_provider_keys_and_each_agent_only_those_of_its_own_provider() {
    let world = World::new(1, Script::default());
    let (gate, agent) = (world.root().join("gate.env"), world.root().join("agent.env"));
    let write = |file: &PathBuf| format!("env > '{}'", file.display());
    world.write("fake", &format!("#!/bin/sh\n{}\nsleep 0.1\n", write(&agent)));
    let fake = world.repo().join("fake");
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |kind: &str, more: &str| {
        let _ = (std::fs::remove_file(&gate), std::fs::remove_file(&agent));
        world.write(
            "segue.toml",
            &format!(
                "agents = [\"mine\"]\n{more}\n[limits]\nmax_failures = 1\n[agent.mine]\nkind = \"{kind}\"\ncommand = {:?}\n\
                 [[gate]]\nname = \"g\"\nrun = {:?}\n",
                fake.display().to_string(),
                write(&gate)
            ),
        );
        let mut command = world.command(&["run", "TASK.md", "--no-wait"]);
        command.envs([("ANTHROPIC_API_KEY", "sk-a"), ("OPENAI_API_KEY", "sk-o"), ("GEMINI_API_KEY", "g-k")]);
        command.envs([("SEGUE_MODEL", "m"), ("EDITOR", "vi"), ("GONE", "1")]);
        let done = end(command);
        let read =
            |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{e} {}", done.all()));
        (read(&gate), read(&agent))
    };
    let (of_gate, of_agent) = run("claude", "");
    assert!(!of_gate.contains("_API_KEY") && of_gate.contains("EDITOR=vi"), "{of_gate}");
    assert!(!of_gate.contains("SEGUE_MODEL") && !of_gate.contains("SEGUE_TRUST"), "{of_gate}");
    assert!(of_agent.contains("ANTHROPIC_API_KEY=sk-a"), "{of_agent}");
    assert!(
        !of_agent.contains("sk-o") && !of_agent.contains("g-k") && !of_agent.contains("SEGUE_TRUST"),
        "{of_agent}"
    );
    let (_, of_agent) = run("command", "");
    assert!(!of_agent.contains("_API_KEY"), "an agent that segue does not know: {of_agent}");
    let (of_gate, of_agent) = run("command", "[env]\npass = [\"OPENAI_*\"]\ndrop = [\"GONE\"]\n");
    for env in [&of_gate, &of_agent] {
        assert!(
            env.contains("OPENAI_API_KEY=sk-o") && !env.contains("GEMINI") && !env.contains("GONE="),
            "{env}"
        );
    }
}
