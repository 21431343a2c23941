//! The corpus lies in `../shared/plans` beside the checkout, or where `SEGUE_PLANS` says. Without it nothing is read, which
//! is an error where `CI` is `true`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use segue_plans::{Circumstances, Code, Format, NoFiles, OddityKind, Plan, Severity, audit, read_plan};

use crate::held::{boxes, nothing_else_changes, setting, skipped};

fn corpus(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans");
    let found = setting("SEGUE_PLANS").map_or(beside, PathBuf::from);
    if !found.is_dir() {
        skipped(test, &format!("{} is not there (set SEGUE_PLANS)", found.display()));
        return None;
    }
    Some(found)
}

#[expect(clippy::disallowed_methods, reason = "the corpus is no part of the repository")]
fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// What a plan would be refused for, beside that nothing decides it.
fn errors(plan: &Plan) -> Vec<String> {
    let around =
        Circumstances { named: BTreeMap::new(), gated: true, budget: None, history: &[], files: &NoFiles };
    let found = audit(plan, &around).into_iter().filter(|finding| {
        finding.severity == Severity::Error
            && !matches!(finding.code, Code::MissingGates | Code::MissingFile | Code::GateWithoutCommand)
    });
    found.map(|finding| format!("{}:{} {}", finding.code.name(), finding.line, finding.message)).collect()
}

/// The table of differences, by the names of the files.
const EXPLAINED: &str = include_str!("../../../../docs/plans/corpus.md");

#[test]
fn the_corpus_is_read_as_it_was_counted() {
    let Some(dir) = corpus("all::the_corpus_is_read_as_it_was_counted") else { return };
    let counts = String::from_utf8(bytes(&dir.join("corpus/COUNTS.tsv"))).unwrap();
    let mut formats: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut refused, mut needed): (Vec<String>, Vec<String>, usize) = (Vec::new(), Vec::new(), 0);
    for line in counts.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (name, format) = (cells[0], cells[1]);
        let stored = bytes(&dir.join("corpus").join(name));
        let read = read_plan(name, &stored, &NoFiles);
        let counted = cells[2].parse::<usize>().ok().map(|all| (all, cells[3].parse::<usize>().unwrap_or(0)));
        let told = read.as_ref().ok().map(boxes);
        // A file without boxes may be read or refused; one with boxes is a plan.
        let same = match (counted, told) {
            (None, told) => told.is_some(),
            (Some((0, _)), None) => true,
            (Some(counted), told) => told == Some(counted),
        };
        let entry = formats.entry(format.to_owned()).or_default();
        entry.0 += usize::from(same);
        entry.1 += 1;
        if !same {
            wrong.push(format!("{name}: counted {counted:?}, read {told:?} {:?}", read.as_ref().err()));
        }
        if let Ok(plan) = &read {
            refused
                .extend(errors(plan).into_iter().map(|error| format!("{name}: {:?} {error}", plan.format)));
            nothing_else_changes(name, std::str::from_utf8(&stored).unwrap(), plan);
            let findings = plan.oddities.iter().filter(|odd| odd.kind == OddityKind::NotRead).count();
            needed += usize::from(!same && findings > 0);
        }
    }
    let (good, all) = formats.values().fold((0, 0), |(good, all), (g, a)| (good + g, all + a));
    println!("{good} of {all} files\n{formats:?}\n{}\n{}", wrong.join("\n"), refused.join("\n"));
    assert!(good * 100 >= all * 97, "{good} of {all}");
    assert!(needed * 100 <= all * 2, "{needed} of {all} need a finding");
    for (format, (good, all)) in &formats {
        assert!(*all < 20 || good * 100 >= all * 90, "{format}: {good} of {all}");
    }
    let named = |line: &String| EXPLAINED.contains(line.split(": ").next().unwrap_or(line));
    let unexplained: Vec<&String> = wrong.iter().chain(&refused).filter(|line| !named(line)).collect();
    assert!(unexplained.is_empty(), "not in docs/plans/corpus.md: {unexplained:#?}");
}

