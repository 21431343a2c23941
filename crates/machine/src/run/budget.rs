//! What the run may spend: a warning when a limit is near, an end with a checkpoint when it is reached, and no session
//! that could not even begin within what is left.

use super::limit_use::{Unit, Use, dollars};
use super::{EndReason, HandoffKind, Replace, Run, Then};
use crate::{Asked, Capabilities, DaySpent, Depth, Effect, Limit, Opening, Outcome, Price, RunSpec, Verdict};

impl Run {
    /// Whether everything is within its limits; winds the run down when it is not.
    pub(super) fn spending_allowed(&mut self, out: &mut Vec<Effect>) -> bool {
        let uses = self.uses();
        self.warn_near(&uses, out);
        let reached =
            uses.iter().find(|u| u.unit != Unit::Sessions && u.reached() && u.limit != Limit::Deadline);
        if let Some(reached) = reached {
            if !self.is_winding_down() {
                self.limit_reached(reached.limit, &reached.unit.say(reached.most), out);
                self.spent_up(reached.outcome(), out);
            }
            return false;
        }
        let unpriced = self.view.session.as_ref().filter(|s| s.spent.unpriced > 0);
        if let Some(model) =
            unpriced.map(|s| s.model.clone()).filter(|_| self.is_strict() && self.counts_money())
        {
            self.stop_uncounted(model.as_deref(), out);
            return false;
        }
        !self.agent_is_spent(out)
    }

    /// The price of the session's model was looked up.
    pub(super) fn model_priced(
        &mut self,
        n: u32,
        model: Option<&str>,
        price: Option<&Price>,
        out: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.session_mut(n).map(|s| s.agent.clone()) else { return };
        self.spending.price = price.cloned();
        let tells =
            self.view.spec.as_ref().and_then(|s| s.budget.agents.get(&agent)).is_some_and(|b| b.tells_cost);
        if price.is_some() || tells || !self.counts_money() {
            return;
        }
        if self.is_strict() {
            return self.stop_uncounted(model, out);
        }
        let what = uncounted(model);
        self.warn_once(
            "unknown_cost",
            format!("{what}; this was allowed, so only the other limits apply"),
            out,
        );
    }

    /// Whether the run must end because its agent tells no usage and there is a limit that depends on it.
    pub(super) fn spends_unseen(&mut self, can: Capabilities, out: &mut Vec<Effect>) -> bool {
        let limited = self.counts_money() || self.uses().iter().any(|u| u.unit == Unit::Tokens);
        if can.usage || !limited || !self.is_strict() || self.is_winding_down() {
            return false;
        }
        self.limit_reached(Limit::UnknownCost, "no usage", out);
        let reason = "the agent reports no token usage, so no limit of cost or tokens can be enforced";
        let outcome = Outcome::new(Verdict::Stopped, reason).because_of(Limit::UnknownCost).advise(
            "remove those limits and use --deadline and --max-sessions instead, or add --allow-unknown-cost",
        );
        self.spent_up(outcome, out);
        true
    }

    /// What others spent in the day was told, perhaps of a new day.
    pub(super) fn day_spent(&mut self, day: &DaySpent, out: &mut Vec<Effect>) {
        if self.view.day.as_ref().is_none_or(|before| before.day != day.day) {
            self.near.retain(|limit| !is_of_day(*limit));
        }
        self.view.day = Some(day.clone());
        if self.view.session.is_some() {
            self.spending_allowed(out);
        }
    }

    /// The run goes on under another spec: what is near of a limit that was changed is told again.
    pub(super) fn limits_changed(&mut self, spec: &RunSpec) {
        let same = |old: &RunSpec| (&old.limits, &old.budget.day) == (&spec.limits, &spec.budget.day);
        if !self.view.spec.as_deref().is_some_and(same) {
            self.near.clear();
        }
    }

