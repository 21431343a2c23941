//! Reads the tables that come several times: `[[stage]]` and `[[gate]]`.
//!
//! Problems inside a list are noted with the reader, so that the other tables of the list are read too.

use segue_machine::GateSpec;
use segue_machine::policy::{Action, Stage};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::file::Reader;
use crate::config::key::Kind;
use crate::config::read::{found, text, texts};
use crate::config::scalar;
use crate::config::value::Value;

/// How long a gate may take when nobody says so.
pub(crate) const GATE_TIMEOUT_MS: u64 = 10 * 60_000;

/// The stages or gates of a file; `None` when the value is no list of tables.
pub(crate) fn read(reader: &mut Reader<'_>, kind: Kind, value: &Spanned<DeValue<'_>>) -> Option<Value> {
    if kind == Kind::Stages {
        let stages = tables(value)?.into_iter().filter_map(|(item, table)| stage(reader, item, table));
        return Some(Value::Stages(stages.collect()));
    }
    if kind != Kind::Gates {
        return None;
    }
    let mut gates: Vec<GateSpec> = Vec::new();
    for (item, table) in tables(value)? {
        let Some(gate) = gate(reader, item, table) else { continue };
        if gates.iter().any(|g| g.name == gate.name) {
            reader.bad(
                item,
                "gate.name",
                format!("two gates are called {:?}; give each its own name", gate.name),
            );
        }
        gates.push(gate);
    }
    Some(Value::Gates(gates))
}

/// A gate from a command alone: the name is the command, cut short, and made unlike the others.
pub(crate) fn gate_from_command(command: &str, others: &[GateSpec]) -> GateSpec {
    let plain = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = plain.chars().take(40).collect();
    let short = if short.len() < plain.len() { format!("{short}…") } else { short };
    let taken = |name: &str| others.iter().any(|gate| gate.name == name);
    let again = (2..).map(|n| format!("{short} ({n})")).find(|name| !taken(name)).unwrap_or_default();
    let name = if taken(&short) { again } else { short };
    GateSpec::new(name, command, GATE_TIMEOUT_MS)
}

/// Why this command and mark do not make a gate, if they do not.
pub(crate) fn gate_fault(run: Option<&str>, manual: bool) -> Option<&'static str> {
    match (run, manual) {
        (Some(_), true) => Some("a manual gate is never run: remove run, or manual = true"),
        (None, false) => Some("run is missing; write run = \"cargo test\", or manual = true if you decide"),
        _ => None,
    }
}

fn tables<'v, 'i>(
    value: &'v Spanned<DeValue<'i>>,
) -> Option<Vec<(&'v Spanned<DeValue<'i>>, &'v DeTable<'i>)>> {
    value
        .get_ref()
        .as_array()?
        .iter()
        .map(|item| item.get_ref().as_table().map(|table| (item, table)))
        .collect()
}

fn stage(reader: &mut Reader<'_>, item: &Spanned<DeValue<'_>>, table: &DeTable<'_>) -> Option<Stage> {
    known(reader, table, "[[stage]]", &["at", "do"]);
    let at = match table.get("at") {
        None => {
            reader.bad(item, "stage", "at is missing; for example: at = \"90%\"");
            None
        }
        Some(raw) => {
            let typed = raw.get_ref().as_str().map_or_else(|| found(raw.get_ref()), str::to_owned);
            typed.parse().map_err(|bad| reader.bad(raw, "stage.at", format!("{bad}"))).ok()
        }
    };
    let actions = match table.get("do") {
        None => {
            reader.bad(item, "stage", "do is missing; for example: do = [\"checkpoint:full\", \"restart\"]");
            None
        }
        Some(raw) => actions(reader, raw),
    };
    Some(Stage { at: at?, actions: actions? })
}

