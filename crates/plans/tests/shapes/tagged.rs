//! Plans with `<task>` elements, and those with front matter and `### Task`.

use segue_plans::{Complexity, Format, Judge, counts};

use crate::support::{only, read, tasks, told};

const AUTOPILOT: &str = include_str!("../plans/autopilot.md");
const GSD: &str = include_str!("../plans/gsd.md");
const HEADINGS: &str = include_str!("../plans/gsd-headings.md");

#[test]
fn an_autopilot_plan_is_one_phase_with_its_tasks_waves_and_criteria() {
    let plan = read(AUTOPILOT);
    assert_eq!(told(&plan), (Format::Autopilot, 1, 2, 0, 5));
    let phase = only(&plan);
    assert_eq!((phase.id.as_str(), phase.title.as_str()), ("7", "Rate Limits"));
    let [first, second] = phase.tasks.as_slice() else { panic!() };
    assert_eq!((first.id.as_str(), first.title.as_str(), first.wave), ("07-01", "Count requests", Some(1)));
    assert_eq!((second.wave, second.complexity), (Some(2), Some(Complexity::Complex)));
    assert_eq!(first.files, ["src/limit.rs", "src/lib.rs"]);
    assert_eq!(first.done, "Requests are counted.");
    assert!(first.action.contains("keep the order") && !first.action.contains("The counter is there"));
    let judges: Vec<&Judge> = phase.all_criteria().map(|c| &c.checks[0].judge).collect();
    assert_eq!(
        judges,
        [&Judge::AtLeast(1), &Judge::Count(0), &Judge::Told(0), &Judge::AtLeast(2), &Judge::Exit(0)]
    );
    assert_eq!(first.criteria[0].checks[0].run, "grep -c 'struct Counter' src/limit.rs");
    assert_eq!(counts(&plan).waves, 2);
}

#[test]
fn everything_has_the_line_it_stands_on() {
    let plan = read(AUTOPILOT);
    let line = |needle: &str| {
        u32::try_from(AUTOPILOT.lines().position(|l| l.contains(needle)).unwrap() + 1).unwrap()
    };
    let phase = only(&plan);
    assert_eq!(phase.tasks[0].at.line, line("id=\"07-01\""));
    assert_eq!(phase.tasks[0].criteria[1].at.line, line("No unwrap is left"));
    assert_eq!(phase.tasks[1].criteria[0].at.line, line("It answers 429"));
    let gsd = read(GSD);
    let line =
        |needle: &str| u32::try_from(GSD.lines().position(|l| l.contains(needle)).unwrap() + 1).unwrap();
    let first = &only(&gsd).tasks[0];
    assert_eq!(first.criteria[1].at.line, line("TODO"));
    assert_eq!(first.verify[0].at.line, line("2>&amp;1"));
    assert_eq!(only(&gsd).needs_at.line, line("depends_on"));
    assert_eq!(only(&gsd).tasks[1].criteria[0].at.line, line("returns >= 2"));
}

#[test]
fn p4_line_ends_marks_and_tabs_change_nothing() {
    let plain = read(AUTOPILOT).content();
    let windows = format!("\u{feff}{}", AUTOPILOT.replace('\n', "\r\n"));
    assert_eq!(read(&windows).content(), plain);
    assert_eq!(read(&GSD.replace('\n', "\r\n")).content(), read(GSD).content());
    let tabs = read(&GSD.replace("    -", "\t-")).content();
    assert_eq!(tabs.phases[0].tasks[0].criteria, read(GSD).content().phases[0].tasks[0].criteria);
}

#[test]
fn a_gsd_plan_has_its_front_matter_commands_and_decoded_entities() {
    let plan = read(GSD);
    assert_eq!(told(&plan), (Format::Gsd, 1, 3, 0, 5));
    let phase = only(&plan);
    assert_eq!(
        (phase.id.as_str(), phase.wave, phase.needs.as_slice()),
        ("04-02", Some(2), ["04-01".to_owned()].as_slice())
    );
    assert_eq!(phase.files, ["src/search.ts", "src/index.ts"]);
    assert_eq!(phase.must_have.truths, ["Typing filters: at once"]);
    assert_eq!(phase.must_have.artifacts[0].min_lines, Some(40));
    assert_eq!(phase.must_have.links[0].pattern, "from.*search");
    assert_eq!(phase.must_have.success, ["Search works"]);
    assert_eq!((phase.title.as_str(), phase.about.lines().count()), ("Make the list searchable.", 3));
    let first = &phase.tasks[0];
    assert_eq!((first.id.as_str(), first.title.as_str()), ("1", "Build the index"));
    assert_eq!(
        first.verify[0].checks[0].run,
        "pnpm tsc --noEmit 2>&1 | grep -c \"search\" ; test $? -ne 0 && echo ok"
    );
    assert_eq!(first.criteria[0].checks[0].run, "grep -n \"Map<string\" src/search.ts");
    assert_eq!(first.criteria[0].checks[0].judge, Judge::Count(1));
    assert!(first.criteria[2].checks.is_empty(), "a file that exists is no command");
    assert_eq!(first.read, ["src/list.ts"]);
    assert!(first.action.contains("Map<string, Item>") && first.action.contains("// <task"));
    assert_eq!((counts(&plan).verify_commands, counts(&plan).phase_verify_commands), (2, 2));
    assert_eq!(phase.verify[1].checks[0].judge, Judge::Count(0));
}

#[test]
fn a_checkpoint_needs_a_person() {
    let plan = read(GSD);
    let phase = only(&plan);
    assert!(phase.tasks[2].manual && !phase.tasks[0].manual && !phase.autonomous);
    assert_eq!(phase.tasks[2].id, "3");
    assert!(phase.tasks[2].action.contains("Type and look."));
}

#[test]
fn headings_are_tasks_where_there_are_no_elements() {
    let plan = read(HEADINGS);
    assert_eq!(told(&plan), (Format::Gsd, 1, 2, 0, 3));
    let phase = only(&plan);
    assert_eq!(phase.id, "02-03");
    assert_eq!(tasks(phase), ["1", "2"]);
    assert_eq!(phase.tasks[0].action, "Read them.");
    assert_eq!(phase.tasks[1].needs, ["1"]);
    assert_eq!(phase.tasks[0].criteria[0].checks[0].judge, Judge::AtLeast(1));
    assert_eq!(phase.tasks[1].criteria[0].checks[0].judge, Judge::AtLeast(11));
}

#[test]
fn a_task_without_its_end_is_a_task_and_is_said() {
    let plan = read("<task id=\"1\">\n<name>A</name>\n<task id=\"2\">\n<name>B</name>\n</task>\n");
    assert_eq!(tasks(only(&plan)), ["1", "2"]);
    assert_eq!(plan.oddities.len(), 1);
}
