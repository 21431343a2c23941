//! `segue trust`, and the question that every command asks which executes: what a repository's files would run or widen
//! is listed and allowed once. Commands that only look never ask and never execute.

use std::io::{BufRead, IsTerminal, Write};

use segue_machine::{GateSpec, RunSpec};
use segue_plans::Plan;

use super::args::Trust;
use super::failure::Failure;
use super::open::Place;
use super::{out, plan};
use crate::config::{Flags, Layers};
use crate::git::Repo;
use crate::plan::PLAN_MARK;
use crate::trust::allowed::{self, Allowed};
use crate::trust::{self, Item, command_text, danger, inside_a_run, key_of, project};

/// What allows everything that is not a command with its own yes, for the processes of one call.
const VARIABLE: &str = "SEGUE_TRUST";

/// Makes sure that the user allowed what the project's files, and this plan, would run or widen.
///
/// # Errors
/// Exit 2 with the name of each thing that is not allowed, where nobody can be asked or the answer is no.
pub(super) fn require(at: &Place, flags: &Flags, plan: Option<&Plan>) -> Result<Vec<String>, Failure> {
    let items = items(at, &at.layers(flags)?, plan);
    require_all(at, items, flags.trust, None)
}

/// The same for a plan that is resumed.
pub(super) fn require_plan(
    at: &Place,
    flags: &Flags,
    plan: Option<&Plan>,
    id: &str,
) -> Result<Vec<String>, Failure> {
    let items = items(at, &at.layers(flags)?, plan);
    require_all(at, items, flags.trust, Some(id))
}

/// The same for a run that is resumed: what it was started with needs no second answer, what its journal adds does.
pub(super) fn require_again(
    at: &Place,
    layers: &Layers,
    spec: &RunSpec,
    id: &str,
    trust: bool,
) -> Result<(), Failure> {
    let mut items = items(at, layers, None);
    items.extend(of_spec(spec, &own_gates(layers)));
    require_all(at, items, trust, Some(id)).map(drop)
}

/// Remembers what a run was started with.
pub(super) fn remember(at: &Place, spec: &RunSpec, id: &str) {
    let Ok(layers) = at.layers(&Flags::default()) else { return };
    let items = items(at, &layers, None).into_iter().chain(of_spec(spec, &[]));
    // Without a state folder the resumed run asks again.
    let _ = allowed::grant(id, items.map(|item| item.text));
}

/// What a plan and the project's files hold.
pub(super) fn items(at: &Place, layers: &Layers, plan: Option<&Plan>) -> Vec<Item> {
    let mut items = project::items(layers, at.store().root());
    items.extend(plan.iter().flat_map(|plan| trust::plan::items(plan)));
    items
}

/// Allows what the user has just had written for them; a command that needs a yes of its own is still asked for.
pub(super) fn allow_written(at: &Place) -> Result<(), Failure> {
    if inside_a_run() {
        return Ok(());
    }
    let mut written = items(at, &at.layers(&Flags::default())?, None);
    written.retain(|item| item.own_yes.is_none());
    store(&key(at), &written)
}

/// The name of this repository in what is remembered.
pub(super) fn key(at: &Place) -> String {
    key_of(&at.dir, Repo::find(&at.dir).ok().as_ref())
}

// Gates of the user's own file, variables and flags.
fn own_gates(layers: &Layers) -> Vec<String> {
    let own = layers
        .values()
        .iter()
        .filter(|(_, entry)| !matches!(entry.from, crate::config::origin::Origin::Project(_)));
    let own: crate::config::layers::Values = own.map(|(path, entry)| (path.clone(), entry.clone())).collect();
    crate::config::configured_gates(&own).into_iter().map(|gate| command_text(&gate.run)).collect()
}

// What a journal says that a run executes: it may have come with the repository.
fn of_spec(spec: &RunSpec, own: &[String]) -> Vec<Item> {
    let gate = |gate: &GateSpec| Item::command(&gate.run, "the run's journal");
    let gates = spec.gates.iter().filter(|gate| !gate.manual).map(gate);
    let agents = spec.agents.iter().filter(|agent| !agent.allow.is_empty()).map(|agent| {
        let text = format!("agent {} may do in this run: {}", agent.name, agent.allow.join(", "));
        Item::new(text, "the run's journal")
    });
    gates.chain(agents).filter(|item| !own.contains(&item.text)).collect()
}

fn require_all(at: &Place, items: Vec<Item>, trust: bool, id: Option<&str>) -> Result<Vec<String>, Failure> {
    let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
    let inside = inside_a_run();
    // A phase was started by its plan, which has asked: only what was allowed then holds, whatever changed since.
    let of_plan = std::env::var(PLAN_MARK).ok().filter(|_| !inside);
    let key = key(at);
    let mut allowed = Allowed::read(&key, id);
    if let Some(plan) = &of_plan {
        allowed.granted.extend(Allowed::read(&key, Some(plan)).granted);
    }
    let missing = allowed.missing(&items);
    if missing.is_empty() {
        return Ok(texts);
    }
    let variable = std::env::var(VARIABLE).is_ok_and(|value| value == "1");
    if inside && (trust || variable) {
        let list = list(&missing);
        return Err(Failure::usage(format!(
            "--trust and {VARIABLE} are refused inside a run; not allowed:\n{list}"
        )));
    }
    let at_once = of_plan.is_none() && (trust || variable);
    let missing: Vec<Item> = missing.into_iter().filter(|item| !at_once || item.own_yes.is_some()).collect();
    if missing.is_empty() {
        return Ok(texts);
    }
    let asks = !at.json
        && !inside
        && of_plan.is_none()
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal();
    if asks && ask(&key, &missing)? {
        return Ok(texts);
    }
    Err(Failure::usage(refusal(&missing)))
}

