//! A folder of plans: a master plan, or one file for each phase.

use super::{Files, NoPlan, Reading, phase, read_plan, shape, source, text};
use crate::ids;
use crate::model::{Format, Plan};
use crate::text::{Doc, Front, join};

/// How many files of a folder are looked at.
const MOST_FILES: usize = 1_000;

/// Reads the plan that lies in a folder, in its files and those one folder deeper.
///
/// # Errors
/// There is no plan in it.
pub fn read_folder(dir: &str, files: &dyn Files) -> Result<Plan, NoPlan> {
    let names = names(dir, files);
    let mut merged = Plan { format: Format::Gsd, title: dir.to_owned(), ..Plan::default() };
    let mut single: Option<(String, Vec<u8>)> = None;
    for name in names {
        let Some(bytes) = files.read(&name) else { continue };
        let Ok(content) = text(&name, &bytes) else { continue };
        if super::native::is_native(&content) {
            return read_plan(&name, &bytes, files);
        }
        if !name.ends_with(".md") {
            continue;
        }
        let doc = Doc::new(&content);
        match shape(&doc) {
            Some(Format::DebussyMaster) => return read_plan(&name, &bytes, files),
            Some(Format::Gsd | Format::Autopilot | Format::DebussyPhase) if !is_account(&doc) => {
                let file = u32::try_from(merged.files.len()).unwrap_or(u32::MAX);
                let before = merged.phases.len();
                phase::read_alone(&Reading { doc: &doc, file, offset: 0 }, &mut merged);
                if merged.phases.last().is_some_and(|phase| phase.tasks.is_empty()) {
                    merged.phases.truncate(before);
                } else {
                    merged.files.push(source(&name, &doc));
                    if let Ok(raw) = std::str::from_utf8(&bytes) {
                        super::assign::boxes_of(&mut merged, file, raw, &doc);
                    }
                }
            }
            Some(_) if single.is_none() => single = Some((name, bytes)),
            _ => {}
        }
    }
    if merged.phases.is_empty() {
        let (name, bytes) = single.ok_or_else(|| NoPlan::NoStructure(dir.to_owned()))?;
        return read_plan(&name, &bytes, files);
    }
    merged.title = dir.to_owned();
    merged.phases.iter_mut().for_each(|phase| phase.alone = false);
    whole_ids(&mut merged);
    Ok(merged)
}

// Files first, then those of the folders, each in order.
fn names(dir: &str, files: &dyn Files) -> Vec<String> {
    let sorted = |dir: &str| {
        let mut names = files.list(dir);
        names.sort();
        names
            .into_iter()
            .filter(|name| !name.starts_with('.'))
            .map(|name| join(dir, &name))
            .collect::<Vec<_>>()
    };
    let is_plan = |name: &String| name.ends_with(".md") || name.ends_with(".toml");
    let (own, folders): (Vec<String>, Vec<String>) = sorted(dir).into_iter().partition(is_plan);
    let deeper = folders.iter().filter(|name| !name.rsplit('/').next().unwrap_or("").contains('.'));
    own.into_iter()
        .chain(deeper.flat_map(|name| sorted(name).into_iter().filter(is_plan)))
        .take(MOST_FILES)
        .collect()
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