fn actions(reader: &mut Reader<'_>, raw: &Spanned<DeValue<'_>>) -> Option<Vec<Action>> {
    let one = raw.get_ref().as_str().map(|one| vec![one.to_owned()]);
    let Some(words) = one.or_else(|| texts(raw.get_ref(), true)).filter(|words| !words.is_empty()) else {
        reader.bad(
            raw,
            "stage.do",
            "expected a list of actions; for example: do = [\"checkpoint:full\", \"restart\"]",
        );
        return None;
    };
    let mut actions = Vec::new();
    for word in words {
        match word.parse::<Action>() {
            Ok(action) => actions.push(action),
            Err(bad) => {
                reader.bad(raw, "stage.do", bad.to_string());
                return None;
            }
        }
    }
    Some(actions)
}

fn gate(reader: &mut Reader<'_>, item: &Spanned<DeValue<'_>>, table: &DeTable<'_>) -> Option<GateSpec> {
    known(reader, table, "[[gate]]", &["name", "run", "timeout", "manual", "protect", "may_change"]);
    let name = gate_text(reader, table, "name", "name = \"tests\"")?;
    let run = gate_text(reader, table, "run", "run = \"cargo test\"")?;
    let timeout_ms = match table.get("timeout") {
        None => GATE_TIMEOUT_MS,
        Some(raw) => {
            let typed = raw.get_ref().as_str().map_or_else(|| found(raw.get_ref()), str::to_owned);
            let Some(millis) = scalar::millis(&typed) else {
                let why = format!(
                    "expected a duration above 0, found {}; for example: timeout = \"10m\"",
                    found(raw.get_ref())
                );
                reader.bad(raw, "gate.timeout", why);
                return None;
            };
            millis
        }
    };
    let manual = gate_bool(reader, table, "manual")?;
    let may_change = gate_bool(reader, table, "may_change")?;
    let protect = gate_globs(reader, table)?;
    if let Some(fault) = gate_fault(run.as_deref(), manual) {
        reader.bad(item, "gate", fault);
        return None;
    }
    match (name, run) {
        (None, None) => {
            reader.bad(
                item,
                "gate",
                "name is missing; a manual gate needs one, for example: name = \"review\"",
            );
            None
        }
        (None, Some(run)) => {
            Some(GateSpec { timeout_ms, protect, may_change, ..gate_from_command(&run, &[]) })
        }
        (Some(name), run) => {
            let run = run.unwrap_or_default();
            Some(GateSpec { manual, protect, may_change, ..GateSpec::new(name, run, timeout_ms) })
        }
    }
}

/// `None` when it is there and wrong.
fn gate_bool(reader: &mut Reader<'_>, table: &DeTable<'_>, key: &str) -> Option<bool> {
    let Some(raw) = table.get(key) else { return Some(false) };
    let yes = raw.get_ref().as_bool();
    if yes.is_none() {
        let why =
            format!("expected true or false, found {}; for example: {key} = true", found(raw.get_ref()));
        reader.bad(raw, format!("gate.{key}"), why);
    }
    yes
}

/// `None` when it is there and wrong.
fn gate_globs(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Option<Vec<String>> {
    let Some(raw) = table.get("protect") else { return Some(Vec::new()) };
    let globs = texts(raw.get_ref(), true);
    let fault = globs.iter().flatten().find_map(|glob| globset::Glob::new(glob).err());
    if globs.is_none() || fault.is_some() {
        let why = fault.map_or_else(|| format!("found {}", found(raw.get_ref())), |fault| fault.to_string());
        reader.bad(
            raw,
            "gate.protect",
            format!("expected a list of globs, {why}; for example: protect = [\"ci/**\"]"),
        );
        return None;
    }
    globs
}

/// `None` when it is there and wrong, `Some(None)` when it is not there.
fn gate_text(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    key: &str,
    example: &str,
) -> Option<Option<String>> {
    let Some(raw) = table.get(key) else { return Some(None) };
    let text = text(raw.get_ref()).filter(|text| !text.trim().is_empty());
    if text.is_none() {
        let why = format!("expected text, found {}; for example: {example}", found(raw.get_ref()));
        reader.bad(raw, format!("gate.{key}"), why);
        return None;
    }
    Some(text)
}

fn known(reader: &mut Reader<'_>, table: &DeTable<'_>, section: &str, valid: &[&str]) {
    for (name, _) in table {
        if !valid.contains(&name.get_ref().as_ref()) {
            reader.unknown(name, section, valid);
        }
    }
}
