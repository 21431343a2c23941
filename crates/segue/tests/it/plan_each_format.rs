//! One plan of each format that is read, from end to end: order, what each phase is told, what is written back, `kill -9`
//! in the middle, and two phases at a time. The plans lie in `tests/plans`, a folder a format.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::beside::nothing_is_left;
use crate::plan_handback::conversations;
use crate::plan_run::{ended, pairs, roomy, state, world};
use crate::support::{Done, World};

/// A phase: its id, its tasks as they are called in the prompt, and words of the plan that it must be told.
type Phase = (&'static str, &'static [&'static str], &'static [&'static str]);

/// A plan, and what must come of it.
struct Shape {
    /// What is typed.
    plan: &'static str,
    /// What every phase is told of it.
    told: &'static [&'static str],
    /// In the order in which they must run.
    phases: &'static [Phase],
    /// How an item that is open is written, and one that is done.
    marks: (&'static str, &'static str),
    /// Whether commands decide.
    verdict: &'static str,
}

const BOX: (&str, &str) = ("[ ]", "[x]");
const NOTHING: (&str, &str) = ("", "");

fn shape(format: &str) -> Shape {
    let shapes = SHAPES.iter().find(|(name, _)| *name == format);
    let (_, (plan, told, phases, marks, verdict)) = shapes.unwrap_or_else(|| panic!("{format}"));
    Shape { plan, told, phases, marks: *marks, verdict }
}

type Row =
    (&'static str, &'static [&'static str], &'static [Phase], (&'static str, &'static str), &'static str);

#[rustfmt::skip]
const SHAPES: &[(&str, Row)] = &[
    ("native", ("segue.plan.toml", &["The house is yellow."], &[
        ("1", &["step 1: write it (task A)"], &["Mind the cellar.", "`sh there.sh 1`"]),
        ("2", &["step 2: write it (task B)"], &["`sh there.sh 2`", "what nobody checks but you", "People like it"]),
    ], NOTHING, "verified")),
    ("gsd", (".planning/phases", &[], &[
        ("01-01", &["step 1: write it (task 1)"], &["The house is yellow, and part 1", "@.planning/PROJECT.md", "Mind the cellar of part 1.", "- People like part 1", "`sh there.sh 1`", "01-parts/01-01-PLAN.md`"]),
        ("01-02", &["step 2: write it (task 1)"], &["The house is yellow, and part 2", "Mind the cellar of part 2.", "- People like part 2", "01-parts/01-02-PLAN.md`"]),
    ], NOTHING, "verified")),
    ("autopilot", ("PLAN.md", &["The house is yellow.", "## Out of Scope", "Painting"], &[
        ("16", &["step 1: write it (task 16-01)", "step 2: write it (task 16-02)"], &["## Wave 2", "Mind the cellar.", "`sh there.sh 2`"]),
    ], NOTHING, "verified")),
    ("debussy-master", ("plans/MASTER_PLAN.md", &["The house is yellow.", "a part of `plans/MASTER_PLAN.md`"], &[
        ("1", &["step 1: write it (task 1.1)"], &["`plans/parts-phase-1.md`", "Mind the cellar of 1", "`sh there.sh 1`", "- People like 1"]),
        ("6D", &["step 2: write it (task 1.2)"], &["`plans/parts-phase-6D.md`", "Mind the cellar of 6D", "`sh there.sh 2`", "- People like 6D"]),
    ], BOX, "verified")),
    ("debussy-phase", ("parts-phase-1.md", &[], &[
        ("1", &["step 1: write it (task 1.1)", "step 2: write it (task 1.2)"], &["Process Wrapper", "Mind the cellar of 1", "`sh there.sh 1`", "what nobody checks but you", "- People like 1"]),
    ], BOX, "verified")),
    ("roadmap", ("ROADMAP.md", &["The house is yellow."], &[
        ("1", &["step 1: write it (task 01-01)"], &["Mind the cellar", "- People like the cellar"]),
        ("2", &["step 2: write it (task 02-01)"], &["Mind the roof", "**Depends on**: Phase 1", "- People like the roof"]),
    ], BOX, "unverified")),
    ("phases", ("PLAN.md", &["The house is yellow.", "### Constraints", "Nothing is torn down", "### Out of Scope", "Painting"], &[
        ("1", &["step 1: write it (task A1)"], &["Mind the cellar."]),
        ("2", &["step 2: write it (task A2)"], &["Mind the roof."]),
    ], BOX, "unverified")),
    ("tasks", ("work.md", &["The house is yellow.", "Nothing is torn down"], &[
        ("1", &["step 1: write it (task 1)", "step 2: write it (task 2)"], &["Mind the cellar.", "- [ ] run the script"]),
    ], BOX, "unverified")),
    ("checklist", ("todo.md", &["The house is yellow.", "Nothing is torn down"], &[
        ("1", &["step 1: write it (task 1)", "step 2: write it (task 2)"], &["Mind the roof"]),
    ], BOX, "unverified")),
    ("json", ("work.json", &["The house is yellow."], &[
        ("A", &["step 1: write it (task A)"], &["Mind the cellar.", "- People like it"]),
        ("B", &["step 2: write it (task B)"], &["`sh there.sh 2`", "\"depends_on\": [\"A\"]"]),
    ], ("\"pending\"", "\"done\""), "unverified")),
    ("open-spec", ("openspec/changes/add-parts/tasks.md", &["The house is yellow.", "`openspec/changes/add-parts/proposal.md`", "`openspec/changes/add-parts/design.md`"], &[
        ("1", &["step 1: write it (task 1.1)", "step 2: write it (task 2.1)"], &["## 2. Second", "Mind the roof"]),
    ], BOX, "unverified")),
    ("kiro", (".kiro/specs/parts/tasks.md", &["The house is yellow.", "`.kiro/specs/parts/requirements.md`", "`.kiro/specs/parts/design.md`"], &[
        ("1", &["step 1: write it (task 1.1)", "step 2: write it (task 1.2)"], &["Mind the cellar", "_Requirements: 1.2_", "Nothing is torn down"]),
    ], BOX, "unverified")),
    ("spec-kit", ("specs/001-parts/tasks.md", &["the house is yellow", "`specs/001-parts/spec.md`", "`specs/001-parts/plan.md`", "`specs/001-parts/research.md`", "Foundational blocks all user stories", "Nothing is torn down"], &[
        ("1", &["step 1: write it (task T001)"], &["Mind the cellar", "**Checkpoint**: Foundation ready"]),
        ("2", &["step 2: write it (task T002)"], &["Mind the roof", "**Independent Test**: Stand below it in the rain", "**Checkpoint**: It is dry"]),
    ], BOX, "unverified")),
    ("bmad", ("docs/stories/1.1.parts.story.md", &["the house is yellow"], &[
        ("1", &["step 1: write it (AC: 1) (task 1)", "step 2: write it (AC: 1) (task 2)"], &["Mind the cellar", "- People like it", "Nothing is torn down"]),
    ], BOX, "unverified")),
    ("stages", ("IMPLEMENTATION_PLAN.md", &["The house is yellow.", "### Risks", "Nothing is torn down"], &[
        ("1", &["step 1: write it (task 1)"], &["Mind the cellar."]),
        ("2", &["step 2: write it (task 1)"], &[]),
    ], NOTHING, "unverified")),
    ("task-master", (".taskmaster/tasks/tasks.json", &["- People like it"], &[
        ("1", &["step 1: write it (task 1.1)"], &["The house is yellow.", "Mind the cellar.", "With a pen."]),
        ("2", &["step 2: write it (task 2)"], &["Mind the roof.", "Under the rain."]),
    ], ("\"pending\"", "\"done\""), "unverified")),
    ("conductor", ("conductor/tracks/parts_20260101/plan.md", &["The house is yellow.", "`conductor/tracks/parts_20260101/spec.md`"], &[
        ("1", &["step 1: write it (task 1)"], &["_Goal: Mind the cellar._", "- [ ] Write Tests"]),
        ("2", &["step 2: write it (task 1)"], &[]),
    ], BOX, "unverified")),
    ("backlog", ("backlog/tasks", &[], &[
        ("TASK-1", &["step 1: write it (task 1)"], &["The house is yellow, and part 1", "#1 People like part 1", "Mind the cellar of part 1."]),
        ("TASK-2", &["step 2: write it (task 1)"], &["The house is yellow, and part 2", "#1 People like part 2", "Mind the cellar of part 2."]),
    ], BOX, "unverified")),
    ("feature-list", ("feature_list.json", &["The house is yellow."], &[
        ("F1", &["step 1: write it (task F1)"], &["- Mind the cellar", "\"category\": \"functional\""]),
        ("F2", &["step 2: write it (task F2)"], &["- Mind the roof"]),
    ], ("\"passes\": false", "\"passes\": true"), "unverified")),
    ("exec-plan", ("docs/execplans/parts.md", &["The house is yellow.", "the cellar is wet", "nothing is torn down"], &[
        ("1", &["step 1: write it (task 1)", "step 2: write it (task 2)"], &["Mind the cellar.", "People like it."]),
    ], BOX, "unverified")),
    ("beads", (".beads/issues.jsonl", &[], &[
        ("bd-1", &["step 1: write it (task bd-1)"], &["The house is yellow.", "Mind the cellar.", "- People like it"]),
        ("bd-2", &["step 2: write it (task bd-2)"], &["Mind the roof."]),
    ], ("\"open\"", "\"closed\""), "unverified")),
    ("cursor", (".cursor/plans/parts.plan.md", &["The house is yellow."], &[
        ("1", &["step 1: write it (task cellar)", "step 2: write it (task roof)"], &["Mind the cellar.", "Nothing is torn down"]),
    ], ("status: pending", "status: completed"), "unverified")),
    ("ralphex", ("docs/plans/parts.md", &["The house is yellow."], &[
        ("1", &["step 1: write it (task 1)", "step 2: write it (task 2)"], &["Mind the cellar.", "`sh there.sh 1`", "Nothing is torn down"]),
    ], BOX, "verified")),
    ("ralph-prd", ("prd.json", &["The house is yellow.", "- People like it"], &[
        ("US-001", &["step 1: write it (task US-001)"], &["Mind the cellar."]),
        ("US-002", &["step 2: write it (task US-002)"], &["Mind the roof.", "\"priority\": 2"]),
    ], ("\"passes\": false", "\"passes\": true"), "unverified")),
    ("agent-os", (".agent-os/specs/2026-01-01-parts/tasks.md", &["The house is yellow.", "`.agent-os/specs/2026-01-01-parts/spec.md`"], &[
        ("1", &["step 1: write it (task 1.1)", "step 2: write it (task 2.1)"], &["2. Second"]),
    ], BOX, "unverified")),
    ("superpowers", ("docs/superpowers/plans/parts.md", &["**Goal:** The house is yellow.", "Nothing is torn down."], &[
        ("1", &["step 1: write it (task 1)", "step 2: write it (task 2)"], &["Mind the cellar", "Mind the roof", "`sh there.sh 1`"]),
    ], BOX, "verified")),
];

/// What every plan in Markdown has beside its work, and every phase is told of.
const SECTIONS: &str = "\n## Notes\n\n- The key is under the mat\n\n## Constraints\n\n- Only blue paint\n\n## Out of Scope\n\n- No windows\n\n\
    ## Test Strategy\n\n- Knock on it\n";
const KEPT_TO: [&str; 4] = ["The key is under the mat", "Only blue paint", "No windows", "Knock on it"];

/// How a file says that all of it is open, and that nothing is, where it has words for that.
const STATUS: [(&str, &str, &str); 4] = [
    ("bmad", "\nApproved\n", "\nReady for Review\n"),
    ("backlog", "\nstatus: To Do\n", "\nstatus: Done\n"),
    ("debussy-phase", "**Status:** Pending\n", "**Status:** Completed\n"),
    ("debussy-master", "**Status:** Pending\n", "**Status:** Completed\n"),
];

fn fixture(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(format)
}

/// The files of a plan, by their paths in the repository.
fn files(dir: &Path, below: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().into_string().unwrap());
        if entry.path().is_dir() {
            found.extend(files(&entry.path(), &format!("{name}/")));
        } else {
            found.push((name, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found
}

fn set_up(format: &str) -> (World, Vec<(String, String)>) {
    let world = world(2, roomy());
    world.keep_conversations(roomy());
    let mut files = files(&fixture(format), "");
    let plans = files.iter_mut().filter(|(name, text)| name.ends_with(".md") && text.contains("step "));
    plans.for_each(|(_, text)| text.push_str(SECTIONS));
    files.iter().for_each(|(name, text)| world.write(name, text));
    world.commit("the plan");
    (world, files)
}

fn completed(shape: &Shape) -> Vec<(String, String)> {
    let list: Vec<(&str, &str)> = shape.phases.iter().map(|(id, ..)| (*id, "completed")).collect();
    pairs(&list)
}

#[track_caller]
fn every_item_is_ticked_and_nothing_else(
    world: &World,
    format: &str,
    shape: &Shape,
    files: &[(String, String)],
    done: &Done,
) {
    for (name, before) in files {
        let is_plan = before.contains("step ");
        let wanted =
            if is_plan && shape.marks != NOTHING { after(before, shape.marks) } else { before.clone() };
        let status = STATUS.iter().find(|(own, ..)| is_plan && *own == format);
        let wanted = status.map_or(wanted.clone(), |(_, open, done)| {
            assert_eq!(wanted.matches(open).count(), 1, "{name}");
            wanted.replace(open, done)
        });
        assert_eq!(world.read(name), wanted, "{name}\n{}", done.all());
    }
}

// What another list of the same file says is not part of the plan.
fn after(before: &str, (open, done): (&str, &str)) -> String {
    let lines = before.split_inclusive('\n');
    lines
        .map(|line| if line.contains("not this one") { line.to_owned() } else { line.replace(open, done) })
        .collect()
}

fn one_by_one(format: &str) {
    let shape = shape(format);
    let (world, files) = set_up(format);
    let killed = world.root().join("killed");
    let once = format!(
        "if [ $n = 2 ] && [ ! -e {killed:?} ]; then : >{killed:?}; kill -9 \"$SEGUE_PLAN_PROCESS\"; fi"
    );
    world.in_step(&once);
    let first = world.segue(&["run", shape.plan, "--json"]);
    assert_eq!(first.code, None, "killed in the second step: {}", first.all());
    let last = world.segue(&["resume", "--json"]);
    last.exits(0);
    let order: Vec<(String, String)> = ended(&first).into_iter().chain(ended(&last)).collect();
    assert_eq!(order, completed(&shape), "{}\n{}", first.all(), last.all());
    assert!(world.steps().repeated().is_empty() && world.steps().lost(2).is_empty(), "{}", last.all());
    assert_eq!(last.finished()["verdict"], shape.verdict, "{}", last.all());
    assert_eq!(state(&world)["status"], "completed");
    every_item_is_ticked_and_nothing_else(&world, format, &shape, &files, &last);
    let prompts = prompts(&world);
    for (id, tasks, words) in shape.phases {
        let head = format!("# Phase {id}");
        let prompt = prompts
            .iter()
            .find(|prompt| begins(prompt, &head))
            .unwrap_or_else(|| panic!("{head}: {prompts:?}"));
        let always = ["The plan is `", "End your last message with one JSON object", "\"recommendation\""];
        let in_words = files.iter().any(|(_, text)| text.ends_with(SECTIONS));
        let kept_to = KEPT_TO.iter().filter(|_| in_words);
        assert!(prompt.contains(shape.plan), "{format}: the path of the plan\n{prompt}");
        for words in always.iter().chain(*tasks).chain(shape.told).chain(*words).chain(kept_to) {
            assert!(prompt.contains(words), "{format}, phase {id}: {words:?}\n{prompt}");
        }
        let others = shape.phases.iter().filter(|(other, ..)| other != id).flat_map(|(_, tasks, _)| *tasks);
        for task in others {
            assert!(!prompt.contains(task), "{format}, phase {id} has {task:?} of another one\n{prompt}");
        }
    }
}

fn begins(prompt: &str, head: &str) -> bool {
    prompt.strip_prefix(head).is_some_and(|rest| rest.starts_with([' ', '\n']))
}

/// The prompts of all kept conversations.
pub(crate) fn prompts(world: &World) -> Vec<String> {
    let entries = conversations(world).into_iter().flat_map(|text| {
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    });
    let prompts = entries.filter(|entry| entry["role"] == "prompt");
    prompts.map(|entry| entry["text"].as_str().unwrap().to_owned()).collect()
}

fn two_at_a_time(format: &str) {
    let shape = shape(format);
    let (world, files) = set_up(format);
    let done = world.segue(&["run", shape.plan, "--json", "--parallel", "2"]);
    done.exits(0);
    assert_eq!(ended(&done), completed(&shape), "{}", done.all());
    world.assert_each_step_once(&done);
    every_item_is_ticked_and_nothing_else(&world, format, &shape, &files, &done);
    nothing_is_left(&world);
}

macro_rules! formats {
    ($($name:ident)*) => {
        $(
            mod $name {
                #[test]
                fn p4_e2_runs_in_order_and_survives_a_kill() {
                    super::one_by_one(&stringify!($name).replace('_', "-"));
                }

                #[test]
                fn p4_runs_two_phases_at_a_time() {
                    super::two_at_a_time(&stringify!($name).replace('_', "-"));
                }
            }
        )*

        #[test]
        fn every_format_that_is_read_has_a_plan_here() {
            let here: Vec<String> = vec![$(stringify!($name).replace('_', "-")),*];
            let told: Vec<String> = segue_plans::Format::ALL.iter().map(|format| format.name()).collect();
            let missing: Vec<&String> = told.iter().filter(|name| !here.contains(name) && *name != "prompt").collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    };
}

formats! {
    native gsd autopilot debussy_master debussy_phase roadmap phases tasks checklist json open_spec kiro spec_kit bmad stages
    task_master conductor backlog feature_list exec_plan beads cursor ralphex ralph_prd agent_os superpowers
}
