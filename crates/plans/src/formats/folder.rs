//! A folder: the plan of a feature, a master plan, the phases of one plan, or several plans one after the other.

use super::collection::{self, PlanFile};
use super::{Files, NoPlan, Reading, order, phase, read_plan, recognise, source, text};
use crate::ids;
use crate::model::{Format, Plan, Status};
use crate::text::{Doc, Front, join};

/// How many files of a folder are looked at.
const MOST_FILES: usize = 1_000;

/// Files that are the plan of the folder they lie in, the surest first.
const TASK_FILES: [&str; 6] =
    ["tasks.md", "issues.jsonl", "tasks.json", "tasks/tasks.json", "feature_list.json", "prd.json"];

/// The file that is the plan of a folder: `tasks.md`, or `plan.md` beside a specification.
pub(super) fn task_file(dir: &str, files: &dyn Files) -> Option<String> {
    let there = files.list(dir);
    let has = |name: &str| there.iter().any(|own| own == name);
    let found = TASK_FILES.iter().find(|name| {
        has(name) || (name.contains('/') && has("tasks") && files.size(&join(dir, name)).is_some())
    });
    let track = || (has("plan.md") && (has("spec.md") || has("metadata.json"))).then_some(&"plan.md");
    found.or_else(track).map(|name| join(dir, name))
}

/// Reads the plan that lies in a folder, in its files and those one folder deeper.
///
/// # Errors
/// There is no plan in it.
pub fn read_folder(dir: &str, files: &dyn Files) -> Result<Plan, NoPlan> {
    if let Some(name) = task_file(dir, files)
        && let Some(bytes) = files.read(&name)
    {
        return read_plan(&name, &bytes, files);
    }
    let names = names(dir, files);
    let mut merged = Plan { format: Format::Gsd, title: dir.to_owned(), ..Plan::default() };
    for name in &names {
        let Some(bytes) = files.read(name) else { continue };
        let Ok(content) = text(name, &bytes) else { continue };
        if super::native::is_native(&content) {
            return read_plan(name, &bytes, files);
        }
        if !name.ends_with(".md") {
            continue;
        }
        let doc = Doc::new(&content);
        match recognise::recognise(name, &doc, None).ok().flatten().map(|(format, _)| format) {
            Some(Format::DebussyMaster) => return read_plan(name, &bytes, files),
            Some(Format::Gsd | Format::Autopilot | Format::DebussyPhase) if !is_account(&doc) => {
                add_phase(&mut merged, name, &doc, &bytes, files);
            }
            _ => {}
        }
    }
    if merged.phases.is_empty() {
        return collection::read(dir, &plans(dir, files), files);
    }
    merged.title = dir.to_owned();
    merged.phases.iter_mut().for_each(|phase| phase.alone = false);
    whole_ids(&mut merged);
    order::keep(&mut merged.phases);
    Ok(merged)
}

// One file as a phase of the plan that the folder is.
fn add_phase(merged: &mut Plan, name: &str, doc: &Doc<'_>, bytes: &[u8], files: &dyn Files) {
    let file = u32::try_from(merged.files.len()).unwrap_or(u32::MAX);
    let before = merged.phases.len();
    phase::read_alone(&Reading { doc, file, offset: 0 }, merged);
    if merged.phases.last().is_some_and(|phase| phase.tasks.is_empty()) {
        merged.phases.truncate(before);
        return;
    }
    merged.files.push(source(name, doc));
    super::assign::boxes_of(merged, file, std::str::from_utf8(bytes).unwrap_or_default(), doc);
    // GSD writes what was done beside the plan.
    let summary = name.strip_suffix("PLAN.md").map(|stem| format!("{stem}SUMMARY.md"));
    if summary.is_some_and(|summary| files.size(&summary).is_some())
        && let Some(phase) = merged.phases.last_mut()
    {
        phase.status = Status::Completed;
    }
}

/// The plans in a folder in the order in which they are run, with those that are finished marked.
pub fn plans(dir: &str, files: &dyn Files) -> Vec<PlanFile> {
    let states = collection::sprint(dir, files);
    let mut found: Vec<PlanFile> = Vec::new();
    for folder in folders(dir, files) {
        if let Some(path) = task_file(&folder, files) {
            found.push(PlanFile::new(path, &states));
        }
    }
    let taken: Vec<String> = found.iter().map(|plan| plan.path.clone()).collect();
    let in_feature = |name: &str| {
        taken.iter().any(|path| {
            path.rsplit_once('/').map(|(dir, _)| dir) == name.rsplit_once('/').map(|(dir, _)| dir)
        })
    };
    let rest = names(dir, files).into_iter().filter(|name| name.ends_with(".md") && !in_feature(name));
    found.extend(rest.filter(|name| !collection::is_document(name)).map(|name| PlanFile::new(name, &states)));
    found.sort_by_cached_key(|plan| collection::natural(&plan.path));
    found
}

// The names in a folder, in order.
fn sorted(dir: &str, files: &dyn Files) -> Vec<String> {
    let mut names = files.list(dir);
    names.sort();
    names.into_iter().filter(|name| !name.starts_with('.')).map(|name| join(dir, &name)).collect()
}

fn folders(dir: &str, files: &dyn Files) -> Vec<String> {
    let is_folder = |name: &String| !name.rsplit('/').next().unwrap_or("").contains('.');
    sorted(dir, files).into_iter().filter(is_folder).take(MOST_FILES).collect()
}

// Files first, then those of the folders, each in order.
fn names(dir: &str, files: &dyn Files) -> Vec<String> {
    let is_plan = |name: &String| name.ends_with(".md") || name.ends_with(".toml");
    let own = sorted(dir, files).into_iter().filter(is_plan);
    let deeper =
        folders(dir, files).into_iter().flat_map(|name| sorted(&name, files).into_iter().filter(is_plan));
    own.chain(deeper).take(MOST_FILES).collect()
}

// What was done is written with the same front matter as what is to be done.
fn is_account(doc: &Doc<'_>) -> bool {
    let keys = [
        "completed",
        "duration",
        "metrics",
        "key-files",
        "key-decisions",
        "key_decisions",
        "verified",
        "score",
    ];
    Front::read(doc).is_some_and(|front| front.get(&keys).is_some())
}

// In a folder of one phase, plans call one another by their last number.
fn whole_ids(plan: &mut Plan) {
    let known: Vec<String> = plan.phases.iter().map(|phase| phase.id.clone()).collect();
    for phase in &mut plan.phases {
        let group = phase.id.rsplit_once('-').map(|(group, _)| group.to_owned());
        for need in &mut phase.needs {
            let is_known = |id: &str| known.iter().any(|known| ids::same(known, id));
            let longer = group.as_ref().map(|group| format!("{group}-{need}"));
            if let Some(longer) = longer.filter(|longer| !is_known(need) && is_known(longer)) {
                *need = longer;
            }
        }
    }
}
