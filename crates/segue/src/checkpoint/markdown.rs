//! A checkpoint as a person reads it: what is done, what is left, what failed, and the commands that go on from it.
//!
//! Made from the stored fields alone, so that it can be made again anywhere.

use segue_machine::CheckpointBy;
use segue_machine::checkpoint::{cut_chars, cut_list, parse};

use super::document::{ClaimEntry, Document, Finding};

/// How many items and file names a list shows.
const LISTED: usize = 20;
/// How much of what the run remembers is shown, in tokens.
const LEDGER_TOKENS: usize = 4_000;
/// How much of what a gate said is repeated.
const TAIL: usize = 1_500;

/// The whole page.
pub(crate) fn page(document: &Document) -> String {
    let mut text = format!("# Checkpoint {}\n\n{}\n\n", document.id, head(document));
    section(&mut text, "Done", &done(document), "none recorded");
    section(
        &mut text,
        "Remaining",
        &left(document),
        "unknown (the agent did not say): what the task asks for and Done does not list",
    );
    section(&mut text, "Failed", &failed(document), "nothing that is known");
    text.push_str(&format!("## How to continue\n```\n{}\n```\n\n", commands(document).join("\n")));
    section(&mut text, "Repository", &repository(document), "nothing differs from the start of the run");
    let notes = cut_list(&document.notes, 50);
    if !notes.is_empty() {
        section(&mut text, "Notes of the worker", &notes, "");
    }
    for gate in document.gates.iter().filter(|gate| !gate.passed && !gate.tail.trim().is_empty()) {
        let tail = cut_chars(gate.tail.trim_end(), TAIL);
        text.push_str(&format!(
            "## What gate {} said\n```\n{}\n```\n\n",
            gate.name,
            tail.replace("```", "'''")
        ));
    }
    text.push_str(&format!("## Summary\n{}\n", document.summary.trim()));
    if let Some(ledger) = document.memory().filter(|ledger| !ledger.is_empty()) {
        text.push_str(&format!("\n# What the run remembers\n\n{}\n", ledger.render(LEDGER_TOKENS).text));
    }
    text
}

/// The commands that go on from a checkpoint, look at its snapshot, and bring it back.
pub(crate) fn commands(document: &Document) -> Vec<String> {
    let (run, id) = (&document.run, &document.id);
    let name = id.strip_prefix(run.as_str()).map_or(id.as_str(), |rest| rest.trim_start_matches('-'));
    let mut lines = vec![
        ("segue resume ".to_owned() + run, "continue from the last checkpoint of this run"),
        (format!("segue resume {run} --at {name}"), "continue from this one; --agent NAME for another agent"),
        (format!("segue run --from-checkpoint {id}"), "start a new run from this one"),
    ];
    if let Some(reference) = &document.snapshot {
        lines.push((format!("git diff HEAD {reference}"), "the changes since the last commit"));
        lines.push((format!("git show {reference}:PATH"), "one file from the snapshot"));
        lines.push((
            format!("git restore --source={reference} --worktree -- :/"),
            "restore its files; newer untracked files stay",
        ));
    }
    lines.into_iter().map(|(command, why)| format!("{command}  # {why}")).collect()
}

/// What is finished, without what was found to be untrue.
pub(crate) fn done(document: &Document) -> Vec<String> {
    let items = parse(&document.summary).items(&["completed", "done"]).to_vec();
    let untrue = |text: &String| claims(document, Finding::Contradicted).any(|claim| claim.text == *text);
    let sure = |text: String| {
        let confirmed = claims(document, Finding::Confirmed).any(|claim| claim.text == text);
        if confirmed { format!("{text} (confirmed)") } else { text }
    };
    items.into_iter().filter(|text| !untrue(text)).map(sure).collect()
}

/// What remains.
pub(crate) fn left(document: &Document) -> Vec<String> {
    parse(&document.summary).items(&["remaining"]).to_vec()
}

/// What went wrong: claims that are not true, gates, tools, segue's own trouble.
pub(crate) fn failed(document: &Document) -> Vec<String> {
    let untrue = claims(document, Finding::Contradicted).map(|claim| {
        let evidence = claim.evidence.as_deref().unwrap_or("the evidence disagrees");
        format!("not true: {} ({evidence})", claim.text)
    });
    let trouble = document.trouble.iter().map(|trouble| format!("segue: {trouble}"));
    untrue.chain(document.errors.iter().cloned()).chain(trouble).collect()
}

fn claims(document: &Document, finding: Finding) -> impl Iterator<Item = &ClaimEntry> {
    document.claims.iter().filter(move |claim| claim.finding == finding)
}

fn head(document: &Document) -> String {
    let by = if document.by == CheckpointBy::Agent { "the agent" } else { "segue" };
    let fill = document
        .tokens
        .percent
        .map_or_else(String::new, |percent| format!(", {percent} % of the context used"));
    let next = match (&document.next.kind, &document.next.agent) {
        (Some(kind), Some(agent)) => format!(" Then: {kind}, {agent}."),
        (Some(kind), None) => format!(" Then: {kind}."),
        (None, _) => String::new(),
    };
    let redacted = match document.redacted {
        0 => String::new(),
        1 => " 1 secret was removed.".to_owned(),
        n => format!(" {n} secrets were removed."),
    };
    format!(
        "Run {}, session {} ({}){fill}, {}.\nTaken because: {}. Written by {by}.{next}{redacted}",
        document.run, document.session, document.agent, document.created_at, document.reason
    )
}

fn repository(document: &Document) -> Vec<String> {
    let mut lines: Vec<String> =
        document.diffstat.iter().map(|stat| format!("{stat} since the run began")).collect();
    lines.extend(cut_list(&document.commits, LISTED).into_iter().map(|commit| format!("commit {commit}")));
    let files = &document.files;
    let lists = [("new", &files.created), ("changed", &files.modified), ("deleted", &files.deleted)];
    for (word, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        lines.push(format!("{word} files: {}", cut_list(list, LISTED).join(", ")));
    }
    let gate = |passed: bool| if passed { "passes" } else { "fails" };
    lines.extend(document.gates.iter().map(|g| format!("gate {}: {}", g.name, gate(g.passed))));
    lines
}

fn section(text: &mut String, title: &str, items: &[String], otherwise: &str) {
    text.push_str(&format!("## {title}\n"));
    if items.is_empty() {
        text.push_str(&format!("- {otherwise}\n"));
    }
    for item in items {
        text.push_str(&format!("- {}\n", item.replace('\n', " ")));
    }
    text.push('\n');
}
