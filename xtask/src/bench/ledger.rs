//! The run's memory: what reading, judging and keeping a checkpoint costs.

use std::hint::black_box;
use std::time::Instant;

use segue_machine::claims::{Claim, ClaimKind, Evidence, Finding, Judged, claims, judge};
use segue_machine::ledger::{Ledger, Origin};

use super::{Row, median};

const ITEMS: usize = 1_000;
const ROUNDS: usize = 25;

pub(super) fn rows() -> Vec<Row> {
    let known = items(0);
    let (new, half) = (items(ITEMS), items(ITEMS / 2));
    let (all_new, half_new, all_known) = (merge(&known, &new), merge(&known, &half), merge(&known, &known));
    let copy = milliseconds(|| known.clone(), |items| items.clone());
    let evidence = many_files();
    let text: String =
        (0..100).map(|n| format!("- Created src/m{n}/f{n}.rs and changed the lexer for it\n")).collect();
    let text = format!("## Completed Work\n{text}");
    let read = milliseconds(|| (), |()| claims(&text));
    let judged = milliseconds(|| claims(&text), |claims| judge(claims, &evidence));
    vec![
        Row {
            what: "ledger: merge of 1,000 items into 1,000, half of them known",
            figure: format!("{half_new:.2} ms"),
            beside: format!(
                "all known: {all_known:.2} ms, all new: {all_new:.2} ms; copying 1,000 items: {copy:.2} ms"
            ),
            bar: "≤ 1 ms",
        },
        Row {
            what: "claims: a checkpoint with 100 items read, then judged against 10,000 changed files",
            figure: format!("{read:.2} ms + {judged:.2} ms"),
            beside: "–".to_owned(),
            bar: "–",
        },
    ]
}

fn items(from: usize) -> Vec<Judged> {
    const WHAT: [&str; 5] = ["parser", "journal", "gauge", "scheduler", "renderer"];
    const HOW: [&str; 7] = ["retries", "rounding", "paging", "locking", "quotas", "headers", "encoding"];
    const KINDS: [ClaimKind; 4] =
        [ClaimKind::Decision, ClaimKind::Constraint, ClaimKind::Remaining, ClaimKind::Done];
    (from..from + ITEMS)
        .map(|n| {
            let text = format!("The {} keeps its {} in store {n} for the release", WHAT[n % 5], HOW[n % 7]);
            let claim = Claim { kind: KINDS[n % 4].clone(), text, section: Some("Key Decisions".to_owned()) };
            Judged { claim, finding: Finding::Unknown, evidence: String::new() }
        })
        .collect()
}

fn origin(n: u32) -> Origin {
    Origin { checkpoint: Some(format!("c{n}")), session: n, agent: "a".to_owned(), at: u64::from(n) }
}

fn merge(known: &[Judged], more: &[Judged]) -> f64 {
    let mut ledger = Ledger::default();
    ledger.merge(known, &origin(1));
    milliseconds(
        || ledger.clone(),
        |mut ledger| {
            ledger.merge(more, &origin(2));
            ledger
        },
    )
}

fn many_files() -> Evidence {
    let created: Vec<String> = (0..10_000).map(|n| format!("src/m{}/f{n}.rs", n % 100)).collect();
    Evidence { git: true, tree: created.clone(), created, ..Evidence::default() }
}

// Making what is worked on, and throwing the outcome away, are not counted.
fn milliseconds<T, R>(mut make: impl FnMut() -> T, mut work: impl FnMut(T) -> R) -> f64 {
    let once = |_| {
        let made = make();
        let began = Instant::now();
        let outcome = black_box(work(made));
        let took = began.elapsed().as_secs_f64() * 1e3;
        drop(outcome);
        took
    };
    median((0..ROUNDS).map(once).collect())
}
