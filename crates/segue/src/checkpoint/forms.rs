//! The files that some presets promise beside a checkpoint: a short summary, a project's pages and copies by name.
//!
//! They are written from the stored document and are segue's own: snapshots and facts leave them out. Trouble with one is
//! told and never stops a run.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use segue_machine::Depth;
use segue_machine::checkpoint::{cut_chars, cut_list, parse};

use super::document::Document;
use super::inside::{OutsideError, inside};
use super::looped;
use super::markdown::{done, failed, left};
use super::stored::write_whole;
use crate::config::Forms;
use crate::store::Store;

/// The folder of the work tree in which presets keep files of their own.
pub(super) const OWN_FOLDER: &str = ".segue";

/// A link in the place of a file is not written through.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// The most that a summary file holds.
const SUMMARY_CHARS: usize = 2_000;

impl Forms {
    /// Makes sure that no file would be written outside the work tree.
    pub(crate) fn check(&self, workdir: &Path) -> Result<(), OutsideError> {
        self.paths().try_for_each(|(key, path)| inside(workdir, key, path).map(drop))
    }

    /// The folder of the checkpoints, checked again.
    pub(crate) fn dir(&self, store: &Store) -> Result<PathBuf, OutsideError> {
        let named = self.dir.as_deref().map(|dir| inside(store.root(), "checkpoint.dir", dir));
        named.unwrap_or_else(|| Ok(store.checkpoints()))
    }

    /// Where the hand-over file goes, checked again.
    pub(crate) fn handoff(&self, workdir: &Path) -> Result<PathBuf, OutsideError> {
        inside(workdir, "checkpoint.handoff_file", self.handoff_file.as_deref().unwrap_or("HANDOFF.md"))
    }

    /// Writes what is promised beside a checkpoint; what could not be written is the answer.
    pub(crate) fn write(&self, workdir: &Path, document: &Document) -> Vec<String> {
        let mut troubles = Vec::new();
        if let Some(path) = &self.summary_file {
            let written =
                inside(workdir, "checkpoint.summary_file", path).map_err(io::Error::other).and_then(|full| {
                    if Path::new(path).starts_with(OWN_FOLDER) {
                        ignore_all(&workdir.join(OWN_FOLDER))?;
                    }
                    write_new(&full, short(document).as_bytes())
                });
            troubles.extend(written.err().map(|error| format!("{path} could not be written: {error}")));
        }
        if document.policy == "loop" {
            let written = looped::write(workdir, document);
            troubles
                .extend(written.err().map(|error| format!("{} could not be written: {error}", looped::DIR)));
        }
        if let Some(dir) = &self.project_dir {
            let written = self.write_project(workdir, dir, document);
            troubles.extend(written.err().map(|error| format!("{dir} could not be written: {error}")));
        }
        troubles
    }

    fn write_project(&self, workdir: &Path, dir: &str, document: &Document) -> io::Result<()> {
        let project =
            self.project.clone().or_else(|| Some(workdir.file_name()?.to_string_lossy().into_owned()));
        let project = file_word(&project.unwrap_or_default(), "project");
        let task = file_word(self.task.as_deref().unwrap_or(title(&document.task)), "task");
        let agent = file_word(&document.agent, "agent");
        let time = document.created_at.to_string().replace(['-', ':'], "");
        let copy = format!("{task}-{agent}-{}-{time}.json", stage_word(document));
        let place = |name: &str| {
            let path = format!("{dir}/{project}/{name}");
            inside(workdir, "checkpoint.project_dir", &path).map_err(io::Error::other)
        };
        ignore_all(&inside(workdir, "checkpoint.project_dir", dir).map_err(io::Error::other)?)?;
        let json: serde_json::Value = serde_json::from_slice(&document.json()?)?;
        write_new(&place(&copy)?, serde_json::to_string_pretty(&json)?.as_bytes())?;
        let head = format!("# Task {}\n", title(&document.task));
        append(&place(&format!("{task}.md"))?, &head, &detail(document, &copy))?;
        append(&place("project.md")?, &format!("# Project {project}\n"), &entry(document, &task))
    }
}

/// The checkpoint in the words of the `loop` preset.
pub(crate) fn short(document: &Document) -> String {
    let files = &document.files;
    let changed: Vec<&str> =
        [&files.created, &files.modified, &files.deleted].into_iter().flatten().map(String::as_str).collect();
    let percent = document
        .tokens
        .percent
        .map_or_else(|| "context used unknown".to_owned(), |p| format!("{p} % of the context used"));
    let gates =
        document.gates.iter().map(|g| format!("{} {}", g.name, if g.passed { "passes" } else { "fails" }));
    let gates = gates.collect::<Vec<_>>().join(", ");
    let status = format!(
        "Session {} ({}), {percent}; {}. Gates: {}.",
        document.session,
        document.agent,
        document.reason,
        if gates.is_empty() { "none" } else { &gates }
    );
    let mut progress = done(document);
    progress.reverse();
    let mut next = left(document);
    next.truncate(5);
    let text = format!(
        "# Goal\n{}\n\n# Session Status\n{}\n\n# Modified Files\n{}\n\n# Recent Errors\n{}\n\n# Recent Progress\n{}\n\n# Next\n{}\n",
        cut_chars(document.task.trim(), 400),
        cut_chars(&status, 300),
        cut_chars(&bullets(&cut_list(&changed, 20)), 450),
        cut_chars(&bullets(&cut_list(&failed(document), 5)), 300),
        cut_chars(&bullets(&cut_list(&progress, 10)), 300),
        cut_chars(&bullets(&next), 150),
    );
    cut_chars(&text, SUMMARY_CHARS)
}

