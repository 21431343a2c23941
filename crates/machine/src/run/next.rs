//! Who goes on: every agent is looked at, and what was found about each is part of the decision.
//!
//! Agents are taken in the order of the list (a role's order, where the run has a role). One that failed for good in this
//! run, whose circuit is open, whose budget is spent, or whose window is too small for the ledger and the task is passed
//! over. A full window leads on along the list, and back to whoever was left only for a failure; a failure leads to the
//! first other agent that can go on.

use serde::{Deserialize, Serialize};

use super::{HandoffKind, Run};
use crate::checkpoint::cut_chars;
use crate::ledger::Memory;
use crate::policy::Policy;
use crate::{AgentSpec, Choice, Considered, Outcome, Verdict};

/// The most tokens of the ledger that cross a handoff; the prompt is cut to it.
const LEDGER_TOKENS: usize = 8_000;
/// How much of a failure's message is passed on.
const MESSAGE_CHARS: usize = 160;
/// An agent with less of its budget left than this, in percent, comes after those that have more.
const NEARLY_SPENT: u32 = 20;

/// What a run has seen of an agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Standing {
    /// The window that its last session had.
    window: Option<u64>,
    /// Where that session would have met its wall.
    ceiling: Option<u64>,
    /// Tokens that its first call carried beside the prompt.
    base: Option<u64>,
    /// What went wrong last.
    failure: Option<String>,
    /// It cannot work until somebody mends that.
    for_good: bool,
}

/// Who goes on, and who was looked at.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub(super) kind: HandoffKind,
    /// `None`: nobody can.
    pub(super) next: Option<usize>,
    pub(super) considered: Vec<Considered>,
}

impl Run {
    /// Decides who goes on after this session when `wish` is what is wanted.
    pub(super) fn decide(&self, wish: HandoffKind) -> Decision {
        let (need, stays) = (self.need(), !matches!(wish, HandoffKind::Fallback | HandoffKind::Forced));
        let mut next = None;
        let mut considered = Vec::new();
        for index in self.order(stays) {
            let found = self.look_at(index, need);
            let (verdict, why) = match found {
                Err(why) => (Choice::Skipped, why),
                Ok(why) if next.is_none() => {
                    next = Some(index);
                    (Choice::Chosen, why)
                }
                Ok(why) => (Choice::Possible, why),
            };
            considered.push(Considered { agent: self.agent_name(index), verdict, why });
            if stays && next.is_some() {
                break;
            }
        }
        if next.is_none() && self.may_be_tried(self.agent) {
            next = Some(self.agent);
            let (agent, verdict) = (self.agent_name(self.agent), Choice::Chosen);
            considered.push(Considered { agent, verdict, why: "no other agent can continue".to_owned() });
        }
        let kind = match (wish, next) {
            (_, None) => HandoffKind::Stop,
            (HandoffKind::Restart | HandoffKind::Fallback, Some(next)) if next == self.agent => {
                HandoffKind::Restart
            }
            (HandoffKind::Restart, Some(_)) => HandoffKind::Fallback,
            (wish, Some(_)) => wish,
        };
        Decision { kind, next, considered }
    }

    /// Looks for another agent that could go on from here, and keeps it as the one to be preferred.
    pub(super) fn choose_fallback(&mut self) {
        let need = self.need();
        let before_the_present_one = self.order(false).into_iter().take_while(|index| *index != self.agent);
        self.fallback = { before_the_present_one }.find(|index| self.look_at(*index, need).is_ok());
    }

    /// The present agent failed; for good, when it cannot work before somebody mends something.
    pub(super) fn note_failure(&mut self, for_good: bool, why: &str) {
        let name = self.agent_name(self.agent);
        let standing = self.standings.entry(name).or_default();
        standing.failure = Some(cut_chars(why.trim(), MESSAGE_CHARS).replace('\n', " "));
        standing.for_good |= for_good;
        self.present_failed = true;
    }

    /// Someone has looked: whoever failed may be tried again.
    pub(super) fn forget_failures(&mut self) {
        for standing in self.standings.values_mut() {
            (standing.failure, standing.for_good) = (None, false);
        }
    }

