//! When phases side by side do not go together: an agent mends it, or a person does with the commands that are given.

use std::process::Command;

use segue_rehearsal::script::{Fault, FaultKind, Refusal, Reply, Script};

use crate::beside::{nothing_is_left, with_files};
use crate::plan_run::{ended, pairs, roomy, state, world};
use crate::support::{Done, World};

/// An agent that does nothing about a merge but say that it is done.
fn idle() -> Script {
    let say = "I brought it together.\n\nSTATUS: done".to_owned();
    Script { replies: vec![Reply { when: "# Bring phase".to_owned(), say }], step_ms: 50, ..roomy() }
}

/// Two phases beside one another and one after them. `does` is what a session does in its work tree before anything else.
pub(crate) fn two(does: &str, step: &str) -> World {
    let world = world(3, idle());
    world.write(
        "segue.plan.toml",
        &with_files(&[("1", &[], &[1]), ("2", &[], &[2]), ("3", &["1", "2"], &[3])]),
    );
    world.write("shared.txt", "first\n");
    agent_does(&world, does);
    world.in_step(step);
    world
}

pub(crate) fn agent_does(world: &World, does: &str) {
    let start = format!(
        "{does}\nexec {:?} scripted-agent --script {:?}\n",
        env!("CARGO_BIN_EXE_segue"),
        world.script_file()
    );
    std::fs::write(world.root().join("agent.sh"), start).unwrap();
    let agent = format!("command = [\"sh\", {:?}]\n", world.root().join("agent.sh"));
    let toml = world.read("segue.toml");
    let lines = toml.lines().map(|l| if l.starts_with("command") { agent.clone() } else { format!("{l}\n") });
    world.write("segue.toml", &lines.collect::<String>());
    world.commit("the agent of this test");
}

/// Every step adds its line at the end of the same file.
pub(crate) const SAME_PLACE: &str = "if [ $n -lt 3 ]; then echo \"line $n\" >>shared.txt; fi";
pub(crate) const TAKE_BOTH: &str = "if grep -q '^<<<<<<< ' shared.txt; then grep -vE '^(<<<<<<<|=======|>>>>>>>)' shared.txt >s; mv s shared.txt; fi";

fn run(world: &World) -> Done {
    world.segue(&["run", "segue.plan.toml", "--json", "--parallel", "3"])
}

