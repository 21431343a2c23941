//! Manifests hold more than what a gate runs: only the part that decides is compared.

use std::collections::BTreeMap;

use serde_json::Value;

use super::runs::{Call, Runs};
use super::{Change, ini, make, name};

/// Programs that run Python's tests.
pub(super) const PYTHON: &[&str] = &["pytest", "py.test", "tox", "nox", "unittest", "coverage"];
/// Programs that run what a package.json says.
pub(super) const NODE: &[&str] =
    &["npm", "yarn", "pnpm", "bun", "jest", "vitest", "mocha", "ava", "node", "playwright", "karma"];
/// Modules of Python that run or check others; a file of that name in the work tree would be run in their place.
pub(super) const PYTHON_MODULES: &[&str] = &[
    "pytest",
    "unittest",
    "tox",
    "nox",
    "coverage",
    "doctest",
    "compileall",
    "mypy",
    "ruff",
    "flake8",
    "pylint",
    "black",
];
/// Keys of a package.json that configure a runner.
const NODE_KEYS: &[&str] = &["jest", "vitest", "mocha", "ava", "nyc", "c8"];
/// What a conftest.py uses to decide which tests run and how they end.
const CONFTEST: &[&str] = &[
    "pytest_",
    "collect_ignore",
    "skip",
    "xfail",
    "_exit",
    "sys.exit",
    "SystemExit",
    "pytest.exit",
    "exitstatus",
    "autouse",
];

/// What of a changed manifest decides what the gate runs, in words.
pub(super) fn decides(change: &Change, runs: &Runs) -> Option<String> {
    let file = name(&change.path);
    let parts = |text: &Option<String>| {
        text.as_deref().map(|text| deciding(file, &change.path, text, runs)).unwrap_or_default()
    };
    let (before, after) = (parts(&change.before), parts(&change.after));
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let differ: Vec<&str> =
        keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).map(String::as_str).collect();
    (!differ.is_empty()).then(|| format!("changes what the gate runs: {}", differ.join(", ")))
}

fn deciding(file: &str, path: &str, text: &str, runs: &Runs) -> BTreeMap<String, String> {
    let dir = path.strip_suffix(file).unwrap_or_default();
    match file {
        "package.json" => node(text, runs, dir),
        "Cargo.toml" if runs.calls(&["cargo"]) => cargo(text),
        "pyproject.toml" => python(text, runs),
        "setup.cfg" | "tox.ini" if runs.calls(PYTHON) => ini::sections(text, &|name| {
            name.contains("pytest") || name.starts_with("tox") || name.starts_with("testenv")
        }),
        "conftest.py" if runs.calls(PYTHON) => conftest(text),
        ".npmrc" if runs.calls(NODE) => npmrc(text),
        _ if make::FILES.contains(&file) => {
            let calls = runs.calls.iter().filter(|call| ["make", "gmake"].contains(&call.program()));
            calls.flat_map(|call| make::Rules::read(text).deciding(&make::goals(call))).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Tables of Cargo's configuration that decide nothing about what runs.
const CARGO_IDLE: &[&str] = &[
    "term",
    "net",
    "http",
    "registry",
    "registries",
    "source",
    "cargo-new",
    "doc",
    "install",
    "cache",
    "future-incompat-report",
];

/// Whether a change of Cargo's configuration touches nothing that decides what runs.
pub(super) fn is_idle(change: &Change) -> bool {
    if !change.path.ends_with(".cargo/config.toml") {
        return false;
    }
    let rest = |text: &Option<String>| {
        let mut table = text.as_deref().unwrap_or_default().parse::<toml::Table>().ok()?;
        table.retain(|key, _| !CARGO_IDLE.contains(&key));
        Some(table)
    };
    rest(&change.before).is_some_and(|before| rest(&change.after) == Some(before))
}

/// The names of the scripts that a call of a package manager runs.
pub(super) fn node_scripts(call: &Call) -> Vec<String> {
    let word = |at: usize| call.words.get(at).map(String::as_str).unwrap_or_default();
    if !["npm", "yarn", "pnpm", "bun"].contains(&call.program()) {
        return Vec::new();
    }
    let script = match word(1) {
        "run" | "run-script" => word(2),
        "t" | "tst" => "test",
        "ci" | "install" | "i" | "exec" => return Vec::new(),
        other => other,
    };
    ["", "pre", "post"].iter().map(|hook| format!("{hook}{script}")).collect()
}

/// The commands of these scripts.
pub(super) fn entries(text: &str, names: &[String]) -> Vec<String> {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    names.iter().filter_map(|name| json["scripts"][name].as_str().map(str::to_owned)).collect()
}

fn node(text: &str, runs: &Runs, dir: &str) -> BTreeMap<String, String> {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let mut parts = BTreeMap::new();
    for name in runs.calls.iter().filter(|call| call.dir == dir).flat_map(node_scripts) {
        if let Some(script) = json["scripts"][&name].as_str() {
            parts.insert(format!("scripts.{name}"), script.to_owned());
        }
    }
    if runs.calls(NODE) {
        for key in NODE_KEYS.iter().filter(|key| !json[**key].is_null()) {
            parts.insert((*key).to_owned(), json[*key].to_string());
        }
    }
    parts
}

// Settings of npm that decide how scripts run.
fn npmrc(text: &str) -> BTreeMap<String, String> {
    let settings = text.lines().filter_map(|line| line.split_once('='));
    let deciding = ["script-shell", "node-options", "ignore-scripts", "shell-emulator", "prefix"];
    let decides = |(key, _): &(&str, &str)| deciding.contains(&key.trim());
    settings.filter(decides).map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

fn cargo(text: &str) -> BTreeMap<String, String> {
    let Ok(table) = text.parse::<toml::Table>() else { return broken() };
    let mut parts = BTreeMap::new();
    let mut add = |key: &str, value: Option<&toml::Value>| {
        if let Some(value) = value {
            parts.insert(key.to_owned(), value.to_string());
        }
    };
    for key in ["lib", "test", "bench", "lints"] {
        add(key, table.get(key));
    }
    let package = table.get("package").and_then(toml::Value::as_table);
    for key in ["autotests", "autobins", "build"] {
        add(&format!("package.{key}"), package.and_then(|package| package.get(key)));
    }
    let workspace = table.get("workspace").and_then(toml::Value::as_table);
    for key in ["exclude", "default-members", "lints"] {
        add(&format!("workspace.{key}"), workspace.and_then(|workspace| workspace.get(key)));
    }
    parts
}

fn python(text: &str, runs: &Runs) -> BTreeMap<String, String> {
    let Ok(table) = text.parse::<toml::Table>() else { return broken() };
    let tools = table.get("tool").and_then(toml::Value::as_table);
    let mut parts = BTreeMap::new();
    for (tool, value) in tools.into_iter().flatten() {
        let asked = match tool.as_str() {
            "pytest" | "tox" | "coverage" => runs.calls(PYTHON),
            other => runs.calls(&[other]),
        };
        if asked {
            parts.insert(format!("tool.{tool}"), value.to_string());
        }
    }
    parts
}

fn conftest(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let deciding: Vec<&str> = lines.filter(|line| CONFTEST.iter().any(|word| line.contains(word))).collect();
    if deciding.is_empty() {
        BTreeMap::new()
    } else {
        BTreeMap::from([("which tests run".to_owned(), deciding.join("\n"))])
    }
}

fn broken() -> BTreeMap<String, String> {
    BTreeMap::from([("a file that can be read".to_owned(), String::new())])
}
