//! What segue itself saw: gates, failed commands, notes. It weighs more than an agent's word.

use super::conflict::speaks_of_tests;
use super::merge::Entry;
use super::{Category, Ledger, Origin, State};
use crate::checkpoint::cut_chars;
use crate::claims::{Finding, Judged, claims};
use crate::{GateResult, Millis};

/// Failed commands that are remembered at one time; an agent makes many that mean nothing.
const COMMANDS: usize = 8;

impl Ledger {
    /// A gate ended: red opens a failure, green closes it and the failing tests that agents told of.
    pub fn gate(&mut self, result: &GateResult, at: Millis) {
        let origin = Origin { agent: "segue".to_owned(), at, ..Origin::default() };
        let name = result.gate.as_str();
        let test_gate = speaks_of_tests(name) || !speaks_of_other_check(name);
        if result.passed {
            let by = format!("gate {name}: passes");
            for item in self.items.iter_mut().filter(|i| i.category == Category::Failure) {
                let covered = match &item.gate {
                    Some(gate) => gate == name,
                    None => test_gate && speaks_of_tests(&item.text),
                };
                if covered && matches!(item.state, State::Open | State::SaidDone { .. }) {
                    item.state = State::Closed { by: by.clone() };
                }
            }
            return;
        }
        self.index.catch_up(&self.items);
        let exit = result.exit.map_or_else(|| "no exit code".to_owned(), |e| format!("exit {e}"));
        let last = result.tail.lines().rev().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
        let said = if last.is_empty() { String::new() } else { format!(": {}", cut_chars(last, 200)) };
        let text = format!("Gate {name} fails ({exit}){said}");
        self.failure(&format!("gate {name}"), text, format!("gate {name}: fails ({exit})"), name, 2, &origin);
    }

    /// A command that an agent ran ended: a failed one is open until the same one succeeds.
    pub fn tool(&mut self, title: &str, ok: bool, tail: &str, from: &Origin) {
        let name = format!("command {title}");
        if ok {
            let mine = |gate: &Option<String>| gate.as_deref() == Some(name.as_str());
            for item in self.items.iter_mut().filter(|i| mine(&i.gate)) {
                item.state = State::Closed { by: "the same command succeeded".to_owned() };
            }
            return;
        }
        self.index.catch_up(&self.items);
        let last = tail.lines().rev().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
        let said = if last.is_empty() { String::new() } else { format!(": {}", cut_chars(last, 120)) };
        let text = format!("`{}` failed{said}", cut_chars(title, 120));
        self.failure(&name, text, "segue saw it fail".to_owned(), &name, 1, from);
        let open = |i: &&mut super::Item| {
            i.state == State::Open && i.gate.as_deref().is_some_and(|g| g.starts_with("command "))
        };
        let more = self.items.iter_mut().filter(open).count().saturating_sub(COMMANDS);
        for item in self.items.iter_mut().filter(open).take(more) {
            item.state = State::Superseded { by: "newer failed commands".to_owned() };
        }
    }

    /// A note that an agent or a person left: kept under what it says, else as something done.
    pub fn note(&mut self, text: &str, from: &Origin) {
        self.index.catch_up(&self.items);
        let told: Vec<Judged> = claims(text)
            .into_iter()
            .map(|claim| Judged { claim, finding: Finding::Unknown, evidence: String::new() })
            .collect();
        if told.is_empty() && !text.trim().is_empty() {
            let origin = self.from(from);
            let entry = Entry { category: Category::Done, text: text.trim(), weight: 0, evidence: "" };
            self.take_in(&entry, origin);
            return;
        }
        self.merge(&told, &Origin { checkpoint: None, ..from.clone() });
    }

    fn failure(&mut self, name: &str, text: String, evidence: String, gate: &str, weight: u8, from: &Origin) {
        let origin = self.from(from);
        let entry = Entry { category: Category::Failure, text: name, weight, evidence: &evidence };
        let at = self.take_in(&entry, origin);
        if let Some(item) = self.items.get_mut(at as usize) {
            (item.text, item.state) = (text, State::Open);
            (item.gate, item.name) = (Some(gate.to_owned()), Some(name.to_owned()));
        }
    }
}

fn speaks_of_other_check(name: &str) -> bool {
    let name = name.to_lowercase();
    ["lint", "clippy", "fmt", "format", "build", "type", "docs"].iter().any(|w| name.contains(w))
}
