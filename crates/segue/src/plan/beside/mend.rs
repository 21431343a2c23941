//! When two phases do not go together: an agent is given the conflict and what both know, then a person the commands.

use std::io;
use std::path::Path;

use segue_machine::checkpoint::cut_chars;
use segue_machine::{GateResult, GateSpec};
use segue_plans::Status;
use segue_redact::Redactor;
use segue_report::{Outer, PhaseStatus, plain};

use super::{Stage, merge};
use crate::history;
use crate::plan::board::Board;
use crate::plan::child::What;
use crate::plan::job::Job;
use crate::plan::outcome::{self, End};
use crate::plan::runner::{Runner, fields};
use crate::plan::voice::Voice;
use crate::plan::{PlanError, gates};
use crate::store::{Store, safely};

/// What an agent is told about the trouble, in the folder of the phase.
const NAME: &str = "merge.md";

/// How much of a red gate's output is given, in characters.
const OUTPUT: usize = 4_000;

/// How much of what a run remembers is given, in tokens.
const LEDGER: usize = 2_000;

/// How long a look for markers may take.
const LOOK_MS: u64 = 60_000;

/// What git says about a conflict.
#[derive(Debug)]
pub(in crate::plan) struct Conflict<'a> {
    pub(in crate::plan) files: &'a [String],
    pub(in crate::plan) words: &'a str,
}

impl Conflict<'_> {
    /// In words.
    pub(in crate::plan) fn told(&self) -> String {
        if self.files.is_empty() {
            return String::new();
        }
        let files: Vec<String> = self.files.iter().map(|file| format!("- {file}")).collect();
        format!(
            "These files are in conflict; both sides stand in them between the markers `<<<<<<<` and `>>>>>>>`, first what \
             the others did:\n{}\n\ngit says:\n{}\n",
            files.join("\n"),
            self.words
        )
    }
}

/// Writes down what an agent will be told.
pub(in crate::plan) fn note(dir: &Path, text: &str, redactor: &Redactor) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    crate::checkpoint::write_whole(&dir.join(NAME), redactor.text(text).text.as_bytes())
}

impl Runner {
    /// The gates of a phase together with those of the phases that came in since it began.
    pub(in crate::plan) fn check_job(&self, id: &str) -> Result<Job, PlanError> {
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let state = self.kept.state();
        let accepted = state.phase(id).is_some_and(|known| known.accepted);
        let mut names: Vec<String> = if accepted { Vec::new() } else { vec![id.to_owned()] };
        names.extend(self.came_since(id));
        let mut all: Vec<GateSpec> = Vec::new();
        let mut add = |specs: Vec<GateSpec>| {
            for spec in specs.into_iter().filter(|spec| !spec.manual) {
                if !all.iter().any(|known| known.run == spec.run) {
                    all.push(spec);
                }
            }
        };
        for name in &names {
            let phase = self.phase_of(name);
            let of = |spec: GateSpec| GateSpec { name: format!("phase {name}: {}", spec.name), ..spec };
            add(gates::of(&board.plan, &phase, &self.set.program).into_iter().map(of).collect());
        }
        if let Some(whole) = self.whole_when_last(id) {
            add(gates::of(&self.plan, &whole, &self.set.program));
        }
        Ok(Job { gates: all, beside: true, ..Job::default() })
    }

    /// An agent is to bring it together.
    pub(in crate::plan) fn mend(
        &mut self,
        id: &str,
        what: &str,
        red: &[&GateResult],
    ) -> Result<(), PlanError> {
        let failed = |source| PlanError::System { what: "the failures could not be recorded", source };
        if !red.is_empty() {
            note(&self.kept.phase_dir(id), &failing(red), &self.set.redactor).map_err(failed)?;
        }
        let names: Vec<&str> = red.iter().map(|gate| gate.gate.as_str()).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        self.warn("merge", &format!("phase {id}: merging it needs an agent: {what}{names}"))?;
        let run = (self.set.new_id)();
        self.set_work(id, |work| (work.stage, work.mend) = (Stage::Mending, Some(run)))?;
        self.to_mend.insert(id.to_owned());
        Ok(())
    }

