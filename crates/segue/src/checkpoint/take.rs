//! Taking a checkpoint and saving a snapshot: blocking, to be called off the driver's thread.

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use segue_machine::checkpoint::cut_chars;
use segue_machine::claims::{Judged, count, strike};
use segue_machine::ledger::{Ledger, Origin};
use segue_machine::{Asked, CheckpointBy, CommitMode, Event, NextStep, WordsSource, WorkState};
use segue_report::Time;

use crate::checkpoint::account::account;
use crate::checkpoint::document::{ClaimEntry, Files, GateEntry};
use crate::checkpoint::evidence::judge_words;
use crate::checkpoint::facts::commit_lines;
use crate::checkpoint::{CheckpointError, Document, Situation, Workplace};
use crate::checkpoint::{gather, markdown};
use crate::git::{Facts, Snapshot, SnapshotRequest};

/// What is to be put down.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) session: u32,
    pub(crate) asked: Asked,
    pub(crate) answer: Option<String>,
    pub(crate) commit: bool,
    pub(crate) next: Option<NextStep>,
    pub(crate) source: Option<WordsSource>,
    pub(crate) situation: Situation,
}

/// Puts the work into git, judges what the agent claims, writes the checkpoint, and tells it all as events. A checkpoint
/// that cannot be written is an event too.
pub(crate) fn take(place: &Workplace, mut request: Request) -> Vec<Event> {
    let began = Instant::now();
    // The snapshot comes first: whatever follows, the work is safe. A commit comes last: it would make "I committed it"
    // true for an agent that did not.
    let (mut work, saved) = snapshot(place, &request.situation, &request.id);
    let mut facts = match saved {
        Some(saved) => place.facts_of(&saved, &request.situation.git),
        None => place.facts(&request.situation.git),
    };
    let answer = request.answer.clone().unwrap_or_default();
    let judgement = judge_words(place, &mut request.situation, &answer, facts.as_ref());
    if request.commit && commit(place, &request.situation, &mut work, "in progress") {
        facts = place.facts(&request.situation.git);
    }
    let by = if request.answer.is_some() { CheckpointBy::Agent } else { CheckpointBy::Segue };
    let text = text_of(place, &request, &judgement.judged);
    let document = document(place, &request, by, text, facts.as_ref(), &work, &judgement.judged);
    let document = document.and_then(|document| document.clean(&place.redactor));
    let (depth, session, claims) = (request.asked.depth, request.session, count(&judgement.judged));
    let troubles =
        document.as_ref().map_or_else(|_| Vec::new(), |d| place.forms.write(place.store.workdir(), d));
    work.trouble = work.trouble.into_iter().chain(troubles).reduce(|all, one| format!("{all}; {one}"));
    let mut events: Vec<Event> = judgement.events().collect();
    let checkpoint = request.id;
    let stored = document.map_err(CheckpointError::from).and_then(|document| store(place, document));
    events.push(match stored {
        Ok(path) => Event::CheckpointTaken {
            checkpoint,
            session,
            by,
            depth,
            path: place.store.shown(&path),
            claims,
            work,
            ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            judged: judgement.judged,
            source: request.source,
        },
        Err(error) => {
            Event::CheckpointFailed { checkpoint, session, by, depth, why: error.to_string(), work }
        }
    });
    events
}

fn store(place: &Workplace, document: Document) -> Result<PathBuf, CheckpointError> {
    let markdown = markdown::page(&document);
    document.store(&place.forms.dir(&place.store)?, &markdown)
}

/// Puts the work into git as the configuration says; trouble is told, never raised.
pub(crate) fn save(
    place: &Workplace,
    situation: &Situation,
    label: &str,
    on_branch: bool,
    status: &str,
) -> WorkState {
    let (mut work, _) = snapshot(place, situation, label);
    if on_branch && place.repo.is_some() {
        commit(place, situation, &mut work, status);
    }
    work
}

