//! A phase in parts: what each part has of it, and the plan in which the parts stand in its place.
//!
//! Every part is run and verified by itself. What the phase as a whole is held to is asked of its last part, or, of parts
//! that run side by side, by whoever brings them together.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::estimate::{SubPhase, letters};
use crate::ids::{canonical, same};
use crate::model::{Phase, Plan, Status, Task};
use crate::named::{task_named, tasks_of_files};
use crate::report::SplitDetails;

/// A part of a phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The phase's id with a letter: 20a.
    pub id: String,
    /// What it is called.
    #[serde(default)]
    pub title: String,
    /// The tasks of the phase that it has, by id.
    #[serde(default)]
    pub tasks: Vec<String>,
    /// The files that it changes.
    #[serde(default)]
    pub files: Vec<String>,
}

/// The parts that an agent asks for, and what had to be changed about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The parts; every open task of the phase is in exactly one of them.
    pub parts: Vec<Part>,
    /// What was not as it was asked for, in words.
    pub notes: Vec<String>,
}

/// The parts that an agent asks for. Tasks are named by id, number, title or file; a part without any is refused, and
/// tasks in no part go to the last one.
pub fn asked_for(phase: &Phase, details: &SplitDetails) -> Asked {
    let open: Vec<&Task> = open(phase).collect();
    let mut asked = Asked::default();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for one in &details.recommended_sub_phases {
        let by_file = if one.tasks.is_empty() { tasks_of_files(&open, &one.files) } else { Vec::new() };
        let by_name = one.tasks.iter().filter_map(|name| task_named(&open, name));
        let by_title = task_named(&open, &one.title).filter(|_| one.tasks.is_empty() && by_file.is_empty());
        let named = by_name.chain(by_file.iter().copied()).chain(by_title);
        let tasks: Vec<String> =
            named.filter(|task| taken.insert(canonical(&task.id))).map(|task| task.id.clone()).collect();
        if tasks.is_empty() && !open.is_empty() {
            let title = if one.title.is_empty() { one.id.as_str() } else { one.title.as_str() };
            asked.notes.push(format!("the part {title:?} has no open task of the phase and is left out"));
            continue;
        }
        asked.parts.push(Part {
            id: String::new(),
            title: one.title.clone(),
            tasks,
            files: one.files.clone(),
        });
    }
    let left = open.iter().filter(|task| !taken.contains(&canonical(&task.id))).map(|task| task.id.clone());
    let left: Vec<String> = left.collect();
    asked.parts = named(phase, asked.parts);
    if let Some(last) = asked.parts.last_mut().filter(|_| !left.is_empty()) {
        asked.notes.push(format!("tasks in no part go to the last one, {}: {}", last.id, left.join(", ")));
        last.tasks.extend(left);
    }
    asked
}

/// The parts that an estimate proposes.
pub fn proposed(phase: &Phase, split: &[SubPhase]) -> Vec<Part> {
    let part = |one: &SubPhase| Part {
        id: String::new(),
        title: String::new(),
        tasks: one.tasks.clone(),
        files: one.files.clone(),
    };
    named(phase, split.iter().map(part).collect())
}

fn open(phase: &Phase) -> impl Iterator<Item = &Task> {
    phase.tasks.iter().filter(|task| !task.status.is_over())
}

// Ids follow the phase's own, whatever an agent called them; a part without anything to do is none.
fn named(phase: &Phase, parts: Vec<Part>) -> Vec<Part> {
    let kept = parts.into_iter().filter(|part| !part.tasks.is_empty() || !part.title.is_empty());
    let name = |(at, part): (usize, Part)| {
        let first = part.tasks.first().and_then(|id| phase.tasks.iter().find(|task| same(&task.id, id)));
        let title = match (part.title.is_empty(), first) {
            (false, _) | (true, None) => part.title,
            (true, Some(task)) => task.title.clone(),
        };
        Part { id: format!("{}{}", phase.id, letters(at)), title, ..part }
    };
    kept.enumerate().map(name).collect()
}

