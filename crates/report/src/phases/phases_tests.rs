use serde_json::json;

use super::*;
use crate::sample;

const NOW: Millis = sample::START + 60_000;

fn style(width: u16) -> Style {
    Style { color: false, width, live: true, ascii: false }
}

fn row(id: &str, title: &str, part_of: Option<&str>, needs: &[&str]) -> Row {
    let needs = needs.iter().map(|id| (*id).to_owned()).collect();
    Row { id: id.into(), title: title.into(), part_of: part_of.map(Into::into), needs }
}

fn at(seconds: u64) -> String {
    crate::Time(sample::START + seconds * 1_000).to_string()
}

fn told(run: &str, kind: &str, mut fields: Value) -> Value {
    fields["type"] = kind.into();
    fields["run"] = run.into();
    fields["seq"] = 1.into();
    fields["at"] = at(0).into();
    fields
}

fn session(n: u32, agent: &str) -> Value {
    let fields = json!({
        "session": format!("s{n}"), "n": n, "agent": agent, "model": null, "window": 200_000, "ceiling": 177_000,
        "reason": if n == 1 { "first" } else { "restart" },
    });
    told("r", "session.started", fields)
}

fn gauge(n: u32, tokens: u64) -> Value {
    let fields = json!({
        "session": format!("s{n}"), "call": 14, "final": true, "tokens": tokens, "projected": tokens,
        "window": 200_000, "ceiling": 177_000, "percent": tokens as f64 / 1_770.0, "source": "exact", "tools": 31,
        "forecast": {
            "calls_left": { "low": 6, "middle": 7, "high": 9 }, "ms_left": 660_000, "basis": "session",
            "session_calls": 14, "repository_calls": 0,
        },
    });
    told("r", "gauge.read", fields)
}

fn waits(why: &str, seconds: u64) -> Value {
    told(
        "r",
        "wait.started",
        json!({ "why": why, "until": at(seconds), "agent": "codex", "failure": "rate_limited" }),
    )
}

fn ended(n: u32, cost_usd: Option<f64>) -> Value {
    let fields = json!({
        "session": format!("s{n}"), "reason": "replaced", "exit": 0, "fill": null, "tokens_in": 90_000,
        "tokens_out": 10_000, "cost_usd": cost_usd, "orphans": 0,
    });
    told("r", "session.ended", fields)
}

fn gate(name: &str, passed: bool, when: &str) -> Value {
    let exit = i32::from(!passed);
    let fields = json!({ "gate": name, "passed": passed, "exit": exit, "ms": 12_000, "when": when, "output": "g.log" });
    told("r", "gate.finished", fields)
}

fn give(tree: &mut PhaseTree, id: &str, lines: &[Value]) {
    lines.iter().for_each(|line| tree.line(id, line));
}

/// Twelve phases: two are over, five at work, one of them waiting, the rest to come.
fn twelve() -> PhaseTree {
    let titles = [
        "Read the old format",
        "Write the new format",
        "Parser for the query language",
        "Index on disk",
        "Search over the index",
        "Command line",
        "Web page with results",
        "Import from the old store",
        "Export",
        "Documentation",
        "Packaging",
        "Release",
    ];
    let rows: Vec<Row> = titles
        .iter()
        .zip(1_u32..)
        .map(|(title, n)| row(&n.to_string(), title, None, if n < 8 { &[] } else { &["3", "2"] }))
        .collect();
    let mut tree = PhaseTree::new("A new search", &rows, 0);
    for id in ["1", "2"] {
        tree.tell(id, Standing::Completed, "");
    }
    give(&mut tree, "1", &[session(1, "claude"), ended(1, Some(0.4))]);
    for (id, tokens) in [("3", 120_360), ("4", 35_400), ("5", 168_150), ("6", 17_700), ("7", 5_000)] {
        tree.tell(id, Standing::Working, "");
        give(&mut tree, id, &[session(1, "claude"), gauge(1, tokens)]);
    }
    give(&mut tree, "4", &[ended(1, Some(0.8)), session(2, "codex"), gauge(2, 35_400)]);
    give(&mut tree, "6", &[waits("codex's rate limit", 1_080)]);
    tree
}

