//! E2 where it is hardest: in the middle of a handover, while a run is taken up again, and with an agent that hides.

use std::time::Duration;

use crate::kill::{AGENT, Before, take_up, world_of};
use crate::support::{World, left_behind, until};

/// Runs the job, kills segue some time after a line of this type was written, and returns what was true then.
fn killed_soon_after(world: &World, kind: &str, pause: Duration) -> Option<Before> {
    let run = world.launch(&["run", "TASK.md", "--json"], "run");
    until(kind, || run.so_far().contains(kind));
    std::thread::sleep(pause);
    run.signal("KILL");
    let done = run.wait();
    assert_eq!(done.code, None, "{}", done.all());
    Before::of(world)
}

#[test]
fn e2_killed_in_the_middle_of_a_handover_that_commits_nothing_is_lost() {
    for n in 0..8 {
        let world = world_of("phased", 1 + n % 2, AGENT);
        let pause = Duration::from_millis(u64::from(n) * 16);
        let before = killed_soon_after(&world, "checkpoint.requested", pause).unwrap();
        let (wrong, _) = take_up(&world, &before);
        assert!(wrong.is_empty(), "{pause:?} after the request: {}", wrong.join("\n\n"));
        world.git(&["merge-base", "--is-ancestor", before.user[1].trim(), "HEAD"]);
        assert_eq!(world.git(&["status", "--porcelain"]), "", "everything is committed at the end");
        assert_eq!(world.git(&["log", "--format=%s"]).matches("(completed)").count(), 1);
    }
}

#[test]
fn e2_killed_again_while_the_run_is_taken_up_it_still_goes_on() {
    for (first, more) in
        [(10, 1), (24, 2), (31, 3), (36, 1), (36, 2), (37, 4), (38, 6), (47, 9), (70, 2), (101, 3)]
    {
        let world = world_of("auto", 1 + first / 37, AGENT);
        let crash = |args: &[&str], seq: u64| {
            let done = world.launch_with(args, "crash", &[("SEGUE_CRASH_AFTER", &seq.to_string())]).wait();
            assert_eq!(done.code, None, "{first}+{more}: {}", done.all());
            Before::of(&world).unwrap()
        };
        crash(&["run", "TASK.md"], u64::from(first));
        let before = crash(&["resume"], u64::from(first) + more);
        let (wrong, _) = take_up(&world, &before);
        assert!(wrong.is_empty(), "{first}+{more}: {}", wrong.join("\n\n"));
    }
}

#[test]
fn e2_an_orphan_that_cleared_its_environment_is_ended_too() {
    let hiding = AGENT.replace("exec \"$2\"", "exec env -u SEGUE_RUN -u SEGUE_SESSION \"$2\"");
    assert_ne!(hiding, AGENT);
    let world = world_of("auto", 1, &hiding);
    let before = killed_soon_after(&world, "gauge.read", Duration::from_millis(50)).unwrap();
    assert_eq!(left_behind(&world.run_id().unwrap()), Vec::<String>::new(), "no mark to find it by");
    let (wrong, orphans) = take_up(&world, &before);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(orphans > 0);
}
