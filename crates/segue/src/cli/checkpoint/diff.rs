//! `segue checkpoint diff`: what changed from one checkpoint to another, in words.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Failure, Place, Shelf, out};
use crate::checkpoint::{ClaimEntry, Document, Files};

/// How many entries of a part are shown to people.
const SHOWN: usize = 40;

/// What is in one and not in the other.
struct Part {
    name: &'static str,
    gone: Vec<String>,
    new: Vec<String>,
}

/// Compares two checkpoints.
pub(super) fn diff(at: &Place, a: &str, b: Option<&str>, run: Option<&str>) -> Result<u8, Failure> {
    let shelf = Shelf::open(at)?;
    let (a, b) = (shelf.read(Some(a), run)?, shelf.read(b, run)?);
    let parts = parts(&a, &b);
    if at.json {
        let mut doc = json!({ "a": a.id, "b": b.id });
        for part in &parts {
            doc[part.name] = json!({ "gone": part.gone, "new": part.new });
        }
        out::line(&doc.to_string());
        return Ok(0);
    }
    out::line(&format!("from  {}  {}  {}", a.id, a.created_at, fill(&a)));
    out::line(&format!("to    {}  {}  {}", b.id, b.created_at, fill(&b)));
    let mut same = true;
    for part in parts.iter().filter(|part| !part.gone.is_empty() || !part.new.is_empty()) {
        same = false;
        out::line(&format!("\n{}", part.name));
        for (mark, list) in [('-', &part.gone), ('+', &part.new)] {
            out::lines(list.iter().take(SHOWN).map(|line| format!("  {mark} {}", segue_report::plain(line))));
            if list.len() > SHOWN {
                out::line(&format!("  {mark} and {} more", list.len() - SHOWN));
            }
        }
    }
    if same {
        out::line("\nno differences");
    }
    if let (Some(from), Some(to)) = (&a.snapshot, &b.snapshot) {
        out::line(&format!("\nfile changes: git diff {from} {to}"));
    }
    Ok(0)
}

fn parts(a: &Document, b: &Document) -> Vec<Part> {
    let part = |name, of: &dyn Fn(&Document) -> Vec<String>| compare(name, &of(a), &of(b));
    vec![
        part("files", &|d| files(&d.files)),
        part("commits", &|d| d.commits.clone()),
        part("gates", &|d| {
            let word = |passed| if passed { "passes" } else { "fails" };
            d.gates.iter().map(|gate| format!("{}: {}", gate.name, word(gate.passed))).collect()
        }),
        part("errors", &|d| d.errors.clone()),
        part("claims", &|d| d.claims.iter().map(claim).collect()),
        part("ledger", &|d| d.ledger.as_ref().map_or_else(Vec::new, ledger)),
        part("notes", &|d| d.notes.clone()),
        part("summary", &|d| d.summary.lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect()),
    ]
}

/// In the order in which they stand; what is in both is left out.
fn compare(name: &'static str, a: &[String], b: &[String]) -> Part {
    let (in_a, in_b): (BTreeSet<&String>, BTreeSet<&String>) = (a.iter().collect(), b.iter().collect());
    let only = |list: &[String], other: &BTreeSet<&String>| {
        list.iter().filter(|line| !other.contains(line)).cloned().collect()
    };
    Part { name, gone: only(a, &in_b), new: only(b, &in_a) }
}

fn files(files: &Files) -> Vec<String> {
    let lists = [("new", &files.created), ("changed", &files.modified), ("deleted", &files.deleted)];
    lists.iter().flat_map(|(word, list)| list.iter().map(move |file| format!("{word} {file}"))).collect()
}

fn claim(claim: &ClaimEntry) -> String {
    format!("{}: {} ({})", claim.kind, claim.text, claim.finding.word())
}

/// The entries of a ledger, whatever its format: one line for each item of each list.
fn ledger(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let Some(items) = value.as_array() else {
            lines.push(format!("{name}: {value}"));
            continue;
        };
        let text = |item: &Value| item.get("text").and_then(Value::as_str).map(str::to_owned);
        lines.extend(items.iter().map(|i| format!("{name}: {}", text(i).unwrap_or_else(|| i.to_string()))));
    }
    lines
}

fn fill(document: &Document) -> String {
    document.tokens.percent.map_or_else(String::new, |percent| format!("{percent} % of the context used"))
}
