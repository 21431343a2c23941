//! A fresh session that is above the line before it has done anything: going on as before would never end. First the
//! checkpoint is trimmed, then the task's list is split, then the run stops.

use super::{HandoffKind, Phase, Replace, Run, Then};
use crate::policy::Stage;
use crate::{Asked, Depth, Effect, EndReason, Limit, Outcome, TaskPart, Verdict, parts};

pub(super) const TOO_LARGE: &str = "the task is too large for this window: split it into smaller tasks, use an agent \
with a larger window, or raise --context-threshold";

impl Run {
    // A session that is above the line before it has done anything was filled by its own prompt and base load.
    pub(super) fn is_fresh(&self) -> bool {
        let untouched = |calls| calls == 1 || (calls == 0 && !self.spoke);
        let session = self.view.session.as_ref();
        session.is_some_and(|s| s.gauge.tools() == 0 && s.tools.is_empty() && untouched(s.gauge.calls()))
    }

    /// A fresh session is above the line of a stage.
    pub(super) fn futile(&mut self, stage: &Stage, out: &mut Vec<Effect>) {
        let what = format!("a fresh session starts above {} ({})", stage.at, self.fill_words());
        self.too_much(what, Some(stage.at.to_string()), EndReason::Replaced, out);
    }

    /// Smaller, if that can help: what a session begins with is too much for it.
    pub(super) fn too_much(
        &mut self,
        what: String,
        stage: Option<String>,
        end: EndReason,
        out: &mut Vec<Effect>,
    ) {
        const MOST_TRIMS: u32 = 2;
        if self.view.checkpoint.is_some() && self.trim < MOST_TRIMS {
            self.trim += 1;
            Self::warn("futile", format!("{what}; trying again with a shorter checkpoint"), out);
            let replace = Replace { kind: HandoffKind::Restart, reason: what, end, counts: false };
            return self.replace_now(replace, out);
        }
        if let Some(part) = self.smaller_part() {
            self.part = Some(part);
            let list = part_words(part);
            Self::warn("futile", format!("{what}; continuing with {list}, the rest follows later"), out);
            let reason = format!("{what}: split, {list}");
            let replace = Replace { kind: HandoffKind::Split, reason, end, counts: false };
            if self.view.checkpoint.is_some() {
                return self.replace_now(replace, out);
            }
            return self.take(futile_asked(stage), None, Then::Replace(replace), out);
        }
        self.limit_reached(Limit::Futile, &self.fill_words(), out);
        let outcome = Outcome::new(Verdict::Stopped, what).because_of(Limit::Futile).advise(TOO_LARGE);
        self.announce_stop(&outcome.reason, out);
        let end = if end == EndReason::Replaced { EndReason::Stopped } else { end };
        self.take(futile_asked(stage), None, Then::Finish(outcome, end), out);
    }

    // The first half of what the session was given, as long as there is a list to halve.
    fn smaller_part(&self) -> Option<TaskPart> {
        if self.base_fills_the_window() {
            return None;
        }
        let of = u32::try_from(parts::count(&self.view.spec.as_ref()?.task.text)).ok()?;
        let part = self.part.unwrap_or(TaskPart { first: 1, last: of, of });
        let size = (part.last + 1).saturating_sub(part.first);
        (size > 1).then(|| TaskPart { last: part.first + size.div_ceil(2) - 1, ..part })
    }

    /// The part of the task after the one that is worked on.
    pub(super) fn next_part(&self) -> Option<TaskPart> {
        let part = self.part.filter(|part| part.last < part.of)?;
        let size = (part.last + 1).saturating_sub(part.first);
        Some(TaskPart { first: part.last + 1, last: (part.last + size).min(part.of), of: part.of })
    }

    /// The agent says that its part is done: a fresh session is given the next one. The gates decide about the whole.
    pub(super) fn part_done(&mut self, out: &mut Vec<Effect>) {
        let (Some(part), Some(next)) = (self.part, self.next_part()) else { return };
        self.part_is_done = true;
        self.view.phase = Phase::Working;
        let reason = format!("the agent reports {} done; next: {}", part_words(part), part_words(next));
        let asked = Asked { depth: Depth::Full, stage: None, reason: reason.clone() };
        let replace = Replace { kind: HandoffKind::Split, reason, end: EndReason::Replaced, counts: false };
        self.begin(asked, Then::Replace(replace), out);
    }

    /// A session begins: it is given the next part when the one before is done.
    pub(super) fn begin_part(&mut self) {
        if std::mem::take(&mut self.part_is_done) {
            self.part = self.next_part().or(self.part);
        }
    }
}

fn futile_asked(stage: Option<String>) -> Asked {
    Asked { depth: Depth::Emergency, stage, reason: "futile".to_owned() }
}

fn part_words(part: TaskPart) -> String {
    format!("items {} to {} of {}", part.first, part.last, part.of)
}
