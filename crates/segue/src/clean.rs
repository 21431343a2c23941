//! Takes secrets out of what happened, before it is stored, shown or decided upon.
//!
//! The one place where an event's texts are listed: an event with a new text belongs here.

use segue_machine::claims::Judged;
use segue_machine::{AgentEvent, Event, RunSpec, TurnEnd};
use segue_redact::Redactor;

/// How many characters of one message of an agent, and of a failed tool's last line, are kept.
const MESSAGE: usize = 8_000;
const LAST_LINE: usize = 300;

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
        Event::RunResumed { spec, answer, .. } => {
            answer.iter_mut().for_each(&mut clean);
            if let Some(spec) = spec {
                spec_texts(spec, &mut clean);
            }
        }
        Event::Agent { event, .. } => agent(event, &mut clean),
        Event::CheckpointFailed { why, work, .. } => {
            clean(why);
            work.trouble.iter_mut().for_each(&mut clean);
        }
        Event::SessionNotStarted { why: text, .. }
        | Event::PromptFailed { why: text, .. }
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
        Event::WordsJudged { judged, trouble, .. } => {
            claims(judged, &mut clean);
            trouble.iter_mut().for_each(&mut clean);
        }
        Event::WorkSaved { work } => work.trouble.iter_mut().for_each(&mut clean),
        Event::SessionSpawned { .. }
        | Event::GatesBegan { .. }
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
        // Cut only after the secrets are out: half a secret is not recognised.
        AgentEvent::Said { text } => {
            clean(text);
            cut_middle(text, MESSAGE);
        }
        AgentEvent::ToolDescribed { last_line, .. } => {
            last_line.iter_mut().for_each(|line| {
                clean(line);
                cut_middle(line, LAST_LINE);
            });
        }
        AgentEvent::ItemsSeen { items, .. } => items.iter_mut().for_each(|item| clean(&mut item.text)),
        AgentEvent::ToolStarted { title, .. } | AgentEvent::ToolEnded { title, .. } => clean(title),
        AgentEvent::PermissionAsked { title, subject, .. } => {
            clean(title);
            subject.command = subject.command.take().filter(|command| command.len() <= MESSAGE);
            subject.command.iter_mut().chain(&mut subject.paths).for_each(clean);
        }
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
        | AgentEvent::AllowanceSeen { .. }
        | AgentEvent::CrossChecked { .. }
        | AgentEvent::Compacted => {}
    }
}

/// The beginning and the end of a text that is too long: three quarters and the rest.
fn cut_middle(text: &mut String, most: usize) {
    let all = text.chars().count();
    if all <= most {
        return;
    }
    let (head, tail) = (most * 3 / 4, most / 4);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(all - tail).collect();
    *text = format!("{start}\n… ({} characters cut) …\n{end}", all - head - tail);
}
