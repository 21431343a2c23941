use super::*;
use crate::formats::{NoFiles, read_plan};
use crate::model::{Check, Criterion, Phase, Task};

fn around() -> Circumstances<'static> {
    Circumstances { named: BTreeMap::new(), gated: false, budget: None, history: &[], files: &NoFiles }
}

fn codes(plan: &Plan, around: &Circumstances<'_>) -> Vec<&'static str> {
    audit(plan, around).into_iter().map(|finding| finding.code.name()).collect()
}

fn phase(id: &str, needs: &[&str]) -> Phase {
    let gates = vec![Gate { name: "t".to_owned(), run: Some("make test".to_owned()), ..Gate::default() }];
    let tasks = vec![Task { id: "1".to_owned(), ..Task::default() }];
    Phase { needs: needs.iter().map(|n| (*n).to_owned()).collect(), gates, tasks, ..Phase::new(id) }
}

fn plan(phases: Vec<Phase>) -> Plan {
    Plan { phases, ..Plan::default() }
}

fn with_gate(run: Option<&str>) -> Plan {
    let mut plan = plan(vec![phase("1", &[])]);
    plan.phases[0].gates[0] =
        Gate { name: "coverage".to_owned(), run: run.map(str::to_owned), ..Gate::default() };
    plan
}

#[test]
fn a_plan_with_nothing_wrong_has_no_findings() {
    assert!(audit(&plan(vec![phase("1", &[]), phase("2", &["1"])]), &around()).is_empty());
}

#[test]
fn p3_a_gate_without_a_command_is_an_error_unless_the_configuration_knows_it() {
    let plan = with_gate(None);
    let found = audit(&plan, &around());
    assert_eq!((found[0].code, found[0].severity), (Code::GateWithoutCommand, Severity::Error));
    assert!(found[0].fix.contains("[gates.coverage]"), "{}", found[0].fix);
    for known in [KnownGate::Command("make coverage".to_owned()), KnownGate::Manual] {
        let around = Circumstances { named: BTreeMap::from([("Coverage".to_owned(), known)]), ..around() };
        assert!(audit(&plan, &around).is_empty());
    }
}

#[test]
fn p3_a_gate_that_cannot_fail_never_stands_in() {
    for run in ["echo ok", "true", "make test || true", "make; echo done"] {
        assert_eq!(codes(&with_gate(Some(run)), &around()), ["gate-decides-nothing"], "{run}");
    }
    // A command of the configuration does not replace it either.
    let around =
        Circumstances { named: BTreeMap::from([("coverage".to_owned(), KnownGate::Manual)]), ..around() };
    assert_eq!(codes(&with_gate(Some("echo ok")), &around), ["gate-decides-nothing"]);
}

#[test]
fn p3_an_explicit_command_is_kept_when_gates_are_filled_in() {
    let named = BTreeMap::from([("coverage".to_owned(), KnownGate::Command("other".to_owned()))]);
    let (mut own, mut none) = (with_gate(Some("make  cov")), with_gate(None));
    fill_gates(&mut own, &named);
    fill_gates(&mut none, &named);
    assert_eq!(own.phases[0].gates[0].run.as_deref(), Some("make  cov"));
    assert_eq!(none.phases[0].gates[0].run.as_deref(), Some("other"));
}

#[test]
fn nothing_that_decides_is_an_error_and_a_check_or_the_configuration_mends_it() {
    let mut bare = plan(vec![phase("1", &[])]);
    bare.phases[0].gates.clear();
    assert_eq!(codes(&bare, &around()), ["missing-gates"]);
    assert!(codes(&bare, &Circumstances { gated: true, ..around() }).is_empty());
    let check = |run: &str| Criterion {
        checks: vec![Check { run: run.to_owned(), ..Check::default() }],
        ..Criterion::default()
    };
    bare.phases[0].tasks[0].criteria = vec![check("grep x f")];
    assert!(codes(&bare, &around()).is_empty());
    bare.phases[0].tasks[0].criteria = vec![check("grep x f || true")];
    assert_eq!(codes(&bare, &around()), ["missing-gates", "check-decides-nothing"]);
}

#[test]
fn p4_dependencies_that_are_unknown_or_circular_are_named_with_file_and_line() {
    let text = "[[phase]]\nid = \"1\"\nneeds = [\"2\"]\n[[phase]]\nid = \"2\"\nneeds = [\"1\"]\n[[phase]]\nid = \"3\"\nneeds = [\"2\", \"9\"]\n[[phase]]\nid = \"4\"\nneeds = [\"3\"]\n";
    let plan = read_plan("p.toml", text.as_bytes(), &NoFiles).unwrap();
    let found = audit(&plan, &Circumstances { gated: true, ..around() });
    let told: Vec<(&str, u32, &str)> = found
        .iter()
        .filter(|f| f.code != Code::EmptyPhase)
        .map(|f| (f.code.name(), f.line, f.file.as_str()))
        .collect();
    assert_eq!(
        told,
        [("cycle", 3, "p.toml"), ("unknown-dependency", 9, "p.toml"), ("unreachable", 12, "p.toml")]
    );
    let words: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
    assert!(words.contains(&"phases need one another in a circle: 1 needs 2 needs 1"), "{words:?}");
    assert!(words.contains(&"phase 3 needs 9, and there is no such phase"), "{words:?}");
}

#[test]
fn ids_that_come_twice_are_named() {
    let mut twice = plan(vec![phase("1", &[]), phase("01", &[])]);
    assert_eq!(codes(&twice, &around()), ["duplicate-id"]);
    twice.phases.pop();
    let again = twice.phases[0].tasks[0].clone();
    twice.phases[0].tasks.push(again);
    assert_eq!(codes(&twice, &around()), ["duplicate-id"]);
}

#[test]
fn a_note_that_nobody_writes_is_named() {
    let mut plan = plan(vec![phase("1", &[]), phase("2", &["1"])]);
    plan.phases[1].notes_in = vec!["notes/a.md".to_owned()];
    assert_eq!(codes(&plan, &around()), ["missing-note"]);
    plan.phases[0].notes_out = vec!["notes/a.md".to_owned()];
    assert!(codes(&plan, &around()).is_empty());
}

#[test]
fn a_phase_that_does_not_fit_a_window_is_an_error_with_a_way_to_split_it() {
    let mut plan = plan(vec![phase("20", &[])]);
    plan.phases[0].tasks = (0..4)
        .map(|n| Task {
            id: n.to_string(),
            complexity: Some(crate::model::Complexity::Complex),
            ..Task::default()
        })
        .collect();
    let found = audit(&plan, &Circumstances { budget: Some(Budget { tokens: 100_000 }), ..around() });
    assert_eq!(found[0].code, Code::PhaseTooLarge);
    assert!(found[0].fix.contains("20a"), "{}", found[0].fix);
    assert!(
        codes(&plan, &Circumstances { budget: Some(Budget { tokens: 1_000_000 }), ..around() }).is_empty()
    );
}

#[test]
fn what_is_completed_needs_no_gates() {
    let mut plan = plan(vec![phase("1", &[])]);
    plan.phases[0].gates.clear();
    plan.phases[0].status = crate::model::Status::Completed;
    assert!(codes(&plan, &around()).is_empty());
}

#[test]
fn every_code_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
}
