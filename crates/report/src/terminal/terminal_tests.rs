use proptest::prelude::*;
use segue_machine::{AgentFailure, Doing, GateWhen, Phase, Waiting};

use super::*;
use crate::{
    AgentSaid, GateFinished, GateTime, ItemsSeen, Outer, RunFinished, RunStarted, SCHEMA, Time, WaitFields,
    sample,
};

fn style(width: u16) -> Style {
    Style { color: false, width, live: true, ascii: false }
}

fn shown(event: Outer, view: &View) -> Vec<String> {
    Terminal::new(style(100)).take(&[sample::line(event)], view).lines
}

fn finished() -> RunFinished {
    let last = sample::each_with("text").pop().unwrap().event;
    let Outer::RunFinished(finished) = last else { panic!("the last sample is the verdict") };
    RunFinished { reason: "the deadline is over".into(), advice: None, ..finished }
}

#[test]
fn the_status_line_says_who_how_full_what_and_how_much() {
    let status = Terminal::new(style(120)).status(&sample::busy_view()).unwrap();
    assert_eq!(
        status,
        "s2 claude  ████████░░░░  68 %  136k of 200k exact · running `cargo test` · 14 calls 31 tools"
    );
}

#[test]
fn the_status_line_works_in_ascii_and_below_40_columns() {
    let plain = Terminal::new(Style { ascii: true, ..style(120) }).status(&sample::busy_view()).unwrap();
    assert_eq!(
        plain,
        "s2 claude  ########----  68 %  136k of 200k exact - running `cargo test` - 14 calls 31 tools"
    );
    assert_eq!(
        Terminal::new(style(30)).status(&sample::busy_view()).unwrap(),
        "s2 68 % running `cargo test`"
    );
    assert_eq!(Terminal::new(style(16)).status(&sample::busy_view()).unwrap(), "s2 68 % runnin…");
}

#[test]
fn a_long_title_does_not_push_the_counts_away() {
    let mut view = sample::busy_view();
    view.session.as_mut().unwrap().tools.insert("t1".into(), "x".repeat(300));
    let status = Terminal::new(style(100)).status(&view).unwrap();
    assert!(status.ends_with("x… · 14 calls 31 tools"), "{status}");
}

#[test]
fn an_unknown_window_has_no_bar_and_says_so() {
    let mut session = sample::session(1, None, None);
    session.doing = Doing::Starting;
    let status = Terminal::new(style(100)).status(&sample::view("auto", Some(session))).unwrap();
    assert_eq!(status, "s1 claude  context used unknown, window unknown · starting · 0 calls 0 tools");
}

#[test]
fn there_is_no_status_line_when_it_is_not_live_or_over() {
    let mut view = sample::busy_view();
    assert_eq!(Terminal::new(Style { live: false, ..style(80) }).status(&view), None);
    view.phase = Phase::Finished;
    assert_eq!(Terminal::new(style(80)).status(&view), None);
    view.phase = Phase::Gating;
    view.session = None;
    assert_eq!(Terminal::new(style(80)).status(&view).as_deref(), Some("running the gates"));
}

#[test]
fn the_head_of_a_run_names_task_agents_policy_gates_and_limits() {
    let started = RunStarted {
        schema: SCHEMA,
        task: "# Fix the parser\nmore".into(),
        agent: Some("claude".into()),
        policy: "auto".into(),
        workdir: "/w".into(),
    };
    assert_eq!(
        shown(Outer::RunStarted(started), &sample::view("auto", None)),
        ["Fix the parser", "  run r1 in /w", "  agent claude, then codex · policy auto", "  gates tests",]
    );
}

#[test]
fn sessions_checkpoints_and_handoffs_are_one_line_each() {
    let view = sample::busy_view();
    let terminal = Terminal::new(style(120));
    let said: Vec<String> = sample::each_with("x")
        .iter()
        .flat_map(|line| terminal.take(std::slice::from_ref(line), &view).lines)
        .collect();
    for line in [
        "  00:00  s1 x (x) started, ceiling 177k (window 200k)",
        "  00:00  s1 segue wrote a checkpoint (brief) · claims: 5 confirmed, 1 false, 2 not checked · x",
        "  00:00  s1 → x, fallback: x",
        "  00:00  s1 failed (exit 2) · 2 processes outlived it and were stopped",
        "  00:00  limit reached: cost (x)",
        "  00:00  warning: x",
    ] {
        assert!(said.contains(&line.to_owned()), "{line:?} is not in {said:#?}");
    }
}

