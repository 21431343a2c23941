//! The corpus lies in `../shared/plans` beside the checkout, or where `SEGUE_PLANS` says. Without it nothing is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use segue_plans::{
    Circumstances, Code, Format, NoFiles, NoPlan, OddityKind, Plan, Severity, audit, read_plan, write_back,
};

#[expect(clippy::disallowed_methods, reason = "the corpus is no part of the repository")]
fn corpus() -> Option<PathBuf> {
    let told = std::env::var_os("SEGUE_PLANS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans");
    let found = told.unwrap_or(beside);
    let there = found.is_dir();
    if !there {
        println!("not run: {} is not there (set SEGUE_PLANS)", found.display());
    }
    there.then_some(found)
}

#[expect(clippy::disallowed_methods, reason = "the corpus is no part of the repository")]
fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// The check boxes of a plan, and how many of them are ticked.
fn boxes(plan: &Plan) -> (usize, usize) {
    let boxes: Vec<bool> =
        plan.all_items().filter(|item| item.mark.is_box()).map(|item| !item.is_open()).collect();
    (boxes.len(), boxes.iter().filter(|done| **done).count())
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
    let Some(dir) = corpus() else { return };
    let counts = String::from_utf8(bytes(&dir.join("corpus/COUNTS.tsv"))).unwrap();
    let mut formats: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut refused): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
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
            unchanged(name, &stored, plan);
        }
    }
    let (good, all) = formats.values().fold((0, 0), |(good, all), (g, a)| (good + g, all + a));
    println!("{good} of {all} files\n{formats:?}\n{}\n{}", wrong.join("\n"), refused.join("\n"));
    assert!(good * 100 >= all * 97, "{good} of {all}");
    for (format, (good, all)) in &formats {
        assert!(*all < 20 || good * 100 >= all * 90, "{format}: {good} of {all}");
    }
    let named = |line: &String| EXPLAINED.contains(line.split(": ").next().unwrap_or(line));
    let unexplained: Vec<&String> = wrong.iter().chain(&refused).filter(|line| !named(line)).collect();
    assert!(unexplained.is_empty(), "not in docs/plans/corpus.md: {unexplained:#?}");
}

// Every item has a key of its own, and writing nothing back changes nothing.
fn unchanged(name: &str, stored: &[u8], plan: &Plan) {
    let text = std::str::from_utf8(stored).unwrap();
    assert_eq!(write_back(name, text, plan.format, &[]).unwrap().text, text, "{name}");
    let mut keys: Vec<(u32, &str)> = plan.all_items().map(|item| (item.at.file, item.key.as_str())).collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all, "{name}");
}

#[test]
fn the_formats_that_most_have_are_read_exactly() {
    let Some(dir) = corpus() else { return };
    let read = |name: &str| {
        let plan = read_plan(name, &bytes(&dir.join("more").join(name)), &NoFiles);
        let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(errors(&plan), [""; 0], "{name}");
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

/// Lines of plans, to be put together in any way.
const LINES: [&str; 36] = [
    "# Plan",
    "## Phase 1: A",
    "## Phase 2: B",
    "### Task 1: a",
    "## Tasks",
    "## Notes",
    "## Acceptance Criteria",
    "## Gates",
    "## 1. Group",
    "- [ ] 1.1 do it",
    "- [x] 1.2 done",
    "  - [ ] below",
    "\t* [X] tab",
    "1. [ ] numbered",
    "- [~] begun",
    "- plain",
    "    - [ ] deep",
    "- [ ] T001 [P] x",
    "- [ ]* optional",
    "- [] empty",
    "```",
    "```sh",
    "~~~",
    "<!--",
    "-->",
    "<!-- c -->",
    "words",
    "",
    "---",
    "**Depends on**: Phase 1",
    "> - [ ] quoted",
    "| a | b |",
    "- [x](link)",
    "* [ ]",
    "# Story 1.1: S",
    "## Parallel Example: Phase 2",
];

#[test]
fn open_items_are_those_of_an_independent_count_or_a_finding_says_why() {
    let mut state = 20_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    let texts: Vec<String> = (0..2_000)
        .map(|_| {
            let end = ["\n", "\r\n"][random(2)];
            let lines: Vec<&str> = (0..random(24) + 1).map(|_| LINES[random(LINES.len())]).collect();
            lines.join(end) + end
        })
        .collect();
    let Some(counted) = counted(&texts) else { return };
    for (text, (open, done)) in texts.iter().zip(counted) {
        match read_plan("x.md", text.as_bytes(), &NoFiles) {
            Ok(plan) => {
                let (all, ticked) = boxes(&plan);
                let said = plan.oddities.iter().any(|odd| odd.kind == OddityKind::NotRead);
                assert!(
                    (all - ticked, ticked) == (open, done) || said,
                    "{all} {ticked}, counted {open} {done}:\n{text}"
                );
            }
            // Where all boxes stand in comments or fences there is no plan.
            Err(error) => {
                let hidden = ["<!--", "```", "~~~"].iter().any(|mark| text.contains(mark));
                assert!(open == 0 || hidden || matches!(error, NoPlan::Ambiguous { .. }), "{error}\n{text}");
            }
        }
    }
}

/// What `count_items.py` finds, open and done.
#[expect(clippy::disallowed_types, reason = "the other count is written in another language")]
fn counted(texts: &[String]) -> Option<Vec<(usize, usize)>> {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/count_items.py");
    let child = Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("not run: there is no python3");
        return None;
    };
    let input = serde_json::to_vec(texts).unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