/// Which part answers for the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// The last one, which comes after the others.
    Last,
    /// None: they run side by side.
    None,
}

/// The plan with the parts of each phase that is split, by its id, in its place.
#[must_use]
pub fn expanded(plan: &Plan, split: &BTreeMap<String, Vec<Part>>, answers: impl Fn(&str) -> Answers) -> Plan {
    let parts_of = |id: &str| {
        split.iter().find(|(whole, parts)| same(whole, id) && !parts.is_empty()).map(|(_, parts)| parts)
    };
    let mut expanded = plan.clone();
    expanded.phases = Vec::with_capacity(plan.phases.len());
    for phase in &plan.phases {
        let needs = phase.needs.iter().flat_map(|need| match parts_of(need) {
            Some(parts) => parts.iter().map(|part| part.id.clone()).collect(),
            None => vec![need.clone()],
        });
        let phase = Phase { needs: needs.collect(), ..phase.clone() };
        match parts_of(&phase.id) {
            None => expanded.phases.push(phase),
            Some(parts) => {
                let last = parts.len() - 1;
                let answers = answers(&phase.id);
                let role = |at: usize| match answers {
                    _ if at < last => Role::One,
                    Answers::Last => Role::Answers,
                    Answers::None => Role::LastBeside,
                };
                let mut pieces: Vec<Phase> =
                    parts.iter().enumerate().map(|(at, part)| piece(&phase, part, role(at))).collect();
                in_order(&phase, &mut pieces);
                expanded.phases.append(&mut pieces);
            }
        }
    }
    expanded
}

// Where a phase marks what may be done side by side (`[P]`), any other task keeps its place.
fn in_order(whole: &Phase, pieces: &mut [Phase]) {
    if !whole.tasks.iter().any(|task| task.beside) {
        return;
    }
    let free: Vec<bool> = pieces.iter().map(|piece| piece.tasks.iter().all(|task| task.beside)).collect();
    let ids: Vec<String> = pieces.iter().map(|piece| piece.id.clone()).collect();
    for (at, piece) in pieces.iter_mut().enumerate() {
        let before = (0..at).filter(|before| !(free[at] && free[*before]));
        piece.needs.extend(before.map(|before| ids[before].clone()));
    }
}

/// What a part is held to beside its own tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The gates of the phase.
    One,
    /// Those, and what is for a person: the last of parts that run side by side.
    LastBeside,
    /// All that the phase is held to.
    Answers,
}

