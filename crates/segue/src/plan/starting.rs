//! How a phase begins, is taken up, and gets its process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use segue_plans::handoff::Handoff;
use segue_plans::report::Report;
use segue_plans::{Phase, Plan, Status};
use segue_report::Outer;

use super::beside::{Claim, Stage};
use super::board::{Board, Claims, Next, is_one_of};
use super::child::{Child, How, What};
use super::handoff::{self, Found};
use super::job::{Desk, Errand, Job};
use super::outcome::{self, End};
use super::runner::{Runner, fields};
use super::{PlanError, stored};

/// So many parts of a phase are at work at a time, unless more was asked for.
const PARTS_AT_ONCE: usize = 4;

impl Runner {
    // The plan may have been edited since the last phase.
    pub(super) fn begin_what_can(&mut self) -> Result<(), PlanError> {
        self.read_again()?;
        self.tell_changes()?;
        self.show_rows();
        while self.has_room() && !self.stopping {
            let board = Board::new(&self.plan, self.kept.state(), self.set.force);
            let busy = self.at_work.keys().chain(&self.queued).cloned().collect();
            let state = self.kept.state();
            let wanted = |phase: &Phase| {
                self.set.only.as_ref().is_none_or(|only| is_one_of(phase, only, state))
                    && self.may_join(&phase.id)
            };
            let of = |phase: &Phase| Claim::of(phase, state.whole_of(&phase.id));
            let claims = Claims { taken: self.taken(), of: &of };
            let Some(next) = board.next(&busy, wanted, &claims) else { return Ok(()) };
            match next {
                Next::TakeUp(at) => self.take_up(&board.plan, at)?,
                Next::Begin(_) if self.used_up()? => return Ok(()),
                Next::Begin(at) => {
                    if !self.split_by_estimate(&board.plan, at)? {
                        self.begin(&board.plan, at)?;
                    }
                }
            }
        }
        Ok(())
    }

    // One that waits for a provider leaves its place to another, but not to any number of them.
    pub(super) fn has_room(&self) -> bool {
        let (options, at_work) = (&self.kept.state().options, self.at_work.len());
        let most = options.most();
        let parts = self.ids_at_work().all(|id| self.kept.state().parallel_whole_of(id).is_some());
        let most = if parts { most.max(PARTS_AT_ONCE) } else { most };
        // Phases that share a work tree come one after the other, whatever they wait for.
        if !options.beside() && !parts {
            return at_work < most;
        }
        at_work - self.waiting.len().min(at_work) < most && at_work < most * 2
    }

    // In a plan whose phases come one by one, only parts of the same phase join what is at work or on its way into the branch.
    fn may_join(&self, id: &str) -> bool {
        let state = self.kept.state();
        if state.options.beside() {
            return true;
        }
        let whole = state.parallel_whole_of(id);
        let mut others = self.at_work.keys().chain(&self.queued).filter(|other| other.as_str() != id);
        others.all(|other| whole.is_some() && state.parallel_whole_of(other) == whole)
    }

    /// Whether a process works on a phase.
    pub(super) fn is_at_work(&self, id: &str) -> bool {
        self.at_work.contains_key(id)
    }

    pub(super) fn ids_at_work(&self) -> impl Iterator<Item = &String> {
        self.at_work.keys()
    }

    fn begin(&mut self, plan: &Plan, at: usize) -> Result<(), PlanError> {
        let phase = &plan.phases[at];
        let run = (self.set.new_id)();
        let work = self.new_work(phase)?;
        self.kept.change(|state| {
            let known = state.phase_mut(&phase.id);
            (known.status, known.run, known.quality) = (Status::InProgress, Some(run.clone()), false);
            known.tries += 1;
            known.why.clear();
            (known.work, known.landed, known.written) = (work, None, false);
        })?;
        self.started(phase)?;
        self.launch(plan, phase, &run)
    }

