//! Which commands publish, push, delete, reset, deploy, or give a download to a shell: data, and one pass over a line.
//!
//! It is no sandbox: a command can hide what it does. It keeps honest plans from doing harm by the way, and makes the plain
//! ways visible. What cannot be read as a shell line is looked through word by word.

use crate::gates::shell;

const PUBLISHES: &str = "publishes";
const PUSHES: &str = "pushes";
const DELETES: &str = "deletes";
const RESETS: &str = "resets";
const DEPLOYS: &str = "deploys";
const PIPES: &str = "runs what a pipe or download gives it";

/// Shells and interpreters that run what they are given on their input.
const READERS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "node", "perl", "ruby", "php"];
/// Words that stand before a command and change nothing about it.
const BEFORE: &[&str] = &[
    "sudo", "doas", "env", "command", "nohup", "exec", "time", "nice", "xargs", "timeout", "builtin",
    "stdbuf",
];
const LOADERS: &[&str] = &["curl", "wget", "fetch", "aria2c"];

/// `(program, first words, what it does)`; no words: whatever follows.
const RULES: &[(&str, &[&str], &str)] = &[
    ("rm", &[], DELETES),
    ("rmdir", &[], DELETES),
    ("unlink", &[], DELETES),
    ("shred", &[], DELETES),
    ("truncate", &[], DELETES),
    ("dd", &[], DELETES),
    ("dropdb", &[], DELETES),
    ("git", &["push"], PUSHES),
    ("git", &["reset", "clean", "restore", "filter-branch", "update-ref", "reflog"], RESETS),
    ("git", &["rm"], DELETES),
    ("hg", &["push"], PUSHES),
    ("docker", &["push"], PUSHES),
    ("podman", &["push"], PUSHES),
    ("helm", &["push", "install", "upgrade", "uninstall", "rollback"], DEPLOYS),
    ("npm", &["publish", "unpublish", "deprecate"], PUBLISHES),
    ("pnpm", &["publish"], PUBLISHES),
    ("yarn", &["publish"], PUBLISHES),
    ("bun", &["publish"], PUBLISHES),
    ("cargo", &["publish", "yank", "release"], PUBLISHES),
    ("twine", &["upload"], PUBLISHES),
    ("poetry", &["publish"], PUBLISHES),
    ("uv", &["publish"], PUBLISHES),
    ("flit", &["publish"], PUBLISHES),
    ("hatch", &["publish"], PUBLISHES),
    ("gem", &["push", "yank"], PUBLISHES),
    ("mvn", &["deploy", "release:perform"], PUBLISHES),
    ("gradle", &["publish"], PUBLISHES),
    ("gradlew", &["publish"], PUBLISHES),
    ("goreleaser", &["release"], PUBLISHES),
    ("gh", &["release", "pr", "repo", "api", "workflow", "secret"], PUBLISHES),
    ("kubectl", &["apply", "delete", "create", "replace", "patch", "rollout", "scale", "drain"], DEPLOYS),
    ("terraform", &["apply", "destroy"], DEPLOYS),
    ("tofu", &["apply", "destroy"], DEPLOYS),
    ("pulumi", &["up", "destroy"], DEPLOYS),
    ("ansible-playbook", &[], DEPLOYS),
    ("vercel", &[], DEPLOYS),
    ("netlify", &["deploy"], DEPLOYS),
    ("fly", &["deploy"], DEPLOYS),
    ("flyctl", &["deploy"], DEPLOYS),
    ("heroku", &[], DEPLOYS),
    ("firebase", &["deploy"], DEPLOYS),
    ("wrangler", &["deploy", "publish"], DEPLOYS),
    ("serverless", &["deploy", "remove"], DEPLOYS),
    ("cdk", &["deploy", "destroy"], DEPLOYS),
    ("cap", &[], DEPLOYS),
    ("ssh", &[], DEPLOYS),
    ("scp", &[], DEPLOYS),
    ("sftp", &[], DEPLOYS),
];
/// Programs whose targets are named by the project: a target that says so is taken at its word.
const TARGETS: &[&str] =
    &["make", "gmake", "just", "task", "npm", "pnpm", "yarn", "bun", "rake", "mage", "nx"];

/// What a command does that needs its own yes.
pub(crate) fn reason(line: &str) -> Option<&'static str> {
    look(line, 0)
}

