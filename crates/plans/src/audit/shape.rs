//! Files, ids, dependencies and notes.

use std::collections::BTreeMap;

use super::{Circumstances, Code, Findings};
use crate::graph::Graph;
use crate::ids::canonical;
use crate::model::{OddityKind, Phase, Place, Plan};
use crate::text::beside;

pub(super) fn check(plan: &Plan, around: &Circumstances<'_>, found: &mut Findings<'_>) {
    oddities(plan, found);
    duplicates(plan, found);
    dependencies(plan, found);
    notes(plan, around, found);
    open_in_finished(plan, found);
    for phase in plan.phases.iter().filter(|phase| phase.tasks.is_empty() && !phase.status.is_over()) {
        let linked = plan.oddities.iter().any(|odd| odd.at == phase.at);
        if !linked {
            let message = format!("there is no task in phase {}", phase.id);
            let fix = "write down what is to be done in it, or take it out".to_owned();
            found.add(Code::EmptyPhase, phase.at, Some(&phase.id), message, fix);
        }
    }
}

fn oddities(plan: &Plan, found: &mut Findings<'_>) {
    for odd in &plan.oddities {
        let phase = plan.phases.iter().find(|phase| phase.at == odd.at).map(|phase| phase.id.as_str());
        let (code, message, fix) = match odd.kind {
            OddityKind::MissingFile => (
                Code::MissingFile,
                format!("{} is not there", odd.what),
                "write it, or put the link right".to_owned(),
            ),
            OddityKind::UnreadableFile => (
                Code::UnreadableFile,
                format!("{} is empty or no text", odd.what),
                "write the phase down in it".to_owned(),
            ),
            OddityKind::UnclosedTag => (
                Code::UnclosedTag,
                format!("<{}> has no end", odd.what),
                format!("close it with </{}>, so that it is clear what belongs to it", odd.what),
            ),
            OddityKind::NotRead => (
                Code::NotRead,
                odd.what.clone(),
                "move them to where the plan has its work, or leave them out".to_owned(),
            ),
        };
        found.add(code, odd.at, phase, message, fix);
    }
}

// What a plan calls finished is not run again, so open items of it are said.
fn open_in_finished(plan: &Plan, found: &mut Findings<'_>) {
    for phase in plan.phases.iter().filter(|phase| phase.status.is_over() && !plan.format.has_own_tasks()) {
        let open: Vec<&crate::items::Item> = phase.all_items().filter(|item| item.is_open()).collect();
        let Some(first) = open.first() else { continue };
        let lines: Vec<String> = open.iter().take(12).map(|item| item.at.line.to_string()).collect();
        let message = format!(
            "phase {} is finished and has {} open items: lines {}",
            phase.id,
            open.len(),
            lines.join(", ")
        );
        let fix = "tick them, or change the status of the phase to run it".to_owned();
        found.add(Code::OpenInFinished, first.at, Some(&phase.id), message, fix);
    }
}

fn duplicates(plan: &Plan, found: &mut Findings<'_>) {
    let mut first: BTreeMap<String, Place> = BTreeMap::new();
    for phase in &plan.phases {
        match first.get(&canonical(&phase.id)) {
            Some(at) => {
                let message =
                    format!("phase {} is there already, in {}:{}", phase.id, plan.file(*at), at.line);
                found.add(
                    Code::DuplicateId,
                    phase.at,
                    Some(&phase.id),
                    message,
                    "give one of them another id".to_owned(),
                );
            }
            None => drop(first.insert(canonical(&phase.id), phase.at)),
        }
        let mut tasks: BTreeMap<String, Place> = BTreeMap::new();
        for task in &phase.tasks {
            match tasks.get(&canonical(&task.id)) {
                Some(at) => {
                    let message = format!(
                        "task {} of phase {} is there already, in line {}",
                        task.id, phase.id, at.line
                    );
                    found.add(
                        Code::DuplicateId,
                        task.at,
                        Some(&phase.id),
                        message,
                        "give one of them another id".to_owned(),
                    );
                }
                None => drop(tasks.insert(canonical(&task.id), task.at)),
            }
        }
    }
}

fn dependencies(plan: &Plan, found: &mut Findings<'_>) {
    let graph = Graph::new(plan);
    let id = |at: usize| plan.phases.get(at).map_or("?", |phase| phase.id.as_str());
    let place = |phase: &Phase| if phase.needs_at.line > 0 { phase.needs_at } else { phase.at };
    let known: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
    outside(plan, &graph, found);
    for (at, need) in &graph.unknown {
        let Some(phase) = plan.phases.get(*at) else { continue };
        if !phase.alone {
            let message = format!("phase {} needs {need}, and there is no such phase", phase.id);
            let fix = format!("name one of {}, or leave it out", some(&known));
            found.add(Code::UnknownDependency, place(phase), Some(&phase.id), message, fix);
        }
    }
    for cycle in graph.cycles() {
        let Some(phase) = cycle.iter().min().and_then(|at| plan.phases.get(*at)) else { continue };
        let mut names: Vec<&str> = cycle.iter().map(|at| id(*at)).collect();
        names.extend(names.first().copied());
        let message = format!("phases need one another in a circle: {}", names.join(" needs "));
        found.add(
            Code::Cycle,
            place(phase),
            Some(&phase.id),
            message,
            "take one of these dependencies out".to_owned(),
        );
    }
    for at in graph.unreachable() {
        let Some(phase) = plan.phases.get(at) else { continue };
        let message = format!("phase {} can never begin: what it needs cannot be done", phase.id);
        let fix = "put the dependencies before it right".to_owned();
        found.add(Code::Unreachable, place(phase), Some(&phase.id), message, fix);
    }
}

// What a phase that was read alone needs may well be there.
fn outside(plan: &Plan, graph: &Graph, found: &mut Findings<'_>) {
    for (at, phase) in plan.phases.iter().enumerate().filter(|(_, phase)| phase.alone) {
        let needs: Vec<&str> =
            graph.unknown.iter().filter(|(of, _)| *of == at).map(|(_, need)| need.as_str()).collect();
        if !needs.is_empty() {
            let message = format!("phase {} needs {}, not in this file", phase.id, some(&needs));
            let fix = "give the master plan or the folder instead, and it is checked as well".to_owned();
            found.add(Code::OutsideDependency, phase.needs_at, Some(&phase.id), message, fix);
        }
    }
}

fn some(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(12).copied().collect();
    if names.len() > shown.len() { format!("{} …", shown.join(", ")) } else { shown.join(", ") }
}

fn notes(plan: &Plan, around: &Circumstances<'_>, found: &mut Findings<'_>) {
    let written: Vec<&String> = plan.phases.iter().flat_map(|phase| &phase.notes_out).collect();
    for phase in plan.phases.iter().filter(|phase| !phase.status.is_over()) {
        for note in &phase.notes_in {
            let here =
                around.files.size(note).or_else(|| around.files.size(&beside(plan.file(phase.at), note)));
            if here.is_none() && !written.contains(&note) {
                let message = format!(
                    "phase {} must read {note}, which is not there and which no phase writes",
                    phase.id
                );
                let fix = "put the name right, or let an earlier phase write it".to_owned();
                found.add(Code::MissingNote, phase.at, Some(&phase.id), message, fix);
            }
        }
    }
}
