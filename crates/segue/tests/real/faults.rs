//! Everything that can go wrong at the server, once in the middle of a run: it ends verified, or stops resumable.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{Fault, FaultKind};

use serde_json::Value;

use crate::inside::{inside, say};
use crate::support::{Done, World};

const STEPS: u32 = 5;

/// Which fault, and how often in a row: more often than the CLIs try by themselves, where that makes a difference.
const REFUSALS: [(&str, FaultKind, u32); 6] = [
    ("429 with retry-after", FaultKind::RateLimit { retry_after: Some(1), headers: true }, 4),
    ("429 without", FaultKind::RateLimit { retry_after: None, headers: false }, 4),
    ("overloaded", FaultKind::Overloaded, 4),
    ("401", FaultKind::Unauthorized, 4),
    ("500", FaultKind::ServerError, 4),
    ("quota", FaultKind::Quota, 4),
];
const TRANSPORT: [(&str, FaultKind, u32); 3] = [
    ("cut stream", FaultKind::CutStream, 2),
    ("stall of 9 s", FaultKind::Stall { ms: 9_000 }, 1),
    ("hang", FaultKind::Hang, 1),
];

fn faults(agent: &str, table: &[(&str, FaultKind, u32)]) {
    let mut rows = format!("faults of {agent}:");
    for (name, kind, times) in table {
        let fault =
            Fault { at_request: None, at_step: Some(3), at_checkpoint: false, kind: *kind, times: *times };
        let (window, faults) = (100_000, vec![fault]);
        let script = ServerScript { window, faults, keep_bodies: true, ..ServerScript::default() };
        let own = matches!(agent, "claude" | "codex");
        let world =
            if own { World::new(STEPS, script) } else { World::of(&[(agent, window)], STEPS, script) };
        rows += &format!("\n  {name:<22} {}", one(agent, &world));
        // Who is turned away for good, or falls silent, is replaced.
        if !matches!(kind, FaultKind::Unauthorized | FaultKind::Quota | FaultKind::Hang) {
            assert_same_conversation(&world, name);
        }
    }
    say(&rows);
}

/// Every request begins with all that the one before it held, bytes and order.
#[track_caller]
fn assert_same_conversation(world: &World, name: &str) {
    let talks = world.talks();
    assert!(talks.len() > STEPS as usize, "{name}: {} requests", talks.len());
    let talks: Vec<Vec<(String, Value)>> = talks.iter().map(|talk| parts(talk)).collect();
    for (n, pair) in talks.windows(2).enumerate() {
        let kept = pair[1].starts_with(&pair[0]);
        assert!(kept, "{name}: request {} of {}: {:#?}\n{:#?}", n + 2, talks.len(), pair[0], pair[1]);
    }
}

// Messages of one side that follow each other may be sent as one, and Claude Code then ends each text with a line break.
fn parts(talk: &[Value]) -> Vec<(String, Value)> {
    let parts = |message: &Value| {
        let who = message["role"].as_str().unwrap_or_default().to_owned();
        let content = message["content"].as_array().cloned().unwrap_or_else(|| vec![message.clone()]);
        let whole = |mut part: Value| {
            if let Some(text) = part["text"].as_str() {
                part["text"] = text.trim_end().into();
            }
            part
        };
        content.into_iter().map(|part| (who.clone(), whole(part))).collect::<Vec<_>>()
    };
    talk.iter().flat_map(parts).collect()
}

fn one(agent: &str, world: &World) -> String {
    let run = world.run(agent, &["--idle-timeout", "12s"]);
    let met = world.truth().iter().filter(|line| line.fault.is_some()).count();
    assert!(met > 0, "the fault did not come\n{}", run.all());
    let told = |done: &Done| {
        let end = done.finished();
        let verdict = end["verdict"].as_str().unwrap().to_owned();
        format!("{verdict} in {:.1} s, {} sessions", done.took.as_secs_f64(), end["sessions"])
    };
    let first = told(&run);
    if run.code == Some(0) {
        run.ends("verified", 0);
        world.assert_done_once(&run);
        return format!("met {met} times: {first}");
    }
    let reason = run.finished()["reason"].as_str().unwrap().to_owned();
    assert!(!reason.is_empty(), "{}", run.all());
    world.assert_nothing_left(&run);
    let code = run.code;
    let mut resumed = world.segue(&["resume", "--json", "--permissions", "bypass"]);
    // What is left of the fault may meet the resumed run as well.
    for _ in 0..3 {
        if resumed.code != Some(0) {
            resumed = world.segue(&["resume", "--json", "--permissions", "bypass"]);
        }
    }
    resumed.ends("verified", 0);
    world.assert_done_once(&resumed);
    format!("met {met} times: {first}, exit {code:?}, \"{reason}\"; resumed: {}", told(&resumed))
}

#[test]
fn faults_of_claude_refusals() {
    inside(150, || faults("claude", &REFUSALS));
}

#[test]
fn faults_of_claude_on_the_wire() {
    inside(150, || faults("claude", &TRANSPORT));
}

#[test]
fn faults_of_codex_refusals() {
    inside(150, || faults("codex", &REFUSALS));
}

#[test]
fn faults_of_codex_on_the_wire() {
    inside(150, || faults("codex", &TRANSPORT));
}

#[test]
fn faults_of_opencode_leave_its_conversation() {
    inside(120, || faults("opencode", &[("500", FaultKind::ServerError, 2)]));
}

#[test]
fn faults_of_codex_acp_leave_its_conversation() {
    inside(120, || faults("codex-acp", &[("500", FaultKind::ServerError, 2)]));
}
