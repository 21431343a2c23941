//! What lies on disk after a checkpoint: the stored form, and the files that presets promise, where they may lie.

use std::path::Path;

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{Done, World, small};

/// A window that a step fills by two percent, so that 90, 95 and 98 are three moments.
fn slow() -> Script {
    Script { window: 100_000, system_tokens: 80_000, step_output_chars: 6_000, ..small() }
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/checkpoint.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

#[track_caller]
fn assert_fits(checkpoint: &Value) {
    let errors: Vec<String> = schema().iter_errors(checkpoint).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

fn finished(world: &World, args: &[&str]) -> Done {
    let done = world.segue(&[&["run", "TASK.md", "--json"], args].concat());
    done.exits(0);
    world.assert_each_step_once(&done);
    done
}

#[test]
fn c3_a_stored_checkpoint_fits_its_schema_and_holds_what_happened() {
    let world = World::new(10, small());
    let done = finished(&world, &[]);
    let checkpoints = world.checkpoints();
    assert_eq!(checkpoints.len(), done.of("checkpoint.taken").len());
    checkpoints.iter().for_each(assert_fits);
    let last = checkpoints.last().unwrap();
    assert_eq!((&last["version"], &last["run"]), (&2.into(), &done.run().into()));
    assert_eq!(last["task"].as_str().unwrap().trim(), world.job.task_text().trim());
    assert_eq!((&last["next"]["kind"], &last["next"]["agent"]), (&"restart".into(), &"scripted".into()));
    let next = last["next"]["instruction"].as_str().unwrap();
    assert!(next.starts_with("step "), "{next}");
    assert!(last["tokens"]["percent"].as_f64().unwrap() > 60.0, "{last}");
    assert_eq!((&last["gates"][0]["name"], &last["gates"][0]["passed"]), (&"check".into(), &false.into()));
    let first = last["outputs"].as_array().unwrap().iter().find(|o| o["path"] == "parts/01.txt").unwrap();
    assert_eq!(first["bytes"].as_u64().unwrap(), world.read("parts/01.txt").len() as u64);
    let history = &last["history"];
    let transcript = world.read(history["transcript"].as_str().unwrap());
    let lines = history["lines"].as_array().unwrap();
    assert!(!lines.is_empty() && lines.len() <= 500);
    assert!(transcript.contains(lines[0].as_str().unwrap().trim_end_matches("… (cut)")));
    let sessions: Vec<u64> =
        history["iterations"].as_array().unwrap().iter().map(|i| i["session"].as_u64().unwrap()).collect();
    assert_eq!(sessions, (1..=last["session"].as_u64().unwrap()).collect::<Vec<_>>());
}

#[test]
fn t10_an_agent_that_gives_up_under_observe_leaves_a_handoff_file_that_says_how_to_go_on() {
    let world = World::new(16, small());
    let done = world.segue(&["run", "TASK.md", "--json", "--policy", "observe"]);
    assert_ne!(done.code, Some(0), "{}", done.all());
    let text = world.read("HANDOFF.md");
    for part in [
        "- Phase: ",
        "- Reason: ",
        "- Time: 20",
        "- Last commit: ",
        "## Tasks Completed\n| # | what |",
        "## Tasks Remaining\n| # | what |",
        "parts/01.txt (new)",
        "## Partial Progress\n- in the work tree: ",
        "- gate check: not known, files changed since its last result",
        &format!("segue resume {}", done.run()),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!world.last_saved().contains("HANDOFF.md"));
    world.segue(&["checkpoint", "create"]).exits(0);
    let last = world.checkpoints().pop().unwrap();
    assert!(
        !last["files"].to_string().contains("HANDOFF.md"),
        "segue's own file is no work: {}",
        last["files"]
    );
}

#[test]
fn c4_loop_keeps_a_summary_of_at_most_2_000_characters_where_it_is_told_to() {
    for (more, path) in [
        ("", ".segue/context-summary.md"),
        ("[checkpoint]\nsummary_file = \"notes/summary.md\"\n", "notes/summary.md"),
    ] {
        let world = World::new(8, small());
        world.write("TASK.md", &format!("# {}\n\n{}", "ü€😀".repeat(1_700), world.job.task_text()));
        world.configure(more);
        world.commit("configured");
        finished(&world, &["--policy", "loop"]);
        let text = world.read(path);
        assert!((1..=2_000).contains(&text.chars().count()), "{} characters", text.chars().count());
        for heading in
            ["# Goal", "# Session Status", "# Modified Files", "# Recent Errors", "# Recent Progress"]
        {
            assert!(text.contains(heading), "{heading}: {text}");
        }
        assert!(text.contains("parts/01.txt"), "{text}");
        let last = world.checkpoints().pop().unwrap();
        assert!(!last["files"].to_string().contains("summary.md"), "segue's own file is no work: {last}");
        assert!(!world.last_saved().contains("summary.md"));
    }
}

#[test]
fn t9_staged_keeps_a_page_for_the_project_and_one_for_the_task_and_a_copy_for_each_stage() {
    let world = World::new(12, slow());
    let done = finished(&world, &["--policy", "staged"]);
    let folder = world.repo().join("contexts/sandbox/repo");
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for stage in ["90p", "95p", "98p"] {
        let copy = names
            .iter()
            .find(|n| n.contains(&format!("-scripted-{stage}-20")))
            .unwrap_or_else(|| panic!("{names:?}"));
        let text = std::fs::read_to_string(folder.join(copy)).unwrap();
        assert_fits(&serde_json::from_str(&text).unwrap());
        let file = format!("contexts/sandbox/repo/{copy}");
        world.segue(&["run", "--from-checkpoint", &file, "--dry-run"]).exits(0);
    }
    let pages: Vec<&String> = names.iter().filter(|n| n.ends_with(".md")).collect();
    assert_eq!(pages.len(), 2, "{names:?}");
    let taken = done.of("checkpoint.taken").len();
    for page in pages {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        let dated = if page == "project.md" { "\n## 20" } else { "\n## Checkpoint at " };
        assert_eq!(text.matches(dated).count(), taken, "{page}: {text}");
    }
    assert!(!world.last_saved().contains("contexts/"));
    let last = world.checkpoints().pop().unwrap();
    assert!(!last["files"].to_string().contains("contexts/"), "{last}");
}

#[test]
fn a_path_that_leaves_the_work_tree_is_refused_before_anything_is_written() {
    let world = World::new(3, small());
    let outside = world.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.repo().join("away")).unwrap();
    for (key, path, words) in [
        ("dir", "../outside", "segue.toml:"),
        ("dir", "/tmp/x", "segue.toml:"),
        ("summary_file", "a/../../x.md", ".."),
        ("handoff_file", "away/HANDOFF.md", "outside the work tree"),
        ("project_dir", "away", "outside the work tree"),
        ("dir", ".git/checkpoints", "git's own folder"),
    ] {
        world.configure(&format!("[checkpoint]\n{key} = {path:?}\n"));
        let refused = world.segue(&["run", "TASK.md"]);
        refused.exits(2);
        for part in [&format!("checkpoint.{key}"), words, "below the work tree"] {
            assert!(refused.err.contains(part), "{part}: {}", refused.err);
        }
    }
    assert!(world.run_id().is_none(), "no run was begun");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_folder_that_becomes_a_link_on_the_way_is_told_and_not_followed() {
    let world = World::new(6, small());
    let outside = world.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    world.configure("[checkpoint]\nproject_dir = \"contexts\"\n");
    world.in_step(&format!("if [ \"$n\" = 2 ]; then ln -s {outside:?} contexts; fi"));
    let done = finished(&world, &[]);
    assert!(done.all().contains("outside the work tree"), "{}", done.all());
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_role_brings_its_sections_into_the_request_and_its_files_into_the_facts() {
    let world = World::new(6, small());
    world.keep_conversations(small());
    world.configure("[roles.writer]\nsections = [\"Style of the parts\"]\ntrack = [\"parts/*2.txt\"]\n");
    let done = world.segue(&["run", "TASK.md", "--json", "--role", "writer"]);
    done.exits(0);
    let prompts = world.prompts();
    let asked = prompts[0].iter().find(|p| p.starts_with("[segue: checkpoint request]")).unwrap();
    assert!(asked.contains("## Style of the parts") && asked.contains("the next writer"), "{asked}");
    let next = &prompts[1][0];
    assert!(next.contains("the writer looks after: parts/02.txt"), "{next}");
    let unknown = world.segue(&["run", "TASK.md", "--role", "writter"]);
    unknown.exits(2);
    assert!(unknown.err.contains("did you mean \"writer\""), "{}", unknown.err);
}

#[test]
fn a_template_of_the_work_trees_own_can_put_the_task_first_and_a_wrong_one_is_refused_at_the_start() {
    let world = World::new(6, small());
    world.keep_conversations(small());
    std::fs::create_dir_all(world.repo().join(".segue/prompts")).unwrap();
    world.write(
        ".segue/prompts/continuation.md",
        "TASK FIRST\n{{ task }}\n{{ checkpoint }}\n{{ ledger }}\n{{ facts }}",
    );
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(world.prompts()[1][0].starts_with("TASK FIRST\n# Write the parts"), "{}", world.prompts()[1][0]);
    world.write(".segue/prompts/continuation.md", "{{ task }} {{ checkpoint }} {{ memory }}");
    let refused = world.segue(&["run", "TASK.md"]);
    refused.exits(2);
    assert!(refused.err.contains("\"memory\"") && refused.err.contains("checkpoint"), "{}", refused.err);
}
