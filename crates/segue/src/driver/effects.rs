//! Carries effects out, one arm each. What takes time is done elsewhere and comes back as an event.

use std::time::Duration;

use segue_agents::Act;
use segue_machine::{
    Asked, CommitMode, Depth, Effect, Event, GateWhen, NextStep, Notice, Prompt, WordsSource,
};

use super::socket::Verdict;
use super::{Driver, Input};
use crate::checkpoint::{self, Composed, Judgement, Request, Situation};
use crate::clock;
use crate::gates::{self, GateRoom, guard};
use crate::learned;
use crate::private::Private;
use crate::state::State;
use crate::store::safely;

/// The name of the snapshot that is taken before a plan's commands run.
const BEFORE_GATES: &str = "before-gates";

/// How long a checkpoint waits for the copies of messages that it names.
const MESSAGES: Duration = Duration::from_secs(1);

/// How many running tools a side question names.
const RUNNING_NAMED: usize = 10;

impl Driver {
    pub(super) fn carry_out(&mut self, effect: Effect, known: Option<Situation>, seq: u64) {
        match effect {
            Effect::RunGates { when, round } => self.run_gates(when, round),
            Effect::StartSession { session, agent, conversation, reason } => {
                self.start_session(session, &agent, conversation, reason);
            }
            Effect::SendPrompt { session, prompt } => self.send_prompt(session, prompt, known),
            Effect::AskCheckpoint { session, asked } => self.ask_checkpoint(session, &asked),
            Effect::AskSide { session, id, asked } => self.ask_side(session, id, asked.as_ref()),
            Effect::TellAgent { session, text } => {
                self.with_adapter(session, |adapter, io| adapter.act(Act::Tell(text), io));
            }
            Effect::AnswerPermission { session, request, allow } => {
                self.with_adapter(session, |adapter, io| adapter.act(Act::Permission { request, allow }, io));
            }
            Effect::AnswerBrake { request, stop } => self.answer_brake(&request, stop),
            Effect::TakeCheckpoint { session, asked, answer, commit, next, source, by: _ } => {
                self.take_checkpoint(seq, session, asked, (answer, source, next), (commit, known));
            }
            Effect::JudgeWords { session, text, tree } => self.judge_words(session, text, tree, known),
            Effect::SaveWork { status, commit } => self.save_work(seq, status, commit, known),
            Effect::WriteHandoffFile { reason } => self.write_handoff_file(reason, known),
            Effect::EndSession { session, how } => self.end_session(session, how),
            Effect::KeepCircuit { account, circuit } => self.keep_circuit(account, circuit),
            Effect::Announce(Notice::SessionEnded { session, .. }) => self.learn_growth(session),
            // Timers are set at once, without waiting for the disk.
            Effect::SetTimer { .. } | Effect::ClearTimer { .. } | Effect::Announce(_) => {}
            Effect::Finish(outcome) => {
                if !outcome.resumable() {
                    Private::remove(&self.place.store.run_dir(&self.place.run));
                }
                self.outcome = Some(outcome);
            }
        }
    }

    // Only a help for later forecasts: a run does not wait for it, and goes on without it.
    fn learn_growth(&self, session: u32) {
        let Some(state) = State::of_user().filter(|_| self.keeps_book()) else { return };
        let view = self.machine.view();
        let reread = view.rereads.last().filter(|reread| reread.session == session).cloned();
        let grown = view.grown.clone();
        let key = learned::key(self.place.repo.as_ref(), self.place.store.workdir());
        self.desk.order(move || {
            if let Err(error) = learned::add(&state, &key, (&grown, reread.as_ref()), clock::now()) {
                log::warn!("what the session's calls added is not kept: {error}");
            }
        });
    }

    fn answer_brake(&mut self, request: &str, stop: bool) {
        let session = self.machine.view().session.as_ref().map(|s| s.n).filter(|_| stop);
        if let Some(session) = session {
            self.with_adapter(session, |adapter, io| adapter.act(Act::Braked, io));
        }
        let context = if stop { None } else { self.hook_context() };
        self.socket.answer(request, Verdict { stop, context });
    }

    // A copy for whoever wants to read all of it; the journal has it too.
    pub(super) fn keep_message(&self, session: u32, text: &str) {
        use std::io::Write;
        let path = self.place.store.messages(&self.place.run, session);
        let text = format!(
            "{}

---

",
            text.trim_end()
        );
        self.desk.order(move || {
            let written = safely::append(&path).and_then(|mut file| file.write_all(text.as_bytes()));
            if let Err(error) = written {
                log::warn!("{}: {error}", path.display());
            }
        });
    }

