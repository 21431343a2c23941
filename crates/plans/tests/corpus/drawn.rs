//! Texts that mix what Markdown has: the check boxes read are those that a count in another language finds, line by line,
//! or a finding names the line. `PROPTEST_RNG_SEED` draws others.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use segue_plans::{NoFiles, NoPlan, OddityKind, Plan, read_plan, read_plan_as};

use crate::held::{nothing_else_changes, setting, skipped};

/// How many texts are drawn.
const TEXTS: usize = 2_400;

/// Lines of plans, to be put together in any way.
const LINES: &[&str] = &[
    "# Plan",
    "# Story 1.1: S",
    "## Phase 1: A",
    "## Phase 2: B",
    "## Phase 2: B again",
    "### Task 1: a",
    "### Task 2: b",
    "## Tasks",
    "## Tasks / Subtasks",
    "## Notes",
    "## Format",
    "## Review",
    "## Progress",
    "## Acceptance Criteria",
    "## Success Criteria",
    "## Process Wrapper",
    "## Gates",
    "## Validation Commands",
    "## 1. Group",
    "## Stage 1 – A",
    "## Parallel Example: Phase 2",
    "- [ ] 1.1 do it",
    "- [x] 1.2 done",
    "- [ ] 1.1 again",
    "  - [ ] below",
    "    - [X] two below",
    "\t* [X] tab",
    "\t\t- [ ] two tabs",
    "   + [ ] three",
    "1. [ ] numbered",
    "12) [x] as well",
    "- [~] begun",
    "- [!] stuck",
    "- plain",
    "  words below an item",
    "    - [ ] deep",
    "            - [ ] deeper",
    "- [ ] T001 [P] [US1] x in src/a.rs",
    "- [ ]* optional",
    "- [] empty",
    "- [ ] 日本語の仕事 ✅",
    "- [✓] ü",
    "• [ ] dot",
    "- [ ] `git reset --hard` **bold**",
    "- [ ]",
    "* [ ]",
    "-[ ] no space",
    "- [ ]x",
    "- [x](link)",
    "- [y] other",
    "[ ] no marker",
    "```",
    "```sh",
    "````",
    "```markdown",
    "~~~",
    "<!--",
    "-->",
    "<!-- c -->",
    "<!-- - [ ] in one line -->",
    "- [ ] before <!-- a remark",
    "words --> words",
    "words",
    "",
    "",
    "---",
    "title: x",
    "status: done",
    "todos:",
    "**Depends on**: Phase 1",
    "**Depends on**: US1, US9",
    "**Status:** Done",
    "> - [ ] quoted",
    "> words",
    "| a | b |",
    "|---|---|",
    "| 1 | [A](a.md) |",
    "| - [ ] cell | x |",
    "<task id=\"1\">",
    "</task>",
    "<details>",
    "</details>",
    "Run: `cargo test`",
    "_Requirements: 1.1_",
    "Setext",
    "======",
    "* * *",
    "\\- [ ] escaped",
];

/// Names, since a format is recognised by the path as well.
const NAMES: [&str; 8] = [
    "PLAN.md",
    "openspec/changes/a/tasks.md",
    ".kiro/specs/a/tasks.md",
    "specs/001-a/tasks.md",
    "docs/plans/a.md",
    "docs/stories/1.1.story.md",
    "conductor/tracks/a/plan.md",
    "backlog/tasks/a.plan.md",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn text(&mut self) -> String {
        let end = ["\n", "\n", "\r\n", "\r"][self.below(4)];
        let count = self.below(30) + 1;
        let mut text = String::from(if self.below(6) == 0 { "\u{feff}" } else { "" });
        if self.below(4) == 0 {
            text += &["---", "title: t", "status: To Do", "---", ""].join(end);
        }
        for _ in 0..count {
            text += LINES[self.below(LINES.len())];
            text += ["", "", "", " ", "\t"][self.below(5)];
            text += end;
        }
        // Not every file ends with a line end.
        if self.below(3) == 0 { text.trim_end().to_owned() } else { text }
    }
}

/// Boxes by line: whether they are ticked.
type Boxes = BTreeMap<u32, bool>;

fn read(plan: &Plan) -> Boxes {
    let boxes = plan.all_items().filter(|item| item.mark.is_box());
    boxes.map(|item| (item.at.line, !item.is_open())).collect()
}

#[test]
fn open_items_are_those_of_an_independent_count_or_a_finding_says_why() {
    let seed = setting("PROPTEST_RNG_SEED").and_then(|seed| seed.parse().ok()).unwrap_or(20);
    let mut random = Random(seed);
    let texts: Vec<(&str, String)> =
        (0..TEXTS).map(|_| (NAMES[random.below(NAMES.len())], random.text())).collect();
    let Some(counted) = counted(&texts) else { return };
    assert_eq!(counted.len(), texts.len());
    let (mut plans, mut with_finding) = (0, 0);
    for ((name, text), counted) in texts.iter().zip(counted) {
        let plan = match read_plan(name, text.as_bytes(), &NoFiles) {
            Err(NoPlan::Ambiguous { formats, .. }) => {
                read_plan_as(name, text.as_bytes(), &NoFiles, formats.first().copied())
            }
            read => read,
        };
        match plan {
            Ok(plan) => {
                let found = read(&plan);
                let named = |line: &u32| {
                    let not_read = plan.oddities.iter().filter(|odd| odd.kind == OddityKind::NotRead);
                    not_read.into_iter().any(|odd| odd.at.line == *line)
                };
                let lines = found.keys().chain(counted.keys());
                let other: Vec<&u32> = lines.filter(|line| found.get(line) != counted.get(line)).collect();
                let why = format!("seed {seed}, {name} as {:?}, lines {other:?}:\n{text}", plan.format);
                assert!(other.iter().all(|line| named(line)), "{why}");
                plans += 1;
                with_finding += usize::from(!other.is_empty());
                nothing_else_changes(name, text, &plan);
            }
            // A text is no plan only where all open boxes stand in comments or in doubtful fences.
            Err(error) => {
                let hidden = ["<!--", "```", "~~~"].iter().any(|mark| text.contains(mark));
                assert!(hidden || counted.is_empty(), "seed {seed}, {name}: {error}\n{text}");
            }
        }
    }
    println!("{plans} plans of {} texts, {with_finding} with a difference that a finding names", texts.len());
    assert!(plans * 10 > texts.len() * 7 && with_finding * 10 < plans * 7, "{plans} {with_finding}");
}

/// What `count_items.py` finds in each text.
#[expect(clippy::disallowed_types, reason = "the other count is written in another language")]
fn counted(texts: &[(&str, String)]) -> Option<Vec<Boxes>> {
    use std::process::{Command, Stdio};
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/count_items.py");
    let child = Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        skipped(
            "drawn::open_items_are_those_of_an_independent_count_or_a_finding_says_why",
            "there is no python3",
        );
        return None;
    };
    let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    // It reads all before it writes anything; its end of the pipe is closed here, so that it knows the end.
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&texts).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "count_items.py ends with {}", output.status);
    let rows: Vec<Vec<(u32, bool)>> = serde_json::from_slice(&output.stdout).unwrap();
    Some(rows.into_iter().map(|row| row.into_iter().collect()).collect())
}