    fn started(&mut self, phase: &Phase) -> Result<(), PlanError> {
        let title = if phase.title.is_empty() { String::new() } else { format!(" - {}", phase.title) };
        let words = match self.voice.screen {
            Some(_) => format!("[{}] started{title}", phase.id),
            None => format!("\n== phase {}{title}", phase.id),
        };
        self.voice.say(&words);
        self.tell(Outer::PhaseStarted(fields(phase, None, self.kept.state().phase(&phase.id))))
    }

    // What was cut off: ended meanwhile, never begun, or to be gone on with.
    fn take_up(&mut self, plan: &Plan, at: usize) -> Result<(), PlanError> {
        let phase = &plan.phases[at];
        let known = self.kept.state().phase(&phase.id).cloned().unwrap_or_default();
        let Some(run) = known.run else { return self.begin(plan, at) };
        if let Some(stage) = known.work.map(|work| work.stage).filter(|stage| *stage > Stage::Working) {
            return self.go_on_merging(&phase.id.clone(), stage);
        }
        let facts = outcome::look(&self.store_of(&phase.id), &run)?;
        self.started(phase)?;
        let Some(facts) = facts else { return self.launch(plan, phase, &run) };
        let over = facts.outcome.is_some() && outcome::settle(None, Some(&facts)).end != End::Stopped;
        if over {
            let code = facts.outcome.as_ref().map(|outcome| i32::from(outcome.exit_code(false)));
            return self.ended(&phase.id.clone(), code);
        }
        self.go_on(&phase.id, &run)
    }

    /// Takes a run up in a new process.
    pub(super) fn go_on(&mut self, id: &str, run: &str) -> Result<(), PlanError> {
        self.spawn(id, &What::TakeUp(run.to_owned(), self.set.take_up.clone()))
    }

    /// Starts a run in a new process.
    pub(super) fn launch(&mut self, plan: &Plan, phase: &Phase, run: &str) -> Result<(), PlanError> {
        if !self.make_tree(phase)? {
            return Ok(());
        }
        let known = self.kept.state().phase(&phase.id).cloned().unwrap_or_default();
        let dir = self.kept.phase_dir(&phase.id);
        let rest = if known.quality { Found::Missing } else { self.earlier(phase) };
        let issues = stored::read(&dir).map_or_else(Vec::new, |report: Report| report.issues);
        let errand = match &rest {
            _ if known.quality => Errand::Quality(&issues),
            Found::Rest(handoff) => {
                self.voice.say(&format!("segue: continues from {}", dir.join(handoff::NAME).display()));
                Errand::Rest(handoff)
            }
            Found::Missing => Errand::Whole,
            Found::Damaged(why) => {
                let text = format!(
                    "the HANDOFF.md of phase {} cannot be used ({why}): the whole phase is run",
                    phase.id
                );
                self.warn("handoff_damaged", &text)?;
                Errand::Whole
            }
        };
        let roots = vec![self.set.store.workdir().to_owned(), self.set.dir.clone(), self.plan_dir()];
        let (file, typed) = (self.file_of(plan, phase), &self.kept.state().plan);
        let is_part = file != typed && self.set.dir.join(typed).is_file();
        let desk = Desk {
            program: &self.set.program,
            prompts: &self.set.prompts,
            roots,
            path: self.as_seen(&phase.id, file),
            part_of: is_part.then(|| self.as_seen(&phase.id, typed)),
            documents: documents(plan, phase).map(|name| self.as_seen(&phase.id, name)).collect(),
            write_back: !self.kept.state().options.no_write_back,
        };
        stored::keep_tasks(&dir, phase).map_err(|source| PlanError::System {
            what: "the names of its tasks could not be stored",
            source,
        })?;
        let users = self.kept.state().users.clone();
        let job = Job { beside: known.work.is_some(), users, ..desk.job(plan, phase, run, errand)? };
        self.spawn(&phase.id, &What::New(Box::new(job)))
    }

