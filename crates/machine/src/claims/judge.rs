//! Holding claims against evidence. Only evidence that leaves no doubt confirms or contradicts.

use std::cmp::Ordering;

use super::lookup::{Became, Meant, find};
use super::{Change, Claim, ClaimKind, Counted, Evidence, Finding, GateFact, Judged};
use crate::Claims;

/// What the evidence says about each claim, in the claims' order.
pub fn judge(claims: Vec<Claim>, evidence: &Evidence) -> Vec<Judged> {
    let found = |claim: &Claim| match &claim.kind {
        ClaimKind::File { path, change } => file(evidence, path, *change),
        ClaimKind::TestsPass { gate, .. } => tests(evidence, gate.as_deref()),
        ClaimKind::Committed { what, .. } => committed(evidence, what.as_deref()),
        ClaimKind::Count { of, number } => counted(evidence, *of, *number),
        ClaimKind::Done
        | ClaimKind::Decision
        | ClaimKind::Constraint
        | ClaimKind::DeadEnd
        | ClaimKind::Failure
        | ClaimKind::Remaining
        | ClaimKind::DoNotRedo
        | ClaimKind::Rule => (Finding::Unknown, String::new()),
    };
    let judged = |claim: Claim| {
        let (finding, evidence) = found(&claim);
        Judged { claim, finding, evidence }
    };
    claims.into_iter().map(judged).collect()
}

/// Whether running the gates again would settle the claim.
pub fn wants_gate(claim: &Claim) -> bool {
    matches!(claim.kind, ClaimKind::TestsPass { .. })
}

/// How many claims were found true, false, or neither.
pub fn count(judged: &[Judged]) -> Claims {
    let of = |finding| {
        let n = judged.iter().filter(|j| j.finding == finding).count();
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    Claims {
        confirmed: of(Finding::Confirmed),
        contradicted: of(Finding::Contradicted),
        unknown: of(Finding::Unknown),
    }
}

type Found = (Finding, String);

fn so(words: impl Into<String>) -> Found {
    (Finding::Confirmed, words.into())
}

fn not_so(words: impl Into<String>) -> Found {
    (Finding::Contradicted, words.into())
}

fn open(words: impl Into<String>) -> Found {
    (Finding::Unknown, words.into())
}

fn file(evidence: &Evidence, path: &str, change: Change) -> Found {
    if !evidence.git {
        return open("there is no repository to ask");
    }
    let files = match find(path, evidence) {
        Meant::Outside => return open("it is outside the work tree"),
        Meant::Ignored => return open("git ignores it"),
        Meant::Files(files) => files,
    };
    let any = |became| files.contains(&became);
    if change == Change::Deleted {
        return match files.len() {
            _ if any(Became::Deleted) => so("git: deleted"),
            0 => open("git: there was no such file when the run began"),
            1 => not_so("git: the file is still there"),
            _ => open("git: several files have that name"),
        };
    }
    let new = change == Change::Created;
    match files.len() {
        _ if any(Became::Created) => so("git: created"),
        _ if any(Became::Modified) => so("git: modified"),
        0 if new => not_so("git: no such file was created"),
        1.. if change == Change::There => so("git: the file is there"),
        0 => not_so("git: there is no such file"),
        1 if any(Became::Deleted) && new => not_so("git: the file was deleted"),
        1 if any(Became::Deleted) => open("git: the file was deleted"),
        1 => not_so("git: the file did not change since the run began"),
        _ => open("git: several files have that name"),
    }
}

fn tests(evidence: &Evidence, gate: Option<&str>) -> Found {
    let gates = gates(evidence, gate);
    if gates.is_empty() {
        return open("no gate checks it");
    }
    if let Some(red) = gates.iter().find(|g| !g.passed && !g.stale) {
        let exit =
            red.exit.map_or_else(|| "ended by a signal or the time-out".to_owned(), |e| format!("exit {e}"));
        return not_so(format!("gate {}: fails ({exit})", red.name));
    }
    let names = gates.iter().map(|g| g.name.as_str()).collect::<Vec<_>>().join(", ");
    if gates.iter().any(|g| g.stale) {
        return open(format!("files changed since gate {names} ran"));
    }
    so(format!("gate {names}: passes"))
}

// A claim about one check is a matter for the gate that is called so or runs just that; then for the gates of its kind; one
// about tests, when no gate is of that kind, for all that are of no other.
fn gates<'e>(evidence: &'e Evidence, gate: Option<&str>) -> Vec<&'e GateFact> {
    let Some(kind) = gate else { return evidence.gates.iter().collect() };
    let of = |is: &dyn Fn(&str) -> bool| -> Vec<&GateFact> {
        let about = |g: &&GateFact| {
            is(&g.name.to_lowercase()) || g.run.as_deref().is_some_and(|run| is(&run.to_lowercase()))
        };
        evidence.gates.iter().filter(about).collect()
    };
    let said = command(kind);
    let named = of(&|title| {
        let known = command(title);
        let check = known.len() == 1 && matches!(said[..], [_] | [_, "check" | "checks" | "gate"]);
        known.starts_with(&said) || (check && known[0].starts_with(said[0]))
    });
    let found = if named.is_empty() { of(&|title| runs(title, kind)) } else { named };
    if !found.is_empty() || kind != "tests" {
        return found;
    }
    let other = |title: &str| ["build", "lint", "format", "types"].iter().any(|other| runs(title, other));
    let others = of(&other);
    evidence.gates.iter().filter(|gate| !others.contains(gate)).collect()
}