// The work tree under a reference of its own, unless nothing is to be written to git.
fn snapshot(place: &Workplace, situation: &Situation, label: &str) -> (WorkState, Option<Snapshot>) {
    let mut work = WorkState::default();
    let Some(repo) = &place.repo else { return (work, None) };
    if situation.git.commit == CommitMode::Never {
        work.head = repo.head();
        return (work, None);
    }
    let message = format!("segue: {label} of run {}", place.run);
    let request = SnapshotRequest { run: &place.run, label, parent: None, message: &message };
    let (changes, saved) = thread::scope(|scope| {
        let changes = scope.spawn(|| repo.branch_changes(&place.run, label));
        let saved = repo.snapshot(&request);
        (changes.join(), saved)
    });
    let trouble = match changes {
        Ok(Ok(changes)) => {
            work.branches = changes;
            None
        }
        Ok(Err(error)) => Some(format!("the branches could not be compared: {error}")),
        Err(_) => Some("the branches could not be compared".to_owned()),
    };
    match saved {
        Ok(saved) => {
            let too_large = saved.skipped.iter().map(|(path, bytes)| {
                format!("{path} is too large for a snapshot ({bytes} bytes) and is only in the work tree")
            });
            work.trouble = too_large.chain(trouble).reduce(|all, one| format!("{all}; {one}"));
            work.tree = Some(saved.tree.clone());
            work.snapshot = Some(saved.reference.clone());
            work.secrets.clone_from(&saved.secrets);
            work.head.clone_from(&saved.head);
            (work, Some(saved))
        }
        Err(error) => {
            work.trouble = Some(error.to_string());
            work.head = repo.head();
            (work, None)
        }
    }
}

// Whether there is a new commit on the branch.
fn commit(place: &Workplace, situation: &Situation, work: &mut WorkState, status: &str) -> bool {
    let Some(repo) = place.repo.as_ref().filter(|_| situation.git.commit == CommitMode::Branch) else {
        return false;
    };
    let trouble = match repo.commit_since(situation.git.users.as_ref(), &message_of(place, situation, status))
    {
        Ok((commit, both)) => {
            work.commit = commit;
            let list = both.join(", ");
            (!both.is_empty()).then(|| {
                format!("not committed, since you had changed these files before the run began: {list}")
            })
        }
        Err(error) => Some(error.to_string()),
    };
    work.trouble = work.trouble.take().into_iter().chain(trouble).reduce(|all, one| format!("{all}; {one}"));
    work.head = repo.head();
    work.commit.is_some()
}

fn message_of(place: &Workplace, situation: &Situation, status: &str) -> String {
    let title = situation.task.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    let title = cut_chars(title.trim_start_matches(['#', ' ']), 60).replace('\n', " ");
    let message = situation.git.message.replace("{task}", &title).replace("{status}", status);
    message.replace("{run}", &place.run)
}

// As the run will remember it once it is told of this checkpoint.
fn remembered(request: &Request, judged: &[Judged]) -> Ledger {
    let situation = &request.situation;
    let mut ledger = situation.ledger.clone();
    let (session, agent, at) = (request.session, situation.agent.clone(), situation.at);
    ledger.merge(judged, &Origin { checkpoint: Some(request.id.clone()), session, agent, at });
    ledger
}

fn text_of(place: &Workplace, request: &Request, judged: &[Judged]) -> String {
    let max = request.situation.policy.max_chars.map_or(usize::MAX, |m| m as usize);
    let text = match &request.answer {
        Some(answer) => strike(answer, judged),
        None => account(place, &request.situation, &request.asked.reason),
    };
    cut_chars(&text, max)
}

fn document(
    place: &Workplace,
    request: &Request,
    by: CheckpointBy,
    text: String,
    facts: Option<&Facts>,
    work: &WorkState,
    judged: &[Judged],
) -> serde_json::Result<Document> {
    let situation = &request.situation;
    let files = facts.map_or_else(Files::default, |f| Files {
        created: f.added.clone(),
        modified: f.modified.clone(),
        deleted: f.deleted.clone(),
    });
    Ok(Document {
        version: 0,
        id: request.id.clone(),
        created_at: Time(situation.at),
        run: place.run.clone(),
        session: request.session,
        iteration: request.session,
        agent: situation.agent.clone(),
        policy: situation.policy.name.clone(),
        by,
        source: request.source,
        depth: request.asked.depth,
        stage: request.asked.stage.clone(),
        reason: request.asked.reason.clone(),
        from: None,
        tokens: situation.tokens.clone(),
        task: situation.task.clone(),
        history: gather::history(place, situation, request.session),
        outputs: gather::outputs(place.store.workdir(), &files),
        next: gather::next(request.next.as_ref(), &text),
        summary: text,
        files,
        diffstat: facts.and_then(|f| f.diffstat.clone()),
        commits: facts.map_or_else(Vec::new, commit_lines),
        gates: situation.gates.iter().map(GateEntry::from).collect(),
        errors: gather::errors(situation),
        notes: situation.note_lines(),
        snapshot: work.snapshot.clone(),
        tree: work.tree.clone(),
        counts: count(judged),
        claims: judged.iter().map(ClaimEntry::from).collect(),
        ledger: Some(serde_json::to_value(remembered(request, judged))?),
        redacted: 0,
        trouble: facts.and_then(|f| f.trouble.clone()).or_else(|| work.trouble.clone()),
        checksum: String::new(),
    })
}
