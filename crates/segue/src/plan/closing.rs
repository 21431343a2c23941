//! The end of a plan's process: what was edited, what is blocked, and the last words.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use segue_machine::Verdict;
use segue_plans::ids::same;
use segue_plans::{Item, ItemKind, Phase, Place, Plan, Status};
use segue_report::{Line, Outer, PhaseStatus, RunFinished, Time};

use super::PlanError;
use super::board::{Board, is_one_of};
use super::runner::{Runner, fields};
use super::state::{Spent, Standing, State};
use crate::clock;
use crate::notify::{LAST_OF_ALL, Notifier};
use crate::snapshots::prune::prune_work_quietly;

/// So many open items are shown.
const SHOWN: usize = 20;

impl Runner {
    /// Says what was edited in phases that are completed.
    pub(super) fn tell_changes(&mut self) -> Result<(), PlanError> {
        let state = self.kept.state();
        let mut texts: Vec<String> = Vec::new();
        for (id, known) in state.phases.iter().filter(|(id, _)| state.whole_of(id).is_none()) {
            match self.plan.phases.iter().find(|phase| same(&phase.id, id)) {
                None => texts.push(format!("phase {id} is no longer in the plan; its work is kept")),
                Some(phase) if known.status == Status::Completed && known.parts.is_empty() => {
                    let changed = known.digest.as_ref().is_some_and(|was| *was != digest(phase));
                    if changed {
                        texts.push(format!(
                            "phase {id} was edited after it was completed and is not run again; --force --phase {id} runs it"
                        ));
                    }
                }
                Some(_) => {}
            }
        }
        for text in texts {
            if self.told.insert(text.clone()) {
                self.warn("plan_edited", &text)?;
            }
        }
        Ok(())
    }

    /// Ends the plan's own part: what was not begun is blocked, and everything is said once more.
    pub(super) fn close(mut self) -> Result<(u8, State), PlanError> {
        if self.exit == 0 {
            self.read_again()?;
        }
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let open = board.open();
        let any = |wanted: Status| self.kept.state().phases.values().any(|phase| phase.status == wanted);
        let needs_input = any(Status::NeedsInput);
        let (work, criteria) = self.open_beside_phases();
        let (mut work, mut criteria) = (self.lines_of(&work), self.lines_of(&criteria));
        let mut told = self.unchecked();
        let left = self.open_in_phases(&board);
        work.extend(self.lines_of(&left.work));
        let unsaid = left.criteria.iter().filter(|item| !told.iter().any(|line| line.ends_with(&item.text)));
        criteria.extend(self.lines_of(&unsaid.copied().collect::<Vec<_>>()));
        criteria.append(&mut told);
        let marked = self.lines_of(&left.marked);
        let standing = match self.exit {
            _ if open.is_empty() && !work.is_empty() => Standing::NeedsInput,
            _ if open.is_empty() => Standing::Completed,
            130 => Standing::Stopped,
            _ if any(Status::Failed) => Standing::Failed,
            _ if needs_input => Standing::NeedsInput,
            _ => Standing::Stopped,
        };
        if open.is_empty() {
            self.exit = if work.is_empty() { 0 } else { 3 };
            self.tell_open("open, and not done by any phase (--force --phase ID runs one again)", &work)?;
            self.tell_open("open in phases that the plan marks as done, and not run", &marked)?;
            self.tell_open("not checked by segue: review it yourself", &criteria)?;
        } else if self.exit == 0 && self.set.only.is_none() {
            // Nothing failed and nothing can begin: what is left waits for a person, or for something that never comes.
            self.exit = 3;
        }
        if let Some(only) = self.set.only.clone().filter(|_| self.exit == 0) {
            let waits =
                open.iter().filter(|at| is_one_of(&board.plan.phases[**at], &only, self.kept.state()));
            let needs: BTreeSet<&str> = waits.flat_map(|at| board.waits_for(*at)).collect();
            let needs: Vec<&str> = needs.into_iter().collect();
            if !needs.is_empty() {
                let only = only.join(", ");
                let text =
                    format!("phase {only} was not run: it needs {}, not completed yet", needs.join(", "));
                self.warn("phase_blocked", &text)?;
                self.exit = 2;
            }
        }
        let stuck = self.set.only.is_none() && matches!(standing, Standing::Failed | Standing::NeedsInput);
        for at in &open {
            let waits = board.waits_for(*at);
            let phase = &board.plan.phases[*at];
            if stuck && !waits.is_empty() && board.status(*at) == Status::Pending {
                self.voice.say(&format!("phase {} is blocked: it needs {}", phase.id, waits.join(", ")));
                self.tell(Outer::PhaseFinished(fields(phase, Some(PhaseStatus::Blocked), None)))?;
            }
        }
        self.kept.change(|state| state.status = standing)?;
        if standing == Standing::Completed {
            self.kept.forget_flags();
            let (dir, keep) = &self.set.keeps;
            prune_work_quietly(&self.set.store, dir, *keep);
        }
        self.voice.screen = None;
        let (finished, words) = self.last_words(&board, standing);
        // A phase that needs somebody has said so itself.
        if !needs_input {
            self.notify(&finished);
        }
        self.tell(Outer::RunFinished(finished))?;
        self.voice.say(&format!("\n{words}"));
        Ok((self.exit, self.kept.state().clone()))
    }