    pub(super) fn situation(&self) -> Option<Situation> {
        Situation::of(self.machine.view(), clock::now())
    }

    fn run_gates(&mut self, when: GateWhen, round: u32) {
        let Some(spec) = &self.machine.view().spec else { return };
        let gates = spec.gates.iter().filter(|g| !(g.manual || g.after_only && when == GateWhen::Before));
        // What a plan's own commands do to the work cannot be known: it is saved before them.
        let saves = spec.gates.iter().any(|g| g.after_only) && spec.git.commit != CommitMode::Never;
        let gates: Vec<_> = gates.map(|gate| self.place.private.gate(gate)).collect();
        let room = GateRoom::of(&self.place);
        let start = guard::Start { repo: self.place.repo.clone(), tree: spec.git.base_tree.clone() };
        let (place, sender) = (self.place.clone(), self.sender.clone());
        self.gates = Some(tokio::spawn(async move {
            let look = move || if saves { place.saved_tree(BEFORE_GATES) } else { place.tree() };
            let tree = tokio::task::spawn_blocking(look).await.ok().flatten();
            if sender.send(Input::Event(Event::GatesBegan { when, tree })).await.is_err() {
                return;
            }
            for gate in gates {
                let result = gates::run(&gate, &room, when, round).await;
                if when == GateWhen::After && result.passed {
                    let with = guard::Check { room: &room, start: &start, round, tell: &sender };
                    guard::check(&gate, &with).await;
                }
                if sender.send(Input::Event(Event::GateFinished(result))).await.is_err() {
                    return;
                }
            }
        }));
    }

    fn send_prompt(&mut self, session: u32, prompt: Prompt, known: Option<Situation>) {
        let Some(situation) = known else { return };
        let window = self.machine.view().session.as_ref().and_then(|s| s.gauge.ceiling());
        let (place, sender) = (self.place.clone(), self.sender.clone());
        let looks = matches!(prompt, Prompt::Continuation { .. } | Prompt::Verify)
            || (matches!(prompt, Prompt::Continue { .. }) && situation.interrupted.is_some());
        if !looks {
            let inputs = composed(session, checkpoint::compose(&place, &situation, &prompt, window));
            return inputs.into_iter().for_each(|input| self.input(input));
        }
        tokio::task::spawn_blocking(move || {
            for input in composed(session, checkpoint::compose(&place, &situation, &prompt, window)) {
                let _ = sender.blocking_send(input);
            }
        });
    }

    fn ask_checkpoint(&mut self, session: u32, asked: &Asked) {
        match self.checkpoint_request(asked, false) {
            Ok(text) => {
                let chars = segue_machine::gauge::weigh(&text);
                self.with_adapter(session, |adapter, io| adapter.act(Act::Ask(text), io));
                self.queue.push_back(Event::PromptSent { session, chars });
            }
            Err(error) => {
                let event = segue_machine::AgentEvent::NotAnswered { why: error.to_string() };
                self.queue.push_back(Event::Agent { session, event });
            }
        }
    }

    fn ask_side(&mut self, session: u32, id: String, asked: Option<&Asked>) {
        let status = || self.place.prompts.fill("ask_status", minijinja::context! {});
        match asked.map_or_else(status, |asked| self.checkpoint_request(asked, true)) {
            Ok(text) => {
                self.with_adapter(session, |adapter, io| adapter.act(Act::SideQuestion { id, text }, io));
            }
            Err(error) => {
                let event = segue_machine::AgentEvent::SideFailed { id, why: error.to_string() };
                self.queue.push_back(Event::Agent { session, event });
            }
        }
    }

    fn checkpoint_request(&self, asked: &Asked, side: bool) -> Result<String, crate::prompt::PromptError> {
        let view = self.machine.view();
        let max_chars = view.spec.as_ref().and_then(|s| s.policy.max_chars).unwrap_or(4_000);
        let depth = match asked.depth {
            Depth::Full => "full",
            Depth::Brief => "brief",
            Depth::Emergency => "emergency",
        };
        let fill = view.session.as_ref().and_then(|s| s.gauge.percent()).map(|p| format!("{p} full"));
        let fill = fill.unwrap_or_else(|| "filling up".to_owned());
        let role = view.spec.as_ref().and_then(|s| s.role.as_ref());
        let sections = role.map_or(&[][..], |role| role.sections.as_slice());
        let role = role.map_or("session", |role| role.name.as_str());
        let tools = view.session.iter().flat_map(|s| s.tools.values());
        let running: Vec<String> = tools.take(RUNNING_NAMED).cloned().collect();
        let sections = sections.to_vec();
        let again = view.read_again.clone();
        let words = minijinja::context! { depth, max_chars, fill, role, sections, side, running, again };
        self.place.prompts.fill("checkpoint", words)
    }