    // What an earlier try left: in the phase's own folder, in that of the phase it is a part of, or where its agent wrote it.
    pub(super) fn earlier(&self, phase: &Phase) -> Found {
        let own = handoff::read(&self.kept.phase_dir(&phase.id), phase);
        if own != Found::Missing {
            return own;
        }
        if let Some(whole) = self.kept.state().whole_of(&phase.id).and_then(|whole| self.plan.phase(whole)) {
            return match handoff::read(&self.kept.phase_dir(&whole.id), whole) {
                found @ Found::Rest(_) => found,
                Found::Missing | Found::Damaged(_) => Found::Missing,
            };
        }
        self.agents_handoff(phase).map_or(Found::Missing, Found::Rest)
    }

    /// A `HANDOFF.md` about a phase that its agent, or a person, wrote beside the plan or at the top of the work tree.
    pub(super) fn agents_handoff(&self, phase: &Phase) -> Option<Handoff> {
        let here = self.how(&phase.id).dir;
        let folder = |name: &str| here.join(name).parent().map(PathBuf::from).unwrap_or_default();
        let plan = &self.kept.state().plan;
        let whole = if here.join(plan).is_dir() { here.join(plan) } else { folder(plan) };
        let top = self.store_of(&phase.id).workdir().to_owned();
        // One that lies there may be about another phase.
        [folder(self.plan.file(phase.at)), whole, top].iter().find_map(|dir| {
            match handoff::read(dir, phase) {
                Found::Rest(handoff) => Some(handoff),
                Found::Missing | Found::Damaged(_) => None,
            }
        })
    }

    // The file that a phase stands in.
    fn file_of<'p>(&'p self, plan: &'p Plan, phase: &Phase) -> &'p str {
        match plan.file(phase.at) {
            "" => &self.kept.state().plan,
            name => name,
        }
    }

    // A file of the plan as the agent of a phase can open it: a work tree of its own may be without it.
    fn as_seen(&self, id: &str, name: &str) -> String {
        let shown = self.path_from_top(name);
        if self.store_of(id).workdir().join(&shown).exists() {
            return shown;
        }
        self.set.dir.join(name).display().to_string()
    }

    fn plan_dir(&self) -> PathBuf {
        let path = self.set.dir.join(&self.kept.state().plan);
        if path.is_dir() { path } else { path.parent().map(PathBuf::from).unwrap_or_default() }
    }

    /// How the processes of a phase are started.
    pub(super) fn how(&self, id: &str) -> How {
        let own = self.work(id).is_some();
        How {
            program: self.set.program.clone(),
            dir: if own { self.tree(id).folder(&self.set.dir) } else { self.set.dir.clone() },
            plan: self.kept.state().id.clone(),
            json: self.set.json,
            beside: own
                && (self.kept.state().options.beside() || self.kept.state().parallel_whole_of(id).is_some()),
            flags: self.flags(),
        }
    }

    pub(super) fn spawn(&mut self, id: &str, what: &What) -> Result<(), PlanError> {
        let child = Child::start(&self.how(id), what)
            .map_err(|source| PlanError::System { what: "a phase could not be started", source })?;
        self.at_work.insert(id.to_owned(), child.pid());
        let (id, heard) = (id.to_owned(), self.hears.0.clone());
        self.running.spawn(async move {
            let status = child.attend(&id, heard).await;
            (id, status)
        });
        Ok(())
    }
}

// The documents that lie beside the plan; in a folder of plans, those beside the phase's own.
fn documents<'p>(plan: &'p Plan, phase: &Phase) -> impl Iterator<Item = &'p String> {
    let folder = |name: &str| Path::new(name).parent().map(PathBuf::from).unwrap_or_default();
    let own = folder(plan.file(phase.at));
    let others: BTreeSet<PathBuf> = plan.phases.iter().map(|other| folder(plan.file(other.at))).collect();
    plan.documents.iter().filter(move |name| {
        let dir = folder(name);
        dir == own || !others.contains(&dir)
    })
}