    /// Why no session of this agent may be started, if none may.
    pub(super) fn start_refused(&mut self, agent: usize, out: &mut Vec<Effect>) -> Option<Outcome> {
        let uses = self.uses_with(agent);
        self.warn_near(&uses, out);
        if let Some(reached) = uses.iter().find(|u| u.reached()) {
            self.limit_reached(reached.limit, &reached.unit.say(reached.most), out);
            return Some(reached.outcome());
        }
        let opening = self.usual_opening(agent)?;
        let needs = |u: &Use| match u.unit {
            Unit::Money => opening.cost_musd.unwrap_or(0),
            Unit::Tokens => opening.tokens,
            Unit::Sessions | Unit::Millis => 0,
        };
        let short = uses.iter().find(|u| needs(u) > u.left())?;
        let (left, need) = (short.unit.say(short.left()), short.unit.say(needs(short)));
        self.limit_reached(short.limit, &short.unit.say(short.most), out);
        let reason = format!(
            "{} leaves {left}, and a session of {} needs about {need} to start: it was not started",
            short.name,
            self.agent_name(agent),
        );
        Some(Outcome::new(Verdict::Stopped, reason).because_of(short.limit).advise(short.raise.clone()))
    }

    /// How much is left of an agent's own budget, in thousandths; `None` when it has none.
    pub fn budget_left_permille(&self, agent_index: usize) -> Option<u32> {
        let of_agent = self.of_agent(agent_index)?;
        let permille = u128::from(of_agent.left()) * 1_000 / u128::from(of_agent.most.max(1));
        u32::try_from(permille).ok()
    }

    fn uses(&self) -> Vec<Use> {
        let Some(spec) = &self.view.spec else { return Vec::new() };
        let (limits, spent) = (&spec.limits, self.view.spent());
        let mut uses = Vec::new();
        let mut add = |limit, name, used, most: Option<u64>, unit, raise: String| {
            uses.extend(most.map(|most| Use { limit, name, used, most, unit, raise }));
        };
        let resume = |flag: &str, more: String| format!("`segue resume {flag} {more}` continues");
        let cost = spent.cost_musd.unwrap_or(0);
        let twice = limits.cost_musd.unwrap_or(0).max(cost).saturating_mul(2);
        let more = resume("--max-cost", dollars(twice).trim_start_matches('$').to_owned());
        add(Limit::Cost, "the cost limit", cost, limits.cost_musd, Unit::Money, more);
        let twice = limits.tokens.unwrap_or(0).max(spent.tokens()).saturating_mul(2);
        let more = resume("--max-tokens", twice.to_string());
        add(Limit::Tokens, "the token limit", spent.tokens(), limits.tokens, Unit::Tokens, more);
        let sessions = limits.sessions.map(u64::from);
        let more = resume("--max-sessions", (self.view.sessions.saturating_mul(2)).to_string());
        let started = u64::from(self.view.sessions);
        add(Limit::Sessions, "the limit on sessions", started, sessions, Unit::Sessions, more);
        let past = self.now.saturating_sub(self.view.started_at);
        let more = self.more_time(self.now);
        add(Limit::Deadline, "the deadline", past, limits.deadline_ms, Unit::Millis, more);
        let day = &spec.budget.day;
        let Some(today) = self.view.today(self.now) else { return uses };
        let more = |key: &str| format!("raise {key} in [budget.day], or `segue resume` tomorrow");
        add(
            Limit::DayCost,
            "the day's cost limit",
            today.cost_musd,
            day.cost_musd,
            Unit::Money,
            more("cost_usd"),
        );
        add(
            Limit::DayTokens,
            "the day's token limit",
            today.tokens,
            day.tokens,
            Unit::Tokens,
            more("tokens"),
        );
        let (used, most) = (u64::from(today.sessions), day.sessions.map(u64::from));
        add(Limit::DaySessions, "the day's limit on sessions", used, most, Unit::Sessions, more("sessions"));
        add(Limit::DayTime, "the day's time limit", today.wall_ms, day.wall_ms, Unit::Millis, more("wall"));
        uses
    }

    fn uses_with(&self, agent: usize) -> Vec<Use> {
        let mut uses = self.uses();
        uses.extend(self.of_agent(agent));
        uses
    }

    fn of_agent(&self, agent: usize) -> Option<Use> {
        let spec = self.view.spec.as_ref()?;
        let name = &spec.agents.get(agent)?.name;
        let most = spec.budget.agents.get(name)?.cost_musd?;
        let used = self.view.spent_by(name).totals.cost_musd.unwrap_or(0);
        let raise = format!("raise max_cost in [agent.{name}], or name another agent, then `segue resume`");
        Some(Use {
            limit: Limit::AgentCost,
            name: "the agent's cost limit",
            used,
            most,
            unit: Unit::Money,
            raise,
        })
    }

