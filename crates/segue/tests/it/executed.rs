//! The command lines in the documents and the advice in messages are executed, in a world with a finished run, a plan and
//! one program for each agent and gate that they name. What would start an agent gets `--dry-run`. The few that are only
//! parsed (by `documented`) are listed here with the reason.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use crate::documented::{commands, documents, filled_in, words};
use crate::support::{World, small};
use crate::words::shown_by_the_program;

/// What command lines begin with that are only parsed, and why.
const ONLY_PARSED: &[(&str, &str)] = &[
    ("segue bridge", "starts an agent's server"),
    ("segue demo", "takes minutes without --fast; `demo` runs it"),
    ("segue loop", "starts an agent and has no dry run; `loops` runs it"),
    (
        "segue rehearse",
        "needs the CLI that it names, or thousands of simulated runs; `rehearse` and `real::rehearse` run it",
    ),
    ("segue resume", "starts an agent; `checkpoint_life`, `waiting`, `first_minutes` and `plan_life` run it"),
    ("segue stop", "needs an active run; `owner` and `real::stop` run it"),
    ("segue progress", "works only inside a run; `worker` runs it"),
    ("segue done", "works only inside a run; `worker` runs it"),
    ("segue plan accept", "needs a plan that waits for it; `plan_life` runs it"),
    ("segue plan status", "needs a plan that has run; `plan_run` runs it"),
    ("segue snapshot list PLAN", "needs a plan that has run; `beside_life` runs it"),
    ("segue notify", "sends to a receiver; `notify` runs it with one"),
    ("segue attach", "needs a run in the background"),
    ("segue wait", "needs a run in the background"),
];

/// Lines in a text that only name a command, without what it needs (`segue run -` needs standard input; `bad_input` runs it).
const NAMES: &[&str] = &[
    "segue run",
    "segue run -",
    "segue run --json",
    "segue run --policy loop",
    "segue plan estimate",
    "segue run --detach",
    "segue plan",
    "segue plan check",
    "segue snapshot",
    "segue snapshot restore",
    "segue checkpoint",
    "segue config",
];

const PLAN: &str =
    "# Parser\n\n### Task 1: Lexer\n\n- [ ] read numbers\n\n## Validation Commands\n\n- `npm test`\n";
const PROGRAMS: [&str; 12] = [
    "claude", "codex", "gemini", "opencode", "qwen", "npm", "cargo", "pytest", "go", "make", "just", "tests",
];

/// A repository with a finished run, plans of the names that the documents use, and a program of each name.
fn world() -> (World, String) {
    let mut world = World::new(1, small());
    let bin = world.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in PROGRAMS {
        std::fs::write(bin.join(name), "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.set_env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    world.set_env("EDITOR", "true");
    world.configure("[limits]\ndeadline = \"2h\"\n[roles.backend]\nagents = [\"scripted\"]\n");
    for name in ["PLAN.md", "MASTER_PLAN.md", "docs/plans/PLAN.md", ".planning/phases/PLAN.md"] {
        world.write(name, PLAN);
    }
    world.write("tasks.md", "# Tasks\n\n- [ ] 1. Read numbers\n- [ ] 2. Read names\n");
    world.write("PROMPT.md", "# Fix login\n\nMake the login work.\n");
    world.commit("plans");
    let run = world.segue(&["run", "TASK.md", "--json", "--permissions", "bypass"]);
    assert_eq!(run.code, Some(0), "{}", run.all());
    let id = run.lines()[0]["run"].as_str().unwrap().to_owned();
    let file = world.root().join("parser.json.gz").display().to_string();
    let exported = world.segue(&["checkpoint", "create"]);
    assert_eq!(exported.code, Some(0), "{}", exported.all());
    let exported = world.segue(&["checkpoint", "export", "last", &file]);
    assert_eq!(exported.code, Some(0), "{}", exported.all());
    world.commit("done");
    (world, id)
}

/// The words with what stands in this world for placeholders.
fn here(world: &World, run: &str, line: &str) -> Vec<String> {
    let file = world.root().join("parser.json.gz").display().to_string();
    let replaced = |word: String| match word.as_str() {
        "RUN" | "RUN|PLAN" | "ID" | "SNAPSHOT" | "A" | "c36" | "c44" => "last".to_owned(),
        "3f2" => run.rsplit('-').next().unwrap().to_owned(),
        "fix login" => "write parts".to_owned(),
        "PLAN" => "PLAN.md".to_owned(),
        "NAME" => "seamless".to_owned(),
        "DIR" => "restored".to_owned(),
        "1" if line.contains('…') => "fix the login".to_owned(),
        "FILE" | "/tmp/parser.json.gz" if line.contains("checkpoint") => file.clone(),
        "FILE" => "PROMPT.md".to_owned(),
        "~/.local/share/man/man1" => "pages".to_owned(),
        _ => word,
    };
    let mut words: Vec<String> = words(line).into_iter().skip(1).map(replaced).collect();
    if words.iter().any(|word| word == "export") {
        words.retain(|word| word != &file && word != "last");
        words.extend(["last".to_owned(), world.root().join("again.json").display().to_string()]);
    }
    if ["run", "clean"].contains(&words[0].as_str()) && !words.iter().any(|word| word == "--dry-run") {
        words.push("--dry-run".to_owned());
    }
    words
}

fn executed(world: &World, run: &str, line: &str) -> Result<(), String> {
    let args = here(world, run, line);
    let config = world.read("segue.toml");
    if args[0] == "init" && !args.iter().any(|arg| arg == "--print") {
        std::fs::remove_file(world.repo().join("segue.toml")).unwrap();
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = world.segue(&args);
    world.write("segue.toml", &config);
    let _ = std::fs::remove_dir_all(world.repo().join("restored"));
    let _ = std::fs::remove_dir_all(world.state_dir().join("restored"));
    if done.code == Some(0) { Ok(()) } else { Err(format!("segue {}\n{}", args.join(" "), done.all())) }
}

fn faults_of(lines: impl IntoIterator<Item = (String, String)>, least: usize) -> Vec<String> {
    let (world, run) = world();
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for (name, line) in lines {
        let typed = words(&line).join(" ");
        let parsed = ONLY_PARSED.iter().any(|(begin, _)| line.starts_with(begin) || typed.starts_with(begin));
        // There is no dry run in the background; `detached` runs it.
        let parsed = parsed || typed.contains(" --detach");
        if parsed || NAMES.contains(&line.as_str()) || !seen.insert(typed) {
            continue;
        }
        count += 1;
        if let Err(said) = executed(&world, &run, &line) {
            faults.push(format!("{name}: {line}\n    {said}"));
        }
    }
    assert!(count >= least, "only {count} command lines were executed");
    faults
}

#[test]
fn documented_command_lines_work() {
    let lines = documents().into_iter().flat_map(|(name, text)| {
        commands(&text).into_iter().map(move |line| (name.clone(), line)).collect::<Vec<_>>()
    });
    let faults = faults_of(lines, 60);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn documented_advice_in_messages_works() {
    let advice = shown_by_the_program().into_iter().flat_map(|(name, text)| {
        let code = text.split('`').skip(1).step_by(2).filter(|code| code.starts_with("segue "));
        code.map(|line| (name.clone(), line.to_owned())).collect::<Vec<_>>()
    });
    // What a message fills in is known only where it is shown; `documented` parses these.
    let whole = advice.filter(|(_, line)| filled_in(line) == *line && !line.contains('…'));
    let faults = faults_of(whole, 15);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