#[test]
fn a_failed_gate_shows_the_end_of_its_output_without_its_colours() {
    let mut view = sample::busy_view();
    view.gates.insert("tests".into(), sample::gate(false, GateWhen::After));
    let gate = GateFinished {
        gate: "tests".into(),
        passed: false,
        exit: Some(101),
        ms: 12_000,
        when: GateTime::After,
        output: Some(".segue/g.log".into()),
        timed_out: false,
    };
    assert_eq!(
        shown(Outer::GateFinished(gate), &view),
        [
            "  00:00  ✗ gate tests failed (exit 101), 12 s · .segue/g.log",
            "           two",
            "           three",
            "           four",
        ]
    );
}

#[test]
fn what_the_agent_says_and_its_list_are_one_line_each() {
    let view = sample::busy_view();
    let said = |text: &str| {
        let said = AgentSaid { session: "s1".into(), text: text.into() };
        Terminal::new(style(60)).take(&[sample::line(Outer::AgentSaid(said))], &view).lines
    };
    assert_eq!(said("\n I read the parser first.\nThen more."), ["  00:00  s1: I read the parser first."]);
    let long = said(&"word ".repeat(40));
    assert!(long.len() == 1 && long[0].ends_with('…'), "{long:?}");
    assert!(said(" \n ").is_empty());
    let items = ItemsSeen { session: "s1".into(), open: 4, closed: 15, items: Vec::new() };
    assert_eq!(shown(Outer::ItemsSeen(items), &view), ["  00:00  s1 to-do list: 15 of 19 done"]);
}

#[test]
fn the_verdict_says_what_it_took_and_what_to_do_next() {
    assert_eq!(
        shown(Outer::RunFinished(finished()), &sample::view("auto", None)),
        [
            "",
            "stopped: the deadline is over",
            "  the agent's last message:",
            "  │ the parser reads every file",
            "  3 sessions · 2 handoffs",
            "  tokens: 1.43M in · cost $3.21 · 42 m 10 s",
            "  next: segue resume r1",
        ]
    );
}

#[test]
fn truth5_what_the_agent_changed_of_a_gate_stands_beside_the_verdict() {
    let Some(Outer::GateChanged(change)) = sample::each_with("x")
        .into_iter()
        .map(|line| line.event)
        .find(|event| event.name() == "gate.changed")
    else {
        panic!("the sample has every type")
    };
    let finished = RunFinished { gate_changes: vec![change], ..finished() };
    let lines = shown(Outer::RunFinished(finished), &sample::view("auto", None));
    assert_eq!(lines[2], "  gate x fails with the originals: x x", "{lines:#?}");
}

#[test]
fn colours_are_there_only_when_asked_for() {
    let view = sample::busy_view();
    let lines = sample::each_with("text");
    let grey = Terminal::new(style(80)).take(&lines, &view);
    assert!(!grey.lines.iter().chain(&grey.status).any(|l| l.contains('\u{1b}')));
    let painted = Terminal::new(Style { color: true, ..style(80) }).take(&lines, &view);
    assert!(painted.status.unwrap().contains("\u{1b}[32m"));
    let texts: Vec<String> = painted.lines.iter().map(|l| plain(l)).collect();
    assert_eq!(texts, grey.lines.iter().map(|l| plain(l)).collect::<Vec<_>>());
}

