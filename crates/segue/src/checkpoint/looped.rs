//! The files of a loop, below segue's own folder: progress notes, a summary of what fails, and what there was at each
//! restart.

use std::io;
use std::path::Path;

use segue_machine::checkpoint::cut_chars;

use super::document::{Document, GateEntry};
use super::forms::{append, bullets, short, write_new};
use super::markdown::{done, failed, left};

/// Where they lie, from the work tree.
pub(super) const DIR: &str = ".segue/loop";

/// How much of a gate's output is repeated.
const OUTPUT: usize = 1_500;

/// Writes them for a checkpoint: each restart of a loop takes one.
pub(super) fn write(workdir: &Path, document: &Document) -> io::Result<()> {
    let dir = workdir.join(DIR);
    let archive = dir.join("archive").join(format!("{}-s{}", document.run, document.session));
    let (progress, errors) = (progress(document), errors(document));
    append(&dir.join("progress.md"), "# Progress\n", &progress)?;
    write_new(&dir.join("error-summary.md"), errors.as_bytes())?;
    write_new(&archive.join("progress.md"), progress.as_bytes())?;
    write_new(&archive.join("error-summary.md"), errors.as_bytes())?;
    write_new(&dir.join("error-summary.json"), errors_json(document).as_bytes())?;
    write_new(&archive.join("summary.md"), short(document).as_bytes())
}

fn progress(document: &Document) -> String {
    format!(
        "\n## {} session {} ({})\n\n### Done\n{}\n### Left\n{}",
        document.created_at,
        document.session,
        document.reason.replace('\n', " "),
        bullets(&done(document)),
        bullets(&left(document)),
    )
}

fn errors(document: &Document) -> String {
    let mut text = format!("# Errors after session {}\n\n{}", document.session, bullets(&failed(document)));
    for gate in document.gates.iter().filter(|gate| !gate.passed) {
        let exit = gate.exit.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
        let output = cut_chars(gate.tail.trim(), OUTPUT).replace("```", "'''");
        text.push_str(&format!("\n## gate {} ({exit})\n```\n{output}\n```\n", gate.name));
    }
    text
}

fn errors_json(document: &Document) -> String {
    let failed = |gate: &&GateEntry| !gate.passed;
    let gates = document.gates.iter().filter(failed).map(|gate| {
        let output = cut_chars(gate.tail.trim(), OUTPUT);
        serde_json::json!({ "gate": gate.name, "exit": gate.exit, "output": output })
    });
    let gates: Vec<_> = gates.collect();
    let doc = serde_json::json!({
        "run": document.run, "session": document.session, "iteration": document.iteration,
        "at": document.created_at, "errors": document.errors, "gates": gates,
    });
    format!("{doc:#}\n")
}
