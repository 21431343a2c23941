//! What dependencies may be, by `deny.toml`: their licenses, where they come from, and which may not be there at all. Only
//! Cargo's own account of them is read; `cargo xtask nightly deny` asks cargo-deny, which looks at more.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Outcome, shell};

/// The dependency that stands for the one registry: all others must come from where it comes from.
const FROM: &str = "serde";

/// Fails with every dependency that should not be there.
pub(crate) fn check() -> Outcome {
    let metadata: Value =
        serde_json::from_str(&shell::read("cargo", &["metadata", "--locked", "--format-version", "1"])?)?;
    let rules: toml::Table = toml::from_str(&std::fs::read_to_string(shell::root().join("deny.toml"))?)?;
    let wrong = wrong(&metadata, &texts(&rules, "licenses", "allow"), &texts(&rules, "bans", "deny"));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The same and more by cargo-deny, which is installed where it is not there.
pub(crate) fn with_cargo_deny() -> Outcome {
    if shell::read("cargo", &["deny", "--version"]).is_err() {
        shell::run("cargo", &["install", "cargo-deny", "--locked"])?;
    }
    shell::run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}

fn texts(rules: &toml::Table, section: &str, key: &str) -> BTreeSet<String> {
    let list = rules.get(section).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
    let text = |value: &toml::Value| {
        value.as_str().or_else(|| value.get("name").and_then(toml::Value::as_str)).map(str::to_owned)
    };
    list.into_iter().flatten().filter_map(text).collect()
}

fn wrong(metadata: &Value, allowed: &BTreeSet<String>, banned: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let packages = || metadata["packages"].as_array().into_iter().flatten();
    let registry =
        packages().find(|package| package["name"] == FROM).map_or(&Value::Null, |one| &one["source"]);
    for package in packages() {
        let name = package["name"].as_str().unwrap_or_default();
        let license = package["license"].as_str().unwrap_or_default();
        if !is_allowed(license, allowed) {
            wrong.push(format!("{name}: the license {license:?} is not allowed by deny.toml"));
        }
        // Crates of this workspace have no source.
        if !package["source"].is_null() && package["source"] != *registry {
            wrong.push(format!("{name}: comes from {}, which deny.toml does not allow", package["source"]));
        }
        if banned.contains(name) {
            wrong.push(format!("{name}: is not allowed by deny.toml"));
        }
    }
    wrong
}

// `A OR B` needs one of them, `A AND B` both; older crates write `A/B` for `A OR B`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.trim();
    if let Some(parts) = split(expression, " AND ") {
        return parts.iter().all(|part| is_allowed(part, allowed));
    }
    if let Some(parts) = split(expression, " OR ").or_else(|| split(expression, "/")) {
        return parts.iter().any(|part| is_allowed(part, allowed));
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.contains(expression),
    }
}

// The parts between a word that stands in no brackets; `None` where it does not stand.
fn split<'a>(expression: &'a str, word: &str) -> Option<Vec<&'a str>> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, letter) in expression.char_indices() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        if depth == 0 && at >= from && expression[at..].starts_with(word) {
            parts.push(&expression[from..at]);
            from = at + word.len();
        }
    }
    parts.push(&expression[from..]);
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_license_a_source_or_a_crate_that_is_not_allowed_is_named() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).into();
        for good in ["MIT", "MIT/Apache-2.0", "(MIT OR X) AND Unicode-3.0", "LGPL-2.1-or-later OR MIT"] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR X) AND MIT"] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
        let package = |name: &str, license: &str, source: Value| json!({ "name": name, "license": license, "source": source });
        let metadata = json!({ "packages": [
            package("ours", "MIT", Value::Null),
            package(FROM, "MIT", json!("registry+x")),
            package("a", "MIT", json!("registry+x")),
            package("b", "GPL-3.0", json!("registry+x")),
            package("c", "MIT", json!("git+https://example.invalid/c")),
            package("d", "MIT", json!("registry+x")),
        ] });
        let found = wrong(&metadata, &allowed, &["d".to_owned()].into());
        let names: Vec<&str> = found.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(names, ["b", "c", "d"]);
    }
}
