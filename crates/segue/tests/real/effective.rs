//! What is in force in a CLI when segue starts it, against what is in force when the user does: nothing else differs than
//! what segue says that it sets.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use segue_rehearsal::model_server::ServerScript;
use serde_json::{Value, json};

use crate::inside::{inside, say};
use crate::support::World;

/// How segue called a CLI.
struct Call {
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

fn roomy() -> ServerScript {
    ServerScript { window: 100_000, ..ServerScript::default() }
}

/// Has segue start an agent, by its own settings, and notes how.
fn call(world: &World, agent: &str) -> Call {
    let (program, at) = (world.root().join("bin").join(agent), world.root().join("called"));
    let real = program.read_link().unwrap();
    std::fs::remove_file(&program).unwrap();
    std::fs::create_dir(&at).unwrap();
    let (at_shown, real) = (at.display(), real.display());
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version|-v) ;; *)\n  if mkdir '{at_shown}/one' 2>/dev/null; then\n    \
         printf '%s\\0' \"$@\" > '{at_shown}/args'; env -0 > '{at_shown}/env'\n    \
         [ -z \"$GEMINI_CLI_HOME\" ] || cp -a \"$GEMINI_CLI_HOME\" '{at_shown}/home'\n    \
         mv '{at_shown}/args' '{at_shown}/done'\n  fi;;\n\
         esac\nexec '{real}' \"$@\"\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = world.launch(&["run", "TASK.md", "--json", "--agent", agent, "--no-wait", "--policy", "auto"]);
    let since = Instant::now();
    while !at.join("done").exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "it was never called");
        std::thread::sleep(Duration::from_millis(20));
    }
    world.segue(&["stop", "--now"]);
    drop(run.wait());
    let parts = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(at.join(name)).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    };
    let env = parts("env").into_iter().filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    Call { args: parts("done"), env: env.collect() }
}

/// The CLI itself, with these arguments and this environment.
fn start(world: &World, agent: &str, args: &[String], env: &BTreeMap<String, String>) -> Command {
    let mut command = world.command(crate::inside::agent(agent), &[]);
    command.args(args).envs(env).stderr(Stdio::null());
    command
}

/// Says lines to a program and returns the first of its lines that is asked for.
fn answer(mut command: Command, lines: &[Value], wanted: impl Fn(&Value) -> bool) -> Value {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    let output = BufReader::new(child.stdout.take().unwrap());
    let parsed = output.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
    let found = parsed.into_iter().find(wanted);
    child.kill().unwrap();
    child.wait().unwrap();
    found.unwrap_or_else(|| panic!("it never answered"))
}