#[test]
fn the_formats_that_most_have_are_read_exactly() {
    let Some(dir) = corpus("all::the_formats_that_most_have_are_read_exactly") else { return };
    let read = |name: &str| {
        let plan = read_plan(name, &bytes(&dir.join("more").join(name)), &NoFiles);
        let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}"));
        // These are the first lines of a longer file, and what one of them waits for is not among them.
        let cut_off = [
            "unknown-dependency:6 phase skillssupply-1z3 needs skillssupply-568, and there is no such phase",
        ];
        let wanted: &[&str] = if name == "beads-issues.jsonl" { &cut_off } else { &[] };
        assert_eq!(errors(&plan), wanted, "{name}");
        nothing_else_changes(name, &String::from_utf8(bytes(&dir.join("more").join(name))).unwrap(), &plan);
        plan
    };
    let told = |plan: &Plan| {
        let tasks = plan.phases.iter().map(|phase| phase.tasks.len()).sum::<usize>();
        (plan.format, plan.phases.len(), tasks, boxes(plan))
    };
    let groups = |plan: &Plan| {
        let mut groups: Vec<_> =
            plan.phases.iter().flat_map(|p| &p.tasks).filter_map(|t| t.group.clone()).collect();
        groups.dedup();
        groups.len()
    };
    let openspec = read("openspec-add-init-agents-target.tasks.md");
    assert_eq!((told(&openspec), groups(&openspec)), ((Format::OpenSpec, 1, 10, (10, 10)), 4));
    let openspec = read("openspec-update-release-automation.tasks.md");
    assert_eq!((told(&openspec), groups(&openspec)), ((Format::OpenSpec, 1, 7, (7, 7)), 3));
    let kiro = read("kiro-task-management.tasks.md");
    assert_eq!(told(&kiro), (Format::Kiro, 1, 8, (9, 0)));
    assert_eq!(told(&read("kiro-cache-log-analyzer.tasks.md")).3, (31, 31));
    let kit = read("speckit-012-cicd.tasks.md");
    assert_eq!(told(&kit), (Format::SpecKit, 8, 16, (16, 0)));
    let needs: Vec<String> = kit.phases.iter().map(|phase| phase.needs.join(" ")).collect();
    assert_eq!(needs, ["", "1", "2", "2 3", "2 3", "2 4", "2 3 6", "2 7"]);
    assert!(
        kit.sections.iter().any(|section| section.text.contains("ShareExtension on disk is out of scope"))
    );
    assert_eq!(told(&read("speckit-011-brace-expansion.tasks.md")), (Format::SpecKit, 8, 47, (47, 47)));
    assert_eq!(
        (told(&read("bmad-3.2.story.md")).0, told(&read("bmad-3.2.story.md")).3),
        (Format::Bmad, (57, 57))
    );
    let story = read("bmad6-2-16-fix-retry-button.md");
    assert_eq!((told(&story).0, told(&story).2, told(&story).3), (Format::Bmad, 6, (38, 38)));
    assert_eq!(told(&read("conductor-seraphic.plan.md")), (Format::Conductor, 3, 11, (11, 0)));
    assert_eq!(told(&read("backlog-back-630.md")), (Format::Backlog, 1, 1, (5, 0)));
    assert_eq!(told(&read("execplan-codex-skills.md")), (Format::ExecPlan, 1, 9, (9, 8)));
    assert_eq!(told(&read("IMPLEMENTATION_PLAN-mdcode.md")), (Format::Stages, 3, 8, (0, 0)));
    assert_eq!(told(&read("shipwright-plan.md")).3, (27, 0));
    let features = read("feature_list-mini-jwt.json");
    assert_eq!(
        (told(&features), features.phases[0].tasks[0].criteria.len()),
        ((Format::FeatureList, 38, 38, (0, 0)), 3)
    );
    assert!(features.phases.iter().all(|phase| phase.status.is_over()));
    assert_eq!(told(&read("cursor-start-web.plan.md")), (Format::Cursor, 1, 2, (0, 0)));
    let beads = read("beads-issues.jsonl");
    let open = beads.all_items().filter(|item| item.is_open()).count();
    assert_eq!((told(&beads), open), ((Format::Beads, 12, 12, (0, 0)), 3));
}

#[test]
fn the_first_six_are_read_exactly() {
    let Some(dir) = corpus("all::the_first_six_are_read_exactly") else { return };
    let read = |name: &str| read_plan(name, &bytes(&dir.join(name)), &NoFiles).unwrap();
    let criteria = |plan: &Plan| plan.phases.iter().map(|phase| phase.all_criteria().count()).sum::<usize>();
    let tasks = |plan: &Plan| plan.phases.iter().map(|phase| phase.tasks.len()).sum::<usize>();
    let autopilot = read("autopilot-16-context.PLAN.md");
    assert_eq!((autopilot.format, tasks(&autopilot), criteria(&autopilot)), (Format::Autopilot, 4, 18));
    let waves = read("06-autopilot-03-test-execution.PLAN.md");
    let mut numbers: Vec<u32> = waves.phases[0].tasks.iter().filter_map(|task| task.wave).collect();
    numbers.dedup();
    assert_eq!((tasks(&waves), criteria(&waves), numbers), (3, 18, vec![1, 2]));
    let master = read("01-debussy-context-monitoring.MASTER_PLAN.md");
    assert_eq!((master.format, master.phases.len()), (Format::DebussyMaster, 4));
    assert!(master.phases.iter().all(|phase| !phase.status.is_over()));
    let fourth = read("debussy-context-monitoring.phase-4.md");
    let phase = &fourth.phases[0];
    let mut groups: Vec<_> = phase.tasks.iter().filter_map(|task| task.group.as_deref()).collect();
    groups.dedup();
    let with_command = phase.gates.iter().filter(|gate| gate.run.is_some()).count();
    assert_eq!((phase.tasks.len(), groups.len(), phase.gates.len(), with_command), (44, 6, 4, 3));
    assert_eq!((phase.notes_in.len(), phase.needs.join(" ")), (3, "1 2 3".to_owned()));
    let first = read("04-debussy-v0.7.0.phase-1.md");
    assert_eq!((tasks(&first), boxes(&first).0, first.phases[0].gates.len()), (27, 45, 4));
    assert!(first.phases[0].gates.iter().all(|gate| gate.run.is_some()) && first.phases[0].needs.is_empty());
    let gsd = read("12-gsd-prisma-01-01-PLAN.md");
    assert_eq!((gsd.format, tasks(&gsd), criteria(&gsd)), (Format::Gsd, 2, 19));
    let runs: Vec<&str> =
        gsd.phases[0].all_verify().flat_map(|one| &one.checks).map(|check| check.run.as_str()).collect();
    assert!(!gsd.phases[0].must_have.truths.is_empty() && runs.len() >= 2, "{runs:?}");
    assert!(runs.iter().all(|run| !run.contains("&amp;")), "{runs:?}");
}
