//! Everything that can go wrong at the server, once in the middle of a run: it ends verified, or stops resumable.

use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{Fault, FaultKind};

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
        let script = ServerScript { window: 100_000, faults: vec![fault], ..ServerScript::default() };
        let world = World::new(STEPS, script);
        rows += &format!("\n  {name:<22} {}", one(agent, &world));
    }
    say(&rows);
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
