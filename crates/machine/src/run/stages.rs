//! When the gauge passes a stage, and what is done then.

use super::next::short;
use super::{Doing, HandoffKind, Phase, Replace, Run, Then};
use crate::amounts;
use crate::gauge::Gauge;
use crate::policy::{Action, At, Lines, Room, Stage, forecast_lines};
use crate::{Asked, Depth, Effect, EndReason, Limit, Notice, Outcome, Verdict};

impl Run {
    /// Looks at every stage that has not fired in this session.
    pub(super) fn check_stages(&mut self, out: &mut Vec<Effect>) {
        if !self.may_act() {
            return;
        }
        let due = self.due_stages();
        if due.is_empty() {
            return self.at_soft_line(out);
        }
        let stages: Vec<Stage> = due.iter().map(|(_, stage)| stage.clone()).collect();
        for (index, stage) in due {
            self.fired.insert(index);
            self.announce_stage(&stage, out);
        }
        self.act_on(&stages, out);
    }

    /// Whether a stage that replaces the session is reached, fired or not.
    pub(super) fn must_replace(&self) -> bool {
        self.replaces_at(self.is_good_moment())
    }

    /// The same for a turn that has ended with work left to do: a good moment by itself.
    pub(super) fn must_replace_at_turn_end(&self) -> bool {
        self.replaces_at(true)
    }