// The words of a command or name: folders before a program, flags and "everything below" do not make it another.
fn command(line: &str) -> Vec<&str> {
    let plain = |word: &&str| !word.starts_with('-') && *word != "./...";
    let words = line.split_whitespace().filter(plain);
    words.map(|word| word.rsplit('/').next().unwrap_or(word)).collect()
}

/// Whether a gate's name or a command line is about a kind of check.
fn runs(title: &str, kind: &str) -> bool {
    let words: &[&str] = match kind {
        "tests" => &["test", "spec", "jest", "nextest", "rspec", "ctest"],
        "build" => &["build", "compile", "cargo check", "tsc"],
        "lint" => &["lint", "clippy", "ruff", "flake8", "vet"],
        "format" => &["fmt", "format", "prettier", "black"],
        "types" => &["type", "mypy", "tsc", "pyright"],
        _ => return false,
    };
    words.iter().any(|w| title.contains(w))
}

fn committed(evidence: &Evidence, what: Option<&str>) -> Found {
    let same =
        |(hash, _): &(String, String), what: &str| hash.starts_with(what) || what.starts_with(hash.as_str());
    match (what, evidence.commits.as_slice()) {
        _ if !evidence.git => open("there is no repository to ask"),
        (_, []) => not_so("git: no commit since the run began"),
        (Some(what), commits) if commits.iter().any(|one| same(one, &what.to_lowercase())) => {
            so(format!("git: commit {what}"))
        }
        (Some(what), _) => not_so(format!("git: no commit {what} since the run began")),
        (None, _) => open("git: there are commits since the run began"),
    }
}

// Less than there is may be all of one's own part; more than there is is never so.
fn counted(evidence: &Evidence, of: Counted, is: u64) -> Found {
    let there = match of {
        Counted::Commits => evidence.commits.len(),
        Counted::Files => evidence.modified.len() + evidence.deleted.len(),
    };
    let what = if of == Counted::Commits { "commits" } else { "changed files" };
    let told = format!("git: {there} {what} since the run began");
    match u64::try_from(there).unwrap_or(u64::MAX).cmp(&is) {
        _ if !evidence.git => open("there is no repository to ask"),
        Ordering::Equal => so(told),
        Ordering::Less if of == Counted::Commits => not_so(told),
        Ordering::Greater if evidence.whole => not_so(told),
        Ordering::Less | Ordering::Greater => open(told),
    }
}
