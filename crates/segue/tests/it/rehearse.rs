//! `segue rehearse` without a real agent: what it refuses, and a whole rehearsal with the stand-in.

use segue_rehearsal::script::Script;

use crate::support::World;

fn world() -> World {
    World::new(1, Script::default())
}

#[test]
fn a_rehearsal_with_the_stand_in_hands_over_finishes_and_leaves_nothing_behind() {
    let world = world();
    let done = world.segue(&["rehearse", "--agent", "scripted", "--steps", "12", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.all());
    let verdict = done.of("rehearsal.finished").pop().unwrap();
    assert_eq!((&verdict["works"], &verdict["steps"]["done"]), (&true.into(), &12.into()), "{verdict}");
    assert!(!verdict["handoffs"].as_array().unwrap().is_empty(), "{verdict}");
    assert_eq!(verdict["gauge"]["worst"], 0.0, "{verdict}");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    let cache = world.root().join(".cache/segue");
    assert_eq!(std::fs::read_dir(cache).unwrap().count(), 0, "the repository goes when all is well");
}

#[test]
fn a_rehearsal_follows_the_configuration_of_the_folder_and_keeps_its_repository_when_told() {
    let world = world();
    world.configure("policy = \"observe\"\n");
    let done = world.segue(&["rehearse", "--agent", "scripted", "--steps", "6", "--window", "40k", "--keep"]);
    // The job fills the window, and nobody replaces the session.
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(
        done.out.contains("wrong: the run did not finish the job: the context overflowed"),
        "{}",
        done.all()
    );
    assert!(done.out.contains("your policy never replaces a session"), "{}", done.all());
    let kept = done.out.lines().find_map(|line| line.strip_prefix("kept: ")).unwrap();
    assert!(std::path::Path::new(kept).join(".segue/steps.log").is_file(), "{kept}");
}

#[test]
fn what_a_rehearsal_cannot_do_is_said_before_anything_is_made() {
    let world = world();
    for (args, says) in [
        (&["--agent", "claude", "--fault", "418"][..], "known faults: 429"),
        (&["--agent", "claude", "--fault", "401", "--when", "later"], "start, middle or checkpoint"),
        (&["--agent", "claude", "--fault", "401", "--times", "0"], "1 or more"),
        (&["--agent", "claude", "--window", "5k"], "at least 20000"),
        (&["--agent", "claude", "--window", "much"], "at least 20000"),
        (&["--agent", "claude", "--steps", "1"], "between 2 and 500"),
        (&["--agent", "claude", "--when", "start"], "--fault"),
        (&["--agent", "claude", "--policy", "nosuch"], "nosuch"),
        (&["--agent", "scripted", "--fault", "401"], "needs a real agent"),
        // Configured, but of no program that is known.
        (&[], "cannot point agent"),
    ] {
        let done = world.segue(&[&["rehearse"], args].concat());
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.all());
        assert!(done.err.contains(says), "{args:?}: {}", done.err);
    }
    assert!(!world.root().join(".cache/segue").exists());
}

#[test]
fn an_agent_that_is_not_installed_comes_with_the_way_to_get_it() {
    let mut world = world();
    let only = world.root().join("bin");
    std::fs::create_dir(&only).unwrap();
    world.set_env("PATH", only.display().to_string());
    let done = world.segue(&["rehearse", "--agent", "gemini"]);
    assert_eq!(done.code, Some(2), "{}", done.all());
    assert!(
        done.err.contains("gemini is not on PATH") && done.err.contains("npm install -g"),
        "{}",
        done.err
    );
}