    fn warn_near(&mut self, uses: &[Use], out: &mut Vec<Effect>) {
        for near in uses.iter().filter(|u| u.near()) {
            if self.near.insert(near.limit) {
                let (used, most) = (near.unit.say(near.used), near.unit.say(near.most));
                let percent = u128::from(near.used) * 100 / u128::from(near.most.max(1));
                Self::warn("budget", format!("{percent} % of {} is used: {used} of {most}", near.name), out);
            }
        }
    }

    // Another agent may go on where this one has nothing left.
    fn agent_is_spent(&mut self, out: &mut Vec<Effect>) -> bool {
        let Some(spent) = self.of_agent(self.agent) else { return false };
        self.warn_near(std::slice::from_ref(&spent), out);
        if !spent.reached() || self.is_leaving() {
            return spent.reached();
        }
        self.limit_reached(spent.limit, &spent.unit.say(spent.most), out);
        self.note_failure(false, spent.name);
        self.choose_fallback();
        if self.fallback.is_none() || !self.phase_is_working() {
            self.spent_up(spent.outcome(), out);
            return true;
        }
        let outcome = spent.outcome();
        let asked = Asked { depth: Depth::Full, stage: None, reason: outcome.reason.clone() };
        let (kind, end) = (HandoffKind::Fallback, EndReason::Replaced);
        self.take(
            asked,
            None,
            Then::Replace(Replace { kind, reason: outcome.reason, end, counts: false }),
            out,
        );
        true
    }

    // A second opinion is worth less than the verdict that it is asked for: only its session ends.
    fn spent_up(&mut self, outcome: Outcome, out: &mut Vec<Effect>) {
        if self.helper_works() {
            return self.helper_silent(&outcome.reason, out);
        }
        self.wind_down(outcome, false, out);
    }

    /// Whether a limit leaves no room for one more session.
    pub(super) fn is_spent_up(&self) -> bool {
        self.uses().iter().any(Use::reached)
    }

    fn is_leaving(&self) -> bool {
        self.is_winding_down() || self.taking.is_some() || self.ask.is_some() || self.leaves_by_side()
    }

    fn counts_money(&self) -> bool {
        self.uses_with(self.agent).iter().any(|u| u.unit == Unit::Money)
    }

    fn is_strict(&self) -> bool {
        self.view.spec.as_ref().is_some_and(|s| s.budget.strict)
    }

    fn stop_uncounted(&mut self, model: Option<&str>, out: &mut Vec<Effect>) {
        if self.is_winding_down() {
            return;
        }
        self.limit_reached(Limit::UnknownCost, model.unwrap_or("unknown model"), out);
        let name = model.unwrap_or("NAME");
        let first =
            if model.is_none() { "name its model (model = \"NAME\" in [agent.…]) and " } else { "" };
        let advice = format!(
            "{first}give its price: [prices.{name:?}] with input and output in dollars per million tokens in segue.toml; \
             or allow it with --allow-unknown-cost"
        );
        let outcome =
            Outcome::new(Verdict::Stopped, uncounted(model)).because_of(Limit::UnknownCost).advise(advice);
        self.spent_up(outcome, out);
    }

    // The median of what sessions took in this run, of this agent where there are any; else what they usually take.
    fn usual_opening(&self, agent: usize) -> Option<Opening> {
        let name = self.agent_name(agent);
        let of = |all: bool| {
            let openings = self.view.openings.iter().filter(|(by, _)| all || *by == name);
            median(openings.map(|(_, opening)| *opening).collect())
        };
        let usual = || self.view.spec.as_ref()?.budget.agents.get(&name)?.usual;
        of(false).or_else(usual).or_else(|| of(true))
    }
}

/// The middle one by tokens; the lower one of two.
fn median(mut openings: Vec<Opening>) -> Option<Opening> {
    openings.sort_by_key(|opening| (opening.tokens, opening.cost_musd));
    openings.get(openings.len().saturating_sub(1) / 2).copied()
}

fn uncounted(model: Option<&str>) -> String {
    match model {
        Some(model) => format!("the cost limit cannot be enforced for model {model}: its price is not known"),
        None => "the cost limit cannot be enforced: the agent does not say which model it uses".to_owned(),
    }
}

fn is_of_day(limit: Limit) -> bool {
    matches!(limit, Limit::DayCost | Limit::DayTokens | Limit::DaySessions | Limit::DayTime)
}
