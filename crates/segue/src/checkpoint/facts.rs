//! What segue itself knows at one moment: the run so far, the repository, the gates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use minijinja::context;
use segue_machine::checkpoint::cut_list;
use segue_machine::ledger::{Ledger, Memory};
use segue_machine::policy::Policy;
use segue_machine::{
    GateResult, GateSpec, GitSpec, LastWords, ListItem, Message, Millis, Note, RoleSpec, SessionReason,
    ToolDone, View,
};
use segue_redact::Redactor;

use crate::checkpoint::document::Tokens;
use crate::child_env::EnvRules;
use crate::config::Forms;
use crate::git::{Facts, Repo, Snapshot, SnapshotRequest};
use crate::keep::Found;
use crate::private::Private;
use crate::prompt::{PromptError, Prompts};
use crate::store::Store;

/// How many names of files a prompt lists.
const FILES_LISTED: usize = 20;

/// Where a run works, and with what. The same for the whole run.
#[derive(Debug, Clone)]
pub(crate) struct Workplace {
    pub(crate) run: String,
    pub(crate) store: Store,
    pub(crate) checkpoints: PathBuf,
    /// What is written for people, and where.
    pub(crate) forms: Forms,
    /// `None` when the run does not use git.
    pub(crate) repo: Option<Repo>,
    pub(crate) prompts: Arc<Prompts>,
    /// The longest checkpoint that segue writes itself.
    pub(crate) account_tokens: u64,
    /// What takes secrets out of everything that is kept or passed on.
    pub(crate) redactor: Redactor,
    /// What it took out of output that is kept.
    pub(crate) found: Found,
    /// What is sent and run as it was typed.
    pub(crate) private: Private,
    /// What agents and gates get of the environment.
    pub(crate) env: EnvRules,
}

/// What is known of a run at one moment, taken out of the view so that it can be used elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Situation {
    pub(crate) at: Millis,
    pub(crate) task: String,
    pub(crate) agent: String,
    pub(crate) policy: Policy,
    pub(crate) git: GitSpec,
    pub(crate) tokens: Tokens,
    pub(crate) gates: Vec<GateResult>,
    /// The gates themselves.
    pub(crate) gate_specs: Vec<GateSpec>,
    /// A tool has run since the gates did.
    pub(crate) gates_stale: bool,
    /// Gates whose result is about other files than there are now.
    pub(crate) gates_old: BTreeSet<String>,
    /// When each gate's result was taken.
    pub(crate) gates_at: BTreeMap<String, Millis>,
    /// The work tree that they are about.
    pub(crate) gates_tree: Option<String>,
    /// Rounds of gates so far.
    pub(crate) round: u32,
    /// The session is the run's first, and segue has committed nothing itself.
    pub(crate) whole: bool,
    /// What the run remembers.
    pub(crate) ledger: Ledger,
    /// What crosses a handoff.
    pub(crate) memory: Memory,
    pub(crate) notes: Vec<Note>,
    pub(crate) tools: Vec<ToolDone>,
    /// Those of them that the last checkpoint cannot hold.
    pub(crate) since: Vec<ToolDone>,
    /// The last checkpoint, by id.
    pub(crate) previous: Option<String>,
    /// The last one that an agent wrote.
    pub(crate) previous_by_agent: Option<String>,
    /// A newer checkpoint than those could not be written.
    pub(crate) unwritten: bool,
    /// The agent's own list.
    pub(crate) list: Vec<ListItem>,
    /// What the agent said since its last checkpoint, oldest first.
    pub(crate) prose: Vec<Message>,
    /// Who the run works as.
    pub(crate) role: Option<RoleSpec>,
    /// The commit that was checked out when the work was last looked at.
    pub(crate) head: Option<String>,
    /// The file that the task was read from.
    pub(crate) source: Option<String>,
    /// The word that ends a loop.
    pub(crate) word: Option<String>,
    /// Every prompt ends with the demand for a status line: neither a report nor a completion word is asked for.
    pub(crate) asks_status: bool,
    /// The session at work took up a run that was stopped or had crashed.
    pub(crate) resumed: bool,
    /// Why that run had ended, where it is known.
    pub(crate) interrupted: Option<String>,
    /// Tools that were running when the last session ended.
    pub(crate) cut: Vec<String>,
    /// The number of the session at work.
    pub(crate) session: u32,
}

impl Situation {
    /// What a view says at a moment; `None` before the run has begun.
    pub(crate) fn of(view: &View, at: Millis) -> Option<Self> {
        let spec = view.spec.as_ref()?;
        let gauge = view.session.as_ref().map(|s| &s.gauge);
        let tokens = Tokens {
            used: gauge.and_then(|g| g.fill()),
            ceiling: gauge.and_then(|g| g.ceiling()),
            window: gauge.and_then(|g| g.window()),
            percent: gauge.and_then(|g| g.percent()).map(|p| f64::from(p.hundredths()) / 100.0),
        };
        let agent = view.session.as_ref().map(|s| s.agent.clone());
        Some(Self {
            at,
            resumed: view.session.as_ref().is_some_and(|s| s.reason == SessionReason::Resume),
            interrupted: view.interrupted.clone(),
            cut: view.cut.clone(),
            session: view.sessions,
            task: spec.task.text.clone(),
            agent: agent.or_else(|| spec.agents.first().map(|a| a.name.clone())).unwrap_or_default(),
            policy: spec.policy.clone(),
            git: spec.git.clone(),
            tokens,
            gates: view.gates.values().cloned().collect(),
            gate_specs: spec.gates.clone(),
            gates_stale: view.gates_stale,
            gates_old: BTreeSet::new(),
            gates_at: view.gates_at.clone(),
            gates_tree: view.gates_tree.clone(),
            round: view.round,
            whole: view.sessions <= 1 && view.checkpoint.is_none(),
            ledger: view.ledger.clone(),
            memory: spec.memory,
            notes: view.notes.clone(),
            tools: view.tools_done.clone(),
            since: view.tools_since.clone(),
            role: spec.role.clone(),
            previous: view.checkpoint.as_ref().map(|c| c.id.clone()),
            previous_by_agent: view.checkpoint_by_agent.as_ref().map(|c| c.id.clone()),
            unwritten: view.checkpoint_failed,
            list: view.list.clone(),
            prose: view.prose.iter().cloned().collect(),
            head: view.head.clone(),
            source: spec.task.source.clone(),
            word: spec.last_words.word.clone(),
            asks_status: spec.last_words == LastWords::default(),
        })
    }

