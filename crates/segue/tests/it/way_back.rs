//! The operator's way back: from any checkpoint, in the same run or in a new one, and with the files of that moment.

use segue_rehearsal::script::Script;
use serde_json::Value;

use crate::support::{World, pack, small, unpacked, until};

/// A run that was stopped in its third session or later, with the ids of its checkpoints.
fn stopped() -> (World, String, Vec<Value>) {
    let remarks = vec!["## Key Decisions\n- Decided on the zeta codec for frame 7.".to_owned()];
    let script = Script { step_ms: 60, remarks, ..small() };
    let world = World::new(14, script.clone());
    world.keep_conversations(script);
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until("the third session", || run.so_far().matches("session.started").count() > 2);
    let steps = world.steps().distinct_done().len();
    until("one more step", || world.steps().distinct_done().len() > steps);
    run.signal("INT");
    let done = run.wait();
    done.exits(130);
    let checkpoints = world.checkpoints();
    assert!(checkpoints.len() > 2, "{}", done.all());
    (world, done.run(), checkpoints)
}

fn text<'a>(checkpoint: &'a Value, field: &str) -> &'a str {
    checkpoint[field].as_str().unwrap()
}

#[test]
fn a_new_run_goes_on_from_a_checkpoint_file_with_its_task_and_repeats_nothing() {
    let (world, run, checkpoints) = stopped();
    let last = checkpoints.last().unwrap();
    world.segue(&["checkpoint", "export", text(last, "id"), "../exported.json"]).exits(0);
    let done = world.segue(&["run", "--from-checkpoint", "../exported.json", "--json"]);
    done.exits(0);
    assert_ne!(done.run(), run);
    world.assert_each_step_once(&done);
    let sessions = world.prompts();
    let first = sessions.iter().rev().nth(done.of("session.started").len() - 1).unwrap();
    assert!(first[0].contains(text(last, "summary")), "{}", first[0]);
    assert!(first[0].contains(world.job.task_text().trim()), "{}", first[0]);
    // Said once, in the first session of the other run: only its ledger has it.
    assert!(!text(last, "summary").contains("zeta codec") && first[0].contains("zeta codec"), "{}", first[0]);
    let page = world.segue(&["checkpoint", "show", "c0"]);
    assert!(page.out.contains("What the run remembers") && page.out.contains("zeta codec"), "{}", page.out);
    let list = world.segue(&["checkpoint", "show", "c0", "--json"]).lines();
    assert_eq!((&list[0]["from"], &list[0]["run"]), (&last["id"], &done.run().into()));
    world.segue(&["checkpoint", "verify", "--all"]).exits(0);
    world.segue(&["replay"]).exits(0);
}

#[test]
fn another_work_tree_goes_on_with_the_files_of_that_moment() {
    let (world, _, checkpoints) = stopped();
    let last = checkpoints.last().unwrap();
    let snapshot = text(last, "snapshot");
    world.segue(&["checkpoint", "export", text(last, "id"), "../exported.json.gz"]).exits(0);
    let copy = World::new(14, small());
    copy.script(Script { step_log: None, ..small() });
    std::fs::copy(world.log(), copy.log()).unwrap();
    let from = world.repo();
    copy.git(&["fetch", "--quiet", from.to_str().unwrap(), &format!("{snapshot}:{snapshot}")]);
    copy.git(&["restore", &format!("--source={snapshot}"), "--worktree", "--", ":/parts"]);
    let file = world.root().join("exported.json.gz");
    let done = copy.segue(&["run", "--from-checkpoint", file.to_str().unwrap(), "TASK.md", "--json"]);
    done.exits(0);
    copy.assert_each_step_once(&done);
}

#[test]
fn a_run_goes_back_to_an_older_checkpoint_and_the_work_of_now_is_kept() {
    let (world, run, checkpoints) = stopped();
    let first = &checkpoints[0];
    let name = text(first, "id").rsplit('-').next().unwrap();
    let done = world.segue(&["resume", &run, "--at", name, "--json"]);
    done.exits(0);
    assert_eq!(done.run(), run);
    assert!(world.steps().lost(world.job.steps).is_empty(), "{}", done.all());
    let kept = world.snapshots().into_iter().find(|n| n.contains("before-going-back")).unwrap();
    assert!(done.err.contains(&kept), "{}", done.err);
    let taken = checkpoints.last().unwrap()["tree"].as_str().unwrap();
    assert_eq!(world.git(&["rev-parse", &format!("{kept}^{{tree}}")]).trim(), taken);
    let sessions = world.prompts();
    let prompt = &sessions.iter().rev().nth(done.of("session.started").len() - 1).unwrap()[0];
    assert!(prompt.contains(text(first, "summary")), "{prompt}");
    world.segue(&["replay"]).exits(0);
}