/// The commands that a person is given, with `edit` in the place of what they say in words.
fn commands(done: &Done, edit: &str) -> String {
    let told = done.warnings("merge_stuck").pop().unwrap_or_else(|| panic!("{}", done.all()));
    let lines = told.lines().skip(1).map(|line| if line.starts_with('#') { edit } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

fn by_hand(world: &World, script: &str) {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_segue")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir("/").env("PATH", path).env("HOME", world.root());
    for (key, value) in [("AUTHOR", "t"), ("COMMITTER", "t")] {
        command.env(format!("GIT_{key}_NAME"), value).env(format!("GIT_{key}_EMAIL"), "t@t");
    }
    let out = command.output().unwrap();
    assert!(
        out.status.success(),
        "{script}\n{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}

#[track_caller]
fn both_are_there(world: &World) {
    assert_eq!(world.read("shared.txt"), "first\nline 1\nline 2\n");
    let log = world.git(&["log", "--first-parent", "--format=%s"]);
    assert!(
        !world.git(&["log", "-p", "--first-parent"]).contains("+<<<<<<<"),
        "no marker is being merged into the branch: {log}"
    );
    assert_eq!(state(world)["status"], "completed");
    assert!(world.steps().repeated().is_empty() && world.steps().lost(3).is_empty());
    nothing_is_left(world);
}

#[test]
fn a_conflict_goes_to_an_agent_that_brings_both_sides_together() {
    let world = two(TAKE_BOTH, SAME_PLACE);
    let done = run(&world);
    done.exits(0);
    assert_eq!(ended(&done), pairs(&[("1", "completed"), ("2", "completed"), ("3", "completed")]));
    assert_eq!(done.warnings("merge").len(), 1, "{}", done.all());
    both_are_there(&world);
    let snapshots = world.git(&["for-each-ref", "--format=%(refname)", "refs/segue"]);
    for name in ["2-done", "2-mended", "2-last"] {
        assert!(snapshots.contains(name), "{name}: {snapshots}");
    }
    assert!(
        world.git(&["log", "--merges", "--format=%s"]).contains("Merge phase 2"),
        "in the user's own history"
    );
}

#[test]
fn a_conflict_that_no_agent_resolves_ends_with_3_and_the_commands_finish_it() {
    let world = two("", SAME_PLACE);
    let done = run(&world);
    done.exits(3);
    assert_eq!(
        ended(&done),
        pairs(&[("1", "completed"), ("2", "needs_input"), ("3", "blocked")]),
        "{}",
        done.all()
    );
    assert_eq!(world.read("shared.txt"), "first\nline 1\n", "nothing half merged comes into the work tree");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(state(&world)["status"], "needs_input");
    by_hand(&world, &commands(&done, TAKE_BOTH));
    both_are_there(&world);
}

#[test]
fn a_merge_whose_agent_waits_for_a_provider_lets_the_others_go_first() {
    let world = world(4, idle());
    world.in_step("if [ $n = 9 ]; then echo yes >fixed.txt; fi");
    // What is red tells the agent what to do about it, as a step: the one that its provider refuses for a while.
    world.write("together.sh", "if [ -f parts/01.txt ] && [ -f parts/02.txt ] && [ ! -f fixed.txt ]; then echo '- [ ] step 9: mend it'; exit 1; fi\n");
    let refusal = FaultKind::Provider { says: Refusal::RateLimited, resets_in_ms: Some(20_000), times: None };
    let fault = Fault { at_step: 9, session: None, kind: refusal };
    let script = Script { faults: vec![fault], step_log: Some(world.log()), ..roomy() };
    let path = world.root().join("second.json");
    std::fs::write(&path, serde_json::to_string(&script).unwrap()).unwrap();
    world.configure_without_gate(&format!(
        "[agent.second]\nkind = \"acp\"\ncommand = [{:?}, \"scripted-agent\", \"--script\", {path:?}]\n",
        env!("CARGO_BIN_EXE_segue")
    ));
    let plan = with_files(&[("1", &[], &[1]), ("2", &[], &[2]), ("3", &[], &[3]), ("4", &["3"], &[4])])
        .replacen("[[phase]]\nid = \"2\"\n", "[[phase]]\nid = \"2\"\nagent = \"second\"\n", 1);
    world.write(
        "segue.plan.toml",
        &format!("{plan}\n[[gate]]\nname = \"together\"\nrun = \"sh together.sh\"\n"),
    );
    world.commit("a gate for both");
    let done = run(&world);
    done.exits(0);
    assert_eq!(done.of("wait.started").len(), 1, "{}", done.all());
    let order: Vec<String> = ended(&done).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, ["1", "3", "4", "2"], "{}", done.all());
    assert_eq!(world.read("fixed.txt"), "yes\n");
    nothing_is_left(&world);
}

#[test]
fn a_commit_that_somebody_makes_while_a_phase_is_merged_is_merged_too() {
    let world = two("", "");
    // The gate is run on the merged tree, so the branch moves between the merge and the landing, once.
    let moves = format!(
        "if [ -f parts/01.txt ] && [ -f parts/02.txt ] && [ ! -f ../moved ]; then\n\
         touch ../moved; cd {:?}; echo mine >mine.txt; git add mine.txt\n\
         git -c user.name=t -c user.email=t@t commit -qm mine; fi\n",
        world.repo()
    );
    world.write("moves.sh", &moves);
    let plan = world.read("segue.plan.toml");
    world.write("segue.plan.toml", &format!("{plan}\n[[gate]]\nname = \"moves\"\nrun = \"sh moves.sh\"\n"));
    world.commit("a gate that commits");
    let done = run(&world);
    done.exits(0);
    assert_eq!(world.read("mine.txt"), "mine\n");
    assert_eq!(world.git(&["log", "--format=%s"]).matches("mine").count(), 1, "{}", done.all());
    assert!(world.steps().repeated().is_empty() && world.steps().lost(3).is_empty());
}

#[test]
fn the_commands_for_a_person_stand_on_lines_of_their_own() {
    let world = two("", SAME_PLACE);
    let done = world.segue(&["run", "segue.plan.toml", "--parallel", "3"]);
    done.exits(3);
    let given: Vec<&str> = done.out.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let first = given.iter().position(|line| line.starts_with("cd ") && line.contains("/segue/trees/"));
    let given = &given[first.unwrap_or_else(|| panic!("{}", done.all()))..];
    assert!(given[1].starts_with("# take the markers") && given[1].ends_with("shared.txt"), "{given:?}");
    assert!(given[2].starts_with("git add --all && git commit"), "{given:?}");
    assert!(given[4].starts_with("segue resume plan-"), "{given:?}");
    let script: Vec<&str> =
        given[..5].iter().map(|line| if line.starts_with('#') { TAKE_BOTH } else { *line }).collect();
    by_hand(&world, &script.join("\n"));
    both_are_there(&world);
}

/// A gate that is green in each work tree and red when both parts are there, unless somebody has seen to it.
fn together(does: &str) -> World {
    let world = two(does, "");
    world.write("together.sh", "test ! -f parts/01.txt || test ! -f parts/02.txt || test -f fixed.txt\n");
    world.write(
        "segue.plan.toml",
        &format!(
            "{}\n[[gate]]\nname = \"together\"\nrun = \"sh together.sh\"\n",
            world.read("segue.plan.toml")
        ),
    );
    world.commit("a gate for both");
    world
}

const FIX: &str = "if [ -f parts/01.txt ] && [ -f parts/02.txt ]; then echo yes >fixed.txt; fi";

#[test]
fn a_gate_that_fails_only_after_the_merge_goes_to_an_agent() {
    let world = together(FIX);
    let done = run(&world);
    done.exits(0);
    let told = done.warnings("merge");
    assert!(told.len() == 1 && told[0].contains("together"), "{told:?}");
    assert_eq!(world.read("fixed.txt"), "yes\n");
    assert_eq!(state(&world)["status"], "completed");
    nothing_is_left(&world);
}

#[test]
fn a_gate_of_the_configuration_alone_is_asked_of_the_merged_tree_too() {
    let world = two("", "");
    // No phase has anything of its own that could decide.
    let phase = |id: u32| {
        format!(
            "[[phase]]\nid = \"{id}\"\nfiles = [\"parts/0{id}.txt\"]\n[[phase.task]]\nid = \"{id}\"\ntitle = \"step {id}: write it\"\n"
        )
    };
    world.write("segue.plan.toml", &format!("title = \"Parts\"\n{}{}", phase(1), phase(2)));
    world.write("together.sh", "test ! -f parts/01.txt || test ! -f parts/02.txt || test -f fixed.txt\n");
    let toml = world.read("segue.toml");
    world.write("segue.toml", &format!("{toml}\n[[gate]]\nname = \"together\"\nrun = \"sh together.sh\"\n"));
    agent_does(&world, FIX);
    let done = run(&world);
    done.exits(0);
    assert_eq!(done.warnings("merge").len(), 1, "{}", done.all());
    assert_eq!(world.read("fixed.txt"), "yes\n");
    nothing_is_left(&world);
}

#[test]
fn a_gate_that_stays_red_after_the_merge_keeps_the_branch_as_it_was_until_somebody_mends_it() {
    let world = together("");
    let done = run(&world);
    done.exits(3);
    assert_eq!(world.read("parts/02.txt"), "", "what fails does not come into the branch");
    assert!(!world.read("parts/01.txt").is_empty());
    by_hand(&world, &commands(&done, "echo yes >fixed.txt"));
    assert_eq!(state(&world)["status"], "completed");
    assert_eq!(world.read("fixed.txt"), "yes\n");
    assert!(world.steps().repeated().is_empty() && world.steps().lost(3).is_empty());
    nothing_is_left(&world);
}

#[test]
fn changes_of_the_user_that_are_in_the_way_are_never_overwritten() {
    // The user's own work tree is the first that git lists.
    let users = "$(git worktree list --porcelain | sed -n '1s/worktree //p')";
    let world = two(
        "",
        &format!("if [ $n = 1 ]; then echo mine >\"{users}/shared.txt\"; echo theirs >shared.txt; fi"),
    );
    let done = run(&world);
    done.exits(3);
    assert_eq!(world.read("shared.txt"), "mine\n");
    let told = done.warnings("merge_stuck");
    assert!(told[0].contains("git stash push"), "{told:?}");
    world.git(&["checkout", "--quiet", "shared.txt"]);
    let again = world.segue(&["resume", "--json"]);
    again.exits(0);
    assert_eq!(world.read("shared.txt"), "theirs\n");
    nothing_is_left(&world);
}
