//! When the gauge passes a stage, and what is done then.

use super::{Doing, HandoffKind, Phase, Replace, Run, Then};
use crate::gauge::Gauge;
use crate::policy::{Action, At, Lines, Stage};
use crate::{Asked, Depth, Effect, EndReason, Limit, Notice, Outcome, Verdict};

impl Run {
    /// Looks at every stage that has not fired in this session.
    pub(super) fn check_stages(&mut self, out: &mut Vec<Effect>) {
        if !self.may_act() {
            return;
        }
        let due = self.due_stages();
        if due.is_empty() {
            return;
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
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return false };
        let lines = spec.policy.lines;
        let hard = Lines { soft: lines.hard, hard: lines.hard };
        !self.replacing_is_off()
            && spec.policy.stages.iter().any(|s| s.replaces() && reached(s.at, &session.gauge, hard, false))
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
            && self.taking.is_none()
            && self.ending.is_none()
    }

    fn due_stages(&self) -> Vec<(usize, Stage)> {
        let (Some(spec), Some(session)) = (&self.view.spec, &self.view.session) else { return Vec::new() };
        let moment = self.item_closed && session.tools.is_empty();
        spec.policy
            .stages
            .iter()
            .enumerate()
            .filter(|(i, s)| {
                !self.fired.contains(i) && reached(s.at, &session.gauge, spec.policy.lines, moment)
            })
            .map(|(i, s)| (i, s.clone()))
            .collect()
    }

    fn announce_stage(&self, stage: &Stage, out: &mut Vec<Effect>) {
        let Some(session) = &self.view.session else { return };
        out.push(Effect::Announce(Notice::StageReached {
            session: session.n,
            stage: stage.at.to_string(),
            actions: stage.actions.iter().map(ToString::to_string).collect(),
            tokens: session.gauge.fill(),
            percent: session.gauge.percent().map(|p| p.hundredths()),
        }));
    }

    // Several stages may be passed at once. One checkpoint serves them all: the one of the stage that replaces, else
    // the deepest.
    fn act_on(&mut self, stages: &[Stage], out: &mut Vec<Effect>) {
        let has = |action: Action| stages.iter().any(|s| s.actions.contains(&action));
        if has(Action::Tell) {
            self.tell_fill(out);
        }
        if has(Action::ChooseFallback) {
            self.choose_fallback();
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
        let reason = self.fill_words();
        let asked = Asked { depth, stage: Some(stage.at.to_string()), reason: reason.clone() };
        let has = |action: Action| stage.actions.contains(&action);
        let then = if has(Action::Stop) {
            Then::Finish(
                Outcome::new(Verdict::Stopped, format!("the policy stops at {}", stage.at))
                    .because_of(Limit::MaxRestarts),
                EndReason::Stopped,
            )
        } else if has(Action::Split) {
            let outcome = Outcome::new(
                Verdict::NeedsPerson,
                format!("the task is too large for one window ({reason})"),
            );
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

    fn tell_fill(&self, out: &mut Vec<Effect>) {
        let Some(session) = &self.view.session else { return };
        let text = format!("Context window: {}.", self.fill_words());
        out.push(Effect::TellAgent { session: session.n, text });
    }

    /// The fill in words, for reasons.
    pub(super) fn fill_words(&self) -> String {
        let Some(gauge) = self.view.session.as_ref().map(|s| &s.gauge) else {
            return "no session".to_owned();
        };
        match (gauge.fill(), gauge.ceiling(), gauge.percent()) {
            (Some(fill), Some(ceiling), Some(percent)) => {
                format!("{percent} full, {fill} of {ceiling} tokens")
            }
            (Some(fill), ..) => format!("{fill} tokens, window unknown"),
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
        At::Left(left) => ceiling.saturating_sub(fill) <= left,
        At::Forecast => lines.hard.reached(fill, ceiling) || (moment && lines.soft.reached(fill, ceiling)),
        At::Tools(_) => false,
    }
}
