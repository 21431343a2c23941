//! Gates: in a section of their own every item is one; among words only what is clearly a command is.

use super::Reading;
use super::list::{Node, trees};
use crate::command::looks_like_one;
use crate::model::Gate;
use crate::text::{Range, decode, plain, spans, tables};

/// The gates of a section in which every item is one.
pub(crate) fn strict(reading: &Reading<'_, '_>, range: Range) -> Vec<Gate> {
    // A check box is work or a criterion, never a gate.
    let nodes = trees(reading, range, |_| true);
    let mut found: Vec<Gate> =
        nodes.iter().filter(|node| node.mark.is_none()).map(|node| gate(reading, node)).collect();
    found.extend(from_tables(reading, range));
    if found.is_empty() { from_blocks(reading, range) } else { found }
}

/// The commands of a section that mixes them with words.
pub(crate) fn lenient(reading: &Reading<'_, '_>, range: Range) -> Vec<Gate> {
    let nodes = trees(reading, range, |_| true);
    let mut found: Vec<Gate> = Vec::new();
    for node in nodes.iter().filter(|node| node.mark.is_none()) {
        let whole = node.whole();
        let all = spans(&whole);
        let Some(span) = all.first() else {
            // A bare command as an item.
            if looks_like_one(&node.text)
                && node.text.split_whitespace().count() <= 8
                && !node.text.ends_with('.')
            {
                found.push(Gate {
                    at: reading.at_index(node.index),
                    name: short(&node.text),
                    run: Some(node.text.to_string()),
                    ..Gate::default()
                });
            }
            continue;
        };
        let before = whole[..span.from].trim();
        let introduces = before.is_empty() || before.ends_with(':') || before.to_lowercase().ends_with("run");
        if introduces && looks_like_one(span.code) {
            found.push(gate(reading, node));
        }
    }
    found.extend(from_blocks(reading, range));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|gate| seen.insert(gate.run.clone()));
    found
}

// "name: text (command: `cmd`)", "name: `cmd` → text", "`cmd`", "name: text" with a block below it.
fn gate(reading: &Reading<'_, '_>, node: &Node<'_>) -> Gate {
    let whole = decode(&node.whole());
    let first = whole.find('`').unwrap_or(whole.len());
    let (name, rest) = match whole.find(':').filter(|at| *at < first && *at <= 80) {
        Some(at) if !whole[..at].to_lowercase().ends_with("command") => {
            (plain(&whole[..at]), whole[at + 1..].trim())
        }
        _ => (String::new(), whole.trim()),
    };
    let below = Range { from: node.index + 1, to: node.end };
    let run = command(rest).or_else(|| from_blocks(reading, below).into_iter().find_map(|gate| gate.run));
    let name = if name.is_empty() { run.as_deref().map_or_else(|| plain(rest), short) } else { name };
    let lower = whole.to_lowercase();
    let manual = run.is_none()
        && (lower.starts_with("manual") || lower.contains("(manual)") || lower.contains("[manual]"));
    Gate { at: reading.at_index(node.index), name, expect: expectation(rest, run.as_deref()), run, manual }
}

// The command in a gate's words: behind "command:", or the code span that they begin with or that is one.
fn command(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if let Some(at) = lower.find("command:") {
        let rest = &text[at + "command:".len()..];
        let quoted =
            spans(rest).first().filter(|span| rest[..span.from].trim().is_empty()).map(|s| s.code.to_owned());
        let bare = || rest.split(')').next().unwrap_or(rest).trim().trim_matches('`').to_owned();
        return Some(quoted.unwrap_or_else(bare))
            .map(|c| c.trim().to_owned())
            .filter(|command| !command.is_empty());
    }
    let spans = spans(text);
    let leads =
        spans.first().filter(|span| text[..span.from].trim_matches(['*', ' ', '-', '–', '—']).is_empty());
    let found =
        leads.or_else(|| spans.iter().find(|span| looks_like_one(span.code) && span.code.contains(' ')));
    found.map(|span| span.code.trim().to_owned()).filter(|command| !command.is_empty())
}