    fn notify(&self, finished: &RunFinished) {
        let (to, state) = (&self.set.notify, self.kept.state());
        if !to.any() {
            return;
        }
        let workdir = self.set.store.workdir().to_owned();
        let mut notifier =
            Notifier::new(to.clone(), &state.title, workdir, self.set.kept_from_others.clone());
        let event = Outer::RunFinished(finished.clone());
        let line = Line { run: state.id.clone(), seq: state.lines, at: Time(clock::now()), event };
        for notification in notifier.pick(&[line]) {
            notifier.send(notification, |why| {
                let _ = writeln!(std::io::stderr().lock(), "segue: a notification was not delivered: {why}");
            });
        }
        let until = Instant::now() + LAST_OF_ALL;
        while !notifier.may_leave() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    // What completed phases are held to in words: no command decided it.
    fn unchecked(&self) -> Vec<String> {
        let state = self.kept.state();
        let is_done = |phase: &&Phase| {
            state.phase(&phase.id).is_some_and(|known| known.status == Status::Completed && !known.accepted)
        };
        let words = |phase: &Phase| {
            let truths = phase.must_have.truths.iter().chain(&phase.must_have.success);
            let texts = phase.unchecked().map(|one| &one.text).chain(truths).filter(|text| !text.is_empty());
            let lines: Vec<String> = texts.map(|text| format!("phase {}: {text}", phase.id)).collect();
            lines
        };
        self.plan.phases.iter().filter(is_done).flat_map(words).collect()
    }

    fn open_in_phases<'b>(&self, board: &'b Board) -> Left<'b> {
        let (state, mut left) = (self.kept.state(), Left::default());
        let mut seen: BTreeSet<Place> = BTreeSet::new();
        let is_open = |item: &Item| item.is_open() && item.mark.to > 0;
        let over = board.plan.phases.iter().enumerate().filter(|(at, _)| board.status(*at).is_over());
        for (_, phase) in over {
            let was_run = state.phase(&phase.id).is_some();
            if was_run && state.options.no_write_back {
                continue;
            }
            let of_tasks = phase.tasks.iter().flat_map(|task| &task.items);
            for item in of_tasks.filter(|item| item.kind != ItemKind::Criterion) {
                if is_open(item) && seen.insert(item.at) {
                    if was_run { &mut left.work } else { &mut left.marked }.push(item);
                }
            }
            // A box above others is as open as they are; one beside the tasks no agent is asked to report.
            let others = phase.all_items().filter(|item| item.kind != ItemKind::Group);
            left.criteria.extend(others.filter(|item| is_open(item) && seen.insert(item.at)));
        }
        left
    }

    // Where an item stands, and what it says.
    fn lines_of(&self, items: &[&Item]) -> Vec<String> {
        let many = self.plan.files.len() > 1;
        let place = |item: &&Item| match many {
            true => format!("{}:{}: {}", self.plan.file(item.at), item.at.line, item.text),
            false => format!("line {}: {}", item.at.line, item.text),
        };
        items.iter().map(place).collect()
    }

    fn tell_open(&mut self, what: &str, lines: &[String]) -> Result<(), PlanError> {
        if lines.is_empty() {
            return Ok(());
        }
        let more = lines.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("\n    and {more} more") } else { String::new() };
        let list: String = lines.iter().take(SHOWN).map(|line| format!("\n    {line}")).collect();
        self.warn("items_open", &format!("{what}:{list}{more}"))
    }

    fn last_words(&self, board: &Board, standing: Standing) -> (RunFinished, String) {
        let state = self.kept.state();
        let total: Spent = state.phases.values().fold(Spent::default(), |sum, phase| sum.plus(phase.spent));
        let (all, open) = (board.plan.phases.len(), board.open().len());
        let unverified =
            state.phases.values().any(|phase| phase.status == Status::Completed && phase.unverified);
        let verdict = match standing {
            Standing::Completed if unverified => Verdict::Unverified,
            Standing::Completed => Verdict::Verified,
            Standing::Failed => Verdict::Failed,
            Standing::NeedsInput => Verdict::NeedsInput,
            Standing::Stopped | Standing::Running => Verdict::Stopped,
        };
        let reason = format!("{} of {all} phases are completed", all - open);
        let advice = (open > 0).then(|| format!("`segue resume {}` continues", state.id));
        let words = match &advice {
            Some(advice) => format!("plan {}: {reason}; {advice}", standing.word()),
            None => format!("plan completed: {reason}"),
        };
        let began = state.began.map_or(0, |began| began.0);
        let finished = RunFinished {
            verdict,
            reason,
            sessions: total.sessions,
            handoffs: total.handoffs,
            overflows: total.overflows,
            redacted: total.redacted,
            tokens_in: total.tokens_in,
            tokens_out: total.tokens_out,
            cost_usd: total.cost_musd.map(|cost| cost as f64 / 1e6),
            ms: clock::now().saturating_sub(began),
            advice,
            limit: None,
            exit_code: self.exit,
            until: None,
            last_message: None,
            gate_changes: Vec::new(),
            branch_changes: Vec::new(),
        };
        (finished, words)
    }
}

/// Open items of phases that are over.
#[derive(Debug, Default)]
struct Left<'p> {
    /// Work that came to a phase after its agent was told of it, or that the agent left out.
    work: Vec<&'p Item>,
    /// Work of phases that were over before anything was run.
    marked: Vec<&'p Item>,
    /// What must hold, and what nobody was asked to report.
    criteria: Vec<&'p Item>,
}

/// A phase in few characters: the same for the same phase, wherever it stands.
pub(super) fn digest(phase: &Phase) -> String {
    let mut phase = Plan { phases: vec![phase.clone()], ..Plan::default() }.content();
    // Ticking what is done is no change of what was to be done.
    for phase in &mut phase.phases {
        phase.status = Status::Pending;
        phase.needs.clear();
        for task in &mut phase.tasks {
            task.status = Status::Pending;
            task.steps.iter_mut().for_each(|step| step.done = false);
        }
    }
    let text = serde_json::to_string(&phase).unwrap_or_default().replace("[x]", "[ ]");
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}