    /// Starts the runs that mend, as far as there is room for more agents.
    pub(in crate::plan) fn begin_what_mends(&mut self) -> Result<(), PlanError> {
        while self.has_room() && !self.interrupted {
            let Some(id) = self.to_mend.pop_first() else { return Ok(()) };
            self.begin_mending(&id)?;
        }
        Ok(())
    }

    // Starts the run that mends, takes it up, or goes on with what it came to.
    fn begin_mending(&mut self, id: &str) -> Result<(), PlanError> {
        let run = self.work(id).and_then(|work| work.mend.clone()).unwrap_or_default();
        if let Some(facts) = outcome::look(&self.store_of(id), &run)? {
            let over = facts.outcome.as_ref().map(|outcome| i32::from(outcome.exit_code(false)));
            return match over.filter(|_| outcome::settle(over, Some(&facts)).end != End::Stopped) {
                Some(code) => self.mended(id, Some(code)),
                None => self.go_on(id, &run),
            };
        }
        let mut job = self.check_job(id)?;
        let conflicts = self.work(id).map(|work| work.conflicts.clone()).unwrap_or_default();
        if !conflicts.is_empty() {
            job.gates.insert(0, no_markers(&conflicts));
        }
        let phase = self.phase_of(id);
        let told = safely::read_text(&self.kept.phase_dir(id).join(NAME)).unwrap_or_default();
        let others = self.came_since(id);
        let theirs: Vec<String> = others.iter().map(|other| self.known_to(other)).collect();
        let words = minijinja::context! {
            plan => self.plan.title.as_str(),
            id => id,
            title => phase.title.as_str(),
            trouble => told.trim_end(),
            own => self.known_to(id),
            others => theirs.join("\n"),
        };
        job.text = self.set.prompts.fill("merge", words)?;
        (job.run, job.mend) = (run, true);
        (job.agent, job.role, job.policy) = (phase.agent.clone(), phase.role.clone(), phase.policy.clone());
        self.spawn(id, &What::New(Box::new(job)))
    }

    // What a phase's run remembers.
    fn known_to(&self, id: &str) -> String {
        let run = self.kept.state().phase(id).and_then(|known| known.run.clone()).unwrap_or_default();
        let title = self.phase_of(id).title;
        let ledger = ledger(&self.set.store, &run).unwrap_or_default();
        let ledger = if ledger.trim().is_empty() { "(nothing is written down)".to_owned() } else { ledger };
        format!("### Phase {id} {title}\n{ledger}\n")
    }