    /// The present session says how large it is, and what it carried before it did anything.
    pub(super) fn note_sizes(&mut self) {
        let Some(session) = self.view.session.as_ref() else { return };
        let (gauge, prompt) = (&session.gauge, self.ratio.tokens(self.prompt_chars));
        let first = gauge.calls() == 1 && gauge.tools() == 0;
        let base = gauge.tokens().filter(|_| first).map(|tokens| tokens.saturating_sub(prompt));
        let (window, ceiling) = (gauge.window(), gauge.ceiling());
        let standing = self.standings.entry(session.agent.clone()).or_default();
        standing.window = window.or(standing.window);
        standing.ceiling = ceiling.or(standing.ceiling);
        standing.base = base.or(standing.base);
    }

    /// Whether an agent's own instructions and tools leave no room below the line, whatever it is given to do.
    pub(super) fn base_fills_the_window(&self) -> bool {
        let Some(spec) = &self.view.spec else { return false };
        let Some(agent) = spec.agents.get(self.agent) else { return false };
        let standing = self.standings.get(&agent.name).cloned().unwrap_or_default();
        let (Some(base), Some(window)) = (standing.base, standing.window) else { return false };
        base > line_of(agent, &standing, window, &spec.policy) / 10 * 9
    }

    /// The run ends because nobody can go on: what is wrong with whom.
    pub(super) fn account_of_all(&self, why: &str, considered: &[Considered]) -> Outcome {
        if self.agents_count() <= 1 {
            return Outcome::new(Verdict::Failed, format!("the agent cannot continue: {why}"))
                .advise("fix that, or name a second agent with --agent a,b, then `segue resume`");
        }
        let lines: Vec<String> = considered.iter().map(|c| format!("{}: {}", c.agent, c.why)).collect();
        let mended = (0..self.agents_count()).all(|index| self.failed_for_good(index));
        let verdict = if mended { Verdict::Failed } else { Verdict::Stopped };
        Outcome::new(verdict, format!("no agent can continue: {}", lines.join("; ")))
            .advise("fix one of them, or name another with --agent, then `segue resume`")
    }

    /// What is wrong with each agent, for the end of a run.
    pub(super) fn everybody(&self) -> Vec<Considered> {
        let need = self.need();
        let one = |index| {
            let (verdict, why) = match self.look_at(index, need) {
                Ok(why) => (Choice::Possible, why),
                Err(why) => (Choice::Skipped, why),
            };
            Considered { agent: self.agent_name(index), verdict, why }
        };
        (0..self.agents_count()).map(one).collect()
    }

    /// What was found about each agent when it is already known who goes on, perhaps after a wait; `None` is nobody.
    pub(super) fn considered(&self, next: Option<usize>) -> Vec<Considered> {
        let need = self.need();
        let one = |index: usize| {
            let (verdict, why) = match self.look_at(index, need) {
                found if next == Some(index) => (Choice::Chosen, found.unwrap_or_else(|why| why)),
                Ok(why) => (Choice::Possible, why),
                Err(why) => (Choice::Skipped, why),
            };
            Considered { agent: self.agent_name(index), verdict, why }
        };
        self.order(false).into_iter().map(one).collect()
    }

    /// The first agent that can go on at this moment.
    pub(super) fn free_agent(&self) -> Option<usize> {
        let need = self.need();
        self.order(false).into_iter().find(|index| self.look_at(*index, need).is_ok())
    }

    /// Whether an agent could go on if it were not held back.
    pub(super) fn worth_waiting_for(&self, index: usize) -> bool {
        let standing = self.standings.get(&self.agent_name(index)).cloned().unwrap_or_default();
        let fits = index == self.agent || self.fits(index, &standing, self.need()).is_ok();
        fits && self.may_be_tried(index)
    }

    /// What went wrong last with an agent.
    pub(super) fn last_failure(&self, agent: &str) -> Option<&str> {
        self.standings.get(agent)?.failure.as_deref()
    }

    fn agents_count(&self) -> usize {
        self.view.spec.as_ref().map_or(0, |s| s.agents.len())
    }

    // The present agent first for a restart. For a handoff: one that a stage chose, then, if the present one failed, all
    // others in the order of the list; else those that were left only because they failed, those that come later, the
    // present one, and the rest. Agents that are nearly spent come behind those of the same rank.
    fn order(&self, stays: bool) -> Vec<usize> {
        let spent = |i: usize| match self.budget_left(i).filter(|left| *left < NEARLY_SPENT) {
            Some(left) => NEARLY_SPENT - left,
            None => 0,
        };
        let left_for_failing = |i: usize| self.last_failure(&self.agent_name(i)).is_some();
        let rank = |i: usize| {
            if i == self.agent {
                return if stays { 0 } else { 4 };
            }
            let again = i < self.agent && left_for_failing(i);
            match i > self.agent {
                _ if self.fallback == Some(i) => 1,
                _ if self.present_failed || again => 2,
                true => 3,
                false => 5,
            }
        };
        let mut order: Vec<usize> = (0..self.agents_count()).collect();
        order.sort_by_key(|i| (rank(*i), spent(*i)));
        order
    }

