//! Runs of many events: whoever looks at one, takes it up or starts the next reads what came after its newest state, and no
//! state is believed that the chain does not prove.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use segue_rehearsal::script::Script;

use crate::support::{Done, World, until};

/// Three events each.
const TOOLS: u32 = 33_334;

/// The most events that are folded: those after which a state is due, and two batches that were on their way.
const MOST_FOLDED: u64 = 12_000;

/// How long so many events may take to be stored, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(600);

/// A world with a run of so many tools that was killed while its agent hung.
fn killed(tools: u32) -> (World, String) {
    let world = World::new(1, Script::default());
    world.write("agent.sh", include_str!("many_tools.sh"));
    world.write(
        "segue.toml",
        &format!(
            "agents = [\"many\"]\n[agent.many]\nkind = \"acp\"\ncommand = [\"sh\", \"agent.sh\", \"{tools}\"]\nwindow = \"1M\"\n\
             [[gate]]\nname = \"done\"\nrun = \"test -f done\"\n"
        ),
    );
    let running = world.launch(&["run", "TASK.md", "--json"], "first");
    let began = Instant::now();
    while !world.repo().join("hangs").exists() {
        assert!(began.elapsed() < PATIENCE, "the agent has not called its tools");
        std::thread::sleep(Duration::from_millis(50));
    }
    let run = world.run_id().unwrap();
    let events = || world.journal().and_then(|journal| journal.last_seq(&run).ok()).unwrap_or(0);
    until("its events are stored", || events() > u64::from(tools) * 3);
    // The state is written after the events that it stands for, and its link after that.
    until("a state is proven", || {
        folded(&world.segue(&["status", "-v"])).iter().all(|(_, state)| *state > 0)
    });
    running.signal("KILL");
    running.wait();
    (world, run)
}

/// How many events were folded of a run, each time that it was looked at; the last state that was taken.
fn folded(done: &Done) -> Vec<(u64, u64)> {
    let numbers = |line: &str| -> Option<(u64, u64)> {
        let (before, after) = line.split_once(" events folded after the state of event ")?;
        Some((before.rsplit(' ').next()?.parse().ok()?, after.trim().parse().ok()?))
    };
    done.err.lines().filter_map(numbers).collect()
}

#[test]
fn what_is_read_of_a_run_of_100_000_events_does_not_depend_on_its_length() {
    let (world, run) = killed(TOOLS);
    let journal = world.journal().unwrap();
    let events = journal.last_seq(&run).unwrap();
    assert!(events > 100_000, "{events}");
    let status = world.segue(&["status", "-v"]);
    status.exits(0);
    let short = |done: &Done| {
        let found = folded(done);
        assert!(!found.is_empty(), "{}", done.err);
        assert!(found.iter().all(|(folded, _)| *folded <= MOST_FOLDED), "{found:?} of {events}");
    };
    short(&status);
    assert!(status.out.contains("crashed"), "{}", status.all());
    short(&world.segue(&["list", "-v"]));

    let resumed = world.segue(&["resume", "--json", "-v"]);
    resumed.exits(0);
    short(&resumed);
    // Every line counts on from where the dead process stopped, as a replay from the first event says.
    let all = world.segue(&["log", "--json"]).lines();
    let numbers: Vec<u64> = all.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().zip(1..).all(|(number, n)| *number == n));
    assert_eq!(resumed.lines().last(), all.last());
    world.segue(&["replay"]).exits(0);
    // The next run looks whether an agent of this one is left.
    Connection::open(journal.file(&run)).unwrap().execute("UPDATE runs SET status = 'running'", []).unwrap();
    std::fs::remove_file(journal.file(&run).with_file_name("row.json")).unwrap();
    let next = world.segue(&["run", "another task", "--json", "-v"]);
    next.exits(0);
    short(&next);
}

#[test]
fn a_state_that_somebody_changed_is_not_believed() {
    let (world, run) = killed(2_000);
    let file = world.journal().unwrap().file(&run);
    let before = folded(&world.segue(&["status", "-v"]));
    assert!(before[0].1 > 0, "a state is there: {before:?}");
    // Of another version: the events say the same.
    let status = world.segue(&["status", "--json"]).out;
    Connection::open(&file).unwrap().execute("UPDATE states SET version = 'older'", []).unwrap();
    let other = world.segue(&["status", "--json", "-v"]);
    assert_eq!(folded(&other)[0].1, 0, "all events are folded");
    let view = |text: &str| {
        let doc: serde_json::Value = serde_json::from_str(text).unwrap();
        ["phase", "sessions", "tokens_in", "gates", "checkpoint"].map(|key| doc[key].clone())
    };
    assert_eq!(view(&other.out), view(&status));
    let refused = world.segue(&["resume"]);
    refused.exits(2);
    assert!(refused.err.contains("the state that was stored after it"), "{}", refused.err);
    world.segue(&["resume", "--accept-journal"]).exits(0);
}

#[test]
fn segue_log_says_what_segue_did_and_the_terminal_says_nothing_of_it() {
    let world = World::new(4, Script::default());
    let mut command = world.command(&["run", "TASK.md", "--json"]);
    let quiet = command.env("SEGUE_LOG", "info,git=debug").output().unwrap();
    assert!(quiet.status.success());
    let err = String::from_utf8_lossy(&quiet.stderr).into_owned();
    assert!(!err.contains("git::call"), "{err}");
    let run = world.run_id().unwrap();
    let log = world.read_state(&format!("runs/{run}/segue.log"));
    for part in [
        "INFO  driver::child: s1:",
        "DEBUG git::call: git write-tree",
        "gate check: exit",
        "the run is over: verified",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(!log.contains("TRACE") && !log.contains("driver::book"), "{log}");
    let wrong = world.command(&["status"]).env("SEGUE_LOG", "loud").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let shown = world.segue(&["status", "-v"]);
    assert!(shown.err.contains("DEBUG git::call: git rev-parse"), "{}", shown.err);
}
