//! Several plans in a folder as one plan: one after the other in the order of their names, finished ones marked.

use std::collections::BTreeMap;

use super::{Files, NoPlan, read_plan};
use crate::model::{Criterion, Format, Phase, Plan, Status};
use crate::text::join;

/// A plan file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// Its path.
    pub path: String,
    /// Why it is finished, by the marks of its format; `None` when it is not.
    pub finished: Option<String>,
}

/// Folders that finished plans are moved to.
const FINISHED: [&str; 4] = ["completed", "done", "archive", "archived"];

/// Documents that stand beside plans.
const DOCUMENTS: [&str; 14] = [
    "readme.md",
    "requirements.md",
    "design.md",
    "spec.md",
    "proposal.md",
    "research.md",
    "product.md",
    "tech.md",
    "structure.md",
    "data-model.md",
    "quickstart.md",
    "changelog.md",
    "agents.md",
    "claude.md",
];

impl PlanFile {
    pub(super) fn new(path: String, states: &BTreeMap<String, String>) -> Self {
        let folder = path.split('/').find(|part| FINISHED.contains(&part.to_lowercase().as_str()));
        let moved = folder.map(|folder| format!("it lies in {folder}"));
        let state = states.get(&stem(&path)).filter(|state| Status::read(state).is_some_and(Status::is_over));
        let finished = moved.or_else(|| state.map(|state| format!("sprint-status.yaml says {state}")));
        Self { path, finished }
    }
}

/// Whether a file is a document beside plans, by its name.
pub(super) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    DOCUMENTS.contains(&name.as_str()) || name.ends_with("summary.md")
}

/// The states of stories in `sprint-status.yaml`, of the folder or the one above.
pub(super) fn sprint(dir: &str, files: &dyn Files) -> BTreeMap<String, String> {
    let near = [join(dir, "sprint-status.yaml"), join(dir, "../sprint-status.yaml")];
    let Some(bytes) = near.iter().find_map(|path| files.read(path)) else { return BTreeMap::new() };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let entry = |line: &str| {
        let (key, value) = line.split('#').next()?.split_once(':')?;
        Some((key.trim().to_owned(), value.trim().trim_matches(['"', '\'']).to_owned()))
    };
    text.lines().filter_map(entry).filter(|(_, value)| !value.is_empty()).collect()
}

/// Reads the plans of a folder as one.
///
/// # Errors
/// None of them is a plan.
pub(super) fn read(dir: &str, plans: &[PlanFile], files: &dyn Files) -> Result<Plan, NoPlan> {
    let mut merged = Plan { title: dir.to_owned(), ..Plan::default() };
    let mut read: Vec<(&PlanFile, Plan)> = Vec::new();
    for file in plans {
        let plan = files.read(&file.path).and_then(|bytes| read_plan(&file.path, &bytes, files).ok());
        read.extend(plan.filter(|plan| plan.format != Format::Prompt).map(|plan| (file, plan)));
    }
    let [(_, first), ..] = read.as_slice() else { return Err(NoPlan::NoStructure(dir.to_owned())) };
    (merged.format, merged.recognition) = (first.format, first.recognition.clone());
    // One plan is that plan.
    if read.len() == 1
        && let Some((file, mut plan)) = read.pop()
    {
        finish(&mut plan, file);
        return Ok(plan);
    }
    let mut before: Option<String> = None;
    for (file, mut plan) in read {
        finish(&mut plan, file);
        before = append(&mut merged, plan, file, before);
    }
    Ok(merged)
}

fn finish(plan: &mut Plan, file: &PlanFile) {
    if file.finished.is_some() {
        plan.phases.iter_mut().for_each(|phase| phase.status = Status::Completed);
    }
}

// Adds a plan behind the others, and gives the id of its last phase.
fn append(merged: &mut Plan, mut plan: Plan, file: &PlanFile, before: Option<String>) -> Option<String> {
    let shift = u32::try_from(merged.files.len()).unwrap_or(u32::MAX);
    let name = stem(&file.path);
    let own_ids = plan.format == Format::Backlog;
    let single = plan.phases.len() == 1;
    let gates = std::mem::take(&mut plan.gates);
    for mut phase in std::mem::take(&mut plan.phases) {
        let longer = |id: &str| if single { name.clone() } else { format!("{name}/{id}") };
        if !own_ids {
            phase.id = longer(&phase.id);
            phase.needs = phase.needs.iter().map(|need| longer(need)).collect();
            if phase.needs.is_empty() || single {
                phase.needs = before.iter().cloned().collect();
            }
        }
        phase.gates.extend(gates.iter().cloned());
        phase.alone = false;
        move_file(&mut phase, shift);
        merged.phases.push(phase);
    }
    for odd in &mut plan.oddities {
        odd.at.file += shift;
    }
    merged.oddities.append(&mut plan.oddities);
    if let Some(source) = plan.files.first_mut() {
        source.header = std::mem::take(&mut plan.header);
    }
    plan.sections.iter_mut().for_each(|section| section.at.file += shift);
    merged.sections.append(&mut plan.sections);
    plan.items.iter_mut().for_each(|item| item.at.file += shift);
    merged.items.append(&mut plan.items);
    merged.files.append(&mut plan.files);
    merged.documents.append(&mut plan.documents);
    merged.phases.last().map(|phase| phase.id.clone())
}

// Numbers the file of everything in a phase anew.
fn move_file(phase: &mut Phase, by: u32) {
    let criteria = |list: &mut Vec<Criterion>| list.iter_mut().for_each(|one| one.at.file += by);
    phase.at.file += by;
    phase.needs_at.file += by;
    phase.gates.iter_mut().for_each(|gate| gate.at.file += by);
    phase.items.iter_mut().for_each(|item| item.at.file += by);
    criteria(&mut phase.criteria);
    criteria(&mut phase.verify);
    for task in &mut phase.tasks {
        task.at.file += by;
        task.items.iter_mut().for_each(|item| item.at.file += by);
        criteria(&mut task.criteria);
        criteria(&mut task.verify);
    }
}

// What a plan is called: its folder where every plan has the same name, else its file.
fn stem(path: &str) -> String {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = dir.rsplit('/').next().unwrap_or("");
    if matches!(name, "tasks.md" | "plan.md" | "tasks.json") && !folder.is_empty() {
        return folder.to_owned();
    }
    let name = name.strip_suffix(".md").unwrap_or(name);
    name.strip_suffix(".story").unwrap_or(name).to_owned()
}

/// A key by which 2 comes before 10.
pub(super) fn natural(path: &str) -> Vec<(u64, String)> {
    let mut key = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let words = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(words);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        key.push((0, word.to_lowercase()));
        key.push((number.parse().unwrap_or(u64::MAX), String::new()));
        rest = after;
    }
    key
}
