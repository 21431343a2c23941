//! What must hold for the records of a journal: read or refused, given back as they were, and decided the same way twice.

use segue_machine::policy::preset;
use segue_machine::{AgentSpec, CommitMode, Effect, Event, GateSpec, GitSpec, Record, Run, RunSpec, Task};

/// Reads each line as a record or as a list of effects.
pub(crate) fn check(data: &[u8]) {
    let (mut run, mut again) = (Run::default(), Run::default());
    for (event, seq) in opening().into_iter().zip(1..) {
        let record = Record { seq, at: seq, event };
        assert_eq!(run.handle(&record), again.handle(&record));
    }
    for line in data.split(|byte| *byte == b'\n') {
        if let Ok(effects) = serde_json::from_slice::<Vec<Effect>>(line) {
            let json = serde_json::to_string(&effects).unwrap_or_else(|e| panic!("not written: {e}"));
            assert_eq!(serde_json::from_str::<Vec<Effect>>(&json).ok(), Some(effects));
        }
        if let Ok(record) = serde_json::from_slice::<Record>(line) {
            let json = serde_json::to_string(&record).unwrap_or_else(|e| panic!("not written: {e}"));
            assert_eq!(serde_json::from_str::<Record>(&json).ok().as_ref(), Some(&record));
            assert_eq!(run.handle(&record), again.handle(&record));
        }
    }
}

/// How every run begins.
pub(crate) fn opening() -> Vec<Event> {
    let gate = GateSpec::new("tests", "true", 1_000);
    let agent = |name: &str| AgentSpec {
        name: name.to_owned(),
        allow: vec!["execute".to_owned()],
        ..AgentSpec::default()
    };
    let policy = preset::find("staged").map(|p| p.policy).unwrap_or_else(|| panic!("no such preset"));
    let spec = RunSpec {
        task: Task { text: "the task".to_owned(), open_items: 2, ..Task::default() },
        gates: vec![gate],
        git: GitSpec { enabled: true, commit: CommitMode::Snapshot, ..GitSpec::none() },
        workdir: "/w".to_owned(),
        next: segue_machine::NextSpec { verifiers: vec![agent("v")], ..Default::default() },
        ..RunSpec::new("the task", vec![agent("a"), agent("b")], policy)
    };
    vec![
        Event::RunStarted { spec: Box::new(spec) },
        Event::SessionSpawned { session: 1, pid: 2, pid_start: 3 },
        Event::PromptSent { session: 1, chars: 100 },
    ]
}

/// Records made of the events that the recordings gave.
pub(crate) fn of_recordings(files: &[String]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for file in files {
        let events: Vec<serde_json::Value> = serde_json::from_str(file).unwrap_or_default();
        let records: Vec<String> = events
            .into_iter()
            .filter_map(|event| serde_json::from_value(event).ok())
            .zip(10..)
            .filter_map(|(event, seq)| {
                serde_json::to_string(&Record { seq, at: seq, event: Event::Agent { session: 1, event } })
                    .ok()
            })
            .collect();
        found.extend(records.chunks(8).map(|records| records.join("\n").into_bytes()));
    }
    found
}
