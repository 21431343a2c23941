//! Gates and checks: a phase is done when something says so that could also have said no.

use regex::Regex;

use super::{Circumstances, Code, Findings, known};
use crate::command::{always_passes, is_idle};
use crate::judge::Judge;
use crate::model::{Check, Format, Gate, Phase, Plan};

pub(super) fn check(plan: &Plan, around: &Circumstances<'_>, found: &mut Findings<'_>) {
    for gate in &plan.gates {
        one(gate, None, around, found);
    }
    for phase in &plan.phases {
        for gate in &phase.gates {
            one(gate, Some(&phase.id), around, found);
        }
        for criterion in phase.all_criteria().chain(phase.all_verify()) {
            for check in &criterion.checks {
                let at = if criterion.at.line > 0 { criterion.at } else { phase.at };
                if let Judge::Matches(pattern) = &check.judge
                    && Regex::new(pattern).is_err()
                {
                    let message = format!("{pattern:?} is no regular expression");
                    found.add(
                        Code::BadPattern,
                        at,
                        Some(&phase.id),
                        message,
                        "put the pattern right".to_owned(),
                    );
                } else if !decides(check) {
                    let message = format!("`{}` always passes", check.run);
                    let fix = "leave out what makes it pass (such as || true), so that its exit code says something".to_owned();
                    found.add(Code::CheckDecidesNothing, at, Some(&phase.id), message, fix);
                }
            }
        }
        if !phase.status.is_over() && !is_decided(plan, phase, around) {
            nothing_decides(plan, phase, found);
        }
    }
}

// A gate is judged by its exit code, whatever else is expected of it.
fn one(gate: &Gate, phase: Option<&str>, around: &Circumstances<'_>, found: &mut Findings<'_>) {
    let name = &gate.name;
    match &gate.run {
        None if gate.manual || known(&around.named, gate).is_some() => {}
        None => {
            let message = format!("gate {name:?} has no command");
            let key = if is_bare(name) { name.clone() } else { format!("{name:?}") };
            let fix = format!(
                "write its command behind it ({name}: … (command: `…`)), or say [gates.{key}] with run = \"…\" or manual = true in segue.toml"
            );
            found.add(Code::GateWithoutCommand, gate.at, phase, message, fix);
        }
        Some(run) if is_idle(run) => {
            let message = format!("gate {name:?} only says something: `{run}`");
            found.add(
                Code::GateDecidesNothing,
                gate.at,
                phase,
                message,
                "give it a command that can fail".to_owned(),
            );
        }
        Some(run) if always_passes(run) => {
            let message = format!("gate {name:?} always passes: `{run}`");
            let fix = "leave out what makes it pass (such as || true)".to_owned();
            found.add(Code::GateDecidesNothing, gate.at, phase, message, fix);
        }
        Some(_) => {}
    }
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn decides(check: &Check) -> bool {
    match check.judge {
        Judge::Exit(_) | Judge::ExitNot(_) => !always_passes(&check.run),
        Judge::Told(_)
        | Judge::Count(_)
        | Judge::AtLeast(_)
        | Judge::AtMost(_)
        | Judge::Matches(_)
        | Judge::Contains(_) => !is_idle(&check.run),
    }
}

fn is_decided(plan: &Plan, phase: &Phase, around: &Circumstances<'_>) -> bool {
    let gated = around.gated || !plan.gates.is_empty() || !phase.gates.is_empty();
    let checked = || {
        phase.all_criteria().chain(phase.all_verify()).flat_map(|criterion| &criterion.checks).any(decides)
    };
    gated || checked() || phase.tasks.iter().any(|task| task.manual)
}

fn nothing_decides(plan: &Plan, phase: &Phase, found: &mut Findings<'_>) {
    // A phase whose file is missing has one thing wrong with it, not two.
    if plan.oddities.iter().any(|odd| odd.at == phase.at) {
        return;
    }
    let message = format!("nothing decides whether phase {} is done", phase.id);
    let fix = "give it gates with commands, or say [[gate]] in segue.toml for all of them".to_owned();
    found.add(Code::MissingGates, phase.at, Some(&phase.id), message, fix);
    if plan.format == Format::Prompt {
        found.lower();
    }
}