    fn judge_words(&mut self, session: u32, text: String, tree: bool, known: Option<Situation>) {
        let Some(mut situation) = known else { return };
        let (place, sender) = (self.place.clone(), self.sender.clone());
        tokio::task::spawn_blocking(move || {
            let facts = place.facts(&situation.git);
            let judgement = checkpoint::judge_words(&place, &mut situation, &text, facts.as_ref());
            for event in judgement.events() {
                let _ = sender.blocking_send(Input::Event(event));
            }
            let tree = place.repo.as_ref().filter(|_| tree).and_then(|repo| repo.tree().ok());
            let Judgement { judged, trouble, .. } = judgement;
            let event = Event::WordsJudged { session, judged, tree, trouble };
            let _ = sender.blocking_send(Input::Event(event));
        });
    }

    fn take_checkpoint(
        &mut self,
        seq: u64,
        session: u32,
        asked: Asked,
        (answer, source, next): (Option<String>, Option<WordsSource>, Option<NextStep>),
        (commit, known): (bool, Option<Situation>),
    ) {
        let Some(situation) = known else { return };
        if let Some(live) = &self.live {
            live.keep_output();
        }
        let (place, sender) = (self.place.clone(), self.sender.clone());
        let (id, desk) = (format!("{}-c{seq}", place.run), self.desk.clone());
        tokio::task::spawn_blocking(move || {
            desk.catch_up(MESSAGES);
            let request = Request { id, session, asked, answer, commit, next, source, situation };
            let events = checkpoint::take(&place, request);
            for event in events {
                let _ = sender.blocking_send(Input::Event(event));
            }
        });
    }

    fn save_work(&mut self, seq: u64, status: String, commit: bool, known: Option<Situation>) {
        let Some(situation) = known else { return };
        let (place, sender) = (self.place.clone(), self.sender.clone());
        tokio::task::spawn_blocking(move || {
            let work = checkpoint::save(&place, &situation, &format!("end-{seq}"), commit, &status);
            let _ = sender.blocking_send(Input::Event(Event::WorkSaved { work }));
        });
    }

    /// Nothing can be noted any more, but the work can still be kept.
    pub(super) async fn save_last(&mut self) {
        let Some(situation) = self.situation() else { return };
        let (place, label) = (self.place.clone(), format!("lost-{}", self.book.next_seq()));
        let saved =
            tokio::task::spawn_blocking(move || checkpoint::save(&place, &situation, &label, false, ""))
                .await;
        let Ok(work) = saved else { return };
        let text = match (work.snapshot, work.trouble) {
            (Some(snapshot), _) => format!("the work is saved as {snapshot}"),
            (None, Some(why)) => {
                format!("the work is in your files only, a snapshot was not possible: {why}")
            }
            (None, None) => "the work is in your files only".to_owned(),
        };
        self.note(&text);
    }

    fn write_handoff_file(&mut self, reason: String, known: Option<Situation>) {
        let Some(situation) = known else { return };
        let (place, notes) = (self.place.clone(), self.notes());
        self.desk.order(move || {
            let text = match checkpoint::write_handoff_file(&place, &situation, &reason) {
                Ok(path) => format!("wrote {}", place.store.shown(&path)),
                Err(error) => format!("HANDOFF.md could not be written: {error}"),
            };
            notes.note(&text);
        });
    }
}

fn composed(session: u32, made: Result<Composed, crate::prompt::PromptError>) -> Vec<Input> {
    match made {
        Ok(Composed { text, warning, moved, events }) => {
            let moved = moved.into_iter().map(|text| Event::BaseMoved { session, text });
            let told = events.into_iter().chain(moved).map(Input::Event);
            told.chain([Input::Prompt { session, text, warning }]).collect()
        }
        Err(error) => vec![Input::Event(Event::PromptFailed { session, why: error.to_string() })],
    }
}
