//! What an agent changed in files, as its own wire shows it: for people who read along, never for decisions.
//!
//! The shapes are those of Claude Code's editing tools, of diffs in the Agent Client Protocol, of Codex's file changes and
//! of OpenCode's edits. A shape that is not known is no edit.

use serde_json::{Map, Value};

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The agent's id for the tool call.
    pub tool: String,
    /// The file, as the agent names it.
    pub path: String,
    /// What changed: each line with `-` or `+` before it, or with a space where it is as it was.
    pub lines: Vec<String>,
}

/// The edits that one line of an agent's output tells of.
pub fn edits(line: &[u8]) -> Vec<Edit> {
    const TELLS: [&str; 5] = ["newText", "new_string", "file_path", "changes", "\"diff\""];
    let text = String::from_utf8_lossy(line);
    let mut found = Vec::new();
    if TELLS.iter().any(|word| text.contains(word))
        && let Ok(value) = serde_json::from_str::<Value>(&text)
    {
        walk(&value, "", &mut found);
    }
    found
}

fn walk(value: &Value, tool: &str, found: &mut Vec<Edit>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| walk(one, tool, found)),
        Value::Object(map) => {
            let kind = text(map, "type");
            let calls = ["tool_use", "fileChange", "file_change"].contains(&kind);
            let own =
                ["toolCallId", "callID"].map(|name| text(map, name)).into_iter().find(|id| !id.is_empty());
            let tool = own.unwrap_or(if calls { text(map, "id") } else { tool });
            let edit = |path: &str, lines| Edit { tool: tool.to_owned(), path: path.to_owned(), lines };
            match kind {
                "diff" if map.contains_key("newText") => {
                    found.push(edit(text(map, "path"), between(text(map, "oldText"), text(map, "newText"))));
                }
                "tool_use" => {
                    let input = map.get("input").and_then(Value::as_object);
                    found.extend(input.into_iter().flat_map(of_input).map(|(path, lines)| edit(path, lines)));
                }
                "fileChange" | "file_change" => {
                    let changes = map.get("changes").and_then(Value::as_array).into_iter().flatten();
                    let changes = changes.filter_map(Value::as_object);
                    found.extend(
                        changes.map(|change| edit(text(change, "path"), unified(text(change, "diff")))),
                    );
                }
                _ => {
                    if let Some(meta) = map.get("metadata").and_then(Value::as_object)
                        && !text(meta, "diff").is_empty()
                    {
                        let input = map.get("input").and_then(Value::as_object);
                        let path = input.map_or("", |input| text(input, "filePath"));
                        found.push(edit(path, unified(text(meta, "diff"))));
                    }
                    map.values().for_each(|one| walk(one, tool, found));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

// Claude Code's Edit, MultiEdit and Write, by what they are given.
fn of_input(input: &Map<String, Value>) -> Vec<(&str, Vec<String>)> {
    let path = text(input, "file_path");
    if path.is_empty() {
        return Vec::new();
    }
    let pair = |edit: &Map<String, Value>| between(text(edit, "old_string"), text(edit, "new_string"));
    if input.contains_key("new_string") {
        return vec![(path, pair(input))];
    }
    if let Some(list) = input.get("edits").and_then(Value::as_array) {
        return list.iter().filter_map(Value::as_object).map(|edit| (path, pair(edit))).collect();
    }
    if input.contains_key("content") {
        return vec![(path, between("", text(input, "content")))];
    }
    Vec::new()
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> &'a str {
    map.get(name).and_then(Value::as_str).unwrap_or_default()
}

// What lies between the lines that both have at their beginning and end.
fn between(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let gone = old[head..old.len() - tail].iter().map(|line| format!("-{line}"));
    gone.chain(new[head..new.len() - tail].iter().map(|line| format!("+{line}"))).collect()
}

// Without the head that names the file.
fn unified(diff: &str) -> Vec<String> {
    let heads = ["diff ", "index ", "--- ", "+++ ", "Index: ", "===", "@@", "\\ No newline"];
    let lines = diff.lines().filter(|line| !heads.iter().any(|head| line.starts_with(head)));
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> (String, String, Vec<String>) {
        let mut found = edits(line.as_bytes());
        assert_eq!(found.len(), 1, "{found:?}");
        let Edit { tool, path, lines } = found.remove(0);
        (tool, path, lines)
    }

    #[test]
    fn an_edit_of_each_wire_is_the_same_edit() {
        let lines = ["-b", "+B", "+c"].map(str::to_owned).to_vec();
        let expected = ("t1".to_owned(), "src/a.rs".to_owned(), lines);
        let claude = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"src/a.rs","old_string":"a\nb\nz","new_string":"a\nB\nc\nz"}}]}}"#;
        let acp = r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","content":[{"type":"diff","path":"src/a.rs","oldText":"a\nb\nz","newText":"a\nB\nc\nz"}]}}}"#;
        let codex = r#"{"method":"item/completed","params":{"item":{"type":"fileChange","id":"t1","changes":[{"path":"src/a.rs","kind":{"type":"update"},"diff":"@@ -2 +2,2 @@\n-b\n+B\n+c\n"}]}}}"#;
        let opencode = r#"{"part":{"callID":"t1","tool":"edit","state":{"status":"completed","input":{"filePath":"src/a.rs"},"metadata":{"diff":"Index: src/a.rs\n===\n--- src/a.rs\n+++ src/a.rs\n@@ -2 +2,2 @@\n-b\n+B\n+c\n"}}}}"#;
        for wire in [claude, acp, codex, opencode] {
            assert_eq!(one(wire), expected, "{wire}");
        }
    }

    #[test]
    fn a_new_file_is_all_new_and_what_is_no_edit_is_none() {
        let write = r#"{"content":[{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"n","content":"x\ny\n"}}]}"#;
        assert_eq!(one(write), ("t2".into(), "n".into(), vec!["+x".into(), "+y".into()]));
        let read = r#"{"content":[{"type":"tool_use","id":"t3","name":"Read","input":{"file_path":"n"}}]}"#;
        for line in [read, "{", "", r#"{"changes":1,"type":"fileChange"}"#] {
            assert_eq!(edits(line.as_bytes()), [], "{line}");
        }
    }
}
