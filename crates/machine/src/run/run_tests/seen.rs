//! What is to be seen of a scene: lists to compare with, in the order in which things were to be done.

use super::{Scenario, name};
use crate::{
    CheckpointBy, Choice, Depth, Effect, EndHow, EndReason, HandoffKind, Limit, Millis, Notice, Outcome,
    Phase, Prompt, SessionReason, Timer, View,
};

impl Scenario {
    pub(crate) fn view(&self) -> &View {
        self.run.view()
    }

    pub(crate) fn collect<T>(&self, pick: impl Fn(&Effect) -> Option<T>) -> Vec<T> {
        self.effects.iter().filter_map(pick).collect()
    }

    pub(crate) fn count(&self, wanted: &str) -> usize {
        self.effects.iter().filter(|e| name(e) == wanted).count()
    }

    pub(crate) fn notices<T>(&self, pick: impl Fn(&Notice) -> Option<T>) -> Vec<T> {
        self.collect(|e| if let Effect::Announce(notice) = e { pick(notice) } else { None })
    }

    pub(crate) fn stages(&self) -> Vec<String> {
        self.notices(|n| if let Notice::StageReached { stage, .. } = n { Some(stage.clone()) } else { None })
    }

    pub(crate) fn warned(&self, wanted: &str) -> usize {
        self.notices(|n| if let Notice::Warned { code, .. } = n { Some(code == wanted) } else { None })
            .iter()
            .filter(|is| **is)
            .count()
    }

    pub(crate) fn limits(&self) -> Vec<Limit> {
        self.notices(|n| if let Notice::LimitReached { limit, .. } = n { Some(*limit) } else { None })
    }

    /// Kind and next agent of each handoff that was decided.
    pub(crate) fn handoffs(&self) -> Vec<(HandoffKind, Option<String>)> {
        self.notices(|n| {
            if let Notice::HandoffDecided { kind, to_agent, .. } = n {
                Some((*kind, to_agent.clone()))
            } else {
                None
            }
        })
    }

    /// What was found about each agent in the last decision.
    pub(crate) fn considered(&self) -> Vec<(String, Choice, String)> {
        let all = self.notices(|n| {
            if let Notice::HandoffDecided { considered, .. } = n { Some(considered.clone()) } else { None }
        });
        let last = all.into_iter().next_back().unwrap_or_default();
        last.into_iter().map(|c| (c.agent, c.verdict, c.why)).collect()
    }

    pub(crate) fn ended(&self) -> Vec<EndReason> {
        self.notices(|n| if let Notice::SessionEnded { reason, .. } = n { Some(*reason) } else { None })
    }

    /// Agent and reason of each session.
    pub(crate) fn started(&self) -> Vec<(String, SessionReason)> {
        self.collect(|e| {
            if let Effect::StartSession { agent, reason, .. } = e {
                Some((agent.clone(), *reason))
            } else {
                None
            }
        })
    }

    pub(crate) fn asked(&self) -> Vec<Depth> {
        self.collect(|e| if let Effect::AskCheckpoint { asked, .. } = e { Some(asked.depth) } else { None })
    }

    /// Depth and author of each checkpoint.
    pub(crate) fn taken(&self) -> Vec<(Depth, CheckpointBy)> {
        self.collect(|e| {
            if let Effect::TakeCheckpoint { asked, by, .. } = e { Some((asked.depth, *by)) } else { None }
        })
    }

    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        self.collect(|e| if let Effect::SendPrompt { prompt, .. } = e { Some(prompt.clone()) } else { None })
    }

    pub(crate) fn ends(&self) -> Vec<EndHow> {
        self.collect(|e| if let Effect::EndSession { how, .. } = e { Some(*how) } else { None })
    }

    pub(crate) fn timer(&self, timer: Timer) -> Option<Millis> {
        self.timers.get(&timer).copied()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let finishes = self.collect(|e| if let Effect::Finish(o) = e { Some(o.clone()) } else { None });
        finishes.last().cloned().expect("the run is not over")
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.outcome().exit_code(self.spec.require_verified)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.view().phase == Phase::Finished
    }
}