fn odd_text() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        '\n', ' ', '\u{1b}', '[', ']', 'm', '\u{9b}', '\u{202e}', '語', '🦀', '\u{301}',
    ]);
    prop::collection::vec(prop_oneof![any::<char>(), nasty], 0..80)
        .prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal_or_carries_a_control_character(
        text in odd_text(), width in 1..200_u16, ascii: bool,
    ) {
        let mut view = sample::busy_view();
        let session = view.session.as_mut().unwrap();
        session.agent.clone_from(&text);
        session.tools.insert("t0".into(), text.clone());
        view.spec = Some(Box::new(sample::spec("auto", &text)));
        view.gates.insert(text.clone(), segue_machine::GateResult { tail: text.clone(), ..sample::gate(false, GateWhen::After) });
        let terminal = Terminal::new(Style { ascii, ..style(width) });
        let output = terminal.take(&sample::each_with(&text), &view);
        for line in output.lines.iter().chain(&output.status) {
            prop_assert!(columns(line) <= usize::from(width), "{} > {width}: {:?}", columns(line), line);
            prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
            prop_assert!(!ascii || line.is_ascii(), "{:?}", line);
        }
    }
}

#[test]
fn a_wait_counts_down_on_a_live_line_and_takes_one_line_in_a_log() {
    let mut view = sample::view("auto", None);
    let until = sample::START + 18 * 60_000;
    view.phase = Phase::Waiting;
    view.waiting = Some(Waiting {
        agent: "claude".into(),
        failure: AgentFailure::RateLimited,
        why: "claude's rate limit".into(),
        until,
        since: sample::START,
    });
    let live = Terminal::new(style(100));
    assert_eq!(
        live.status_at(&view, until - 61_000).as_deref(),
        Some("waiting for claude's rate limit, 1 m 01 s left · press Enter to retry now")
    );
    assert_eq!(
        live.status(&view).as_deref(),
        Some("waiting for claude's rate limit until 12:18 · press Enter to retry now")
    );
    let wait = WaitFields {
        why: "claude's rate limit".into(),
        until: Some(Time(until)),
        agent: Some("claude".into()),
        failure: Some(AgentFailure::RateLimited),
    };
    let log = Terminal::new(Style { live: false, ..style(100) });
    let told = log.take(&[sample::line(Outer::WaitStarted(wait))], &view);
    assert_eq!(told.lines, ["  00:00  waiting for claude's rate limit until 12:18 (18 m)"]);
    assert_eq!((told.status, log.status_at(&view, sample::START)), (None, None));
}

#[test]
fn a_tall_terminal_shows_the_window_the_job_what_runs_the_agents_words_and_the_keys() {
    let mut view = sample::busy_view();
    view.items = Some((4, 15));
    let text = "I looked at it.\n\nNow I fix the parser.".to_owned();
    view.prose.push_back(segue_machine::Message { n: 1, session: view.session.as_ref().unwrap().n, text });
    let mut live = Terminal::new(style(80));
    let changes = Some(Changes { files: 3, added: 120, removed: 14, new: 1 });
    live.look(Beside { rows: 24, gate: None, changes, keys: "Ctrl-C stops".to_owned() }, 80);
    assert_eq!(
        live.status_at(&view, sample::START + 900_000).unwrap().lines().collect::<Vec<_>>(),
        [
            "s2 claude  ████████░░░░  68 %  136k of 200k exact",
            "15 of 19 done · about 4 m left · 15:00 · 3 files +120 −14, 1 new · 14 calls, 3…",
            "running `cargo test` for 15 m",
            "“Now I fix the parser.”",
            "Ctrl-C stops",
        ]
    );
    live.look(Beside { rows: 8, ..Beside::default() }, 80);
    assert!(!live.status(&view).unwrap().contains('\n'), "few rows are left to what stays");
}

#[test]
fn a_running_gate_is_shown_with_its_clock_and_last_line_until_its_result_is_there() {
    let mut view = sample::busy_view();
    view.phase = Phase::Gating;
    let gate =
        GateNow { name: "tests".into(), n: 2, of: 3, since: sample::START + 1_000, last_line: "ok 7".into() };
    let mut live = Terminal::new(style(80));
    live.look(Beside { rows: 24, gate: Some(gate), ..Beside::default() }, 80);
    let third = |view: &View| {
        live.status_at(view, sample::START + 13_000).unwrap().lines().nth(2).unwrap().to_owned()
    };
    assert_eq!(third(&view), "gate tests (2 of 3) 00:12 · ok 7");
    view.gates_at.insert("tests".into(), sample::START + 9_000);
    assert_eq!(third(&view), "running the gates");
}
