//! The commands of plans and of resumed runs: shown before they run, allowed like settings, and never run on unsaved work.

use segue_rehearsal::script::Script;

use crate::support::{Done, World, small};

fn plain(world: &World, args: &[&str]) -> Done {
    let output = world.command(args).env_remove("SEGUE_TRUST").output().unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn plan(gate: &str) -> String {
    format!("# Plan\n\n## Phase 1: work\n- [ ] step 1: write part 1\n\n### Gates\n- t: `{gate}`\n")
}

#[test]
fn s2_every_command_of_a_plan_is_shown_and_allowed_before_it_runs() {
    let world = World::new(1, Script::default());
    plain(&world, &["trust"]).exits(0);
    let gate = "test -e parts/01.txt";
    world.write("PLAN.md", &plan(gate));
    for args in [&["plan", "check", "PLAN.md"][..], &["run", "PLAN.md", "--dry-run"]] {
        let shown = plain(&world, args);
        assert!(shown.out.contains(&format!("command: {gate}")), "{args:?}: {}", shown.all());
    }
    let json = plain(&world, &["plan", "check", "PLAN.md", "--json"]);
    assert_eq!(json.lines()[0]["commands"][0]["run"], gate, "{}", json.all());
    let refused = plain(&world, &["run", "PLAN.md"]);
    refused.exits(2);
    assert!(refused.err.contains(&format!("command: {gate}")), "{}", refused.err);
    assert!(world.steps().sessions().is_empty());
    plain(&world, &["trust", "PLAN.md"]).exits(0);
    let done = plain(&world, &["run", "PLAN.md"]);
    done.exits(0);
    assert!(done.err.contains(&format!("command: {gate}")), "the header: {}", done.err);
    // A box that is ticked or a title that is changed asks nothing.
    world.write("PLAN.md", &plan(gate).replace("- [ ]", "- [x]").replace("work", "all of the work"));
    plain(&world, &["run", "PLAN.md", "--restart", "--force"]).exits(0);
}

#[test]
fn s2_a_plans_gates_do_not_run_before_the_first_session_and_follow_a_snapshot() {
    let world = World::new(1, Script::default());
    let log = world.root().join("gate.log");
    let gate = format!("git for-each-ref refs/segue >> '{}' && echo ran >> '{0}'", log.display());
    let count =
        |log: &std::path::Path| std::fs::read_to_string(log).unwrap_or_default().matches("ran").count();
    // The configuration's own gate is the user's and runs before, as ever.
    world.write("PLAN.md", &plan(&gate));
    let done = world.segue(&["run", "PLAN.md", "--json"]);
    done.exits(0);
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(count(&log), 1, "{text}");
    assert!(text.starts_with(|c: char| c.is_ascii_hexdigit()), "a snapshot is there first: {text}");
    assert!(
        done.of("gate.finished").iter().any(|g| g["when"] == "before" && g["gate"] == "check"),
        "{}",
        done.all()
    );
    let first = World::new(1, Script::default());
    first.configure("plan_gates_first = true\n");
    first.write("PLAN.md", &plan(&gate));
    first.segue(&["run", "PLAN.md"]).exits(0);
    assert_eq!(count(&log), 3, "once before, once after");
}

#[test]
fn s2_check_boxes_are_work_and_never_gates() {
    let world = World::new(1, Script::default());
    let canary = world.root().join("canary");
    for section in ["Verification", "Validation", "Gates", "Quality Checks", "Feedback Loops"] {
        let harm = format!("touch {}", canary.display());
        world.write(
            "PLAN.md",
            &format!("# Plan\n\n## Phase 1: a\n- [ ] do\n\n### {section}\n- [ ] Run `{harm}`\n- [ ] `{harm}`\n- [x] run: `{harm}`\n"),
        );
        let json = plain(&world, &["plan", "check", "PLAN.md", "--json"]);
        assert_eq!(json.lines()[0]["commands"], serde_json::json!([]), "{section}: {}", json.all());
    }
}

#[test]
fn s2_a_journal_that_the_user_did_not_start_runs_nothing_when_it_is_resumed() {
    let world = World::new(4, Script { think_ms: 2_000, ..small() });
    let running = world.launch(&["run", "TASK.md"], "first");
    crate::support::until("the first step", || !world.steps().sessions().is_empty());
    running.signal("INT");
    running.wait();
    world.script(small());
    // As if the journal had come with the repository: nobody here has started or allowed anything.
    let state = world.root().join(".local/state/segue/trust.json");
    let kept = std::fs::read(&state).unwrap();
    std::fs::remove_file(&state).unwrap();
    let before = world.steps().sessions().len();
    let refused = plain(&world, &["resume"]);
    refused.exits(2);
    assert!(refused.err.contains("journal") || refused.err.contains("command:"), "{}", refused.err);
    assert_eq!(world.steps().sessions().len(), before);
    // Whoever started it is not asked again, also without the variable.
    std::fs::write(&state, kept).unwrap();
    plain(&world, &["resume"]).exits(0);
}
