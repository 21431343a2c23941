//! Gates that a repository suggests by its files: how its tests are run.

use std::path::Path;

use serde_json::Value;

use super::super::open::find_program;
use crate::store::safely;

/// A gate for `segue.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gate {
    pub(super) name: String,
    pub(super) run: String,
}

/// Gates by their commands.
pub(super) fn named(commands: &[String]) -> Vec<Gate> {
    let mut gates: Vec<Gate> = Vec::new();
    for run in commands {
        let words: Vec<&str> =
            run.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
        let base = if words.contains(&"test") || words.contains(&"pytest") {
            "tests".to_owned()
        } else {
            words.last().map_or_else(|| "gate".to_owned(), |word| word.to_lowercase())
        };
        let taken = |name: &str| gates.iter().any(|gate| gate.name == name);
        let name = (2..).map(|n| format!("{base}-{n}")).find(|name| !taken(name)).filter(|_| taken(&base));
        gates.push(Gate { name: name.unwrap_or(base), run: run.clone() });
    }
    gates
}

/// The gates that the files of a repository suggest, if their programs are installed. A recipe of make or just counts
/// only where nothing else is found: it mostly calls the rest.
pub(super) fn found(root: &Path) -> Vec<Gate> {
    let read = |name: &str| safely::plain_text(&root.join(name)).ok();
    let languages = [
        read("Cargo.toml").map(|text| cargo(&text)),
        read("package.json").and_then(|text| node(root, &text)),
        python(root, &read),
        read("go.mod").map(|_| "go test ./...".to_owned()),
    ];
    let mut commands: Vec<String> = languages.into_iter().flatten().collect();
    if commands.is_empty() {
        let make = ["GNUmakefile", "Makefile", "makefile"].iter().find_map(|name| read(name));
        let just = ["justfile", "Justfile", ".justfile"].iter().find_map(|name| read(name));
        let recipes = [("just", just), ("make", make)];
        commands.extend(recipes.into_iter().find_map(|(program, text)| {
            let text = text?;
            let target = ["test", "tests", "check"].into_iter().find(|target| has_recipe(&text, target))?;
            Some(format!("{program} {target}"))
        }));
    }
    commands.retain(|run| {
        let program = run.split_whitespace().next().unwrap_or_default();
        find_program(program, root).is_ok()
    });
    named(&commands)
}

fn cargo(text: &str) -> String {
    let workspace = text.lines().any(|line| line.trim() == "[workspace]");
    if workspace { "cargo test --workspace".to_owned() } else { "cargo test".to_owned() }
}

// A script that only says that there is none is no test.
fn node(root: &Path, text: &str) -> Option<String> {
    let package: Value = serde_json::from_str(text).ok()?;
    let script = package.pointer("/scripts/test")?.as_str()?;
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    let by_lock = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun run"),
        ("bun.lockb", "bun run"),
    ];
    let program =
        by_lock.iter().find(|(lock, _)| root.join(lock).exists()).map_or("npm", |(_, program)| program);
    Some(format!("{program} test"))
}

fn python(root: &Path, read: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let project = read("pyproject.toml").unwrap_or_default();
    let configured = root.join("pytest.ini").exists()
        || project.contains("pytest")
        || read("setup.cfg").is_some_and(|text| text.contains("[tool:pytest]"))
        || read("tox.ini").is_some_and(|text| text.contains("[pytest]"));
    let is_test = |name: &str| name.starts_with("test_") && name.ends_with(".py");
    let has_tests = || {
        let entries = std::fs::read_dir(root.join("tests")).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(is_test))
    };
    if !configured && !has_tests() {
        return None;
    }
    let by_lock = [("uv.lock", "uv run pytest"), ("poetry.lock", "poetry run pytest")];
    let command = by_lock.iter().find(|(lock, _)| root.join(lock).exists()).map_or("pytest", |(_, run)| run);
    Some(command.to_owned())
}

// `test:` with or without what it needs; `test := x` is a variable, and what is indented belongs to a recipe.
fn has_recipe(text: &str, target: &str) -> bool {
    text.lines().any(|line| {
        let Some((head, rest)) = line.split_once(':') else { return false };
        !line.starts_with([' ', '\t', '#'])
            && !rest.starts_with('=')
            && head.split_whitespace().next().map(|name| name.trim_start_matches('@')) == Some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_told_from_a_variable_and_from_another_recipe() {
        assert!(has_recipe("test: build\n\tcargo test\n", "test") && has_recipe("@test arg:\n", "test"));
        for other in ["test := 1\n", "tests:\n", "build:\n\ttest: x\n", "# test:\n", "test\n"] {
            assert!(!has_recipe(other, "test"), "{other:?}");
        }
    }

    #[test]
    fn gates_have_names_of_their_own() {
        let commands = ["npm test", "cargo test", "npm run lint", ":"].map(str::to_owned);
        let names: Vec<String> = named(&commands).into_iter().map(|gate| gate.name).collect();
        assert_eq!(names, ["tests", "tests-2", "lint", "gate"]);
    }
}
