//! The results in words: one cell, the page for the docs, and a summary.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::{AGENTS, FAULTS, MOMENTS, Results};

/// One cell: what became of the run, how often the fault was met, and what is wrong.
pub(super) fn words(result: &Value) -> String {
    if let Some(trouble) = result["trouble"].as_str() {
        let first = trouble.lines().next().unwrap_or_default();
        return format!("✗ {}", first.chars().take(120).collect::<String>());
    }
    let ends: Vec<&Value> = result["ends"].as_array().into_iter().flatten().collect();
    let verdict = |end: &Value| end["verdict"].as_str().unwrap_or("?").to_owned();
    let met = result["fault"]["met"].as_u64().unwrap_or(0);
    let mut text = match ends.as_slice() {
        [] => "no end".to_owned(),
        [one] => verdict(one),
        [first, .., last] => {
            format!("{}: {}; resumed → {}", verdict(first), reason(result, first), verdict(last))
        }
    };
    text = match met {
        0 => format!("not met; {text}"),
        1 => text,
        n => format!("{text}, met {n} times"),
    };
    let sessions = result["sessions"].as_u64().unwrap_or(0);
    write!(text, ", {sessions} sessions, {} s", result["seconds"]).unwrap_or_default();
    let problems: Vec<&str> =
        result["problems"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if problems.is_empty() { text } else { format!("✗ {text}: {}", problems.join("; ")) }
}

// What the failure was taken for says more than the provider's own sentence.
fn reason(result: &Value, end: &Value) -> String {
    let taken = result["fault"]["taken_for"].as_array().and_then(|all| all.last()).and_then(Value::as_str);
    match taken {
        Some(kind) if kind != "other" => kind.replace('_', " "),
        _ => end["reason"].as_str().unwrap_or("?").chars().take(60).collect(),
    }
}

/// The promises that a cell breaks.
struct Broken {
    hang: bool,
    false_done: bool,
    steps: bool,
    other: bool,
}

fn broken(result: &Value) -> Broken {
    let verdict =
        result["ends"].as_array().and_then(|ends| ends.last()).and_then(|end| end["verdict"].as_str());
    let some = |name: &str| result["steps"][name].as_array().is_some_and(|list| !list.is_empty());
    let done = verdict == Some("verified");
    let steps = some("lost") || some("repeated");
    Broken {
        hang: result["hang"] == true,
        false_done: done && some("lost"),
        steps,
        other: !steps && result["hang"] != true && result["works"] != true,
    }
}

/// One line per agent.
pub(super) fn summary(results: &Results) -> String {
    let mut text = String::from(
        "| agent | version | cells | hangs | false \"done\" | lost or repeated steps | other trouble | fault not met |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (agent, window) in AGENTS {
        let of: Vec<&Value> =
            results.iter().filter(|(name, _)| name.ends_with(&format!(" {agent}"))).map(|(_, r)| r).collect();
        if of.is_empty() {
            continue;
        }
        let count = |is: &dyn Fn(&Value) -> bool| of.iter().filter(|r| is(r)).count();
        let version = of.iter().find_map(|r| r["version"].as_str()).unwrap_or("?");
        let cells = format!("{} of {}", of.len(), FAULTS.len() * MOMENTS.len());
        writeln!(
            text,
            "| {agent} ({window}) | {version} | {cells} | {} | {} | {} | {} | {} |",
            count(&|r| broken(r).hang),
            count(&|r| broken(r).false_done),
            count(&|r| broken(r).steps),
            count(&|r| broken(r).other),
            count(&|r| r["fault"]["met"] == 0),
        )
        .unwrap_or_default();
    }
    text
}

/// The page for the docs.
pub(super) fn page(results: &Results) -> String {
    let mut text = String::from(INTRODUCTION);
    text += &summary(results);
    let here: Vec<&str> = AGENTS
        .into_iter()
        .map(|(agent, _)| agent)
        .filter(|agent| results.keys().any(|name| name.ends_with(&format!(" {agent}"))))
        .collect();
    writeln!(text, "\n## Cell by cell\n\n| fault | when | {} |", here.join(" | ")).unwrap_or_default();
    writeln!(text, "|---|---|{}", "---|".repeat(here.len())).unwrap_or_default();
    let rows: BTreeMap<usize, (&str, &str)> =
        FAULTS.iter().flat_map(|fault| MOMENTS.map(|when| (*fault, when))).enumerate().collect();
    for (fault, when) in rows.into_values() {
        let cell = |agent: &&str| {
            let found = results.get(&format!("{fault} {when} {agent}"));
            found.map_or_else(|| "not run".to_owned(), |result| words(result).replace('|', "\\|"))
        };
        let cells: Vec<String> = here.iter().map(cell).collect();
        writeln!(text, "| {fault} | {when} | {} |", cells.join(" | ")).unwrap_or_default();
    }
    text
}

const INTRODUCTION: &str = "# Faults\n\n\
Made by `cargo xtask faults`: what a provider can do to an agent, at three moments, on every agent. Each cell is one\n\
`segue rehearse` of a job of 10 steps with the real CLI against the scripted model server (see [rehearse.md](rehearse.md)).\n\n\
- `429` carries a reset time and `429-no-reset` does not; `529` is each provider's \"overloaded\"; `quota` is money spent;\n  \
`cut` ends the connection in the middle of an answer; `stall` falls silent there for 14 s; `hang` sends no byte at all;\n  \
`overflow` is the provider's \"too long\". Refusals (`429` to `quota`) last until the run has stopped; the others come once.\n\
- *start* is the first step, *middle* the fifth, *checkpoint* the request for a checkpoint, under the policy `loop`,\n  \
which asks early. Where an agent is never asked for one, the fault is not met.\n\
- A rate limit or an overload is waited for, in a rehearsal never long and only a few times; what lasts stops the run, and\n  \
`segue resume` continues when the provider answers again. The rehearsal does just that: \"stopped: rate limited; resumed →\n  \
verified\".\n\
- What must hold: every run ends by itself (no hang), nothing is called done that is not (no false \"done\"), and by the\n  \
steps' own log none is lost and none is done twice. ✗ marks a cell that breaks one, or where something else is wrong.\n\
- The CLIs' own retries are set low and their time-outs short (docs/rehearse.md), so that the whole table takes an hour and\n  \
not a day. With the usual settings they try for longer before segue hears of it.\n\n";
