//! What can be held against an agent's words: the repository, the gates, the commands that it ran.

use std::collections::BTreeSet;

use segue_machine::claims::{Claim, ClaimKind, Evidence, GateFact, Judged, claims, judge, wants_gate};
use segue_machine::{Event, GateResult, GateSpec, GateWhen};

use crate::checkpoint::{Situation, Workplace};
use crate::gates::{self, GateRoom};
use crate::git::Facts;

/// A gate that took longer than this when it ran last is not run again only to judge a claim.
const QUICK_GATE_MS: u64 = 120_000;

/// What an agent said, held against what is known, and the gates that had to run for it.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// Each claim with what was found.
    pub(crate) judged: Vec<Judged>,
    /// Results of gates that were out of date.
    pub(crate) gates: Vec<GateResult>,
}

impl Judgement {
    /// The events that tell of the gates.
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.gates.iter().cloned().map(Event::GateFinished)
    }
}

/// Judges an agent's words. Blocking, on a thread of the runtime: it asks git, and runs quick gates whose results are out
/// of date when a claim depends on them.
pub(crate) fn judge_words(
    place: &Workplace,
    situation: &mut Situation,
    text: &str,
    facts: Option<&Facts>,
) -> Judgement {
    let claims = claims(text);
    if claims.is_empty() {
        return Judgement::default();
    }
    let gates = if claims.iter().any(wants_gate) { run_stale(place, situation) } else { Vec::new() };
    let evidence = evidence(place, situation, &claims, facts);
    Judgement { judged: judge(claims, &evidence), gates }
}

fn run_stale(place: &Workplace, situation: &mut Situation) -> Vec<GateResult> {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Vec::new() };
    let room = GateRoom::of(place);
    let mut results = Vec::new();
    for gate in stale(situation) {
        let gate = place.private.gate(&gate);
        let result = runtime.block_on(gates::run(&gate, &room, GateWhen::Checkpoint, situation.round));
        situation.gates.retain(|known| known.gate != result.gate);
        situation.gates.push(result.clone());
        results.push(result);
    }
    if !results.is_empty() {
        situation.gates_stale = false;
    }
    results
}

fn stale(situation: &Situation) -> Vec<GateSpec> {
    let known = |gate: &GateSpec| situation.gates.iter().find(|result| result.gate == gate.name);
    let quick = |gate: &GateSpec| known(gate).is_some_and(|result| result.ms <= QUICK_GATE_MS);
    let specs =
        situation.gate_specs.iter().filter(|gate| situation.gates_stale && !gate.manual && quick(gate));
    let limited =
        |gate: &GateSpec| GateSpec { timeout_ms: gate.timeout_ms.min(QUICK_GATE_MS), ..gate.clone() };
    specs.map(limited).collect()
}

fn evidence(place: &Workplace, situation: &Situation, claims: &[Claim], facts: Option<&Facts>) -> Evidence {
    let gates = situation.gates.iter().map(|result| GateFact {
        name: result.gate.clone(),
        run: situation.gate_specs.iter().find(|g| g.name == result.gate).map(|g| g.run.clone()),
        passed: result.passed,
        exit: result.exit,
        stale: situation.gates_stale,
        tail: result.tail.clone(),
    });
    let mut evidence = Evidence {
        gates: gates.collect(),
        commands: situation.tools.iter().map(|tool| (tool.title.clone(), tool.ok)).collect(),
        root: Some(place.store.workdir().display().to_string()),
        ..Evidence::default()
    };
    // What git could not tell is no evidence against anybody.
    let (Some(repo), Some(facts)) = (&place.repo, facts.filter(|f| f.trouble.is_none())) else {
        return evidence;
    };
    evidence.git = true;
    evidence.created.clone_from(&facts.added);
    evidence.modified.clone_from(&facts.modified);
    evidence.deleted.clone_from(&facts.deleted);
    evidence.commits.clone_from(&facts.commits);
    if claims.iter().any(|c| matches!(c.kind, ClaimKind::Committed { .. })) {
        // What was not committed before the run began is not the agent's to commit.
        let own: BTreeSet<&String> =
            facts.added.iter().chain(&facts.modified).chain(&facts.deleted).collect();
        evidence.dirty = repo.uncommitted().is_ok_and(|files| files.iter().any(|file| own.contains(file)));
        if facts.commit_count > facts.commits.len() {
            evidence.commits = repo.commits_since(situation.git.base.as_deref()).unwrap_or_default();
        }
    }
    let paths = Evidence::paths(claims);
    if !paths.is_empty() {
        match (repo.files(), repo.ignored(&paths)) {
            (Ok(tree), Ok(ignored)) => (evidence.tree, evidence.ignored) = (tree, ignored),
            _ => evidence.git = false,
        }
    }
    evidence
}
