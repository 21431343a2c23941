//! Phases side by side with two real CLIs at once: Claude Code and Codex, each in work trees of its own.

use std::time::Duration;

use segue_rehearsal::model_server::ServerScript;

use crate::inside::{inside, say};
use crate::support::{Done, World};

/// The phases between the first and the last.
const MIDDLE: u32 = 4;

fn plan(middle: u32) -> String {
    let phase = |id: u32, needs: &[u32]| {
        let needs: Vec<String> = needs.iter().map(u32::to_string).collect();
        let agent = if id.is_multiple_of(2) { "claude" } else { "codex" };
        format!(
            "\n[[phase]]\nid = \"{id}\"\ntitle = \"Some\"\nagent = \"{agent}\"\nneeds = {needs:?}\nfiles = [\"parts/{id:02}.txt\"]\n\
             [[phase.task]]\nid = \"{id}\"\ntitle = \"step {id}: write it\"\n[[phase.task.criterion]]\ntext = \"it is there\"\n\
             [[phase.task.criterion.check]]\nrun = \"sh there.sh {id}\"\n"
        )
    };
    let between: Vec<u32> = (2..2 + middle).collect();
    let mut text =
        "title = \"Parts\"\nabout = \"For each task run `sh step.sh N`, where N is its number.\"\n"
            .to_owned();
    text.push_str(&phase(1, &[]));
    between.iter().for_each(|id| text.push_str(&phase(*id, &[1])));
    text + &phase(2 + middle, &between)
}

fn run(middle: u32, latency_ms: u64, flags: &[&str]) -> (World, Done) {
    let world =
        World::new(2 + middle, ServerScript { window: 60_000, latency_ms, ..ServerScript::default() });
    world.write(
        "segue.toml",
        "agents = [\"claude\", \"codex\"]\n[agent.claude]\nmodel = \"scripted-model\"\n",
    );
    world.write("there.sh", "test -f parts/$(printf %02d $1).txt\n");
    world.write("segue.plan.toml", &plan(middle));
    world.commit();
    let args = [&["run", "segue.plan.toml", "--json", "--permissions", "bypass"], flags].concat();
    let done = world.segue(&args);
    assert_eq!(done.code, Some(0), "{}", done.all());
    world.assert_done_once(&done);
    (world, done)
}

/// The runs that had a session open at the same time, at most.
fn most_at_once(done: &Done) -> usize {
    let (mut now, mut most): (Vec<String>, usize) = (Vec::new(), 0);
    for line in done.lines() {
        let run = line["run"].as_str().unwrap_or_default().to_owned();
        match line["type"].as_str().unwrap_or_default() {
            "session.started" => now.push(run),
            "session.ended" => now.retain(|other| *other != run),
            _ => {}
        }
        most = most.max(now.len());
    }
    most
}

pub(crate) fn git(world: &World, args: &[&str]) -> String {
    String::from_utf8_lossy(&world.command("git", args).output().unwrap().stdout).into_owned()
}

#[test]
fn two_clis_at_once_come_to_the_tree_of_one_by_one() {
    inside(240, || {
        // SEGUE_BESIDE_LONG: one, ten and one, with a model that takes its time, for the figure in the docs.
        let long = std::env::var_os("SEGUE_BESIDE_LONG").is_some();
        let (middle, latency) = if long { (10, 4_000) } else { (MIDDLE, 300) };
        let (beside, done) = run(middle, latency, &["--parallel", "5"]);
        assert!(most_at_once(&done) >= 2, "{}", done.all());
        let agents: std::collections::BTreeSet<String> = done
            .of("session.started")
            .iter()
            .map(|line| line["agent"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(agents.len(), 2, "{agents:?}");
        assert_eq!(git(&beside, &["status", "--porcelain"]), "");
        assert_eq!(git(&beside, &["worktree", "list"]).lines().count(), 1);
        assert_eq!(git(&beside, &["branch", "--list", "segue/*"]), "");
        let (serial, alone) = run(middle, latency, &[]);
        git(&serial, &["add", "--all"]);
        let parts = |world: &World| git(world, &["ls-files", "--stage", "parts"]);
        assert_eq!(parts(&beside), parts(&serial));
        let (fast, slow): (Duration, Duration) = (done.took, alone.took);
        say(&format!(
            "{} phases with claude and codex, 5 at a time: {:.1} s beside {:.1} s one by one ({:.0} %)",
            2 + middle,
            fast.as_secs_f64(),
            slow.as_secs_f64(),
            fast.as_secs_f64() / slow.as_secs_f64() * 100.0
        ));
    });
}