    fn replaces_at(&self, moment: bool) -> bool {
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return false };
        let lines = self.lines.unwrap_or(spec.policy.lines);
        let moment = spec.policy.moves.is_some() && moment;
        !self.replacing_is_off()
            && spec.policy.stages.iter().any(|s| s.replaces() && reached(s.at, &session.gauge, lines, moment))
    }

    /// Whether a session with this gauge would be replaced at the next good moment.
    pub(super) fn past_soft_line(&self, gauge: &Gauge) -> bool {
        let Some(spec) = &self.view.spec else { return false };
        let lines = self.lines.unwrap_or(spec.policy.lines);
        !self.replacing_is_off()
            && spec.policy.stages.iter().any(|s| s.replaces() && reached(s.at, gauge, lines, true))
    }

    /// 100 % or more, or no restart allowed: the session runs on past the line.
    pub(super) fn replacing_is_off(&self) -> bool {
        self.view.spec.as_ref().is_some_and(|s| s.policy.replacing_off || s.limits.max_restarts == Some(0))
    }

    fn may_act(&self) -> bool {
        let working = self.view.session.as_ref().is_some_and(|s| s.doing == Doing::Working);
        self.view.phase == Phase::Working
            && working
            && self.ask.is_none()
            && !self.leaves_by_side()
            && self.taking.is_none()
            && self.ending.is_none()
    }

    fn due_stages(&self) -> Vec<(usize, Stage)> {
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return Vec::new() };
        let moment = self.is_good_moment();
        let lines = self.lines.unwrap_or(spec.policy.lines);
        spec.policy
            .stages
            .iter()
            .enumerate()
            .filter(|(i, s)| !self.fired.contains(i) && reached(s.at, &session.gauge, lines, moment))
            .map(|(i, s)| (i, s.clone()))
            .collect()
    }

    fn announce_stage(&mut self, stage: &Stage, out: &mut Vec<Effect>) {
        let chooses = stage.actions.contains(&Action::ChooseFallback);
        if chooses {
            self.choose_fallback();
        }
        let fallback = self.fallback.filter(|_| chooses).map(|index| self.agent_name(index));
        let Some(session) = &self.view.session else { return };
        out.push(Effect::Announce(Notice::StageReached {
            session: session.n,
            stage: stage.at.to_string(),
            actions: stage.actions.iter().map(ToString::to_string).collect(),
            tokens: session.gauge.fill(),
            percent: session.gauge.percent().map(|p| p.hundredths()),
            fallback,
            why: self.thrift_words().filter(|_| stage.at == At::Forecast),
        }));
    }

    // Several stages may be passed at once. One checkpoint serves them all: the one of the stage that replaces, else
    // the deepest.
    fn act_on(&mut self, stages: &[Stage], out: &mut Vec<Effect>) {
        // Between the lines of a forecast it was told at the first; at the second it is asked.
        let tells = |s: &Stage| s.at != At::Forecast && s.actions.contains(&Action::Tell);
        if stages.iter().any(tells) {
            self.tell_fill(out);
        }
        if let Some(stage) = stages.iter().rev().find(|s| s.replaces())
            && !self.replacing_is_off()
        {
            return self.replace_at(stage, out);
        }
        let dump = stages.iter().filter(|s| !s.replaces()).max_by_key(|s| s.depth());
        if let Some((stage, depth)) = dump.and_then(|s| s.depth().map(|d| (s, d))) {
            let asked =
                Asked { depth, stage: Some(stage.at.to_string()), reason: "stage reached".to_owned() };
            self.begin(asked, Then::GoOn, out);
        }
    }

    fn replace_at(&mut self, stage: &Stage, out: &mut Vec<Effect>) {
        if self.is_fresh() {
            return self.futile(stage, out);
        }
        let depth = stage.depth().unwrap_or(Depth::Full);
        let reason = if stage.at == At::Forecast { self.line_words() } else { self.fill_words() };
        let asked = Asked { depth, stage: Some(stage.at.to_string()), reason: reason.clone() };
        let has = |action: Action| stage.actions.contains(&action);
        let then = if has(Action::Stop) {
            Then::Finish(
                Outcome::new(Verdict::Stopped, format!("the policy stops at {}", stage.at))
                    .because_of(Limit::MaxRestarts),
                EndReason::Stopped,
            )
        } else if has(Action::Split) {
            let outcome =
                Outcome::new(Verdict::NeedsInput, format!("the task is too large for one window ({reason})"));
            Then::Finish(outcome.advise(super::futile::TOO_LARGE), EndReason::Stopped)
        } else {
            let kind = if !has(Action::Handoff) {
                HandoffKind::Restart
            } else if depth == Depth::Emergency {
                HandoffKind::Forced
            } else {
                HandoffKind::Fallback
            };
            if kind != HandoffKind::Restart {
                self.choose_fallback();
            }
            Then::Replace(Replace { kind, reason, end: EndReason::Replaced, counts: true })
        };
        self.begin(asked, then, out);
    }

    /// Draws the lines of a `forecast` stage anew.
    pub(super) fn draw_lines(&mut self) {
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return };
        let depth = spec.policy.stages.iter().find(|s| s.at == At::Forecast).and_then(Stage::depth);
        let Some(ceiling) = session.gauge.ceiling() else { return };
        let is_there = session.forecast.is_there();
        let lines = if is_there {
            let ask = depth.filter(|_| session.can.ask).map_or(0, Depth::room);
            forecast_lines(&spec.policy, &session.forecast, Room { ceiling, ask, brake: session.can.brake })
        } else {
            spec.policy.lines
        };
        let thrifty = self.thrifty(lines);
        self.lines = (is_there || thrifty != lines).then_some(thrifty);
    }

    // Between the lines a good moment is waited for: the agent may know of it, and its account is stored ahead of time.
    fn at_soft_line(&mut self, out: &mut Vec<Effect>) {
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return };
        let lines = self.lines.unwrap_or(spec.policy.lines);
        let stage = spec.policy.stages.iter().enumerate().find(|(_, s)| s.at == At::Forecast);
        let Some((index, stage)) = stage else { return };
        let waits = !self.fired.contains(&index) && !self.replacing_is_off();
        if !waits || !reached(At::Forecast, &session.gauge, lines, true) {
            return;
        }
        let (tells, replaces) = (stage.actions.contains(&Action::Tell), stage.replaces());
        if tells && !std::mem::replace(&mut self.told, true) {
            self.tell_fill(out);
        }
        if replaces {
            self.ask_early(out);
        }
    }

    fn tell_fill(&self, out: &mut Vec<Effect>) {
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return };
        if !spec.policy.tell || !session.can.tell {
            return;
        }
        let used = match session.gauge.percent() {
            Some(percent) => format!("{} % used", percent.hundredths() / 100),
            None => self.fill_words(),
        };
        let left = session.outlook().map(|outlook| match outlook.calls.middle {
            0 | 1 => ", about one call left".to_owned(),
            calls => format!(", about {calls} calls left"),
        });
        let text = format!("Context window: {used}{}.", left.unwrap_or_default());
        out.push(Effect::TellAgent { session: session.n, text });
    }

    /// Why a line is reached, for reasons.
    pub(super) fn line_words(&self) -> String {
        self.thrift_words().unwrap_or_else(|| self.fill_words())
    }

    /// The fill in words, for reasons.
    pub(super) fn fill_words(&self) -> String {
        let Some(gauge) = self.view.session.as_ref().map(|s| &s.gauge) else {
            return "no session".to_owned();
        };
        match (gauge.fill(), gauge.ceiling(), gauge.percent()) {
            (Some(_), Some(ceiling), Some(percent)) => {
                format!("{} % of {}", percent.hundredths() / 100, short(ceiling))
            }
            (Some(fill), ..) => format!("{} tokens, window unknown", amounts::short(fill)),
            _ => format!("{} tool calls", gauge.tools()),
        }
    }
}

fn reached(at: At, gauge: &Gauge, lines: Lines, moment: bool) -> bool {
    if let At::Tools(tools) = at {
        return gauge.tools() >= tools;
    }
    let (Some(fill), Some(ceiling)) = (gauge.fill(), gauge.ceiling()) else { return false };
    match at {
        At::Percent(line) => line.reached(fill, ceiling),
        At::Used(tokens) => fill >= tokens,
        At::Left(left) => ceiling.saturating_sub(fill) <= left,
        At::Forecast => lines.hard.reached(fill, ceiling) || (moment && lines.soft.reached(fill, ceiling)),
        At::Tools(_) => false,
    }
}