#[test]
fn twelve_phases_at_100_columns() {
    assert_eq!(
        twelve().frame(NOW, style(100), 16)[3..8],
        [
            "3  Parser for the query language  s1 claude  ████████░░░░   68 %  120k of 177k",
            "4  Index on disk                  s2 codex   ██░░░░░░░░░░   20 %  35.4k of 177k · $0.80",
            "5  Search over the index          s1 claude  ███████████░   95 %  168k of 177k",
            "6  Command line                   waits until 12:18 (17 m) for codex's rate limit",
            "7  Web page with results          s1 claude  ░░░░░░░░░░░░    2 %  5k of 177k",
        ]
    );
}

#[test]
fn twelve_phases_at_80_columns_and_24_rows() {
    assert_eq!(
        twelve().frame(NOW, style(80), 16),
        [
            "A new search",
            "1  Read the old format       completed · $0.40",
            "2  Write the new format      completed",
            "3  Parser for the query la…  s1 claude  █████░░░   68 %  120k of 177k",
            "4  Index on disk             s2 codex   █░░░░░░░   20 %  35.4k of 177k · $0.80",
            "5  Search over the index     s1 claude  ███████░   95 %  168k of 177k",
            "6  Command line              waits until 12:18 (17 m) for codex's rate limit",
            "7  Web page with results     s1 claude  ░░░░░░░░    2 %  5k of 177k",
            "8  Import from the old sto…  needs 3",
            "9  Export                    needs 3",
            "10 Documentation             needs 3",
            "11 Packaging                 needs 3",
            "12 Release                   needs 3",
            "2 of 12 completed · 4 working · 1 waits until 12:18 · 5 queued · $1.20",
        ]
    );
}

#[test]
fn twelve_phases_at_40_columns_and_10_rows_show_what_is_at_work() {
    assert_eq!(
        twelve().frame(NOW, style(40), 7),
        [
            "3 Parser for…   s1  68 %  120k of 177k",
            "4 Index on di…  s2  20 %  35.4k of 177k",
            "5 Search over…  s1  95 %  168k of 177k",
            "6 Command line  waits until 12:18 (17…",
            "7 Web page wi…  s1   2 %  5k of 177k",
            "2 of 12 completed · 4 working",
            "1 waits until 12:18 · 5 queued · $1.20",
        ]
    );
}

#[test]
fn what_needs_attention_is_shown_with_its_reason_and_counted_first() {
    let mut tree = twelve();
    tree.tell("3", Standing::Failed, "the gates still fail");
    tree.tell("5", Standing::NeedsInput, "which of two formats?");
    tree.tell("7", Standing::Mending, "conflict in src/lib.rs");
    tree.tell("8", Standing::Held { by: vec!["4".into(), "6".into()] }, "");
    tree.tell("9", Standing::Blocked, "");
    tree.tell("10", Standing::Done, "");
    tree.tell("11", Standing::Stopped, "interrupted");
    assert_eq!(
        tree.frame(NOW, style(90), 12),
        [
            "3  Parser for the query langu…  failed: the gates still fail",
            "4  Index on disk                s2 codex   █░░░░░░░   20 %  35.4k of 177k · $0.80",
            "5  Search over the index        needs input: which of two formats?",
            "6  Command line                 waits until 12:18 (17 m) for codex's rate limit",
            "7  Web page with results        s1 claude  ░░░░░░░░    2 %  resolving the merge: conflic…",
            "8  Import from the old store    waiting for the paths of 4, 6",
            "9  Export                       blocked: it needs 3",
            "10 Documentation                done, waiting to be merged",
            "11 Packaging                    stopped: interrupted",
            "12 Release                      needs 3",
            "2 of 12 completed · 1 needs input · 1 failed · 2 working · 1 waits until 12:18",
            "1 to be merged · 1 blocked · 1 stopped · 1 waiting for paths · 1 queued · $1.20",
        ]
    );
}

