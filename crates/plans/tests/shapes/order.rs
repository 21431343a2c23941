//! What comes before what: phases keep the order in which they are written unless they say otherwise, in every format.

use segue_plans::{Files, NoFiles, Plan, read_folder, read_plan};

fn needs(plan: &Plan) -> Vec<String> {
    plan.phases.iter().map(|phase| phase.needs.join(" ")).collect()
}

fn read(name: &str, text: &str) -> Plan {
    read_plan(name, text.as_bytes(), &NoFiles).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn entries_of_json_that_say_nothing_about_their_order_keep_it() {
    let plan = read(
        "tasks.json",
        r#"[{"id": "A", "title": "a"}, {"id": "B", "title": "b"}, {"id": "C", "title": "c", "depends_on": []}]"#,
    );
    assert_eq!(needs(&plan), ["", "A", ""]);
    let stories = r#"{"userStories": [{"id": "US-1", "title": "a", "passes": false}, {"id": "US-2", "title": "b", "passes": false}]}"#;
    assert_eq!(needs(&read("prd.json", stories)), ["", "US-1"]);
    let features = r#"[{"category": "a", "description": "b", "steps": ["c"], "passes": false}, {"category": "a", "description": "d", "steps": ["e"], "passes": false}]"#;
    assert_eq!(needs(&read("feature_list.json", features)), ["", "1"]);
    let later = r#"[{"id": "A", "title": "a", "depends_on": ["B"]}, {"id": "B", "title": "b"}]"#;
    assert_eq!(needs(&read("tasks.json", later)), ["B", ""], "no circle");
    let waves = r#"[{"id": "A", "title": "a", "wave": 1}, {"id": "B", "title": "b", "wave": 1}]"#;
    assert_eq!(needs(&read("tasks.json", waves)), ["", ""], "a wave says it, too");
    let issues = "{\"id\":\"a-1\",\"title\":\"One\",\"status\":\"open\"}\n{\"id\":\"a-2\",\"title\":\"Two\",\"status\":\"open\"}\n";
    assert_eq!(needs(&read(".beads/issues.jsonl", issues)), ["", ""], "what nothing blocks is ready");
}

struct Tree(&'static [(&'static str, &'static str)]);

impl Files for Tree {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| text.as_bytes().to_vec())
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let inside = self.0.iter().filter_map(|(name, _)| name.strip_prefix(dir)?.strip_prefix('/'));
        inside.filter_map(|rest| rest.split('/').next().map(str::to_owned)).collect()
    }
}

const TABLE: &str = "# Parts - Master Plan\n\n## Phases\n\n| Phase | Title | Depends on | Status |\n|---|---|---|---|\n\
    | 1 | [Set up the house](one.md) | - | Pending |\n| 2 | [Walls](two.md) | Set up the house | Pending |\n\
    | 3 | [Roof](three.md) | Walls, Phase 9 | Pending |\n| 4 | [Paint](four.md) | | Pending |\n| 5 | [Garden](five.md) | none | Pending |\n";
const PHASE: &str =
    "# Parts Phase 1: One\n\n## Process Wrapper (MANDATORY)\n- [ ] Read\n\n## Tasks\n\n- [ ] 1.1: a\n";
const LINKED: &str = "# Parts Phase 4: Four\n\n**Depends On:** [the walls](two.md)\n\n## Process Wrapper (MANDATORY)\n- [ ] Read\n\n## Tasks\n\n- [ ] 1.1: a\n";
const TITLED: &str = "# Parts Phase 5: Five\n\n**Depends On:** Roof\n\n## Process Wrapper (MANDATORY)\n- [ ] Read\n\n## Tasks\n\n- [ ] 1.1: a\n";

#[test]
fn titles_in_the_table_of_a_master_plan_are_dependencies_and_what_is_unknown_stays() {
    let tree = Tree(&[
        ("MASTER_PLAN.md", TABLE),
        ("one.md", PHASE),
        ("two.md", PHASE),
        ("three.md", PHASE),
        ("four.md", LINKED),
        ("five.md", TITLED),
    ]);
    let plan = read_plan("MASTER_PLAN.md", TABLE.as_bytes(), &tree).unwrap();
    assert_eq!(needs(&plan), ["", "1", "2 9", "2", "3"]);
}

#[test]
fn phases_of_a_master_plan_or_a_folder_that_say_nothing_keep_their_order() {
    const SILENT: &str = "# Parts - Master Plan\n\n## Phases\n\n| Phase | Title | Status |\n|---|---|---|\n\
        | 1 | [One](one.md) | Pending |\n| 2 | [Two](two.md) | Pending |\n";
    let tree = Tree(&[("MASTER_PLAN.md", SILENT), ("one.md", PHASE), ("two.md", PHASE)]);
    assert_eq!(needs(&read_plan("MASTER_PLAN.md", SILENT.as_bytes(), &tree).unwrap()), ["", "1"]);
    const GSD: &str = "---\nphase: 01-x\nplan: 01\n---\n<task id=\"1\">\n<name>A</name>\n</task>\n";
    const FREE: &str =
        "---\nphase: 01-x\nplan: 03\ndepends_on: []\n---\n<task id=\"1\">\n<name>A</name>\n</task>\n";
    let tree = Tree(&[
        ("p/01-01-PLAN.md", GSD),
        ("p/01-02-PLAN.md", "---\nphase: 01-x\nplan: 02\n---\n<task id=\"1\">\n<name>B</name>\n</task>\n"),
        ("p/01-03-PLAN.md", FREE),
    ]);
    assert_eq!(needs(&read_folder("p", &tree).unwrap()), ["", "01-01", ""]);
}