    /// The gates in one line each: what they said, when, and whether that still says something.
    pub(crate) fn gate_lines(&self) -> Vec<String> {
        let line = |gate: &GateResult| {
            let taken = self.gates_at.get(&gate.gate).map(|at| self.at.saturating_sub(*at));
            let ago = taken.map_or_else(String::new, |ms| format!(" {} ago", segue_report::duration(ms)));
            let said = if gate.passed { "passes" } else { "fails" };
            if self.gates_stale || self.gates_old.contains(&gate.gate) {
                return format!("{}: not known, files changed since its last result{ago}", gate.gate);
            }
            format!("{}: {said}, checked{ago}", gate.gate)
        };
        self.gates.iter().map(line).collect()
    }

    /// Tool calls that ended well after the checkpoint was begun.
    pub(crate) fn since_lines(&self) -> Vec<String> {
        let ended: Vec<&str> = self.since.iter().filter(|t| t.ok).map(|t| t.title.as_str()).collect();
        cut_list(&ended, FILES_LISTED)
    }

    /// The worker's notes, oldest first.
    pub(crate) fn note_lines(&self) -> Vec<String> {
        self.notes.iter().map(|n| n.text.clone()).collect()
    }
}

impl Workplace {
    /// The repository now, against the start of the run.
    pub(crate) fn facts(&self, git: &GitSpec) -> Option<Facts> {
        self.repo.as_ref().map(|repo| repo.facts(git.base.as_deref(), git.base_tree.as_deref()))
    }

    /// Hash of everything in the work tree but segue's own; `None` without git.
    pub(crate) fn tree(&self) -> Option<String> {
        self.repo.as_ref().and_then(|repo| repo.tree().ok())
    }

    /// The same, with the work tree kept by a snapshot of that label.
    pub(crate) fn saved_tree(&self, label: &str) -> Option<String> {
        let message = format!("segue: {label} of run {}", self.run);
        let request = SnapshotRequest { run: &self.run, label, parent: None, message: &message };
        let saved = self.repo.as_ref()?.snapshot(&request);
        saved.map(|saved| saved.tree).ok().or_else(|| self.tree())
    }

    /// The same for a work tree that has just been saved.
    pub(crate) fn facts_of(&self, saved: &Snapshot, git: &GitSpec) -> Option<Facts> {
        let (base, tree) = (git.base.as_deref(), git.base_tree.as_deref());
        self.repo.as_ref().map(|repo| repo.facts_of(saved, base, tree))
    }

    /// The facts in words, for a prompt or a person.
    pub(crate) fn fact_words(
        &self,
        situation: &Situation,
        facts: Option<&Facts>,
    ) -> Result<String, PromptError> {
        let list = |files: Option<&Vec<String>>| files.map_or_else(Vec::new, |f| cut_list(f, FILES_LISTED));
        let commits: Vec<String> = facts.map_or_else(Vec::new, commit_lines);
        let role = situation.role.as_ref();
        let tracked = role.map_or_else(Vec::new, |role| tracked(&role.track, facts));
        let words = context! {
            role => role.map(|r| r.name.as_str()).unwrap_or_default(),
            tracked => cut_list(&tracked, FILES_LISTED),
            git => facts.is_some(),
            trouble => facts.and_then(|f| f.trouble.clone()),
            diffstat => facts.and_then(|f| f.diffstat.clone()),
            commits => cut_list(&commits, FILES_LISTED),
            added => list(facts.map(|f| &f.added)),
            modified => list(facts.map(|f| &f.modified)),
            deleted => list(facts.map(|f| &f.deleted)),
            since => situation.since_lines(),
            gates => situation.gate_lines(),
            notes => situation.note_lines(),
        };
        Ok(self.redactor.text(&self.prompts.fill("facts", words)?).text.into_owned())
    }
}

/// The changed files that one of the globs matches; a glob that cannot be read was refused when the run began.
pub(crate) fn tracked(globs: &[String], facts: Option<&Facts>) -> Vec<String> {
    let mut set = globset::GlobSetBuilder::new();
    for glob in globs.iter().filter_map(|glob| globset::Glob::new(glob).ok()) {
        set.add(glob);
    }
    let set = set.build().unwrap_or_default();
    let files = facts.into_iter().flat_map(|f| f.added.iter().chain(&f.modified).chain(&f.deleted));
    files.filter(|file| set.is_match(file)).cloned().collect()
}

/// The commits in one line each.
pub(crate) fn commit_lines(facts: &Facts) -> Vec<String> {
    facts.commits.iter().map(|(hash, subject)| format!("{hash} {subject}")).collect()
}
