//! What must hold for the records of a journal: read or refused, given back as they were, and decided the same way twice.

use segue_machine::policy::preset;
use segue_machine::{
    AgentSpec, CommitMode, Effect, Event, GateSpec, GitSpec, Limits, Record, Run, RunSpec, Task,
};

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
    let gate =
        GateSpec { name: "tests".to_owned(), run: "true".to_owned(), timeout_ms: 1_000, manual: false };
    let agent = |name: &str| AgentSpec {
        name: name.to_owned(),
        allow: vec!["execute".to_owned()],
        ..AgentSpec::default()
    };
    let spec = RunSpec {
        task: Task { text: "the task".to_owned(), source: None, open_items: 2 },
        agents: vec![agent("a"), agent("b")],
        policy: preset::find("staged").map(|p| p.policy).unwrap_or_else(|| panic!("no such preset")),
        limits: Limits::default(),
        gates: vec![gate],
        git: GitSpec {
            enabled: true,
            commit: CommitMode::Snapshot,
            commit_on_failure: false,
            message: String::new(),
            base: None,
            base_tree: None,
        },
        workdir: "/w".to_owned(),
        require_verified: false,
        started_at: 0,
        from: None,
        role: None,
        memory: segue_machine::ledger::Memory::Ledger,
        wait: segue_machine::WaitRules::default(),
        circuits: Vec::new(),
        next: segue_machine::NextSpec { verifiers: vec![agent("v")], ..Default::default() },
        budget: Default::default(),
        growth: None,
        last_words: Default::default(),
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