#[test]
fn going_back_can_bring_the_files_back_and_change_the_agent() {
    let (world, run, checkpoints) = stopped();
    let config = world.read("segue.toml");
    let other = config.replace("[agent.scripted]", "[agent.other]");
    let start = other.find("[agent.other]").unwrap();
    let end = other.find("[[gate]]").unwrap();
    world.write("segue.toml", &format!("{config}\n{}", &other[start..end]));
    let first = &checkpoints[0];
    let snapshot = text(first, "snapshot");
    let before = world.read("parts/01.txt");
    world.git(&["restore", &format!("--source={snapshot}"), "--worktree", "--", ":/"]);
    for part in std::fs::read_dir(world.repo().join("parts")).unwrap().map(|e| e.unwrap()) {
        let name = format!("parts/{}", part.file_name().into_string().unwrap());
        if !first["files"]["created"].to_string().contains(&name) {
            std::fs::remove_file(part.path()).unwrap();
        }
    }
    world.write("segue.toml", &format!("{config}\n{}", &other[start..end]));
    let done = world.segue(&["resume", &run, "--at", text(first, "id"), "--agent", "other", "--json"]);
    done.exits(0);
    assert_eq!(done.of("session.started")[0]["agent"], "other", "{}", done.all());
    assert_eq!(done.finished()["verdict"], "verified");
    assert_eq!(world.read("parts/01.txt"), before);
    assert!(world.steps().lost(world.job.steps).is_empty());
}

#[test]
fn the_commands_on_the_page_show_and_restore_the_snapshot() {
    let (world, _, checkpoints) = stopped();
    let last = checkpoints.last().unwrap();
    let page = world.segue(&["checkpoint", "show", text(last, "id")]).out;
    let command = |begin: &str| -> Vec<String> {
        let line = page.lines().find(|l| l.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {page}"));
        line.split(" # ").next().unwrap().split_whitespace().skip(1).map(str::to_owned).collect()
    };
    let git = |words: Vec<String>| world.git(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(git(command("git diff")).contains("+++ b/parts/01.txt"));
    let one: Vec<String> = command("git show").iter().map(|w| w.replace("PATH", "parts/01.txt")).collect();
    let part = world.read("parts/01.txt");
    assert_eq!(git(one), part);
    let branch = (world.git(&["rev-parse", "HEAD"]), world.git(&["diff", "--cached"]));
    std::fs::remove_dir_all(world.repo().join("parts")).unwrap();
    world.write("README.md", "spoilt\n");
    world.write("later.txt", "not tracked\n");
    git(command("git restore"));
    assert_eq!(world.read("parts/01.txt"), part);
    assert_ne!(world.read("README.md"), "spoilt\n");
    assert_eq!(world.read("later.txt"), "not tracked\n");
    assert_eq!((world.git(&["rev-parse", "HEAD"]), world.git(&["diff", "--cached"])), branch);
}

#[test]
fn c9_a_checkpoint_that_was_changed_is_refused_before_anything_begins() {
    let (world, run, _) = stopped();
    let mut files = world.checkpoint_files();
    files.sort();
    let file = &files[0];
    pack(file, &unpacked(file).replacen("step 1", "step 9", 1));
    let path = file.to_str().unwrap();
    let events = world.events(&run).len();
    for args in [["run", "--from-checkpoint", path], ["resume", "--at", path]] {
        let refused = world.segue(&args);
        refused.exits(1);
        assert!(refused.err.contains("changed after it was written"), "{}", refused.err);
        assert!(refused.err.contains("segue checkpoint list"), "{}", refused.err);
    }
    assert_eq!((world.run_id(), world.events(&run).len()), (Some(run), events), "nothing was begun");
    world.segue(&["resume", "--at", "c99999"]).exits(2);
    world.segue(&["run", "--from-checkpoint", "nowhere.json"]).exits(2);
}
