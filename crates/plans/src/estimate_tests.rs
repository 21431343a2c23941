use super::*;
use crate::formats::NoFiles;

fn task(id: &str, complexity: Complexity) -> Task {
    Task { id: id.to_owned(), complexity: Some(complexity), ..Task::default() }
}

fn plan(tasks: Vec<Task>) -> Plan {
    Plan { phases: vec![Phase { tasks, ..Phase::new("20") }], ..Plan::default() }
}

fn complex(n: usize) -> Plan {
    plan((1..=n).map(|id| task(&id.to_string(), Complexity::Complex)).collect())
}

#[test]
fn more_complex_tasks_and_larger_files_cost_more() {
    let cost = |plan: &Plan, files: &dyn Files| estimate(plan, None, &[], files).tokens;
    let simple = plan(vec![task("1", Complexity::Simple)]);
    assert!(cost(&simple, &NoFiles) < cost(&complex(1), &NoFiles));
    let with = plan(vec![Task { files: vec!["a.rs".to_owned()], ..task("1", Complexity::Simple) }]);
    let large = |_: &str| Some(vec![0_u8; 60_000]);
    assert!(cost(&with, &NoFiles) < cost(&with, &large));
    let twice = plan(vec![with.phases[0].tasks[0].clone(), with.phases[0].tasks[0].clone()]);
    assert!(cost(&twice, &large) < 2 * cost(&with, &large), "a file is read once");
}

#[test]
fn what_is_over_costs_nothing_more() {
    let mut done = complex(3);
    done.phases[0].tasks[0].status = crate::model::Status::Completed;
    let open = |plan: &Plan| estimate(plan, None, &[], &NoFiles).tokens;
    assert!(open(&done) < open(&complex(3)));
    done.phases[0].status = crate::model::Status::Completed;
    assert_eq!(open(&done), 0);
}

#[test]
fn a_phase_above_60_percent_is_warned_of_and_split_evenly_in_order() {
    let plan = complex(6);
    let estimate = estimate(&plan, Some(Budget { tokens: 200_000 }), &[], &NoFiles);
    let phase = &estimate.phases[0];
    assert!(phase.percent.unwrap() > 60);
    let parts: Vec<(&str, Vec<&str>)> =
        phase.split.iter().map(|p| (p.id.as_str(), p.tasks.iter().map(String::as_str).collect())).collect();
    assert_eq!(parts, [("20a", vec!["1", "2"]), ("20b", vec!["3", "4"]), ("20c", vec!["5", "6"])]);
    assert!(phase.split.iter().all(|part| part.tokens <= 120_000));
    assert_eq!(estimate.warnings.len(), 2);
    assert!(estimate.warnings[0].contains("20a, 20b, 20c"), "{:?}", estimate.warnings);
}

#[test]
fn a_phase_at_the_line_is_not_warned_of() {
    let tokens = estimate(&complex(1), None, &[], &NoFiles).tokens;
    let at = |budget| estimate(&complex(1), Some(Budget { tokens: budget }), &[], &NoFiles).warnings.len();
    assert_eq!(at(tokens * 100 / 60), 0);
    assert_eq!(at(tokens * 100 / 62), 1);
}

#[test]
fn a_phase_that_is_too_large_by_its_files_is_split_as_well() {
    let mut plan = complex(2);
    plan.phases[0].files = (0..20).map(|n| format!("f{n}.rs")).collect();
    let estimate = estimate(&plan, Some(Budget { tokens: 200_000 }), &[], &NoFiles);
    assert_eq!(estimate.phases[0].split.len(), 2);
    let parts: u64 = estimate.phases[0].split.iter().map(|part| part.tokens).sum();
    assert_eq!(parts, estimate.phases[0].tokens + BASE);
}

#[test]
fn a_single_task_cannot_be_split() {
    let estimate = estimate(&complex(1), Some(Budget { tokens: 10_000 }), &[], &NoFiles);
    assert!(estimate.phases[0].split.is_empty());
    assert_eq!(estimate.warnings.len(), 2);
}

#[test]
fn without_a_budget_nothing_is_a_percentage() {
    let estimate = estimate(&complex(9), None, &[], &NoFiles);
    assert_eq!((estimate.percent, estimate.phases[0].percent, estimate.warnings.len()), (None, None, 0));
}

#[test]
fn enough_of_the_past_puts_estimates_right() {
    let past = |actual| Past { estimated: 100, actual };
    let with = |history: &[Past]| estimate(&complex(1), None, history, &NoFiles);
    let plain = with(&[]).tokens;
    assert_eq!(with(&[past(300), past(300)]).tokens, plain, "two are not enough");
    assert_eq!(with(&[past(50), past(200), past(900)]).tokens, plain * 2);
    assert_eq!(with(&[past(90_000); 3]).scale, 400);
}

#[test]
fn letters_go_on_after_z() {
    assert_eq!([0, 25, 26, 27, 701, 702].map(letters), ["a", "z", "aa", "ab", "zz", "aaa"]);
}

#[test]
fn another_round_and_what_is_run_again_cost_more() {
    let mut plan = Plan { phases: vec![Phase::new("1"), Phase::new("2")], ..Plan::default() };
    plan.phases[0].status = crate::model::Status::Completed;
    plan.phases[0].tasks = vec![Task { status: crate::model::Status::Completed, ..Task::default() }];
    plan.phases[1].tasks = vec![Task { files: vec!["a.rs".to_owned()], ..Task::default() }];
    let all = |quality, force| estimate_with(&plan, None, &[], &NoFiles, Extra { quality, force }).tokens;
    let plain = all(false, false);
    assert_eq!(plain, estimate(&plan, None, &[], &NoFiles).tokens);
    assert!(all(true, false) > plain && all(false, true) > plain && all(true, true) > all(true, false));
}

#[test]
fn e4_a_phase_of_two_hundred_thousand_tasks_is_estimated_with_every_task_in_one_part() {
    let task = |n: u32| Task { id: n.to_string(), files: vec![format!("src/{n}.rs")], ..Task::default() };
    let phase = Phase { tasks: (0..200_000).map(task).collect(), ..Phase::new("1") };
    let plan = Plan { phases: vec![phase], ..Plan::default() };
    let estimate = estimate(&plan, Some(Budget { tokens: 200_000 }), &[], &NoFiles);
    let tasks: usize = estimate.phases[0].split.iter().map(|part| part.tasks.len()).sum();
    assert_eq!(tasks, 200_000);
    assert!(estimate.warnings[0].len() < 1_000, "{}", estimate.warnings[0]);
}
