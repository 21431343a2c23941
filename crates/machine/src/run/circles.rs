//! Going round in circles: the same failure again and again, and two agents failing in turn.

use serde::{Deserialize, Serialize};

use super::{EndReason, Replace, Run};
use crate::{Effect, Limit, Outcome, Verdict};

/// How often the same failure may come in a row without progress.
const SAME_FAILURES: u32 = 3;
/// How much of a failure's message is compared.
const COMPARED_CHARS: usize = 300;

/// The failures since the work last moved.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Circles {
    /// The last failure without what changes from one time to the next, and how often it came in a row.
    last: Option<(String, u32)>,
    /// From whom to whom failures led.
    ways: Vec<(usize, usize)>,
    /// The last failure led to a fresh session of the same agent.
    stayed: bool,
}

impl Circles {
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    // How often this failure has come in a row.
    fn failed(&mut self, message: &str) -> u32 {
        let plain = normalised(message);
        let times = self.last.take().filter(|(last, _)| *last == plain).map_or(1, |(_, times)| times + 1);
        self.last = Some((plain, times));
        times
    }

    /// Whether the last failure was answered with a fresh session of the same agent.
    pub(super) fn stayed(&self) -> bool {
        self.stayed
    }

    // Whether this way closes the circle: there, back, and there again.
    fn led(&mut self, from: usize, to: usize) -> bool {
        self.stayed = from == to;
        if self.stayed {
            return false;
        }
        self.ways.push((from, to));
        self.ways.ends_with(&[(from, to), (to, from), (from, to)])
    }
}

impl Run {
    /// The outcome of a run that goes round in circles; `None` while it does not. To be asked once for each handoff, after
    /// it is known whether there was progress.
    pub(super) fn going_in_circles(&mut self, replace: &Replace, out: &mut Vec<Effect>) -> Option<Outcome> {
        if !matches!(replace.end, EndReason::Failed | EndReason::Stalled) {
            self.circles.forget();
            return None;
        }
        let times = self.circles.failed(&replace.reason);
        let next = self.decide(replace.kind).next;
        let circle = next.is_some_and(|next| self.circles.led(self.agent, next));
        if times >= SAME_FAILURES {
            let limit = Limit::SameError;
            self.limit_reached(limit, &times.to_string(), out);
            let reason =
                format!("the same failure {times} times in a row without progress: {}", replace.reason);
            return Some(self.circle(reason, limit));
        }
        let to = self.agent_name(next.filter(|_| circle)?);
        let from = self.agent_name(self.agent);
        self.limit_reached(Limit::Oscillation, &format!("{from}, {to}"), out);
        let each: Vec<String> = [&from, &to]
            .into_iter()
            .map(|name| format!("{name}: {}", self.last_failure(name).unwrap_or("failed")))
            .collect();
        let reason = format!("{from} and {to} fail in turn without progress ({})", each.join("; "));
        Some(self.circle(reason, Limit::Oscillation))
    }

    fn circle(&self, reason: String, limit: Limit) -> Outcome {
        Outcome::new(Verdict::Stopped, reason)
            .because_of(limit)
            .advise("fix what fails, or name another agent with --agent, then `segue resume`")
    }
}

// Numbers, ids and times differ although the failure is the same.
fn normalised(message: &str) -> String {
    let words = message.split_whitespace().map(|word| {
        let id = word.len() >= 8 && word.chars().any(|c| c.is_ascii_digit());
        if id { "#".to_owned() } else { digits_as_one(&word.to_lowercase()) }
    });
    words.collect::<Vec<_>>().join(" ").chars().take(COMPARED_CHARS).collect()
}

fn digits_as_one(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for letter in word.chars() {
        if !letter.is_ascii_digit() {
            plain.push(letter);
        } else if !plain.ends_with('#') {
            plain.push('#');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_numbers_and_spaces_do_not_make_another_failure() {
        let mut circles = Circles::default();
        let said = [
            "API error 529 (request req_01Abc9)",
            "api  error 530 (request req_77Xyz1)",
            "Api error 7 (request\nreq_5555555)",
        ];
        assert_eq!(said.map(|message| circles.failed(message)), [1, 2, 3]);
        assert_eq!(circles.failed("no such model"), 1);
        assert_eq!(circles.failed("API error 529 (request req_01Abc9)"), 1);
    }

    #[test]
    fn there_and_back_and_there_again_is_a_circle_and_a_chain_of_three_is_none() {
        let mut circles = Circles::default();
        assert_eq!([(0, 1), (1, 0), (0, 1)].map(|(a, b)| circles.led(a, b)), [false, false, true]);
        let mut circles = Circles::default();
        assert_eq!([(0, 1), (1, 2), (2, 0), (0, 1)].map(|(a, b)| circles.led(a, b)), [false; 4]);
        let mut circles = Circles::default();
        assert_eq!([(0, 0), (0, 0), (0, 0)].map(|(a, b)| circles.led(a, b)), [false; 3]);
    }
}