// What is left of a gate's words.
fn expectation(text: &str, run: Option<&str>) -> String {
    let mut text = text.to_owned();
    if let Some(run) = run {
        text = text.replace(&format!("`{run}`"), "");
        if let Some(at) = text.to_ascii_lowercase().find("(command:") {
            let end = text[at..].find(')').map_or(text.len(), |end| at + end + 1);
            text.replace_range(at..end, "");
        }
    }
    let text = text.trim().trim_matches(['→', '-', '–', '—', '>', '=', ' ']).trim();
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    inner.trim().to_owned()
}

// A name from a command: its first words.
fn short(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().take(3).collect();
    words.join(" ").chars().take(60).collect()
}

fn from_tables(reading: &Reading<'_, '_>, range: Range) -> Vec<Gate> {
    let mut found = Vec::new();
    for table in tables(reading.doc, range) {
        let name = table.column(&["gate", "name", "check", "gate name"]).unwrap_or(0);
        let run = table.column(&["command", "run", "cmd", "how"]);
        let expect = table.column(&[
            "expected",
            "expectation",
            "pass criteria",
            "criteria",
            "threshold",
            "requirement",
        ]);
        for (line, cells) in &table.rows {
            let cell =
                |column: Option<usize>| column.and_then(|column| cells.get(column)).copied().unwrap_or("");
            let code = cell(run);
            let code = spans(code).first().map_or(code, |span| span.code).replace("\\|", "|");
            let run = Some(decode(code.trim()))
                .filter(|run| !run.is_empty() && !matches!(run.as_str(), "-" | "—" | "N/A"));
            let (name, expect) = (plain(cell(Some(name))).replace('`', ""), cell(expect).to_owned());
            let manual = run.as_deref().is_some_and(|run| run.eq_ignore_ascii_case("manual"));
            found.push(Gate { at: reading.at(*line), name, run: run.filter(|_| !manual), expect, manual });
        }
    }
    found
}

// The commands of the fenced blocks in a range: one gate a line, or one for a block that is a script.
fn from_blocks(reading: &Reading<'_, '_>, range: Range) -> Vec<Gate> {
    let mut found = Vec::new();
    let mut block: Option<Vec<(u32, &str)>> = None;
    for line in reading.doc.slice(range) {
        let fence = line.code && (line.text.starts_with("```") || line.text.starts_with("~~~"));
        match (&mut block, fence) {
            (None, true) => {
                let info = line.text.trim_start_matches(['`', '~']).trim().to_lowercase();
                let shell = matches!(info.as_str(), "" | "sh" | "bash" | "shell" | "zsh" | "console");
                // What another language says is no command; its end is a fence as well.
                block = Some(if shell { Vec::new() } else { vec![(0, "")] });
            }
            (Some(lines), true) => {
                if lines.first().is_none_or(|(no, _)| *no > 0) {
                    found.extend(script(reading, lines));
                }
                block = None;
            }
            (Some(lines), false) if line.code => lines.push((line.no, line.text)),
            _ => {}
        }
    }
    found
}

fn script(reading: &Reading<'_, '_>, lines: &[(u32, &str)]) -> Vec<Gate> {
    let lines: Vec<(u32, &str)> =
        lines.iter().copied().filter(|(_, text)| !text.is_empty() && !text.starts_with('#')).collect();
    let control = ["if ", "for ", "while ", "case ", "export ", "set ", "{", "("];
    let is_script = lines
        .iter()
        .any(|(_, text)| text.ends_with('\\') || control.iter().any(|word| text.starts_with(word)));
    let Some((first, _)) = lines.first() else { return Vec::new() };
    if is_script {
        let body: Vec<&str> = lines.iter().map(|(_, text)| *text).collect();
        // Every line of it counts, not only the last.
        let run = format!("set -e\n{}", body.join("\n"));
        return vec![Gate {
            at: reading.at(*first),
            name: short(body[0]),
            run: Some(run),
            ..Gate::default()
        }];
    }
    let mut folder: Option<&str> = None;
    let mut found = Vec::new();
    for (no, text) in lines {
        let text = text.strip_prefix("$ ").unwrap_or(text);
        let text = text.strip_prefix("command:").map_or(text, str::trim);
        let text = text.split(" #").next().unwrap_or(text).trim();
        if text.starts_with("cd ") && !text.contains("&&") {
            folder = Some(text);
            continue;
        }
        let run = folder.map_or_else(|| text.to_owned(), |cd| format!("{cd} && {text}"));
        found.push(Gate { at: reading.at(no), name: short(text), run: Some(run), ..Gate::default() });
    }
    found
}