fn list(items: &[Item]) -> String {
    items.iter().map(|item| format!("  {}", item.line())).collect::<Vec<_>>().join("\n")
}

fn refusal(missing: &[Item]) -> String {
    let mut text =
        format!("this repository has commands or settings that you have not allowed:\n{}", list(missing));
    if missing.iter().any(|item| item.own_yes.is_none()) {
        text.push_str("\nread them, then allow them with `segue trust` (a plan: `segue trust PLAN`), or once with --trust or SEGUE_TRUST=1");
    }
    for (command, _) in missing.iter().filter_map(|item| item.own_yes.as_ref()) {
        text.push_str(&format!(
            "\nallow this command by itself: segue trust --command {}",
            trust::quoted(command)
        ));
    }
    text
}

// One question for all, and one for each command that needs its own.
fn ask(key: &str, missing: &[Item]) -> Result<bool, Failure> {
    let mut err = std::io::stderr().lock();
    let (own, common): (Vec<&Item>, Vec<&Item>) = missing.iter().partition(|item| item.own_yes.is_some());
    if !common.is_empty() {
        let shown: Vec<Item> = common.iter().map(|item| (*item).clone()).collect();
        writeln!(
            err,
            "segue: this repository has commands or settings that need your permission:\n{}",
            list(&shown)
        )?;
        if !said_yes(&mut err, "Allow this for this repository? [y/N] ", &["y", "yes"])? {
            return Ok(false);
        }
    }
    for item in &own {
        writeln!(err, "segue: {}", item.line())?;
        if !said_yes(&mut err, "Allow this command by itself? Type yes: ", &["yes"])? {
            return Ok(false);
        }
    }
    store(key, missing)?;
    Ok(true)
}

fn said_yes(err: &mut impl Write, question: &str, yes: &[&str]) -> Result<bool, Failure> {
    write!(err, "{question}")?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(yes.contains(&line.trim().to_lowercase().as_str()))
}

fn store(key: &str, items: &[Item]) -> Result<(), Failure> {
    let changed = allowed::change(key, |known| {
        for item in items {
            match &item.own_yes {
                Some((command, _)) => known.commands.insert(command.clone()),
                None => known.items.insert(item.text.clone()),
            };
        }
    });
    changed.map_err(|error| Failure::failed(format!("cannot save what you allowed: {error}")))
}

/// `segue trust`: allows, lists or forgets.
pub(super) fn trust(at: &Place, args: &Trust) -> Result<u8, Failure> {
    if inside_a_run() {
        return Err(Failure::usage("`segue trust` is refused inside a run: only you can allow things"));
    }
    let key = key(at);
    if args.list {
        return Ok(show(at, &Allowed::read(&key, None)));
    }
    let failed = |error: std::io::Error| Failure::failed(format!("cannot save what you allowed: {error}"));
    if args.revoke {
        allowed::change(&key, |known| *known = allowed::Known::default()).map_err(failed)?;
        out::line(&said(at, "forgot everything that was allowed here"));
        return Ok(0);
    }
    if let Some(command) = &args.command {
        let command = command.trim().to_owned();
        let own = danger::reason(&command).is_some();
        allowed::change(&key, |known| {
            let _ =
                if own { known.commands.insert(command) } else { known.items.insert(command_text(&command)) };
        })
        .map_err(failed)?;
        out::line(&said(at, "the command is allowed in this repository"));
        return Ok(0);
    }
    let named = args.plan.as_ref().map(|file| plan::read_named(at, file, args.format)).transpose()?;
    let items = items(at, &at.layers(&Flags::default())?, named.as_ref());
    let missing = Allowed::read(&key, None).missing(&items);
    let (own, common): (Vec<Item>, Vec<Item>) = missing.into_iter().partition(|item| item.own_yes.is_some());
    store(&key, &common)?;
    let lines = common.iter().map(|item| said(at, &format!("allowed: {}", item.line())));
    out::lines(lines.collect::<Vec<_>>());
    for item in &own {
        let command = item.own_yes.as_ref().map_or("", |(command, _)| command.as_str());
        let advice = format!("segue trust --command {}", trust::quoted(command));
        out::line(&said(at, &format!("not allowed: {}: {advice}", item.line())));
    }
    if common.is_empty() && own.is_empty() {
        out::line(&said(at, "nothing to allow"));
    }
    Ok(0)
}

fn said(at: &Place, text: &str) -> String {
    if at.json { serde_json::json!({ "trust": text }).to_string() } else { text.to_owned() }
}

fn show(at: &Place, allowed: &Allowed) -> u8 {
    let known = &allowed.known;
    if at.json {
        out::line(&serde_json::json!({ "items": known.items, "commands": known.commands }).to_string());
        return 0;
    }
    let lines = known
        .items
        .iter()
        .cloned()
        .chain(known.commands.iter().map(|c| format!("{} (by itself)", command_text(c))));
    let lines: Vec<String> = lines.map(|line| segue_report::plain(&line)).collect();
    if lines.is_empty() {
        out::line("nothing is allowed in this repository yet");
    }
    out::lines(lines);
    0
}
