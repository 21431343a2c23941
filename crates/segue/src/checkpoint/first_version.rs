//! Reads checkpoints of the first version of the format: plain JSON, with less in it.
//!
//! Nothing is written in this version.

use segue_machine::{CheckpointBy, Claims, Depth, Millis};
use segue_report::Time;
use serde::{Deserialize, Serialize};

use super::document::{Document, Files, GateEntry, History, Next, Tokens};

#[derive(Serialize, Deserialize)]
struct First {
    version: u32,
    id: String,
    created_at: Millis,
    run: String,
    session: u32,
    agent: String,
    by: CheckpointBy,
    depth: Depth,
    stage: Option<String>,
    reason: String,
    tokens: Tokens,
    text: String,
    files: Files,
    diffstat: Option<String>,
    commits: Vec<String>,
    gates: Vec<String>,
    notes: Vec<String>,
    snapshot: Option<String>,
    claims: Claims,
    trouble: Option<String>,
    checksum: String,
}

/// The checkpoint as it would be written today; `None` when it was changed after it was written.
pub(super) fn read(json: &[u8]) -> serde_json::Result<Option<Document>> {
    let mut first: First = serde_json::from_slice(json)?;
    let checksum = std::mem::take(&mut first.checksum);
    let right = blake3::hash(&serde_json::to_vec(&first)?).to_hex().to_string() == checksum;
    Ok(right.then(|| today(first, checksum)))
}

fn today(first: First, checksum: String) -> Document {
    Document {
        version: first.version,
        id: first.id,
        created_at: Time(first.created_at),
        run: first.run,
        session: first.session,
        iteration: first.session,
        agent: first.agent,
        policy: String::new(),
        by: first.by,
        source: None,
        depth: first.depth,
        stage: first.stage,
        reason: first.reason,
        from: None,
        tokens: first.tokens,
        task: String::new(),
        summary: first.text,
        history: History::default(),
        files: first.files,
        diffstat: first.diffstat,
        commits: first.commits,
        gates: first.gates.iter().map(|line| gate(line)).collect(),
        errors: Vec::new(),
        claims: Vec::new(),
        counts: first.claims,
        ledger: None,
        outputs: Vec::new(),
        next: Next::default(),
        snapshot: first.snapshot,
        tree: None,
        notes: first.notes,
        trouble: first.trouble,
        redacted: 0,
        checksum,
    }
}

/// A gate was one line: its name, and "green" or "red".
fn gate(line: &str) -> GateEntry {
    let (name, word) = line.rsplit_once(": ").unwrap_or((line, ""));
    let (name, passed) = (name.to_owned(), word == "green");
    GateEntry { name, passed, exit: None, when: String::new(), tail: String::new() }
}
