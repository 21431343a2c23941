//! Plans: what reading a long one costs, and what deciding on the next phase does.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use segue_plans::graph::{Graph, Statuses};
use segue_plans::split::{Answers, Part, expanded};
use segue_plans::{NoFiles, Phase, Plan, Status, letters, read_plan};

use super::{Row, median};

const LINES: usize = 10_000;
const PHASES: usize = 200;
const ROUNDS: usize = 15;

pub(super) fn rows() -> Vec<Row> {
    let (tagged, listed) = (tagged(), listed());
    let slowest = milliseconds(&tagged).max(milliseconds(&listed));
    let lines = median(
        (0..ROUNDS)
            .map(|_| timed(|| tagged.lines().map(str::trim).filter(|l| l.is_empty()).count()))
            .collect(),
    );
    let next = scheduler();
    vec![
        Row {
            what: "plan of 10,000 lines read (the slower of tasks in tags and check boxes)",
            figure: format!("{slowest:.2} ms"),
            beside: format!("cutting it into lines: {lines:.2} ms"),
            bar: "≤ 20 ms",
        },
        Row {
            what: "plan of 200 phases: deciding what is next, per phase",
            figure: format!("{next:.4} ms"),
            beside: "–".to_owned(),
            bar: "≤ 1 ms",
        },
    ]
}

// Tasks as elements, 20 lines each.
fn tagged() -> String {
    let task = |n: usize| {
        let criteria: String =
            (0..8).map(|c| format!("    - `grep -c \"name{c}\" src/m{n}.rs` returns >= {c}\n")).collect();
        format!(
            "<task id=\"{n}\" type=\"auto\" complexity=\"medium\">\n  <name>Task {n}: Do it</name>\n  <files>src/m{n}.rs</files>\n  <action>\n    Write it.\n  </action>\n  \
             <verify><automated>cargo test m{n} &amp;&amp; true</automated></verify>\n  <acceptance_criteria>\n{criteria}  </acceptance_criteria>\n  <done>Done.</done>\n</task>\n\n"
        )
    };
    (0..LINES / 20).map(task).collect()
}

// Numbered check boxes in groups, with files and words.
fn listed() -> String {
    let group = |n: usize| {
        let items: String = (0..24)
            .map(|t| format!("- [ ] {n}.{t}: Change `src/m{n}/f{t}.rs` so that it holds\n  - and say why\n"))
            .collect();
        format!("### {n}. Group\n\n{items}")
    };
    format!("# Phase 1: Much\n\n## Tasks\n\n{}", (0..LINES / 50).map(group).collect::<String>())
}

fn milliseconds(text: &str) -> f64 {
    median((0..ROUNDS).map(|_| timed(|| read_plan("PLAN.md", text.as_bytes(), &NoFiles))).collect())
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    let outcome = black_box(work());
    let took = began.elapsed().as_secs_f64() * 1e3;
    drop(outcome);
    took
}

// Every phase of a plan, one after the other, as a runner asks for them.
fn scheduler() -> f64 {
    let needs = |at: usize| {
        [at.checked_sub(1), at.checked_sub(7)].into_iter().flatten().map(|need| need.to_string()).collect()
    };
    let phase = |at: usize| Phase { needs: needs(at), ..Phase::new(at.to_string()) };
    let plan = Plan { phases: (0..PHASES).map(phase).collect(), ..Plan::default() };
    let part =
        |at: usize| Part { id: format!("100{}", letters(at)), title: "part".to_owned(), ..Part::default() };
    let split = BTreeMap::from([("100".to_owned(), (0..3).map(part).collect())]);
    let once = |_| {
        timed(|| {
            let mut statuses = Statuses::new();
            // The plan may have been edited or split since the last phase, so all of it is looked at anew.
            loop {
                let now = expanded(&plan, &split, |_| Answers::Last);
                let Some(next) = Graph::new(&now).ready(&statuses).first().copied() else { break };
                statuses.insert(now.phases[next].id.clone(), Status::Completed);
            }
            assert_eq!(statuses.len(), PHASES + 2);
        }) / (PHASES + 2) as f64
    };
    median((0..ROUNDS).map(once).collect())
}
