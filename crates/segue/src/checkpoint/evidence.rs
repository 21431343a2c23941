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
    /// Why the repository could not be asked.
    pub(crate) trouble: Option<String>,
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
    let trouble = (place.repo.is_some() && !evidence.git).then(|| {
        let known = facts.and_then(|facts| facts.trouble.clone());
        known.unwrap_or_else(|| "git does not list the files of the work tree".to_owned())
    });
    Judgement { judged: judge(claims, &evidence), gates, trouble }
}

/// Gates that took no longer than this last time run again before a session is told of them, so many in all.
const HANDOFF_GATE_MS: u64 = 10_000;
const HANDOFF_GATES_MS: u64 = 30_000;

/// Makes the results of gates those of the work tree as it is, as far as quick gates can; the rest is known to be old.
/// Blocking. What was run anew is told as events.
pub(super) fn refresh_gates(place: &Workplace, situation: &mut Situation) -> Vec<Event> {
    let now = place.tree();
    let known = situation.gates_tree.is_some() && now.is_some();
    situation.gates_stale = if known { situation.gates_tree != now } else { situation.gates_stale };
    if !situation.gates_stale {
        return Vec::new();
    }
    let mut left = HANDOFF_GATES_MS;
    let quick: Vec<GateSpec> = stale(situation, HANDOFF_GATE_MS)
        .into_iter()
        .filter(|gate| {
            let took = situation.gates.iter().find(|result| result.gate == gate.name).map_or(0, |r| r.ms);
            let fits = took <= left;
            left = left.saturating_sub(if fits { took } else { 0 });
            fits
        })
        .collect();
    let old: BTreeSet<String> = situation.gates.iter().map(|result| result.gate.clone()).collect();
    let results = run_gates(place, situation, quick);
    let anew: BTreeSet<String> = results.iter().map(|result| result.gate.clone()).collect();
    situation.gates_stale = false;
    situation.gates_old = old.difference(&anew).cloned().collect();
    situation.gates_at.extend(anew.iter().map(|gate| (gate.clone(), crate::clock::now())));
    if results.is_empty() {
        return Vec::new();
    }
    let began =
        Event::GatesBegan { when: GateWhen::Checkpoint, tree: now.filter(|_| anew.len() == old.len()) };
    std::iter::once(began).chain(results.into_iter().map(Event::GateFinished)).collect()
}

fn run_stale(place: &Workplace, situation: &mut Situation) -> Vec<GateResult> {
    let stale = stale(situation, QUICK_GATE_MS);
    run_gates(place, situation, stale)
}

fn run_gates(place: &Workplace, situation: &mut Situation, gates: Vec<GateSpec>) -> Vec<GateResult> {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Vec::new() };
    let room = GateRoom::of(place);
    let mut results = Vec::new();
    for gate in gates {
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

fn stale(situation: &Situation, quick_ms: u64) -> Vec<GateSpec> {
    let known = |gate: &GateSpec| situation.gates.iter().find(|result| result.gate == gate.name);
    let quick = |gate: &GateSpec| known(gate).is_some_and(|result| result.ms <= quick_ms);
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
    });
    let mut evidence = Evidence {
        gates: gates.collect(),
        whole: situation.whole,
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
    let names_one = claims.iter().any(|c| matches!(c.kind, ClaimKind::Committed { .. }));
    if names_one && facts.commit_count > facts.commits.len() {
        evidence.commits = repo.commits_since(situation.git.base.as_deref()).unwrap_or_default();
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
