//! Settings files of other tools that lie in a work tree, said in the words of `segue.toml`. They are read and never applied.

use std::path::Path;

use serde_json::Value;

use super::names::NAMES;

/// A settings file is small; a larger one is none.
const MOST_BYTES: u64 = 256 << 10;

/// What the settings files of other tools in a work tree would be here, in lines for a person; nothing where there is none.
pub(crate) fn found_settings(workdir: &Path) -> Vec<String> {
    let mut files: Vec<&str> = NAMES.iter().map(|name| name.file).filter(|file| !file.is_empty()).collect();
    files.dedup();
    files.into_iter().flat_map(|file| one_file(workdir, file)).collect()
}

fn one_file(workdir: &Path, file: &str) -> Vec<String> {
    let path = workdir.join(file);
    let fits = |facts: &std::fs::Metadata| facts.is_file() && facts.len() <= MOST_BYTES;
    let Some(text) =
        std::fs::symlink_metadata(&path).ok().filter(fits).and_then(|_| std::fs::read_to_string(&path).ok())
    else {
        return Vec::new();
    };
    let values = if file.ends_with(".json") { from_json(&text) } else { from_yaml(&text) };
    let lines: Vec<String> = values.iter().filter_map(|(key, value)| here(file, key, value)).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let head = format!("{file} belongs to another tool and is not applied. The same in segue.toml:");
    std::iter::once(head).chain(lines.into_iter().map(|line| format!("    {line}"))).collect()
}

fn here(file: &str, key: &str, value: &str) -> Option<String> {
    let name = NAMES.iter().find(|name| name.file == file && name.theirs == key)?;
    if name.here.is_empty() {
        return Some(format!("# {key}: {}", name.note));
    }
    // What has no key is a flag, or a command.
    if name.here.starts_with("--") || name.here.starts_with("segue ") {
        return Some(format!("# {key}: {}", name.here.replace("{}", value)));
    }
    let line = match (key, value) {
        ("auto_commit" | "checkpoint_every_phase", "false") => "[git] commit = \"snapshot\"".to_owned(),
        ("context_restart_threshold", value) => match value.parse::<f64>() {
            Ok(share) if share <= 1.5 => format!("context_threshold = {}", share * 100.0),
            _ => name.here.replace("{}", value),
        },
        ("context_threshold", value) => name.here.replace("{}", value.trim_end_matches(".0")),
        ("model_profile", value) => {
            let model = match value {
                "quality" => "opus",
                "speed" => "haiku",
                _ => "sonnet",
            };
            name.here.replace("{}", model)
        }
        (_, value) => name.here.replace("{}", &value.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    Some(as_toml(&line))
}

// `[limits] deadline = "90s"` on two lines, as it is written; several keys one a line.
fn as_toml(line: &str) -> String {
    let Some((table, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
        return line.to_owned();
    };
    let rest = rest.replace("\" run = ", "\"\n    run = ");
    format!("[{table}]\n    {rest}")
}

// Keys with dots and their plain values, as far as a settings file needs it: maps, no lists.
fn from_yaml(text: &str) -> Vec<(String, String)> {
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let body = line.split(" #").next().unwrap_or_default().trim_end();
        let indent = body.len() - body.trim_start().len();
        let Some((key, value)) = body.trim_start().split_once(':') else { continue };
        if key.starts_with(['#', '-']) {
            continue;
        }
        path.retain(|(depth, _)| *depth < indent);
        let value = unquoted(value.trim());
        let name =
            path.iter().map(|(_, part)| part.as_str()).chain([key.trim()]).collect::<Vec<_>>().join(".");
        if value.is_empty() {
            path.push((indent, key.trim().to_owned()));
        } else if value != "null" {
            // `commands.test: {command: …}` is the same as `commands.test: …`.
            found.push((name.strip_suffix(".command").unwrap_or(&name).to_owned(), value.to_owned()));
        }
    }
    found
}

fn unquoted(value: &str) -> &str {
    let inner = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

fn from_json(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        walk("", &value, &mut found);
    }
    found
}

fn walk(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(&below, value, found);
            }
        }
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => found.push((path.to_owned(), value.to_string())),
        Value::Null | Value::Array(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_other_tools_are_said_in_the_words_of_segue() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".debussy", ".claude"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write(
            ".debussy/config.yaml",
            "timeout: 1800\nauto_commit: false # no\ncontext_threshold: 80.0\nnotifications:\n  enabled: true\n",
        );
        write(
            "mala.yaml",
            "preset: rust\ncommands:\n  test:\n    command: \"cargo test -- 'a'\"\n    timeout: 300\n  lint: 'cargo clippy'\n  e2e: null\n",
        );
        write(
            ".claude/daemon-config.json",
            r#"{"max_parallel": 2, "pipeline_template": "autonomous", "loop": {"max_restarts": 3}}"#,
        );
        let lines = found_settings(dir.path()).join("\n");
        for words in [
            "[limits]\n    deadline = \"1800s\"",
            "[git]\n    commit = \"snapshot\"",
            "context_threshold = 80",
            "[[gate]]\n    name = \"test\"\n    run = \"cargo test -- 'a'\"",
            "run = \"cargo clippy\"",
            "# max_parallel: --parallel 2",
            "[limits]\n    max_restarts = 3",
        ] {
            assert!(lines.contains(words), "{words}\n{lines}");
        }
        assert!(!lines.contains("e2e"), "{lines}");
        assert_eq!(lines.matches("is not applied").count(), 3);
    }
}
