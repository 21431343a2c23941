//! What must hold for every plan and every report of a phase: the same twice, written out and read again the same, bounded.

use segue_plans::handoff::{self, Around};
use segue_plans::report::{self, ENTRIES, PARTS, Report, SUMMARY_CHARS};
use segue_plans::{
    Budget, Circumstances, NoFiles, Phase, Plan, Task, audit, counts, draw, estimate, read_plan, write,
};

/// A plan of each shape to begin with.
pub(crate) const SEEDS: &[&str] = &[
    include_str!("../../crates/plans/tests/plans/autopilot.md"),
    include_str!("../../crates/plans/tests/plans/gsd.md"),
    include_str!("../../crates/plans/tests/plans/gsd-headings.md"),
    include_str!("../../crates/plans/tests/plans/debussy-master.md"),
    include_str!("../../crates/plans/tests/plans/debussy-phase.md"),
    include_str!("../../crates/plans/tests/plans/roadmap.md"),
    include_str!("../../crates/plans/tests/plans/spec-kit.md"),
    include_str!("../../crates/plans/tests/plans/kiro.md"),
    include_str!("../../crates/plans/tests/plans/chore.md"),
    include_str!("../../crates/plans/tests/plans/native.toml"),
    "[{\"task_id\": \"1\", \"acceptance_criteria\": [\"`grep -c x f` returns 0\"], \"subtasks\": [{\"id\": 1}], \"depends_on\": [2]}]",
];

/// Answers of agents to begin with.
pub(crate) const REPORTS: &[&str] = &[
    "Done.\n```json\n{\"status\": \"split_request\", \"summary\": \"x\", \"split_details\": {\"reason\": \"y\", \"recommended_sub_phases\": [{\"id\": \"1a\", \"tasks\": [1]}]}}\n```",
    "{\"status\": \"failed\", \"tasks_completed\": [1, \"2\"], \"issues\": [{\"message\": \"z\"},], \"recommendation\": \"halt\",}",
];

/// Hand-overs to begin with.
pub(crate) const HANDOFFS: &[&str] = &[
    "# Handoff\n\n- Phase: 6D x\n- Reason: y\n\n## Tasks Completed\n| task | what |\n|---|---|\n| 1 | a |\n\n## Tasks Remaining\n| task | what |\n|---|---|\n| 2.1 | b |\n| 3a | c |\n\n## Partial Progress\nz\n",
];

/// A plan is read the same way twice, and is the same when it was written out.
pub(crate) fn read(data: &[u8]) {
    let plan = read_plan("plans/x.md", data, &NoFiles);
    assert_eq!(plan, read_plan("plans/x.md", data, &NoFiles));
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let counts = counts(&plan);
    assert!(!plan.phases.is_empty() && counts.phases + counts.tasks + counts.criteria <= data.len());
    assert!(draw(&plan, 40).iter().all(|line| line.chars().count() <= 40));
    checked(&plan);
    let written = write(&plan).unwrap_or_else(|error| panic!("every plan can be written: {error}"));
    let again = read_plan("segue.plan.toml", written.as_bytes(), &NoFiles)
        .unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again.content(), plan.content());
}

fn checked(plan: &Plan) {
    let budget = Some(Budget { tokens: 20_000 });
    let around =
        Circumstances { named: Default::default(), gated: false, budget, history: &[], files: &NoFiles };
    let lines = plan.files.first().map_or(0, |file| file.lines);
    for finding in audit(plan, &around) {
        assert!(finding.line <= lines.max(1), "{finding:?}");
        assert!(!finding.message.is_empty() && !finding.fix.is_empty());
    }
    for phase in estimate(plan, budget, &[], &NoFiles).phases {
        let parts: usize = phase.split.iter().map(|part| part.tasks.len()).sum();
        assert!(phase.split.is_empty() || parts == phase.tasks.len(), "a split has every task once");
    }
}

/// A hand-over names tasks of its phase and no others, and is read the same when it was written out.
pub(crate) fn handoff(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let task =
        |id: &str| Task { id: id.to_owned(), title: text.chars().take(40).collect(), ..Task::default() };
    let phase = Phase { tasks: ["1", "2.1", "3a"].map(task).into(), ..Phase::new("6D") };
    match handoff::read(&text, &phase) {
        Ok(handoff) => assert!(handoff.words().chars().count() < 4_000 + text.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let report =
        report::read(&text).map_or_else(|_| Report::derived(&report::Facts::default()), |read| read.report);
    let around = Around { reason: &text, last_commit: &text, ..Around::default() };
    let written = handoff::write(&phase, &report, &around);
    if let Err(error) = handoff::read(&written, &phase) {
        panic!("{error}\n{written}");
    }
}

/// A report keeps its bounds.
pub(crate) fn report(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match report::read(&text) {
        Ok(read) => {
            let report = read.report;
            assert!(report.summary.chars().count() <= SUMMARY_CHARS);
            assert!(
                report.tasks.len() <= ENTRIES
                    && report.issues.len() <= ENTRIES
                    && report.commits.len() <= ENTRIES
            );
            assert!(
                report
                    .split_details
                    .is_none_or(|split| (1..=PARTS).contains(&split.recommended_sub_phases.len()))
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