/// A checkpoint on the task's page: an emergency holds what is needed to go on, a brief one the work, a complete one all.
fn detail(document: &Document, copy: &str) -> String {
    let capacity = document.stage.as_deref().filter(|stage| stage.ends_with('%')).map(str::to_owned);
    let capacity = capacity.or_else(|| document.tokens.percent.map(|percent| format!("{percent:.0}%")));
    let at = capacity.map_or_else(String::new, |capacity| format!(" at {capacity} Capacity"));
    let mut text = format!(
        "\n## Checkpoint{at} (Iteration {})\n\n- {} · {} · session {} ({}): {}\n- context: {}\n- commit: {}\n- copy: {copy} ({})\n",
        document.iteration,
        document.created_at,
        depth_word(document.depth),
        document.session,
        document.agent,
        document.reason.replace('\n', " "),
        context_words(document),
        document.commits.first().map_or("none since the run began", String::as_str),
        document.id,
    );
    let (done, left, failed, files) = (done(document), left(document), failed(document), &document.files);
    let next: Vec<String> = left.iter().take(1).cloned().collect();
    part(&mut text, "Next step", &next, "unknown (the agent did not say)");
    if document.depth == Depth::Emergency {
        return text;
    }
    part(&mut text, "Completed", &done, "unknown (the agent did not say)");
    part(&mut text, "Remaining", &left, "unknown (the agent did not say)");
    let changed = [&files.created[..], &files.modified[..]].concat();
    part(&mut text, "Files", &cut_list(&changed, 20), "no file is new or different");
    part(&mut text, "Deleted files", &cut_list(&files.deleted, 20), "");
    part(&mut text, "Failed", &failed, "");
    if document.depth == Depth::Full {
        let decisions = parse(&document.summary).items(&["decision"]).to_vec();
        part(&mut text, "Decisions", &decisions, "");
        let summary = format!("\n{}\n", cut_chars(document.summary.trim(), SUMMARY_CHARS));
        text.push_str(&format!("\n### Summary{}", summary.replace("\n#", "\n###")));
    }
    text
}

// A list below its heading; without items the heading stands only if there is something to say about that.
fn part(text: &mut String, title: &str, items: &[String], none: &str) {
    if !items.is_empty() {
        text.push_str(&format!("\n### {title}\n{}", bullets(items)));
    } else if !none.is_empty() {
        text.push_str(&format!("\n### {title}\n- {none}\n"));
    }
}

fn depth_word(depth: Depth) -> &'static str {
    match depth {
        Depth::Brief => "brief",
        Depth::Full => "complete",
        Depth::Emergency => "emergency",
    }
}

fn context_words(document: &Document) -> String {
    let tokens = &document.tokens;
    let percent = tokens.percent.map(|percent| format!("{percent:.1} % used"));
    let left = tokens.ceiling.zip(tokens.used).map(|(ceiling, used)| ceiling.saturating_sub(used));
    let left = left.map(|left| format!("{left} tokens left"));
    let words: Vec<String> = percent.into_iter().chain(left).collect();
    if words.is_empty() { "unknown".to_owned() } else { words.join(", ") }
}

fn entry(document: &Document, task: &str) -> String {
    format!(
        "\n## {} {task}\n\n- run {}, session {} ({}), {}\n- done {}, remaining {}, failed {}\n- details: {task}.md; continue: `segue resume {}`\n",
        document.created_at,
        document.run,
        document.session,
        document.agent,
        document.reason.replace('\n', " "),
        count_of(&done(document)),
        count_of(&left(document)),
        failed(document).len(),
        document.run,
    )
}

// What nobody put down is unknown, not none.
fn count_of(items: &[String]) -> String {
    if items.is_empty() { "unknown".to_owned() } else { items.len().to_string() }
}

/// `90%` as `90p`; without a stage the fill stands for it.
fn stage_word(document: &Document) -> String {
    match document.stage.as_deref().and_then(|stage| stage.strip_suffix('%')) {
        Some(percent) => format!("{}p", file_word(percent, "0")),
        None => document.tokens.percent.map_or_else(|| "0p".to_owned(), |percent| format!("{percent:.0}p")),
    }
}

fn title(task: &str) -> &str {
    let mut lines = task.lines().map(|line| line.trim_start_matches(['#', ' ']).trim());
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// A name that is one part of a path, whatever it was made from.
fn file_word(name: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '.' { c } else { '-' };
    let word: String = name.chars().take(48).map(plain).collect();
    let word = word.trim_matches(['-', '.']);
    let parts: Vec<&str> = word.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { otherwise.to_owned() } else { parts.join("-") }
}

pub(super) fn bullets(items: &[String]) -> String {
    if items.is_empty() {
        return "- none\n".to_owned();
    }
    items.iter().map(|item| format!("- {}\n", item.replace('\n', " "))).collect()
}

/// Makes a folder of the work tree that git does not see: `git add --all` takes nothing from it.
pub(super) fn ignore_all(dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    match OpenOptions::new().write(true).create_new(true).open(dir.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    write_whole(path, bytes)
}

pub(super) fn append(path: &Path, head: &str, section: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut file = OpenOptions::new().append(true).create(true).custom_flags(NO_FOLLOW).open(path)?;
    let head = if file.metadata()?.len() == 0 { head } else { "" };
    file.write_all(format!("{head}{section}").as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;
