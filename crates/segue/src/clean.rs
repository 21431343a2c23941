//! Takes secrets out of what happened, before it is stored, shown or decided upon.
//!
//! The one place where an event's texts are listed: an event with a new text belongs here.

use segue_machine::claims::Judged;
use segue_machine::{AgentEvent, Event, RunSpec, TurnEnd};
use segue_redact::Redactor;

/// What was taken out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    count: u32,
    kinds: Vec<String>,
}

impl Found {
    /// The event that tells of it, if there is anything to tell.
    pub(crate) fn event(self) -> Option<Event> {
        (self.count > 0).then_some(Event::SecretsRedacted { count: self.count, kinds: self.kinds })
    }

    /// Takes the secrets out of one text.
    pub(crate) fn text(&mut self, redactor: &Redactor, text: &mut String) {
        let clean = redactor.text(text);
        if clean.counts.total() == 0 {
            return;
        }
        self.count = self.count.saturating_add(u32::try_from(clean.counts.total()).unwrap_or(u32::MAX));
        for (kind, _) in clean.counts.by_kind() {
            if !self.kinds.iter().any(|known| known == kind) {
                self.kinds.push(kind.to_owned());
            }
        }
        *text = clean.text.into_owned();
    }
}

/// Takes the secrets out of an event and says what was found.
pub(crate) fn event(redactor: &Redactor, event: &mut Event) -> Found {
    let mut found = Found::default();
    let mut clean = |text: &mut String| found.text(redactor, text);
    match event {
        Event::RunStarted { spec } => spec_texts(spec, &mut clean),
        Event::RunResumed { spec, .. } => {
            if let Some(spec) = spec {
                spec_texts(spec, &mut clean);
            }
        }
        Event::Agent { event, .. } => agent(event, &mut clean),
        Event::SessionNotStarted { why: text, .. }
        | Event::NoteLeft { text }
        | Event::DoneClaimed { text }
        | Event::BaseMoved { text, .. } => clean(text),
        Event::GateFinished(result) => clean(&mut result.tail),
        Event::GateChanged(change) => {
            change.files.iter_mut().for_each(|file| clean(&mut file.path));
            change.unchecked.iter_mut().for_each(&mut clean);
        }
        Event::GateSwapped { files: paths, .. } | Event::GateRestored { kept: paths, .. } => {
            paths.iter_mut().for_each(&mut clean);
        }
        Event::CheckpointTaken { judged, work, .. } => {
            claims(judged, &mut clean);
            work.trouble.iter_mut().for_each(&mut clean);
        }
        Event::WordsJudged { judged, .. } => claims(judged, &mut clean),
        Event::WorkSaved { work } => work.trouble.iter_mut().for_each(&mut clean),
        Event::SessionSpawned { .. }
        | Event::PromptSent { .. }
        | Event::SessionExited { .. }
        | Event::BrakeAsked { .. }
        | Event::SecretsRedacted { .. }
        | Event::TimerFired { .. }
        | Event::StopAsked { .. }
        | Event::TryAsked
        | Event::ModelPriced { .. }
        | Event::DaySpent(_) => {}
    }
    found
}

/// A request without its secrets.
pub(crate) fn spec(redactor: &Redactor, typed: &RunSpec) -> RunSpec {
    let (mut clean, mut found) = (typed.clone(), Found::default());
    spec_texts(&mut clean, &mut |text| found.text(redactor, text));
    clean
}

fn spec_texts(spec: &mut RunSpec, clean: &mut impl FnMut(&mut String)) {
    clean(&mut spec.task.text);
    spec.gates.iter_mut().for_each(|gate| clean(&mut gate.run));
}

fn claims(judged: &mut [Judged], clean: &mut impl FnMut(&mut String)) {
    for one in judged {
        clean(&mut one.claim.text);
        clean(&mut one.evidence);
        if let segue_machine::claims::ClaimKind::File { path, .. } = &mut one.claim.kind {
            clean(path);
        }
    }
}

fn agent(event: &mut AgentEvent, clean: &mut impl FnMut(&mut String)) {
    match event {
        AgentEvent::ToolStarted { title, .. }
        | AgentEvent::ToolEnded { title, .. }
        | AgentEvent::PermissionAsked { title, .. } => clean(title),
        AgentEvent::Answered { text }
        | AgentEvent::NotAnswered { why: text }
        | AgentEvent::SideAnswered { text, .. }
        | AgentEvent::SideFailed { why: text, .. }
        | AgentEvent::Retrying { why: text, .. }
        | AgentEvent::Unrecognised { text, .. } => clean(text),
        AgentEvent::TurnEnded(end) => match end {
            TurnEnd::Finished { text: message }
            | TurnEnd::Overflow { message }
            | TurnEnd::Failed { message, .. } => {
                clean(message);
            }
            TurnEnd::Cancelled => {}
        },
        AgentEvent::Ready { .. }
        | AgentEvent::UsageRead(_)
        | AgentEvent::TextSaid { .. }
        | AgentEvent::ItemsSeen { .. }
        | AgentEvent::AllowanceSeen { .. }
        | AgentEvent::CrossChecked { .. }
        | AgentEvent::Compacted => {}
    }
}