    /// The run that mends has ended.
    pub(in crate::plan) fn mended(&mut self, id: &str, exit: Option<i32>) -> Result<(), PlanError> {
        let run = self.work(id).and_then(|work| work.mend.clone()).unwrap_or_default();
        let facts = outcome::look(&self.store_of(id), &run)?;
        let settled = outcome::settle(exit, facts.as_ref());
        let spent = facts.as_ref().map(|facts| facts.spent).unwrap_or_default();
        let over = facts.as_ref().is_some_and(|facts| facts.outcome.is_some());
        if over {
            self.kept.change(|state| {
                let known = state.phase_mut(id);
                known.spent = known.spent.plus(spent);
            })?;
            self.purse.forget(&run);
        }
        match settled.end {
            // While it waited for a provider, another one may have got its turn.
            End::Completed { .. } if self.merging.as_deref().is_some_and(|other| other != id) => Ok(()),
            End::Completed { .. } => {
                self.merging = Some(id.to_owned());
                self.advance(id)
            }
            End::Lost if self.may_take_up(id) => {
                self.warn("phase_lost", &format!("the process of phase {id} was killed: resuming its run"))?;
                self.begin_mending(id)
            }
            End::Stopped | End::Lost | End::Refused => {
                self.merging = None;
                self.queued.remove(id);
                self.voice.say(&format!("phase {id} was stopped: {}", settled.why));
                self.stop_with(
                    exit.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).unwrap_or(4),
                );
                Ok(())
            }
            End::Failed | End::TooLarge | End::Split | End::NeedsInput => {
                let conflicts = self.work(id).map(|work| work.conflicts.clone()).unwrap_or_default();
                let marked =
                    self.tree(id).repo().map(|repo| repo.with_markers(&conflicts)).unwrap_or_default();
                self.stuck(id, &format!("the agent could not resolve it: {}", settled.why), &marked)
            }
        }
    }

    /// A person must finish it: what to do, in commands.
    pub(in crate::plan) fn stuck(&mut self, id: &str, why: &str, marked: &[String]) -> Result<(), PlanError> {
        let tree = self.tree(id);
        let commands = merge::by_hand(&tree, marked, &self.kept.state().id, &tree.path);
        self.needs_hands(id, why, &commands)
    }

    /// Changes that nobody committed are where the phase's work should go.
    pub(in crate::plan) fn in_the_way(&mut self, id: &str, why: &str) -> Result<(), PlanError> {
        let plan = self.kept.state().id.clone();
        let main = gates::quoted(&self.set.store.root().display().to_string());
        let commands = [
            format!("cd {main}"),
            "git stash push --include-untracked".to_owned(),
            format!("segue resume {plan}"),
            "git stash pop".to_owned(),
        ];
        self.needs_hands(id, &format!("uncommitted changes are in the way ({why})"), &commands)
    }

    fn needs_hands(&mut self, id: &str, why: &str, commands: &[String]) -> Result<(), PlanError> {
        let landing = self.work(id).is_some_and(|work| work.stage == Stage::Landing);
        self.merging = None;
        self.queued.remove(id);
        self.kept.change(|state| {
            let known = state.phase_mut(id);
            (known.status, known.why) = (Status::NeedsInput, why.to_owned());
            if !landing {
                known.work.get_or_insert_default().stage = Stage::Stuck;
            }
        })?;
        let words = format!("phase {id} could not be merged: {why}. Finish it with:");
        self.voice.say(&format!("segue: {words}"));
        let lines: Vec<String> = commands.iter().map(|line| format!("    {}", plain(line))).collect();
        self.voice.show(&lines);
        if self.voice.json {
            self.tell(Voice::warning("merge_stuck", &format!("{words}\n{}", commands.join("\n"))))?;
        }
        let phase = self.phase_of(id);
        self.told.insert(phase.id.clone());
        let known = self.kept.state().phase(id);
        self.tell(Outer::PhaseFinished(fields(&phase, Some(PhaseStatus::NeedsInput), known)))?;
        self.show_standing(id);
        self.settle_whole(id)?;
        self.trouble(3, false);
        Ok(())
    }
}

fn failing(red: &[&GateResult]) -> String {
    let one = |gate: &&GateResult| {
        format!("### {}\n```\n{}\n```\n", gate.gate, cut_chars(gate.tail.trim_end(), OUTPUT))
    };
    let all: String = red.iter().map(one).collect();
    format!("The files could be merged, but together they fail:\n\n{all}")
}

fn no_markers(files: &[String]) -> GateSpec {
    let files: Vec<String> = files.iter().map(|file| gates::quoted(file)).collect();
    let run = format!("! grep -nE '^(<<<<<<<|>>>>>>>) ' -- {} 2>/dev/null", files.join(" "));
    GateSpec::new("no conflict is left", run, LOOK_MS)
}

fn ledger(store: &Store, run: &str) -> Option<String> {
    let reader = segue_journal::Journal::read(&store.runs());
    let row = reader.run(run).ok()?;
    let found = history::folded(&reader, &row.id).ok()?;
    Some(found.state.machine.view().ledger.render(LEDGER).text)
}
