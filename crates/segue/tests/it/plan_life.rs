//! What else happens to plans: hand-overs, edits, flags, people, reports that are missing, results for other programs.

use segue_rehearsal::script::{Fault, FaultKind, Reply, Script};
use serde_json::Value;

use crate::plan_run::{ended, native, pairs, roomy, state, world};
use crate::support::{Done, World};

const TWO: &[(&str, &[&str], &[u32])] = &[("1", &[], &[1, 2, 3]), ("2", &["1"], &[4])];

fn lies_about(step: u32) -> Script {
    Script { faults: vec![Fault { at_step: step, session: None, kind: FaultKind::Lie }], ..roomy() }
}

fn phase_dir(world: &World, id: &str) -> String {
    format!("plans/{}/phases/{id}", state(world)["id"].as_str().unwrap())
}

/// A plan of two phases whose first fails at its third step.
fn failed() -> (World, Done) {
    let world = world(4, lies_about(3));
    world.write("segue.plan.toml", &native(TWO));
    let done = world.segue(&["run", "segue.plan.toml", "--json"]);
    done.exits(1);
    (world, done)
}

#[test]
fn p2_a_failed_phase_leaves_a_handoff_and_only_the_rest_is_run() {
    let (world, done) = failed();
    assert_eq!(ended(&done), pairs(&[("1", "failed"), ("2", "blocked")]));
    let handoff = world.read_state(&format!("{}/HANDOFF.md", phase_dir(&world, "1")));
    for words in [
        "- Phase: 1 ",
        "- Reason: gate",
        "- Time: ",
        "- Last commit: ",
        "## Tasks Completed",
        "## Files Modified",
        "## Partial Progress",
        "segue resume plan-",
    ] {
        assert!(handoff.contains(words), "{words}: {handoff}");
    }
    world.keep_conversations(roomy());
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    world.assert_each_step_once(&again);
    let prompts = world.prompts();
    let retry = prompts.iter().find(|session| !session.is_empty()).unwrap();
    assert!(retry[0].contains("step 3") && !retry[0].contains("- [ ] step 1"), "{}", retry[0]);
    assert!(
        world.read_state(&format!("{}/HANDOFF.md", phase_dir(&world, "1"))).is_empty(),
        "what is done needs none"
    );
}

#[test]
fn p2_without_a_handoff_or_with_a_damaged_one_the_whole_phase_is_run() {
    for damaged in [false, true] {
        let (world, _) = failed();
        let path = world.state_dir().join(phase_dir(&world, "1")).join("HANDOFF.md");
        if damaged {
            std::fs::write(&path, "# Handoff\n\n- Phase: 1\n\nhalf of").unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        world.keep_conversations(roomy());
        let again = world.segue(&["resume", "--json"]);
        again.exits(0);
        assert_eq!(again.warnings("handoff_damaged").len(), usize::from(damaged), "{}", again.all());
        let prompts = world.prompts();
        let retry = prompts.iter().find(|session| !session.is_empty()).unwrap();
        assert!(retry[0].contains("- [ ] step 1") && retry[0].contains("- [ ] step 3"), "{}", retry[0]);
    }
}

#[test]
fn a_plan_that_is_edited_between_phases_is_read_again_and_what_is_completed_stays() {
    let world = world(5, roomy());
    world.write("segue.plan.toml", &native(TWO));
    world.segue(&["run", "segue.plan.toml", "--phase", "1", "--json"]).exits(0);
    assert_eq!(state(&world)["status"], "stopped");
    let edited = native(&[("1", &[], &[1, 2, 3]), ("3", &["1"], &[4, 5])])
        .replace("title = \"step 2: write it\"", "title = \"step 2: write it well\"");
    world.write("segue.plan.toml", &edited);
    let done = world.segue(&["run", "segue.plan.toml", "--resume", "--json"]);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[("3", "completed")]));
    assert!(done.warnings("plan_edited")[0].contains("phase 1 was edited"), "{}", done.all());
    world.assert_each_step_once(&done);
    world.write("segue.plan.toml", &native(&[("3", &[], &[4, 5])]));
    let gone = world.segue(&["run", "segue.plan.toml", "--json"]);
    gone.exits(0);
    assert!(gone.warnings("plan_edited")[0].contains("no longer in the plan"), "{}", gone.all());
    assert_eq!(ended(&gone), pairs(&[]));
}

