//! The machine under the other policy, in one recorded session.
//!
//! It is fed the records as they were for as long as both policies want the same. From the first point where they do
//! not, it is fed only what tells about the window (readings, tools, text, lists), because the rest followed from
//! decisions that it did not make. What it asks for itself is granted at once. It ends with its first handoff.

use segue_machine::{AgentEvent, Claims, Effect, Event, NextKind, Record, Run, TurnEnd, WorkState};

use super::decision::{Decision, decisions};

pub(super) struct Other {
    machine: Run,
    /// Both have wanted the same so far.
    in_step: bool,
    /// It has decided to replace the session or to end the run.
    over: bool,
}

impl Other {
    /// A machine that stands where the recorded run stood.
    pub(super) fn new(machine: Run) -> Self {
        Self { machine, in_step: true, over: false }
    }

    /// Whether the two ever wanted something else.
    pub(super) fn parted(&self) -> bool {
        !self.in_step
    }

    /// Takes in a record and what was decided about it when it happened; says what is decided here.
    pub(super) fn take(&mut self, record: &Record, recorded: &[Effect]) -> Vec<Decision> {
        if self.over || (!self.in_step && !tells_of_the_window(&record.event)) {
            return Vec::new();
        }
        let effects = self.machine.handle(record);
        let mut found = decisions(&effects, record.at, &self.machine);
        if self.in_step && steps_in(recorded) == steps_in(&effects) {
            return found;
        }
        self.in_step = false;
        self.grant(effects, record, &mut found);
        self.over |= found.iter().any(Decision::ends);
        found
    }

    // Carries out what the other policy wants, as a driver whose agent does everything it is asked.
    fn grant(&mut self, effects: Vec<Effect>, record: &Record, found: &mut Vec<Decision>) {
        let mut todo: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = todo.pop_front() {
            let Some(event) = outcome(&effect) else { continue };
            let replaces = matches!(&effect, Effect::TakeCheckpoint { next: Some(next), .. } if next.kind != NextKind::Continue);
            let more = self.machine.handle(&Record { event, ..record.clone() });
            found.extend(decisions(&more, record.at, &self.machine));
            if replaces {
                self.over = true;
                return;
            }
            todo.extend(more);
        }
    }
}

/// What an agent would have answered, whatever it was.
const CHECKPOINT: &str = "<checkpoint>\n## Completed Work\n- some\n## Remaining Tasks\n- some\n</checkpoint>";

fn outcome(effect: &Effect) -> Option<Event> {
    match effect {
        Effect::AskCheckpoint { session, .. } => {
            let text = CHECKPOINT.to_owned();
            Some(Event::Agent { session: *session, event: AgentEvent::Answered { text } })
        }
        Effect::AskSide { session, id, asked: None } => {
            let event = AgentEvent::SideAnswered { id: id.clone(), text: "STATUS: done".to_owned() };
            Some(Event::Agent { session: *session, event })
        }
        Effect::AskSide { session, id, .. } => {
            let event = AgentEvent::SideAnswered { id: id.clone(), text: CHECKPOINT.to_owned() };
            Some(Event::Agent { session: *session, event })
        }
        Effect::TakeCheckpoint { session, asked, by, source, .. } => Some(Event::CheckpointTaken {
            checkpoint: "what-if".to_owned(),
            session: *session,
            by: *by,
            depth: asked.depth,
            path: String::new(),
            claims: Claims::default(),
            // Progress is taken for granted: nobody knows what the work tree would have been.
            work: WorkState { tree: Some(format!("what-if {session}")), ..WorkState::default() },
            ms: 0,
            judged: Vec::new(),
            source: *source,
        }),
        Effect::SendPrompt { session, .. } => Some(Event::PromptSent { session: *session, chars: 0 }),
        Effect::RunGates { .. }
        | Effect::StartSession { .. }
        | Effect::TellAgent { .. }
        | Effect::AnswerPermission { .. }
        | Effect::AnswerBrake { .. }
        | Effect::JudgeWords { .. }
        | Effect::SaveWork { .. }
        | Effect::WriteHandoffFile { .. }
        | Effect::EndSession { .. }
        | Effect::SetTimer { .. }
        | Effect::ClearTimer { .. }
        | Effect::KeepCircuit { .. }
        | Effect::Announce(_)
        | Effect::Finish(_) => None,
    }
}

// What changes the course of a session. Words for people and timers do not.
fn steps_in(effects: &[Effect]) -> Vec<&Effect> {
    effects
        .iter()
        .filter(|effect| {
            matches!(
                effect,
                Effect::AskCheckpoint { .. }
                    | Effect::AskSide { .. }
                    | Effect::TakeCheckpoint { .. }
                    | Effect::TellAgent { .. }
                    | Effect::AnswerBrake { stop: true, .. }
                    | Effect::EndSession { .. }
                    | Effect::SendPrompt { .. }
                    | Effect::StartSession { .. }
                    | Effect::Finish(_)
            )
        })
        .collect()
}

fn tells_of_the_window(event: &Event) -> bool {
    match event {
        Event::Agent { event, .. } => match event {
            AgentEvent::Ready { .. }
            | AgentEvent::UsageRead(_)
            | AgentEvent::TextSaid { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolEnded { .. }
            | AgentEvent::ItemsSeen { .. }
            | AgentEvent::Compacted
            | AgentEvent::TurnEnded(TurnEnd::Overflow { .. }) => true,
            AgentEvent::Said { .. }
            | AgentEvent::ToolDescribed { .. }
            | AgentEvent::AllowanceSeen { .. }
            | AgentEvent::CrossChecked { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::Answered { .. }
            | AgentEvent::NotAnswered { .. }
            | AgentEvent::SideAnswered { .. }
            | AgentEvent::SideFailed { .. }
            | AgentEvent::TurnEnded(_)
            | AgentEvent::Retrying { .. }
            | AgentEvent::Unrecognised { .. } => false,
        },
        Event::PromptSent { .. } | Event::BrakeAsked { .. } | Event::NoteLeft { .. } => true,
        Event::RunStarted { .. }
        | Event::RunResumed { .. }
        | Event::SessionSpawned { .. }
        | Event::SessionNotStarted { .. }
        | Event::SessionExited { .. }
        | Event::GateFinished(_)
        | Event::GatesBegan { .. }
        | Event::CheckpointTaken { .. }
        | Event::CheckpointFailed { .. }
        | Event::PromptFailed { .. }
        | Event::WordsJudged { .. }
        | Event::WorkSaved { .. }
        | Event::DoneClaimed { .. }
        | Event::SecretsRedacted { .. }
        | Event::TimerFired { .. }
        | Event::StopAsked { .. }
        | Event::TryAsked
        | Event::BaseMoved { .. }
        | Event::GateSwapped { .. }
        | Event::GateRestored { .. }
        | Event::GateChanged(_)
        | Event::ModelPriced { .. }
        | Event::DaySpent(_) => false,
    }
}