#[test]
fn the_parts_of_a_split_phase_stand_below_it() {
    let rows = [
        row("19", "Before", None, &[]),
        row("20", "All of the storage", None, &[]),
        row("21", "After", None, &["20"]),
        row("20a", "Pages", Some("20"), &[]),
        row("20b", "Trees", Some("20"), &["20a"]),
        row("20c", "Recovery", Some("20"), &["20b"]),
    ];
    let mut tree = PhaseTree::new("Storage", &rows[..3], 0);
    tree.tell("19", Standing::Completed, "");
    tree.tell("20", Standing::Working, "");
    tree.set_rows(&rows);
    tree.tell("20a", Standing::Completed, "");
    tree.tell("20b", Standing::Working, "");
    give(
        &mut tree,
        "20b",
        &[session(1, "claude"), gauge(1, 88_500), gate("tests", false, "after"), gauge(1, 90_000)],
    );
    assert_eq!(
        tree.frame(NOW, style(80), 12),
        [
            "Storage",
            "19    Before              completed",
            "20    All of the storage  in 3 parts, 1 completed",
            "  20a Pages               completed",
            "  20b Trees               s1 claude  ████░░░░   50 %  gate fails · 90k of 177k",
            "  20c Recovery            needs 20b",
            "21    After               needs 20",
            "2 of 5 completed · 1 working · 2 queued",
        ]
    );
    tree.tell("20b", Standing::Completed, "");
    tree.tell("20c", Standing::Completed, "");
    assert_eq!(tree.frame(NOW, style(80), 12)[6], "21    After               queued");
}

#[test]
fn what_is_at_work_and_has_no_room_is_named() {
    let expected = [
        "3 Parser for…   s1  68 %  120k of 177k",
        "4 Index on di…  s2  20 %  35.4k of 177k",
        "… 3 more: 5, 6, 7",
        "2 of 12 completed · 4 working · 1 wait…",
    ];
    assert_eq!(twelve().frame(NOW, style(40), 4), expected);
    assert_eq!(twelve().frame(NOW, style(40), 1).len(), 1);
    assert!(twelve().frame(NOW, style(40), 0).is_empty());
}

#[test]
fn a_phase_tells_what_it_does_and_when_nothing_was_heard_of_it() {
    let mut tree = PhaseTree::new("P", &[row("1", "One", None, &[])], 0);
    tree.tell("1", Standing::Working, "");
    let shown = |tree: &PhaseTree, now| tree.frame(now, style(120), 9)[1].clone();
    assert_eq!(shown(&tree, NOW), "1 One  starting");
    tree.line("1", &gate("tests", false, "before"));
    assert_eq!(shown(&tree, NOW), "1 One  running the gates before the work");
    tree.line("1", &session(1, "claude"));
    assert_eq!(shown(&tree, NOW), "1 One  s1 claude  context used unknown");
    tree.line("1", &gauge(1, 100_000));
    assert!(shown(&tree, NOW + 6 * 60_000).contains("  quiet for 7 m · 100k of 177k"));
    let asked = json!({ "session": "s1", "depth": "full", "deadline": null });
    give(&mut tree, "1", &[told("r", "checkpoint.requested", asked), gauge(1, 100_000)]);
    assert!(shown(&tree, NOW).contains("  writing a checkpoint · 100k of 177k"), "{}", shown(&tree, NOW));
    tree.line("1", &ended(1, None));
    assert_eq!(shown(&tree, NOW), "1 One  between sessions · 100k tokens");
    tree.line("1", &session(12, "codex"));
    assert_eq!(shown(&tree, NOW), "1 One  s12 codex  context used unknown · 100k tokens");
    tree.line("1", &ended(12, Some(0.5)));
    assert_eq!(shown(&tree, NOW), "1 One  between sessions · at least $0.50");
    give(&mut tree, "1", &[gate("tests", true, "after"), gate("lint", false, "after")]);
    assert_eq!(shown(&tree, NOW), "1 One  running the gates, 1 failed · at least $0.50");
}