#[test]
fn completed_phases_are_run_again_only_by_force_and_restart_begins_anew() {
    let world = world(4, roomy());
    world.write("segue.plan.toml", &native(TWO));
    world.segue(&["run", "segue.plan.toml", "--json"]).exits(0);
    let nothing = world.segue(&["run", "segue.plan.toml", "--json"]);
    nothing.exits(0);
    assert_eq!(ended(&nothing), pairs(&[]));
    let one = world.segue(&["run", "segue.plan.toml", "--phase", "2", "--force", "--json"]);
    one.exits(0);
    assert_eq!(ended(&one), pairs(&[("2", "completed")]));
    let all = world.segue(&["run", "segue.plan.toml", "--force", "--json"]);
    assert_eq!(ended(&all), pairs(&[("1", "completed"), ("2", "completed")]));
    let anew = world.segue(&["run", "segue.plan.toml", "--restart", "--json"]);
    assert_eq!(ended(&anew), pairs(&[("1", "completed"), ("2", "completed")]));
    assert_ne!(anew.run(), all.run());
    let early = world.segue(&["run", "segue.plan.toml", "--restart", "--phase", "2", "--json"]);
    early.exits(2);
    assert!(early.warnings("phase_blocked")[0].contains("it needs 1"), "{}", early.all());
    let unknown = world.segue(&["run", "segue.plan.toml", "--phase", "9"]);
    unknown.exits(2);
    assert!(unknown.err.contains("its phases are 1, 2"), "{}", unknown.all());
}

#[test]
fn a_dry_run_says_the_order_and_the_estimate_and_does_nothing() {
    let world = world(4, roomy());
    world.write("segue.plan.toml", &native(&[("2", &["1"], &[4]), ("1", &[], &[1, 2, 3])]));
    let done = world.segue(&["run", "segue.plan.toml", "--dry-run", "--window", "100k"]);
    done.exits(0);
    let (first, second) = (done.out.find("phase 1").unwrap(), done.out.find("phase 2").unwrap());
    assert!(first < second && done.out.contains("a session can use 100k tokens"), "{}", done.all());
    assert!(!world.state_dir().join("plans").exists());
    let told = world.segue(&["run", "segue.plan.toml", "--window", "100k"]);
    told.exits(0);
    assert!(told.out.contains("a session can use 100k tokens"), "{}", told.all());
}

#[test]
fn a_missing_report_is_asked_for_once_and_then_derived() {
    let world = world(1, Script { last_words: vec!["All done.".to_owned()], ..roomy() });
    world.write("segue.plan.toml", &native(&[("1", &[], &[1])]));
    world.keep_conversations(Script { last_words: vec!["All done.".to_owned()], ..roomy() });
    let done = world.segue(&["run", "segue.plan.toml", "--json"]);
    done.exits(0);
    let prompts = world.prompts();
    let asked = prompts[0].iter().filter(|prompt| prompt.contains("no report in your answer")).count();
    assert_eq!(asked, 1, "{prompts:?}");
    let report: Value =
        serde_json::from_str(&world.read_state(&format!("{}/report.json", phase_dir(&world, "1")))).unwrap();
    assert_eq!(
        (report["by"].as_str(), report["report"]["status"].as_str()),
        (Some("segue"), Some("completed"))
    );
}

#[test]
fn an_agent_that_gives_up_or_wants_a_person_ends_its_phase_at_once() {
    let say = |status: &str| {
        format!(
            "{{\"status\": \"{status}\", \"recommendation\": \"halt\", \"summary\": \"no way\", \"failure\": \"dependency_missing\", \"tasks\": []}}"
        )
    };
    for (status, code, word) in [("failed", 1, "failed"), ("needs_human_verification", 3, "needs_input")] {
        let replies = vec![Reply { when: "# Phase 1".to_owned(), say: say(status) }];
        let world = world(4, Script { replies, ..roomy() });
        world.write("segue.plan.toml", &native(TWO));
        let done = world.segue(&["run", "segue.plan.toml", "--json"]);
        done.exits(code);
        assert_eq!(ended(&done)[0], ("1".to_owned(), word.to_owned()), "{}", done.all());
        let report: Value =
            serde_json::from_str(&world.read_state(&format!("{}/report.json", phase_dir(&world, "1"))))
                .unwrap();
        assert_eq!(
            (report["by"].as_str(), report["report"]["summary"].as_str()),
            (Some("agent"), Some("no way"))
        );
        if code == 3 {
            let waits = world.segue(&["resume", "--json"]);
            waits.exits(3);
            world.segue(&["plan", "accept", "1"]).exits(0);
            world.segue(&["resume", "--json"]).exits(0);
        }
    }
}

