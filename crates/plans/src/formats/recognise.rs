//! Which format a text is written in: each says how sure it is and why, and a clear margin wins.
//!
//! What speaks for a format is in `signs.rs`: its path, headings, ids and front matter. The general shapes (phases, tasks, check
//! boxes) are what a text is when no format of a known method claims it.

use super::signs::{self, Seen, Sign};
use super::{NoPlan, master, phase, phased, prompt, tasks};
use crate::context::Recognition;
use crate::model::Format;
use crate::text::{Doc, Front};

/// Below this a format does not claim a text.
const ENOUGH: u8 = 50;

/// By how much the best must be ahead of one that would be read otherwise.
const MARGIN: u8 = 10;

/// How sure a shape is that only one method has.
const OWN_SHAPE: u8 = 80;

/// How sure a shape is that any text may have.
const GENERAL_SHAPE: u8 = 30;

/// How a Markdown text is cut into phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One phase.
    Alone,
    /// A heading for each phase.
    Phased,
    /// A table with links.
    Master,
    /// To-dos in the front matter.
    Todos,
    /// One task in words.
    Prompt,
}

/// The format of a text in Markdown, or why it is none.
pub(crate) fn recognise(
    name: &str,
    doc: &Doc<'_>,
    told: Option<Format>,
) -> Result<Option<(Format, Recognition)>, NoPlan> {
    if let Some(format) = told {
        return Ok(Some((format, Recognition { score: 100, told: true, ..Recognition::default() })));
    }
    let seen = Seen::new(name, doc);
    let mut found: Vec<(Format, u8, Vec<&'static str>)> = Vec::new();
    for (format, list) in signs::FORMATS {
        let there: Vec<&Sign> = list.iter().filter(|(_, is_there, _)| is_there(&seen)).collect();
        let score = there.iter().fold(0_u8, |sum, (worth, ..)| sum.saturating_add(*worth)).min(100);
        if score >= ENOUGH {
            found.push((*format, score, there.iter().map(|(.., why)| *why).collect()));
        }
    }
    if let Some((format, why)) = general(doc, seen.front.as_ref()) {
        let own = [Format::Gsd, Format::Autopilot, Format::DebussyMaster, Format::DebussyPhase];
        found.push((format, if own.contains(&format) { OWN_SHAPE } else { GENERAL_SHAPE }, vec![why]));
    }
    found.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
    let Some((format, score, reasons)) = found.first().cloned() else { return Ok(None) };
    let close = |(other, theirs, _): &&(Format, u8, Vec<&str>)| {
        score - theirs < MARGIN && layout(*other, doc) != layout(format, doc)
    };
    let rivals: Vec<Format> = found.iter().skip(1).filter(close).map(|(other, ..)| *other).collect();
    if !rivals.is_empty() {
        let formats = std::iter::once(format).chain(rivals).collect();
        return Err(NoPlan::Ambiguous { file: name.to_owned(), formats });
    }
    let others = found.iter().skip(1).map(|(other, score, _)| (*other, *score)).collect();
    let reasons = reasons.into_iter().map(str::to_owned).collect();
    Ok(Some((format, Recognition { score, reasons, others, told: false })))
}

/// How a format is cut into phases.
pub(crate) fn layout(format: Format, doc: &Doc<'_>) -> Layout {
    let phased = || if phased::shape(doc).is_some() { Layout::Phased } else { Layout::Alone };
    match format {
        Format::DebussyMaster => Layout::Master,
        Format::Cursor => Layout::Todos,
        Format::Prompt => Layout::Prompt,
        Format::Roadmap | Format::Phases => Layout::Phased,
        Format::SpecKit | Format::Conductor | Format::Stages | Format::AgentOs => phased(),
        Format::Gsd
        | Format::Autopilot
        | Format::DebussyPhase
        | Format::Tasks
        | Format::Checklist
        | Format::OpenSpec
        | Format::Kiro
        | Format::Bmad
        | Format::Backlog
        | Format::ExecPlan
        | Format::Ralphex
        | Format::Superpowers
        | Format::Native
        | Format::Json
        | Format::TaskMaster
        | Format::FeatureList
        | Format::RalphPrd
        | Format::Beads => Layout::Alone,
    }
}

// The general shapes, the surest first.
fn general(doc: &Doc<'_>, front: Option<&Front>) -> Option<(Format, &'static str)> {
    let keys = ["phase", "plan", "wave", "depends_on", "files_modified", "must_haves", "autonomous"];
    if front.is_some_and(|front| keys.iter().filter(|key| front.get(&[key]).is_some()).count() >= 2) {
        return Some((Format::Gsd, "front matter with phase, plan, wave or must_haves"));
    }
    if doc.opening(doc.all(), "task").is_some() {
        return Some((if front.is_some() { Format::Gsd } else { Format::Autopilot }, "<task> elements"));
    }
    if master::is_master(doc) {
        return Some((Format::DebussyMaster, "a table of phases with files or a status"));
    }
    if phase::is_debussy(doc) {
        return Some((Format::DebussyPhase, "a process wrapper, or gates and dependencies"));
    }
    if let Some(shape) = phased::shape(doc) {
        return Some((shape, "a heading for each phase"));
    }
    if tasks::has_headings(doc, doc.all()) {
        return Some((Format::Tasks, "headings that name tasks"));
    }
    if doc.lines.iter().any(tasks::is_box) || tasks::has_section(doc, doc.all()) {
        return Some((Format::Checklist, "check boxes"));
    }
    prompt::is_prompt(doc).then_some((Format::Prompt, "words that say how it ends or is verified"))
}