#[test]
fn the_runs_of_a_phase_one_after_another_are_added_up_once_each() {
    let mut tree = PhaseTree::new("P", &[row("1", "One", None, &[])], 0);
    let finished = |run: &str, cost: f64| {
        let fields = json!({
            "verdict": "verified", "reason": "all gates passed", "sessions": 2, "handoffs": 1, "overflows": 0,
            "redacted": 0, "tokens_in": 10, "tokens_out": 1, "cost_usd": cost, "ms": 312_000, "advice": null,
            "limit": null, "exit_code": 0, "until": null,
        });
        told(run, "run.finished", fields)
    };
    give(&mut tree, "1", &[ended(1, Some(0.4)), finished("r", 1.0)]);
    tree.tell("1", Standing::Mending, "");
    assert_eq!(tree.frame(NOW, style(80), 9)[1], "1 One  resolving the merge · starting · 1 handoff · $1.00");
    give(&mut tree, "1", &[finished("mend", 0.25)]);
    tree.tell("1", Standing::Completed, "");
    assert_eq!(
        tree.frame(NOW, style(80), 9)[1..],
        ["1 One  completed · 2 handoffs · $1.25", "1 of 1 completed · $1.25"]
    );
    assert_eq!(
        tree.spoken("1", &finished("r", 1.0), style(100)),
        ["[1] verified: all gates passed · 2 sessions · 1 handoff · cost $1.00 · 5 m 12 s"]
    );
}

#[test]
fn lines_worth_keeping_begin_with_the_phase_and_the_rest_is_not_said() {
    let tree = twelve();
    let said = |value: &Value| tree.spoken("3", value, style(80));
    assert_eq!(
        said(&session(2, "codex")),
        ["[3] s2 codex started with an empty context, ceiling 177k (window 200k)"]
    );
    assert_eq!(said(&gate("tests", false, "after")), ["[3] ✗ gate tests failed (exit 1), 12 s · g.log"]);
    assert_eq!(
        said(&waits("codex's rate limit", 1_080)),
        ["[3] waiting for codex's rate limit until 12:18 (18 m)"]
    );
    for silent in [gauge(1, 5), gate("tests", true, "after"), gate("tests", false, "before"), ended(1, None)]
    {
        assert_eq!(said(&silent), Vec::<String>::new());
    }
    let long = told("r", "warning", json!({ "code": "c", "text": "a\u{1b}[31m word ".repeat(12) }));
    assert!(said(&long).iter().skip(1).all(|line| line.starts_with("    word")), "{:?}", said(&long));
}

#[test]
fn broken_lines_and_unknown_phases_change_nothing() {
    let mut tree = twelve();
    let before = tree.frame(NOW, style(80), 16);
    let mut lines =
        vec![Value::Null, json!([]), json!("text"), json!({ "type": "gauge.read" }), json!({ "type": 7 })];
    lines.push(told("r", "phase.invented", json!({})));
    lines.push(told("r", "session.started", json!({ "session": "s1", "n": -1, "agent": 3 })));
    for line in &lines {
        tree.line("3", line);
        assert_eq!(tree.spoken("3", line, style(80)), Vec::<String>::new());
    }
    tree.line("99", &session(1, "claude"));
    tree.tell("99", Standing::Failed, "no such phase");
    assert_eq!(tree.frame(NOW, style(80), 16), before);
}

#[test]
fn a_flood_of_lines_leaves_the_last_of_them() {
    let mut tree = twelve();
    for tokens in 0..20_000 {
        tree.line("3", &gauge(1, tokens));
    }
    give(&mut tree, "3", &[gauge(1, 120_360)]);
    assert_eq!(tree.frame(NOW, style(80), 16), twelve().frame(NOW, style(80), 16));
}

#[test]
fn colours_and_control_characters_come_from_nobody_else() {
    let rows = [row("1\u{1b}[2J", "\u{1b}]0;title\u{7}Clear\r\n the \u{202e}screen", None, &[])];
    let mut tree = PhaseTree::new("plan\u{9b}2J", &rows, 0);
    tree.tell("1\u{1b}[2J", Standing::Failed, "\u{1b}[31mred\n");
    let frame = tree.frame(NOW, style(80), 9);
    assert_eq!(frame, ["plan", "1 Clear the <U+202E>screen  failed: red", "0 of 1 completed · 1 failed"]);
    let painted = tree.frame(NOW, Style { color: true, ..style(80) }, 9);
    assert!(painted[1].ends_with("\u{1b}[31mfailed: red\u{1b}[0m"), "{:?}", painted[1]);
    let ascii = twelve().frame(NOW, Style { ascii: true, ..style(80) }, 16);
    assert!(ascii.iter().all(|line| line.is_ascii() && line.len() < 80), "{ascii:#?}");
}