    // What speaks for an agent, or what stands against it.
    fn look_at(&self, index: usize, need: u64) -> Result<String, String> {
        let standing = self.standings.get(&self.agent_name(index)).cloned().unwrap_or_default();
        if standing.for_good {
            let why = standing.failure.unwrap_or_default();
            return Err(format!("failed permanently in this run: {why}"));
        }
        if let Some(circuit) = self.circuit_of(index).filter(|circuit| circuit.is_open(self.now)) {
            return Err(circuit.words(self.now, &self.rules()));
        }
        if self.budget_left(index) == Some(0) {
            return Err("budget spent".to_owned());
        }
        if index == self.agent {
            return Ok("the same agent in a fresh session".to_owned());
        }
        self.fits(index, &standing, need)
    }

    // Work needs room: a quarter of what is below the line is kept for it.
    fn fits(&self, index: usize, standing: &Standing, need: u64) -> Result<String, String> {
        let Some(spec) = &self.view.spec else { return Ok(String::new()) };
        let Some(agent) = spec.agents.get(index) else { return Err("not in the list".to_owned()) };
        let listed = spec.next.windows.get(&agent.name).copied();
        let Some(window) = standing.window.or(agent.window).or(listed) else {
            return Ok("window unknown, assumed large enough".to_owned());
        };
        let line = line_of(agent, standing, window, &spec.policy);
        let tokens = need.saturating_add(standing.base.unwrap_or(0));
        let what = if standing.base.is_some() { "ledger, task and base load" } else { "ledger and task" };
        if tokens > line / 4 * 3 {
            return Err(format!("window {} too small for {} of {what}", short(window), short(tokens)));
        }
        Ok(format!("window {} holds {} of {what}", short(window), short(tokens)))
    }

    // What a fresh session begins with, in tokens.
    fn need(&self) -> u64 {
        let Some(spec) = &self.view.spec else { return 0 };
        let ledger = match spec.memory {
            Memory::Ledger => self.view.ledger.render(LEDGER_TOKENS).text.chars().count(),
            Memory::LastSummary => 0,
        };
        let chars = spec.task.text.chars().count() + ledger + self.checkpoint_chars;
        self.ratio.tokens(chars as u64)
    }

    fn failed_for_good(&self, index: usize) -> bool {
        self.standings.get(&self.agent_name(index)).is_some_and(|s| s.for_good)
    }

    // An agent that has to wait is still an agent; one that failed for good or has nothing left to spend is none.
    fn may_be_tried(&self, index: usize) -> bool {
        !self.failed_for_good(index) && self.budget_left(index) != Some(0) && index < self.agents_count()
    }

    // What is left of an agent's own budget, in percent; `None` where it has none.
    fn budget_left(&self, index: usize) -> Option<u32> {
        self.budget_left_permille(index).map(|permille| permille.div_ceil(10))
    }
}

// Where a session of this agent would be replaced.
fn line_of(agent: &AgentSpec, standing: &Standing, window: u64, policy: &Policy) -> u64 {
    let wall = standing.ceiling.unwrap_or(window).min(agent.budget.unwrap_or(u64::MAX));
    let lines = policy.stages.iter().filter(|s| s.replaces()).filter_map(|s| s.at.percent(policy.lines));
    let share = lines.min().filter(|_| !policy.replacing_off).map_or(10_000, |p| p.hundredths().min(10_000));
    u64::try_from(u128::from(wall) * u128::from(share) / 10_000).unwrap_or(u64::MAX)
}

/// A number of tokens in few characters, never too small.
pub(super) fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens.div_ceil(1_000)),
        _ if tokens.is_multiple_of(1_000_000) => format!("{}M", tokens / 1_000_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_people_say_them() {
        let said = [950, 41_000, 40_001, 1_000_000, 1_048_576].map(short);
        assert_eq!(said, ["950", "41k", "41k", "1M", "1.0M"]);
    }
}