#[test]
fn quality_is_one_more_round_over_green_gates() {
    let world = world(4, roomy());
    world.write("segue.plan.toml", &native(TWO));
    world.keep_conversations(roomy());
    let done = world.segue(&["run", "segue.plan.toml", "--quality", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert_eq!(ended(&done), pairs(&[("1", "completed"), ("2", "completed")]));
    let prompts = world.prompts();
    let rounds = prompts.iter().filter(|session| session[0].contains("Look over what was changed")).count();
    assert_eq!((prompts.len(), rounds), (4, 2), "{}", done.all());
}

#[test]
fn p3_a_gate_without_a_command_is_refused_and_a_manual_one_waits_for_a_person() {
    let world = world(1, roomy());
    let plan = "# Parts Phase 1: Some\n\n**Depends On:** N/A\n\n## Gates\n\n- there: `sh there.sh 1` → ok\n- review: somebody looked\n\n## Tasks\n\n### 1. Work\n- [ ] 1.1: step 1: write it\n";
    world.write("p.md", plan);
    let refused = world.segue(&["run", "p.md", "--json"]);
    refused.exits(2);
    assert!(
        refused.err.contains("gate-without-command") && refused.err.contains("p.md:8"),
        "{}",
        refused.all()
    );
    assert!(world.steps().sessions().is_empty());
    let config = world.read("segue.toml");
    world.write("segue.toml", &format!("{config}\n[gates.review]\nmanual = true\n"));
    let done = world.segue(&["run", "p.md", "--json"]);
    done.exits(3);
    assert_eq!(ended(&done), pairs(&[("1", "needs_input")]));
}

#[test]
fn results_are_written_as_junit_and_as_a_step_summary() {
    let mut world = world(4, lies_about(3));
    world.write("segue.plan.toml", &native(TWO));
    world.set_env("GITHUB_STEP_SUMMARY", world.root().join("summary.md").display().to_string());
    world.segue(&["run", "segue.plan.toml", "--junit", "junit.xml"]).exits(1);
    let xml = world.read("junit.xml");
    assert!(xml.contains("<testsuite name=\"phase 1\" tests=\"3\" failures=\"1\""), "{xml}");
    assert!(
        xml.contains("name=\"criterion 3.1: it is there\"") && xml.contains("<failure message=\"exit 1\">"),
        "{xml}"
    );
    let summary = std::fs::read_to_string(world.root().join("summary.md")).unwrap();
    assert!(summary.contains("| phase 1 | criterion 3.1: it is there | ❌ fails |"), "{summary}");
    world.script(roomy());
    world
        .segue(&["run", "TASK.md", "--gate", "true", "--junit", "one.xml", "--step-summary", "one.md"])
        .exits(0);
    assert!(world.read("one.xml").contains("tests=\"1\" failures=\"0\""), "{}", world.read("one.xml"));
    assert!(world.read("one.md").contains("✅ passes"), "{}", world.read("one.md"));
}

#[test]
fn p7_every_change_of_state_is_small_and_reports_are_bounded() {
    let words = "x".repeat(50_000);
    let report = format!(
        "{{\"status\": \"completed\", \"recommendation\": \"proceed\", \"summary\": \"{words}\", \"issues\": [\"{words}\"]}}"
    );
    let world = world(4, Script { last_words: vec![report], ..roomy() });
    world.write("segue.plan.toml", &native(TWO));
    world.segue(&["run", "segue.plan.toml"]).exits(0);
    let dir = format!("plans/{}", state(&world)["id"].as_str().unwrap());
    let changes = world.read_state(&format!("{dir}/changes.jsonl"));
    assert!(changes.lines().count() > 6);
    for line in changes.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let lines = serde_json::to_string_pretty(&record["patch"]).unwrap().lines().count();
        assert!(lines < 20, "{lines} lines: {line}");
    }
    let stored = world.read_state(&format!("{dir}/phases/1/report.json"));
    assert!(stored.len() < 8_000, "{}", stored.len());
}

#[test]
fn p6_what_is_no_plan_is_not_run_as_one() {
    let world = world(1, roomy());
    world.write("WORDS.md", "Make it faster.\n");
    world.write("broken.json", "[{\"task_id\": ");
    for args in [
        &["run", "WORDS.md", "--resume"][..],
        &["run", "WORDS.md", "--phase", "1"][..],
        &["run", "broken.json"][..],
        &["run", "do it", "--force"][..],
    ] {
        let done = world.segue(args);
        assert!(matches!(done.code, Some(1 | 2)), "{args:?}: {}", done.all());
    }
    assert!(world.steps().sessions().is_empty());
}

#[test]
fn c8_a_secret_in_a_plan_or_its_flags_is_only_where_its_owner_can_read_it() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let world = world(2, lies_about(2));
    let plan = native(&[("1", &[], &[1, 2])]).replace("Part of it", &format!("Part {secret}"));
    world
        .write("segue.plan.toml", &plan.replace("title = \"Parts\"", &format!("title = \"Parts {secret}\"")));
    let gate = format!("test -n {secret}");
    let done = world.segue(&["run", "segue.plan.toml", "--gate", &gate, "--json"]);
    done.exits(1);
    assert!(!done.all().contains(secret), "{}", done.all());
    let found =
        std::process::Command::new("grep").args(["-rl", secret, "."]).current_dir(world.state_dir()).output();
    let found = String::from_utf8_lossy(&found.unwrap().stdout).into_owned();
    for file in found.lines() {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(world.state_dir().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file} can be read by others");
        assert!(file.ends_with("private.json") || file.ends_with("flags.json"), "{file}");
    }
    assert!(found.contains("flags.json"), "{found}");
    world.script(roomy());
    world.segue(&["resume"]).exits(0);
    assert!(
        !world.state_dir().read_dir().unwrap().any(|entry| entry.unwrap().path().join("flags.json").exists())
    );
}