fn look(line: &str, depth: u32) -> Option<&'static str> {
    if depth > 4 {
        return Some(PIPES);
    }
    let loose = || line.split(|c: char| c.is_whitespace() || ";|&(){}<>`'\"$=".contains(c));
    // `curl … | sh`, `sh <(curl …)`, `sh -c "$(wget …)"`
    let loads = loose().any(|word| LOADERS.contains(&base(word)));
    if loads && loose().any(|word| READERS.contains(&base(word))) {
        return Some(PIPES);
    }
    let Some(commands) = shell::commands(line) else {
        let words: Vec<String> = loose().filter(|word| !word.is_empty()).map(str::to_owned).collect();
        return (0..words.len()).find_map(|at| of_words(&words[at..], depth));
    };
    commands.iter().find_map(|simple| of_words(&simple.words, depth).or_else(|| inside(&simple.words, depth)))
}

// What stands in `$(…)` and in backticks is run as well.
fn inside(words: &[String], depth: u32) -> Option<&'static str> {
    words.iter().filter(|word| word.contains("$(") || word.contains('`')).find_map(|word| {
        let parts = word.split("$(").skip(1).chain(word.split('`').skip(1).step_by(2));
        parts.map(|part| part.trim_end_matches(')')).find_map(|part| look(part, depth + 1))
    })
}

fn of_words(words: &[String], depth: u32) -> Option<&'static str> {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        let skipped = BEFORE.contains(&base(first)) || is_setting(first);
        if !skipped {
            break;
        }
        // Options and durations of `timeout 5m`, `nice -n 5`.
        let options = rest.iter().take_while(|word| {
            word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()) || is_setting(word)
        });
        words = &rest[options.count()..];
    }
    let (program, rest) = words.split_first()?;
    let program = base(program);
    if READERS.contains(&program) {
        return interpreter(program, rest, depth);
    }
    match program {
        "eval" => return look(&rest.join(" "), depth + 1),
        "git" => return git(rest),
        "find" => return find(rest, depth),
        "rsync" => return rest.iter().any(|word| word.starts_with("--del")).then_some(DELETES),
        "aws" | "gcloud" | "az" => return Some(DEPLOYS),
        _ if program.starts_with("mkfs") => return Some(DELETES),
        _ => {}
    }
    rule(program, rest).or_else(|| target(program, rest))
}

fn rule(program: &str, rest: &[String]) -> Option<&'static str> {
    let first = rest.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let holds = |(name, words, _): &&(&str, &[&str], &str)| {
        *name == program && (words.is_empty() || words.contains(&first))
    };
    RULES.iter().find(holds).map(|(_, _, what)| *what)
}

fn target(program: &str, rest: &[String]) -> Option<&'static str> {
    let says = |what: &str| {
        rest.iter()
            .any(|word| word.split([':', '-', '_', '.']).any(|part| part == what) && !word.starts_with('-'))
    };
    let known = TARGETS.contains(&program);
    [("publish", PUBLISHES), ("release", PUBLISHES), ("deploy", DEPLOYS)]
        .into_iter()
        .find_map(|(word, what)| (known && says(word)).then_some(what))
}

fn interpreter(program: &str, rest: &[String], depth: u32) -> Option<&'static str> {
    let shell = program.ends_with("sh") || program == "fish";
    for (at, word) in rest.iter().enumerate() {
        let takes_text = word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        if shell && takes_text {
            return rest.get(at + 1).and_then(|text| look(text, depth + 1));
        }
        if !word.starts_with('-') || (!shell && word.len() > 1) {
            return None;
        }
    }
    // Nothing but options: it reads its commands from its input.
    Some(PIPES)
}

fn git(rest: &[String]) -> Option<&'static str> {
    let mut rest = rest;
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "-c" | "-C" | "--git-dir" | "--work-tree" => rest = more.get(1..).unwrap_or_default(),
            word if word.starts_with('-') => rest = more,
            _ => break,
        }
    }
    let (verb, more) = rest.split_first()?;
    let has = |list: &[&str]| more.iter().any(|word| list.contains(&word.as_str()));
    match verb.as_str() {
        "branch" if has(&["-d", "-D", "--delete", "-f", "--force", "-M"]) => Some(DELETES),
        "tag" if has(&["-d", "--delete", "-f"]) => Some(DELETES),
        "stash" if has(&["drop", "clear", "pop"]) => Some(DELETES),
        "worktree" if has(&["remove", "prune"]) => Some(DELETES),
        "checkout" if has(&["--", ".", "-f", "--force", "-B"]) => Some(RESETS),
        "switch" if has(&["-f", "--force", "--discard-changes", "-C"]) => Some(RESETS),
        verb => rule("git", &[verb.to_owned()]),
    }
}

fn find(rest: &[String], depth: u32) -> Option<&'static str> {
    if rest.iter().any(|word| word == "-delete") {
        return Some(DELETES);
    }
    let at = rest.iter().position(|word| word.starts_with("-exec") || word.starts_with("-ok"))?;
    of_words(rest.get(at + 1..)?, depth)
}

fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn base(program: &str) -> &str {
    program.trim_start_matches('\\').rsplit('/').next().unwrap_or(program)
}