/// The paths at which two values differ.
fn differing(before: &Value, after: &Value, at: &str, found: &mut BTreeSet<String>) {
    let keys = |of: &Value| -> Vec<String> {
        of.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    match (before, after) {
        (Value::Object(_), Value::Object(_) | Value::Null) | (Value::Null, Value::Object(_)) => {
            let keys: BTreeSet<String> = [before, after].into_iter().flat_map(keys).collect();
            for key in &keys {
                let side = |of: &Value| of.get(key).cloned().unwrap_or_default();
                let below = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                differing(&side(before), &side(after), &below, found);
            }
        }
        _ if before == after || entries(before) + entries(after) == 0 => {}
        _ => drop(found.insert(at.to_owned())),
    }
}

#[track_caller]
fn only(agent: &str, before: &Value, after: &Value, expected: &[&str]) {
    let mut found = BTreeSet::new();
    differing(before, after, "", &mut found);
    say(&format!("effective settings of {agent}: {} before, {found:?} differ", entries(before)));
    assert_eq!(found, expected.iter().map(|path| (*path).to_owned()).collect(), "{before}\n{after}");
}

fn entries(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.values().map(entries).sum(),
        Value::Array(list) => list.len(),
        Value::Null => 0,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

#[test]
fn effective_settings_of_claude_are_the_users() {
    inside(120, || {
        let world = World::new(2, roomy());
        let theirs = json!({
            "outputStyle": "Explanatory", "permissions": { "allow": ["Bash(ls:*)"], "defaultMode": "acceptEdits" },
            "env": { "MINE": "1" }, "hooks": { "PostToolUse": [] },
        });
        std::fs::create_dir_all(world.home().join(".claude")).unwrap();
        std::fs::write(world.home().join(".claude/settings.json"), theirs.to_string()).unwrap();
        let Call { mut args, env } = call(&world, "claude");
        let given = |args: &[String], name: &str| args.iter().position(|arg| arg == name).map(|at| at + 1);
        let settings: Value = serde_json::from_str(&args[given(&args, "--settings").unwrap()]).unwrap();
        let adds = ["autoCompactEnabled", "hooks.PostToolUse"];
        only("Claude Code, of what segue gives it", &json!({}), &settings, &adds);
        let begin = [json!({ "type": "user", "message": { "role": "user", "content": "say hello" } })];
        let init = |id: &str, args: &mut Vec<String>| {
            let at = given(args, "--session-id").unwrap();
            args[at] = id.to_owned();
            let is_init = |line: &Value| line["type"] == "system" && line["subtype"] == "init";
            let mut said = answer(start(&world, "claude", args, &env), &begin, is_init);
            // Each process has its own.
            for own in ["session_id", "uuid", "messaging_socket_path"] {
                said.as_object_mut().unwrap().remove(own);
            }
            said
        };
        let after = init("6f1a2f6e-1c70-4d9e-9d3a-111111111111", &mut args);
        let at = given(&args, "--settings").unwrap();
        args.drain(at - 1..=at);
        let before = init("6f1a2f6e-1c70-4d9e-9d3a-222222222222", &mut args);
        assert_eq!(
            (&before["output_style"], &before["permissionMode"]),
            (&json!("Explanatory"), &json!("acceptEdits"))
        );
        only("Claude Code", &before, &after, &[]);
    });
}

#[test]
fn effective_settings_of_codex_are_the_users() {
    inside(120, || {
        let world = World::new(2, roomy());
        let top = "approval_policy = \"never\"\nsandbox_mode = \"read-only\"\nmodel_reasoning_effort = \"low\"\n\
                   [[hooks.PreCompact]]\nmatcher = \"*\"\n[[hooks.PreCompact.hooks]]\ntype = \"command\"\ncommand = \"true\"";
        world.codex_config(100_000, top);
        let Call { args, env } = call(&world, "codex");
        let ask = [
            json!({ "id": 1, "method": "initialize", "params": { "clientInfo": { "name": "t", "version": "1" } } }),
            json!({ "method": "initialized" }),
            json!({ "id": 2, "method": "config/read", "params": { "includeLayers": false } }),
            json!({ "id": 3, "method": "hooks/list", "params": { "cwds": [world.repo()] } }),
        ];
        let read = |args: &[String], id: u32| {
            let command = start(&world, "codex", args, &env);
            answer(command, &ask, |line| line["id"] == id)["result"].clone()
        };
        let alone = ["app-server".to_owned()];
        // The merged settings show one layer of hooks only; those of every layer are in force.
        let hooks = |args: &[String]| -> BTreeSet<String> {
            let listed = read(args, 3)["data"][0]["hooks"].as_array().cloned().unwrap_or_default();
            listed.iter().map(|hook| format!("{} {}", hook["key"], hook["command"])).collect()
        };
        let (theirs, all) = (hooks(&alone), hooks(&args));
        assert!(theirs.len() == 1 && all.is_superset(&theirs) && all.len() == 2, "{theirs:?} {all:?}");
        let (before, after) = (read(&alone, 2)["config"].clone(), read(&args, 2)["config"].clone());
        assert_eq!(before["sandbox_mode"], "read-only", "{before}");
        only("Codex", &before, &after, &["hooks.PreCompact"]);
    });
}

#[test]
fn effective_settings_of_opencode_are_the_users() {
    inside(120, || {
        let world = World::of(&[("opencode", 60_000)], 2, roomy());
        let theirs = json!({ "permission": { "bash": "ask" }, "instructions": ["MINE.md"] });
        std::fs::create_dir_all(world.home().join(".config/opencode")).unwrap();
        std::fs::write(world.home().join(".config/opencode/opencode.json"), theirs.to_string()).unwrap();
        let Call { env, .. } = call(&world, "opencode");
        let recipe = world.recipe("opencode", 60_000);
        let alone: BTreeMap<String, String> = recipe.env.iter().cloned().collect();
        let read = |env: &BTreeMap<String, String>| -> Value {
            let args = ["debug", "config"].map(str::to_owned);
            let done = start(&world, "opencode", &args, env).output().unwrap();
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
        };
        let (before, after) = (read(&alone), read(&env));
        assert_eq!(before["permission"]["bash"], "ask", "{before}");
        only("OpenCode", &before, &after, &["compaction.auto", "compaction.prune"]);
    });
}

/// Gemini CLI's own account of its settings, as its program merges them: it has no command that prints them.
const MERGED: &str = r#"
import { readFileSync } from "node:fs";
const dir = process.argv[2];
const text = (name) => readFileSync(`${dir}/${name}`, "utf8");
const main = text("gemini.js").match(/import\("\.\/(gemini-\w+\.js)"\)/)[1];
const chunks = [...text(main).matchAll(/from "\.\/(chunk-\w+\.js)"/g)].map((found) => found[1]);
const { loadSettings } = await import(`${dir}/${chunks.find((name) => text(name).includes("function loadSettings("))}`);
console.log(JSON.stringify(loadSettings(process.cwd()).merged));
"#;

#[test]
fn effective_settings_of_gemini_are_the_users() {
    inside(120, || {
        let world = World::of(&[("gemini", 100_000)], 2, roomy());
        let file = world.home().join(".gemini/settings.json");
        let mut theirs: Value =
            std::fs::read(&file).map_or(json!({}), |text| serde_json::from_slice(&text).unwrap());
        theirs["ui"] = json!({ "hideBanner": true });
        let hook = json!({ "type": "command", "command": "true" });
        theirs["hooks"] = json!({ "AfterTool": [{ "matcher": "*", "hooks": [hook] }] });
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, theirs.to_string()).unwrap();
        let script = world.root().join("merged.mjs");
        std::fs::write(&script, MERGED).unwrap();
        let bundle = crate::inside::agent("gemini").canonicalize().unwrap().parent().unwrap().to_owned();
        let mut env = call(&world, "gemini").env;
        let read = |env: &BTreeMap<String, String>| -> Value {
            let mut command = world.command("node", &[]);
            command.arg(&script).arg(&bundle).env_clear().envs(env);
            let done = command.output().unwrap();
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            serde_json::from_str(text.lines().last().unwrap_or_default())
                .unwrap_or_else(|error| panic!("{error}: {text}\n{said}"))
        };
        // segue's home is gone with its session: this is the copy of what the session had.
        let home = world.root().join("called/home").display().to_string();
        assert!(env.insert("GEMINI_CLI_HOME".to_owned(), home).is_some(), "{env:?}");
        let after = read(&env);
        env.remove("GEMINI_CLI_HOME");
        let before = read(&env);
        assert_eq!(before["ui"]["hideBanner"], true, "{before}");
        only("Gemini CLI", &before, &after, &["hooks.BeforeModel", "model.compressionThreshold"]);
    });
}