fn piece(whole: &Phase, part: &Part, role: Role) -> Phase {
    let task = |id: &String| {
        let known = whole.tasks.iter().find(|task| same(&task.id, id)).cloned();
        known.unwrap_or_else(|| Task { at: whole.at, id: id.clone(), title: id.clone(), ..Task::default() })
    };
    let tasks: Vec<Task> = part.tasks.iter().map(task).collect();
    let mut files = part.files.clone();
    files.extend(tasks.iter().flat_map(|task| task.files.clone()).filter(|file| !part.files.contains(file)));
    let mut piece = Phase {
        id: part.id.clone(),
        title: if part.title.is_empty() { whole.title.clone() } else { part.title.clone() },
        status: Status::Pending,
        tasks,
        files,
        ..whole.clone()
    };
    if role != Role::Answers {
        piece.criteria.clear();
        piece.verify.clear();
        piece.notes_out.clear();
        piece.must_have = Default::default();
    }
    if role == Role::One {
        piece.autonomous = true;
        piece.gates.retain(|gate| !gate.manual);
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Statuses, ready};
    use crate::model::Criterion;
    use crate::report::SubPhaseReport;

    fn plan() -> Plan {
        let task = |id: &str| Task { id: id.to_owned(), title: format!("do {id}"), ..Task::default() };
        let two = Phase {
            needs: vec!["1".to_owned()],
            tasks: ["1", "2", "3", "4"].map(task).into(),
            criteria: vec![Criterion { text: "all of it".to_owned(), ..Criterion::default() }],
            notes_out: vec!["notes/2.md".to_owned()],
            ..Phase::new("2")
        };
        let three = Phase { needs: vec!["2".to_owned()], ..Phase::new("3") };
        Plan { phases: vec![Phase::new("1"), two, three], ..Plan::default() }
    }

    fn asked(parts: &[(&str, &[&str])]) -> SplitDetails {
        let part = |(title, tasks): &(&str, &[&str])| SubPhaseReport {
            id: "x".to_owned(),
            title: (*title).to_owned(),
            tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
            files: Vec::new(),
        };
        SplitDetails { reason: "large".to_owned(), recommended_sub_phases: parts.iter().map(part).collect() }
    }

    #[test]
    fn p1_parts_are_lettered_and_have_every_task_once() {
        let asked = asked(&[("one", &["1", "do 2"]), ("two", &["2"]), ("three", &["do  3"])]);
        let Asked { parts, notes } = asked_for(&plan().phases[1], &asked);
        let seen: Vec<(&str, Vec<&str>)> =
            parts.iter().map(|p| (p.id.as_str(), p.tasks.iter().map(String::as_str).collect())).collect();
        assert_eq!(seen, [("2a", vec!["1", "2"]), ("2b", vec!["3", "4"])]);
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].contains("\"two\"") && notes[1].contains("2b: 4"), "{notes:?}");
    }

    #[test]
    fn p1_what_is_done_is_in_no_part_and_parts_may_name_files() {
        let mut phase = plan().phases.remove(1);
        phase.tasks[0].status = Status::Completed;
        phase.tasks[2].files = vec!["src/c.rs".to_owned()];
        let mut asked = asked(&[("one", &["task 2"]), ("by file", &[])]);
        asked.recommended_sub_phases[1].files = vec!["src/c.rs".to_owned()];
        let Asked { parts, notes } = asked_for(&phase, &asked);
        let seen: Vec<Vec<&str>> =
            parts.iter().map(|p| p.tasks.iter().map(String::as_str).collect()).collect();
        assert_eq!(seen, [vec!["2"], vec!["3", "4"]], "{notes:?}");
    }

    #[test]
    fn h2_parts_keep_the_order_of_tasks_that_are_not_marked_as_parallel() {
        let mut plan = plan();
        plan.phases[1].tasks.iter_mut().skip(1).for_each(|task| task.beside = true);
        let three = asked(&[("one", &["1"]), ("two", &["2"]), ("three", &["3", "4"])]);
        let parts = asked_for(&plan.phases[1], &three).parts;
        let plan = expanded(&plan, &BTreeMap::from([("2".to_owned(), parts)]), |_| Answers::None);
        let needs: Vec<String> = plan.phases[1..4].iter().map(|piece| piece.needs.join(" ")).collect();
        assert_eq!(needs, ["1", "1 2a", "1 2a"]);
    }

    #[test]
    fn p1_what_needs_a_split_phase_waits_for_all_of_its_parts() {
        let plan = plan();
        let three = asked(&[("one", &["1", "2"]), ("two", &["3"]), ("three", &["4"])]);
        let parts = asked_for(&plan.phases[1], &three).parts;
        let plan = expanded(&plan, &BTreeMap::from([("2".to_owned(), parts)]), |_| Answers::Last);
        let with = |over: &[&str]| -> Vec<String> {
            let statuses: Statuses = over.iter().map(|id| ((*id).to_owned(), Status::Completed)).collect();
            ready(&plan, &statuses)
        };
        assert_eq!(with(&[]), ["1"]);
        assert_eq!(with(&["1"]), ["2a", "2b", "2c"]);
        assert_eq!(with(&["1", "2a", "2b"]), ["2c"]);
        assert_eq!(with(&["1", "2a", "2b", "2c"]), ["3"]);
        let held: Vec<(usize, usize)> =
            plan.phases[1..4].iter().map(|phase| (phase.criteria.len(), phase.notes_out.len())).collect();
        assert_eq!(held, [(0, 0), (0, 0), (1, 1)], "the last part answers for the whole");
    }
}
