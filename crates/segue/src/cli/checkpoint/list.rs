//! `segue checkpoint list`: one line each.

use segue_machine::{CheckpointBy, Claims, Depth};
use serde_json::json;

use super::{Failure, Place, Shelf, out};
use crate::checkpoint::{Document, Found};

/// Lists the checkpoints of a run, or of all.
pub(super) fn list(at: &Place, run: Option<&str>, all: bool) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let newest = shelf.found.last().map(|f| f.run.clone());
    let run = shelf.run(run)?.or(newest);
    let chosen: Vec<&Found> = shelf.found.iter().filter(|f| all || Some(&f.run) == run.as_ref()).collect();
    if at.json {
        for found in chosen {
            out::line(&json_line(found).to_string());
        }
        return Ok(0);
    }
    if chosen.is_empty() {
        out::line("no checkpoints here yet; `segue checkpoint create` makes one of the latest run");
        return Ok(0);
    }
    let rows: Vec<[String; 8]> = std::iter::once(head()).chain(chosen.iter().map(|f| row(f))).collect();
    out::lines(table(&rows));
    Ok(0)
}

fn json_line(found: &Found) -> serde_json::Value {
    let path = &found.path;
    match Document::open(&found.path) {
        Ok(stored) => {
            let document = &stored.document;
            json!({
                "checkpoint": found.id, "run": found.run, "created_at": document.created_at, "session": document.session,
                "agent": document.agent, "by": document.by, "depth": document.depth, "stage": document.stage,
                "reason": document.reason, "percent": document.tokens.percent, "claims": document.counts,
                "snapshot": document.snapshot, "redacted": document.redacted, "path": path, "bytes": stored.bytes,
                "unpacked": stored.unpacked, "ratio": stored.ratio(), "damage": null,
            })
        }
        Err(error) => {
            json!({ "checkpoint": found.id, "run": found.run, "path": path, "damage": error.to_string() })
        }
    }
}

fn head() -> [String; 8] {
    ["id", "when", "by", "depth", "stage", "used", "size", "claims"].map(str::to_owned)
}

fn row(found: &Found) -> [String; 8] {
    let Ok(stored) = Document::open(&found.path) else {
        let mut row = ["", "", "", "", "", "", "", ""].map(str::to_owned);
        row[0].clone_from(&found.id);
        "damaged: see `segue checkpoint verify`".clone_into(&mut row[1]);
        return row;
    };
    let document = &stored.document;
    let counts = document.counts;
    [
        found.id.clone(),
        out::moment(document.created_at),
        if document.by == CheckpointBy::Agent { "agent" } else { "segue" }.to_owned(),
        depth(document.depth).to_owned(),
        document.stage.clone().unwrap_or_else(|| "-".to_owned()),
        document.tokens.percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent} %")),
        out::size(stored.bytes),
        claims(counts),
    ]
}

fn depth(depth: Depth) -> &'static str {
    match depth {
        Depth::Full => "complete",
        Depth::Brief => "brief",
        Depth::Emergency => "emergency",
    }
}

fn claims(counts: Claims) -> String {
    let parts =
        [(counts.confirmed, "confirmed"), (counts.contradicted, "false"), (counts.unknown, "not checked")];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    parts.join(", ")
}

fn table(rows: &[[String; 8]]) -> Vec<String> {
    let mut widths = out::widths(rows);
    // What stands in a damaged row is a sentence and moves nothing.
    widths[1] = 19;
    rows.iter().map(|row| out::row(row, &widths)).collect()
}
