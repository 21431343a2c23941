//! Plans with several phases: a master plan with files, a road map, phases in one file, the native format, folders.

use segue_plans::{
    Files, Format, NoFiles, OddityKind, Plan, Status, counts, counts_per_file, read_folder, read_plan, write,
};

use crate::support::{read, tasks, told};

const MASTER: &str = include_str!("../plans/debussy-master.md");
const PHASE: &str = include_str!("../plans/debussy-phase.md");
const NATIVE: &str = include_str!("../plans/native.toml");

/// Files in memory.
struct Disk(Vec<(&'static str, String)>);

impl Files for Disk {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| text.clone().into_bytes())
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let below = self.0.iter().filter_map(|(name, _)| name.strip_prefix(dir)?.strip_prefix('/'));
        let mut names: Vec<String> =
            below.filter_map(|name| name.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        names
    }
}

fn shop() -> Plan {
    let other = "# Paying\n\n**Depends On:** [the basket](../shop-phase-6D.md), Phase 1\n\n## Gates\n- tests: `make test`\n\n## Tasks\n- [ ] 1.1: Pay\n";
    let disk =
        Disk(vec![("plans/shop-phase-6D.md", PHASE.to_owned()), ("plans/sub/paying.md", other.to_owned())]);
    read_plan("plans/MASTER.md", MASTER.as_bytes(), &disk).unwrap()
}

#[test]
fn p4_a_master_plan_has_its_phases_and_their_files() {
    let plan = shop();
    assert_eq!(told(&plan), (Format::DebussyMaster, 3, 5, 6, 2));
    let told: Vec<(&str, &str, Status, Vec<&str>)> = plan
        .phases
        .iter()
        .map(|p| (p.id.as_str(), p.title.as_str(), p.status, p.needs.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(told[0], ("1", "Goods", Status::Completed, vec![]));
    assert_eq!(told[1], ("6D", "Basket", Status::Pending, vec!["1"]));
    assert_eq!(told[2], ("26.2", "Paying", Status::Pending, vec!["1", "6D"]));
    let names: Vec<String> = counts_per_file(&plan)
        .into_iter()
        .map(|counts| format!("{} {}", counts.file, counts.tasks))
        .collect();
    assert_eq!(names, ["plans/MASTER.md 0", "plans/shop-phase-6D.md 4", "plans/sub/paying.md 1"]);
}

#[test]
fn p4_a_linked_file_that_is_missing_is_named_with_its_line() {
    let plan = shop();
    let odd = &plan.oddities[0];
    assert_eq!(
        (odd.kind, odd.what.as_str(), odd.at.line),
        (OddityKind::MissingFile, "plans/shop-phase-1.md", 13)
    );
}

#[test]
fn p3_gates_are_read_with_their_commands_verbatim_in_every_form() {
    let plan = read(PHASE);
    let gates: Vec<(&str, Option<&str>, &str)> =
        plan.phases[0].gates.iter().map(|g| (g.name.as_str(), g.run.as_deref(), g.expect.as_str())).collect();
    assert_eq!(gates[0], ("lint", Some("make lint && make types"), "0 errors"));
    assert_eq!(gates[1], ("types", Some("make types"), "0 errors"));
    assert_eq!(gates[2], ("tests", Some("make test"), "all pass"));
    assert_eq!(gates[3], ("audit", Some("make audit"), "0 findings"));
    assert_eq!(gates[4], ("coverage", None, "no decrease from ~60%"));
}

#[test]
fn p4_a_phase_file_has_its_notes_groups_boxes_and_dependencies() {
    let plan = read(PHASE);
    assert_eq!(told(&plan), (Format::DebussyPhase, 1, 4, 5, 2));
    let phase = &plan.phases[0];
    assert_eq!((phase.id.as_str(), phase.title.as_str()), ("6D", "Basket"));
    assert_eq!(phase.notes_in, ["notes/NOTES_shop_1.md", "notes/NOTES_shop_2.md"]);
    assert_eq!(phase.notes_out, ["notes/NOTES_shop_6D.md"]);
    assert_eq!(phase.files, ["src/basket.py", "src/view.py"]);
    assert_eq!(phase.needs, ["1"]);
    assert_eq!(tasks(phase), ["1.1", "1.2", "2.1", "2.2"]);
    assert_eq!(phase.tasks[1].steps.len(), 1);
    let counts = counts(&plan);
    assert_eq!(
        (counts.groups, counts.boxes, counts.gates_with_command, counts.criteria_with_command),
        (2, 13, 4, 1)
    );
}

#[test]
fn many_tasks_in_groups_are_as_many_as_they_are() {
    let groups: String = (1..=6)
        .map(|g| {
            format!("### {g}. Group\n{}", (1..=7).map(|t| format!("- [ ] {g}.{t}: Do\n")).collect::<String>())
        })
        .collect();
    let plan = read(&format!(
        "# X Phase 3.1: Y\n\n## Process Wrapper\n- [ ] Read previous notes: N/A\n\n## Gates\n- t: `make`\n\n## Tasks\n\n{groups}"
    ));
    let counts = counts(&plan);
    assert_eq!((counts.tasks, counts.groups, counts.notes_in), (42, 6, 0));
    assert_eq!(plan.phases[0].id, "3.1");
}

#[test]
fn a_road_map_has_phases_criteria_and_what_is_ticked() {
    let plan = read(include_str!("../plans/roadmap.md"));
    assert_eq!(told(&plan), (Format::Roadmap, 3, 3, 0, 3));
    let ids: Vec<(&str, Status, Vec<&str>)> = plan
        .phases
        .iter()
        .map(|p| (p.id.as_str(), p.status, p.needs.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        ids,
        [
            ("1", Status::Completed, vec![]),
            ("2", Status::Pending, vec!["1"]),
            ("2.1", Status::Pending, vec!["2"])
        ]
    );
    assert_eq!(tasks(&plan.phases[0]), ["01-01", "01-02"]);
    assert_eq!(plan.phases[1].about, "More than one.");
}

#[test]
fn phases_in_one_file_come_one_after_the_other() {
    let plan = read(include_str!("../plans/spec-kit.md"));
    assert_eq!(told(&plan), (Format::SpecKit, 3, 5, 0, 0));
    assert_eq!(plan.phases[1].needs, ["1"]);
    assert_eq!(plan.phases[0].status, Status::Completed);
    assert_eq!(plan.phases[1].title, "User Story 1 - Make an album (Priority: P1) 🎯 MVP");
    assert_eq!(tasks(&plan.phases[1]), ["T003", "T004"]);
    assert_eq!(plan.phases[1].tasks[0].files, ["tests/test_album.py"]);
    assert_eq!(plan.phases[1].tasks[0].title, "Test in tests/test_album.py");
}

#[test]
fn chunks_with_tasks_are_phases_and_validation_holds_for_all() {
    let plan = read(
        "# X\n\n## Chunk 1: A\n\n### Task 1: a\n\n- [ ] s\n\n## Chunk 2: B\n\n### Task 2: b\n\n- [ ] s\n\n## Validation\n\n- `make test`\n",
    );
    assert_eq!(told(&plan), (Format::Phases, 2, 2, 1, 0));
    assert_eq!(plan.gates[0].run.as_deref(), Some("make test"));
}

#[test]
fn the_native_format_is_read_with_its_places() {
    let plan = read_plan("segue.plan.toml", NATIVE.as_bytes(), &NoFiles).unwrap();
    assert_eq!(told(&plan), (Format::Native, 2, 2, 3, 1));
    let second = &plan.phases[1];
    assert_eq!(
        (second.agent.as_deref(), second.role.as_deref(), second.policy.as_deref()),
        (Some("codex"), Some("backend"), Some("phased"))
    );
    assert!(!second.autonomous && plan.phases[0].autonomous && second.gates[1].manual);
    let line =
        |needle: &str| u32::try_from(NATIVE.lines().position(|l| l.contains(needle)).unwrap() + 1).unwrap();
    assert_eq!(second.needs_at.line, line("needs = "));
    assert_eq!(second.gates[0].at.line + 1, line("name = \"lint\""));
    assert_eq!(second.tasks[0].at.line + 1, line("id = \"2.1\""));
    assert_eq!(counts(&plan).boxes, 0);
}

#[test]
fn a_plan_of_every_shape_is_the_same_when_it_is_written_out_and_read_again() {
    let texts = [
        include_str!("../plans/autopilot.md"),
        include_str!("../plans/gsd.md"),
        PHASE,
        MASTER,
        NATIVE,
        include_str!("../plans/kiro.md"),
        include_str!("../plans/roadmap.md"),
        include_str!("../plans/chore.md"),
        include_str!("../plans/smart-ralph.md"),
    ];
    for text in texts {
        let plan = read(text);
        let written = write(&plan).unwrap();
        let again = read_plan("segue.plan.toml", written.as_bytes(), &NoFiles).unwrap();
        assert_eq!(again.content(), plan.content(), "{written}");
    }
}

#[test]
fn a_folder_of_plans_is_one_plan_and_what_was_done_is_none() {
    let gsd = include_str!("../plans/gsd.md");
    let first =
        gsd.replace("plan: 02", "plan: 01").replace("wave: 2", "wave: 1").replace("[\"04-01\"]", "[]");
    let third = gsd.replace("plan: 02", "plan: 03").replace("\"04-01\"", "01, \"04-02\"");
    let summary =
        "---\nphase: 04-search\nplan: 01\ncompleted: 2026-01-01\n---\n# Summary\n### Task 1: done\n- [x] a\n"
            .to_owned();
    let disk = Disk(vec![
        ("p/04-search/04-01-PLAN.md", first),
        ("p/04-search/04-01-SUMMARY.md", summary),
        ("p/04-search/04-02-PLAN.md", gsd.to_owned()),
        ("p/04-search/04-03-PLAN.md", third),
        ("p/STATE.md", "# State\n\nwords\n".to_owned()),
    ]);
    let plan = read_folder("p", &disk).unwrap();
    let ids: Vec<(&str, Vec<&str>)> =
        plan.phases.iter().map(|p| (p.id.as_str(), p.needs.iter().map(String::as_str).collect())).collect();
    assert_eq!(ids, [("04-01", vec![]), ("04-02", vec!["04-01"]), ("04-03", vec!["04-01", "04-02"])]);
    assert_eq!(plan.file(plan.phases[2].at), "p/04-search/04-03-PLAN.md");
}

#[test]
fn a_folder_with_a_master_plan_is_that_plan() {
    let disk = Disk(vec![("d/a.md", "# Notes\n".to_owned()), ("d/MASTER.md", MASTER.to_owned())]);
    assert_eq!(read_folder("d", &disk).unwrap().format, Format::DebussyMaster);
    assert!(read_folder("d", &NoFiles).is_err());
}
