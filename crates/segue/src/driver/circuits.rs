//! What runs tell each other about accounts: a small file in the user's state folder. A circuit that nobody closes ends by
//! its own time, so a run that died with one open holds nobody back for longer.

use std::collections::BTreeMap;

use segue_machine::{AgentSpec, Circuit, Millis};

use super::Driver;
use crate::clock;
use crate::state::State;

const FILE: &str = "circuits.json";

type Circuits = BTreeMap<String, Circuit>;

/// What is known about the accounts of these agents at this moment.
pub(crate) fn known(agents: &[AgentSpec], now: Millis) -> Vec<Circuit> {
    let Some(state) = State::of_user() else { return Vec::new() };
    let all: Circuits = state.read(FILE);
    let ours = |circuit: &Circuit| agents.iter().any(|agent| agent.account() == circuit.account);
    all.into_values().filter(|circuit| circuit.is_open(now) && ours(circuit)).collect()
}

fn keep(state: &State, account: String, circuit: Option<Circuit>, now: Millis) -> std::io::Result<()> {
    state.update(FILE, |all: &mut Circuits| {
        all.retain(|_, circuit| circuit.is_open(now));
        match circuit {
            Some(circuit) => all.insert(account, circuit),
            None => all.remove(&account),
        };
    })
}

impl Driver {
    pub(super) fn keep_circuit(&mut self, account: String, circuit: Option<Circuit>) {
        let Some(state) = State::of_user() else { return };
        let notes = self.notes();
        self.desk.order(move || {
            if let Err(error) = keep(&state, account, circuit, clock::now()) {
                notes.note(&format!(
                    "what is known about an account could not be saved for other runs: {error}"
                ));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use segue_machine::AgentFailure;

    use super::*;

    fn circuit(account: &str, until: Millis) -> Circuit {
        Circuit {
            account: account.to_owned(),
            agent: None,
            failure: AgentFailure::RateLimited,
            failures: 1,
            until: Some(until),
            said: String::new(),
        }
    }

    #[test]
    fn a_circuit_is_kept_until_it_is_closed_or_its_time_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::at(dir.path());
        let names = || state.read::<Circuits>(FILE).into_keys().collect::<Vec<_>>();
        keep(&state, "a".to_owned(), Some(circuit("a", 100)), 10).unwrap();
        keep(&state, "b".to_owned(), Some(circuit("b", 500)), 20).unwrap();
        assert_eq!(names(), ["a", "b"]);
        keep(&state, "c".to_owned(), Some(circuit("c", 900)), 100).unwrap();
        assert_eq!(names(), ["b", "c"]);
        keep(&state, "b".to_owned(), None, 110).unwrap();
        assert_eq!(names(), ["c"]);
    }
}
