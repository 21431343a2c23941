//! Checkpoints as they are stored and as the next session gets them, when all goes well and when nothing does.

use std::os::unix::fs::PermissionsExt;

use segue_rehearsal::script::{CheckpointHabit, Fault, FaultKind, Script};

use crate::support::{
    World, left_behind, markdown_of, meets, pack, small, stage_after_tool, unpacked, until,
};

const ONE_SECOND: &str = "[checkpoint]\nask_timeout = \"1s\"\n";

#[test]
fn c1_an_answer_without_tags_is_taken_whole() {
    let world = World::new(6, Script { checkpoint: CheckpointHabit::NoTags, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let first = &world.checkpoints()[0];
    assert_eq!(first["by"], "agent");
    let text = first["summary"].as_str().unwrap();
    assert!(text.starts_with("## Goal") && text.contains("## Key Decisions"), "{text}");
    assert!(!text.contains("<checkpoint>"), "{text}");
}

#[test]
fn c2_an_agent_that_refuses_is_not_needed() {
    let world = World::new(12, Script { checkpoint: CheckpointHabit::RefuseError, think_ms: 150, ..small() });
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.of("checkpoint.taken").iter().all(|c| c["by"] == "segue"), "{}", done.all());
    assert!(done.warnings("no_answer")[0].contains("segue writes one"), "{}", done.all());
    assert_eq!(done.finished()["verdict"], "verified");
}

#[test]
fn c2_an_agent_that_ignores_the_request_and_works_on_is_waited_for_once_and_not_after_every_tool() {
    let script = Script { checkpoint: CheckpointHabit::Ignore, step_ms: 150, window: 200_000, ..small() };
    let world = World::new(40, script);
    world.configure(&format!("[[stage]]\nat = \"2 tools\"\ndo = [\"restart\"]\n{ONE_SECOND}"));
    let done = world.segue(&["run", "TASK.md", "--json", "--max-restarts", "1"]);
    let first = &done.of("checkpoint.taken")[0];
    assert_eq!((&first["by"], &first["session"]), (&"segue".into(), &"s1".into()), "{}", done.all());
    assert!(!done.warnings("no_answer").is_empty());
    assert_eq!(done.of("session.ended")[0]["reason"], "replaced");
    assert!(world.steps().repeated().is_empty(), "{}", done.all());
}

#[test]
fn c2_an_agent_that_falls_silent_at_the_checkpoint_is_replaced() {
    meets("a request to an agent that is silent", || asked_at_a_fault(FaultKind::Silent, ""));
}

#[test]
fn c2_a_tool_that_hangs_at_the_line_is_ended_and_the_work_goes_on() {
    let limits = "[limits]\ntool_timeout = \"1s\"\nidle_timeout = \"1s\"\n";
    meets("a request while a tool hangs", || asked_at_a_fault(FaultKind::Hang, limits));
}

fn asked_at_a_fault(kind: FaultKind, limits: &str) -> bool {
    let fault = Fault { at_step: 3, session: Some(1), kind };
    let stage = stage_after_tool(2, 5, &small(), |_| {});
    let world = World::new(5, Script { faults: vec![fault], ..small() });
    world.configure(&format!("{stage}{limits}{ONE_SECOND}"));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(left_behind(&done.run()).is_empty());
    if done.of("checkpoint.taken")[0]["by"] == "agent" {
        return false;
    }
    assert_eq!(done.warnings("no_answer").len(), usize::from(kind == FaultKind::Silent), "{}", done.all());
    true
}

#[test]
fn c3_new_changed_deleted_and_committed_files_are_listed_and_25_are_20_and_5_more() {
    let world = World::new(10, small());
    world.keep_conversations(small());
    world.write("old.txt", "to be deleted\n");
    world.in_step(
        "if [ \"$n\" = 1 ]; then\n\
         mkdir -p many; for i in $(seq -w 1 25); do echo $i >many/a$i.txt; done\n\
         echo changed >>README.md; rm old.txt\n\
         echo kept >committed.txt; git add committed.txt\n\
         git -c user.name=t -c user.email=t@t commit -q -m 'a part of the work' committed.txt\nfi",
    );
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    let prompts = world.prompts();
    let second = &prompts[1][0];
    let markdown = markdown_of(world.checkpoint_files().iter().min().unwrap());
    for text in [second, &markdown] {
        for part in [
            "many/a01.txt",
            "committed.txt",
            "changed files: README.md",
            "deleted files: old.txt",
            "a part of the work",
            "gate check: fails",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let files = &world.checkpoints()[0]["files"];
    let created = files["created"].as_array().unwrap().len();
    assert!(created > 26, "{files}");
    let listed = second.lines().find(|l| l.contains("new files:")).unwrap();
    assert!(listed.ends_with(&format!("and {} more", created - 20)), "{listed}");
    assert_eq!(listed.matches(".txt").count(), 20, "{listed}");
}

#[test]
fn c4_2_000_characters_hold_although_the_goal_alone_has_5_000() {
    let world = World::new(6, small());
    let long = "aä€😀".repeat(100);
    let list: String = (1..=6).map(|n| format!("- [ ] step {n}: write part {n} {long}\n")).collect();
    world.write("TASK.md", &format!("# {}\n\n{list}", "ü€😀".repeat(1_700)));
    for habit in [CheckpointHabit::Answer, CheckpointHabit::RefuseError] {
        world.git(&["clean", "-fdq", "parts"]);
        let _ = std::fs::remove_dir_all(world.state_dir().join("checkpoints"));
        let _ = std::fs::remove_file(world.log());
        world.script(Script { checkpoint: habit, ..small() });
        let done = world.segue(&["run", "TASK.md", "--json", "--policy", "loop"]);
        done.exits(0);
        world.assert_each_step_once(&done);
        let checkpoints = world.checkpoints();
        assert!(!checkpoints.is_empty());
        for checkpoint in checkpoints {
            let text = checkpoint["summary"].as_str().unwrap();
            assert!(text.chars().count() <= 2_000, "{} characters", text.chars().count());
            assert!(text.contains("(cut)"), "the cut is shown: {text}");
        }
    }
}

#[test]
fn c5_a_folder_that_is_no_repository_is_refused_unless_told_to_do_without() {
    let world = World::new(6, small());
    std::fs::remove_dir_all(world.repo().join(".git")).unwrap();
    let refused = world.segue(&["run", "TASK.md"]);
    refused.exits(2);
    assert!(refused.err.contains("--no-git"), "{}", refused.err);
    assert!(!world.state_dir().exists(), "nothing was written");
    let done = world.segue(&["run", "TASK.md", "--json", "--no-git"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.finished()["sessions"].as_u64().unwrap() > 1, "{}", done.all());
    assert!(!world.repo().join(".git").exists());
}

#[test]
fn c5_a_repository_without_a_commit_is_allowed() {
    let world = World::new(6, small());
    world.git(&["update-ref", "-d", "HEAD"]);
    world.git(&["rm", "-r", "-q", "--cached", "."]);
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.finished()["sessions"].as_u64().unwrap() > 1, "{}", done.all());
    assert!(world.last_saved().contains("parts/01.txt"));
    assert!(done.warnings("git").is_empty(), "{}", done.all());
}

#[test]
fn c5_git_that_breaks_on_the_way_costs_the_snapshot_and_not_the_run() {
    let world = World::new(6, small());
    world.in_step("if [ \"$n\" = 2 ]; then mv .git/HEAD .git/HEAD-away; fi");
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    world.assert_each_step_once(&done);
    assert!(done.finished()["sessions"].as_u64().unwrap() > 1, "{}", done.all());
    assert!(!done.warnings("git").is_empty(), "{}", done.all());
    let first = &world.checkpoints()[0];
    assert!(first["trouble"].is_string() && first["snapshot"].is_null(), "{first}");
}

#[test]
fn c6_the_snapshot_is_there_before_the_session_ends_and_disturbs_nothing() {
    let world = World::new(6, small());
    world.write("staged.txt", "staged\n");
    world.git(&["add", "staged.txt"]);
    world.write("step.sh", &format!("{}\n# changed\n", world.read("step.sh")));
    let wrapper = world.root().join("wrapper.sh");
    let seen = world.root().join("refs-at-the-end");
    let code = format!(
        "#!/bin/sh\n{:?} scripted-agent --script {:?}\ngit for-each-ref --format='%(refname)' refs/segue >>{seen:?}\necho . >>{seen:?}\n",
        env!("CARGO_BIN_EXE_segue"),
        world.script_file(),
    );
    std::fs::write(&wrapper, code).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.configure(&format!(
        "agents = [\"wrapped\"]\n[agent.wrapped]\nkind = \"acp\"\ncommand = [{wrapper:?}]\n"
    ));
    world.git(&["add", "segue.toml"]);
    let state = || {
        (
            world.git(&["rev-parse", "HEAD"]),
            world.git(&["diff", "--cached"]),
            world.git(&["branch", "-a"]),
            world.git(&["stash", "list"]),
        )
    };
    let before = state();
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    assert_eq!(state(), before, "index and branch are as they were");
    assert_eq!(done.of("session.ended")[0]["reason"], "replaced", "{}", done.all());
    let at_end = std::fs::read_to_string(&seen).unwrap();
    let first = world.checkpoints()[0]["snapshot"].as_str().unwrap().to_owned();
    assert!(at_end.split('.').next().unwrap().contains(&first), "{first} is not in {at_end}");
    let files = world.git(&["ls-tree", "-r", "--name-only", &first]);
    assert!(files.contains("parts/01.txt") && files.contains("staged.txt"), "{files}");
    assert!(!files.contains("segue/"), "{files}");
    assert!(world.git(&["show", &format!("{first}:step.sh")]).contains("# changed"));
}

#[test]
fn c7_the_task_the_checkpoint_and_the_notes_are_in_every_continuation_prompt() {
    for policy in ["auto", "seamless", "loop", "staged", "phased"] {
        let world = World::new(if policy == "auto" { 18 } else { 10 }, small());
        world.keep_conversations(small());
        world.in_step(&format!(
            "{:?} progress \"remember number $n\" >/dev/null",
            env!("CARGO_BIN_EXE_segue")
        ));
        let line = if policy == "auto" { "88" } else { "70" };
        let done =
            world.segue(&["run", "TASK.md", "--json", "--policy", policy, "--context-threshold", line]);
        done.exits(0);
        world.assert_each_step_once(&done);
        let prompts = world.prompts();
        assert!(prompts.len() > 2, "{policy}: {}", done.all());
        for (session, prompts) in prompts.iter().enumerate().skip(1) {
            let prompt = &prompts[0];
            assert!(
                prompt.contains(world.job.task_text().trim()),
                "{policy} session {}: {prompt}",
                session + 1
            );
            assert!(prompt.contains("## Completed Work"), "{policy} session {}: {prompt}", session + 1);
            for part in ["remember number 1\n", "parts/01.txt"] {
                assert!(prompt.contains(part), "{policy} session {}: no {part} in {prompt}", session + 1);
            }
        }
        let last = &prompts[prompts.len() - 1][0];
        assert!(last.matches("remember number").count() >= prompts.len() - 1, "{policy}: {last}");
    }
}

#[test]
fn c9_a_checkpoint_that_was_edited_is_noticed_and_the_run_still_finishes() {
    for damage in ["edited", "half"] {
        let world = World::new(5, Script { step_ms: 100, ..small() });
        let run = world.launch(&["run", "TASK.md", "--json"], "run");
        until("a second step", || world.steps().distinct_done().len() >= 2);
        run.signal("INT");
        let stopped = run.wait();
        stopped.exits(130);
        let path = world.checkpoint_files().pop().unwrap();
        if damage == "edited" {
            let text = unpacked(&path);
            assert_ne!(text.replace("step 1", "step 5"), text);
            pack(&path, &text.replace("step 1", "step 5"));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
        let done = world.segue(&["resume", "--json"]);
        done.exits(0);
        world.assert_each_step_once(&done);
        let words = if damage == "edited" { "changed after it was written" } else { "damaged" };
        assert!(done.all().contains(words), "{}", done.all());
    }
}
