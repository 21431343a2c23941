//! `segue demo` under every policy: the whole way, judged by the steps' own log.

use std::path::PathBuf;

use segue_machine::policy::preset;
use segue_rehearsal::script::Script;
use segue_rehearsal::sizing;
use segue_rehearsal::step_log::StepLog;

use crate::support::{Done, World};

/// A demo that has ended, and where it left its files.
pub(crate) struct Shown {
    pub(crate) world: World,
    pub(crate) done: Done,
    dir: PathBuf,
}

/// Runs the demo in a folder of its own.
pub(crate) fn demo(more: &[&str]) -> Shown {
    let world = World::new(1, Script::default());
    let dir = world.root().join("demo");
    let args = [&["demo", "--fast", "--keep", dir.to_str().unwrap()], more].concat();
    let done = world.segue(&args);
    Shown { world, done, dir }
}

impl Shown {
    pub(crate) fn repository(&self) -> PathBuf {
        self.dir.join("repository")
    }

    /// Runs the program in the demo's repository.
    pub(crate) fn segue(&self, args: &[&str]) -> Done {
        let repository = self.repository();
        self.world.segue(&[&["-C", repository.to_str().unwrap()], args].concat())
    }

    fn git(&self, args: &[&str]) -> String {
        let repository = self.repository();
        self.world.git(&[&["-C", repository.to_str().unwrap()], args].concat())
    }

    fn log(&self) -> StepLog {
        StepLog::parse(&std::fs::read_to_string(self.dir.join("steps.log")).unwrap())
    }

    /// Nothing twice, nothing lost, nothing half done.
    fn assert_whole(&self, steps: u32) {
        let log = self.log();
        assert_eq!(log.distinct_done(), (1..=steps).collect());
        assert!(log.started_twice().is_empty() && log.half_done().is_empty(), "{log:?}");
    }
}

/// The job of a demo needs four windows, and none of them overflows.
fn four_windows(policy: &str) -> Shown {
    let shown = demo(&["--json", "--policy", policy]);
    assert_eq!(shown.done.code, Some(0), "{}", shown.done.all());
    let finished = shown.done.of("run.finished");
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["verdict"], "verified");
    assert_eq!((&finished[0]["sessions"], &finished[0]["overflows"]), (&4.into(), &0.into()));
    assert_eq!(finished[0]["handoffs"], 3);
    let steps = sizing::for_policy(&preset::find(policy).unwrap().policy, 4).job.steps;
    shown.assert_whole(steps);
    let log = shown.log();
    assert_eq!((log.sessions().len(), log.overflows().len()), (4, 0));
    let replaced = shown.done.of("session.ended");
    let reasons: Vec<_> = replaced.iter().map(|line| line["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["replaced", "replaced", "replaced", "finished"]);
    shown
}

#[test]
fn t1_auto_carries_the_job_over_four_windows() {
    let shown = four_windows("auto");
    assert_eq!(shown.git(&["log", "--format=%s"]), "the job\n", "the branch is the user's");
    assert_eq!(shown.git(&["diff", "--cached", "--name-only"]), "");
    assert_eq!(shown.git(&["for-each-ref", "refs/segue"]).lines().count(), 4);
}

#[test]
fn t1_seamless_carries_the_job_over_four_windows_and_counts_its_context_restarts() {
    let shown = four_windows("seamless");
    for (n, handoff) in shown.done.of("handoff.decided").iter().enumerate() {
        let text = handoff["text"].as_str().unwrap();
        assert!(text.starts_with(&format!("context restart #{} at 9", n + 1)), "{text}");
    }
    for stage in shown.done.of("stage.reached") {
        assert_eq!(stage["stage"], "90%");
        assert!(stage["percent"].as_f64().unwrap() >= 90.0, "{stage}");
    }
}

#[test]
fn t1_loop_carries_the_job_over_four_windows_with_short_checkpoints() {
    let shown = four_windows("loop");
    let taken = shown.done.of("checkpoint.taken");
    assert_eq!(taken.len(), 3);
    for checkpoint in taken {
        let path = shown.repository().join(checkpoint["path"].as_str().unwrap());
        let document: serde_json::Value = serde_json::from_str(&crate::support::unpacked(&path)).unwrap();
        assert!(document["summary"].as_str().unwrap().chars().count() <= 2_000);
    }
    for reading in shown.done.of("gauge.read").iter().chain(&shown.done.of("handoff.decided")) {
        assert!(reading["usage_pct"].is_number(), "{reading}");
    }
}

#[test]
fn t9_staged_carries_the_job_over_four_windows_with_its_alerts() {
    let shown = four_windows("staged");
    let run = shown.done.lines()[0]["run"].as_str().unwrap().to_owned();
    let stages = shown.done.of("stage.reached");
    let of_first: Vec<_> = stages.iter().filter(|line| line["session"] == "s1").collect();
    let names: Vec<_> = of_first.iter().map(|line| line["stage"].as_str().unwrap()).collect();
    assert_eq!(names, ["80%", "90%", "95%", "98%"], "each once per session");
    assert!(of_first[0]["text"].is_null());
    let heads = ["[TOKEN ALERT]", "[CRITICAL]", "[EMERGENCY]"];
    for ((line, head), at) in of_first[1..].iter().zip(heads).zip([90, 95, 98]) {
        let text = line["text"].as_str().unwrap();
        let begins = format!("{head} Task {run} at {at}% capacity. Remaining: ");
        assert!(text.starts_with(&begins) && text.contains("K tokens."), "{text}");
        assert_eq!(text.ends_with(" FORCE HANDOFF"), at == 98, "{text}");
    }
    for handoff in shown.done.of("handoff.decided") {
        assert_eq!(handoff["kind"], "forced");
    }
    let taken = shown.done.of("checkpoint.taken");
    let depths: Vec<_> = taken.iter().filter(|line| line["session"] == "s2").map(|l| &l["depth"]).collect();
    assert_eq!(depths, ["brief", "full", "emergency"]);
}

#[test]
fn t1_phased_carries_the_job_over_four_windows_and_commits() {
    let shown = four_windows("phased");
    let commits = shown.git(&["log", "--format=%s"]);
    let commits: Vec<&str> = commits.lines().collect();
    assert_eq!(commits.len(), 5, "{commits:?}");
    assert_eq!(commits[4], "the job");
    assert!(commits[0].contains("completed") && commits[1].contains("in progress"), "{commits:?}");
    assert_eq!(shown.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_demo_says_in_words_what_happened_and_where_to_look() {
    let shown = demo(&[]);
    assert_eq!(shown.done.code, Some(0), "{}", shown.done.all());
    let repository = shown.repository().display().to_string();
    for words in [
        "verified: all gates pass",
        "4 sessions · 3 handoffs",
        "step log: 19 of 19 steps done, 0 repeated, 0 lost · 4 sessions, 0 overflows",
        " status   (log, show, replay)",
        &format!("cd {repository}"),
    ] {
        assert!(shown.done.out.contains(words), "{words}\n{}", shown.done.all());
    }
    let again = shown.world.segue(&["demo", "--fast", "--keep", shown.dir.to_str().unwrap()]);
    assert_eq!(again.code, Some(2), "a folder with something in it is not written to");
    let status = shown.segue(&["status"]);
    assert!(status.code == Some(0) && status.out.contains("verified"), "{}", status.all());
}

#[test]
fn t10_observe_only_warns_and_leaves_a_handoff_file_from_which_resume_finishes() {
    let shown = demo(&["--json", "--policy", "observe"]);
    assert_eq!(shown.done.code, Some(1), "{}", shown.done.all());
    let stages = shown.done.of("stage.reached");
    let reached: Vec<_> = stages.iter().map(|s| (s["stage"].as_str().unwrap(), s["do"].clone())).collect();
    let warn_and_tell = serde_json::json!(["warn", "tell"]);
    assert_eq!(reached, [("70%", warn_and_tell.clone()), ("90%", warn_and_tell)]);
    for kind in ["checkpoint.requested", "handoff.decided"] {
        assert!(shown.done.of(kind).is_empty(), "{kind}");
    }
    let finished = &shown.done.of("run.finished")[0];
    assert_eq!((&finished["verdict"], &finished["overflows"]), (&"failed".into(), &1.into()));
    assert_eq!(shown.done.of("session.ended")[0]["reason"], "overflow");

    let handoff = std::fs::read_to_string(shown.repository().join("HANDOFF.md")).unwrap();
    let run = finished["run"].as_str().unwrap();
    for words in [
        "- Phase: Write the parts\n",
        "- Reason: the context overflowed",
        "- Time: 20",
        "- Last commit: ",
        "## Tasks Completed\n| # | what |",
        "## Tasks Remaining\n| # | what |\n|---|---|\n| 1 | ",
        "## Files Modified\n",
        "parts/01.txt",
        "## Partial Progress\n",
        &format!("segue resume {run}"),
    ] {
        assert!(handoff.contains(words), "{words}\n{handoff}");
    }
    let resumed = shown.segue(&["resume", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.all());
    let finished = &resumed.of("run.finished")[0];
    assert_eq!((&finished["verdict"], &finished["overflows"]), (&"verified".into(), &1.into()));
    assert_eq!(resumed.of("session.started")[0]["reason"], "resume");
    shown.assert_whole(15);
}

#[test]
fn native_leaves_compaction_to_the_agent_and_says_so() {
    let shown = demo(&["--json", "--policy", "native"]);
    assert_eq!(shown.done.code, Some(0), "{}", shown.done.all());
    assert!(shown.done.of("warning").iter().any(|line| line["code"] == "compacted"), "{}", shown.done.all());
    let finished = &shown.done.of("run.finished")[0];
    assert_eq!((&finished["verdict"], &finished["sessions"]), (&"verified".into(), &1.into()));
    assert_eq!(finished["overflows"], 0);
    assert_eq!(shown.done.of("stage.reached")[0]["do"], serde_json::json!(["warn"]));
    shown.assert_whole(15);
}

#[test]
fn without_segue_the_same_job_overflows_and_fails() {
    let shown = demo(&["--bare", "--json"]);
    assert_eq!(shown.done.code, Some(1), "{}", shown.done.all());
    let doc = &shown.done.lines()[0];
    assert_eq!(doc["overflows"], 1);
    assert!(doc["done"].as_u64() < doc["steps"].as_u64(), "{doc}");
    assert_eq!(shown.log().overflows().len(), 1);
    assert_eq!(demo(&["--bare"]).done.code, Some(1));
}

#[test]
fn an_unknown_policy_is_refused_with_the_list() {
    let shown = demo(&["--policy", "nope"]);
    assert_eq!(shown.done.code, Some(2));
    assert!(shown.done.err.contains("\"nope\""), "{}", shown.done.err);
    for name in preset::NAMES {
        assert!(shown.done.err.contains(name), "{name}: {}", shown.done.err);
    }
}

#[test]
fn c7_the_prompt_after_a_handoff_holds_the_checkpoint_the_task_and_the_words_of_its_preset() {
    let cases = [
        ("auto", "Completed Work"),
        ("seamless", "Do Not Redo"),
        ("loop", "## Previous Session Context (Summarized)"),
        ("staged", "[Context Checkpoint: "),
        ("phased", "context limit"),
    ];
    for (policy, words) in cases {
        let sized = sizing::for_policy(&preset::find(policy).unwrap().policy, 2);
        let mut world = World::new(sized.job.steps, Script::default());
        let kept = world.root().join("kept");
        world.script(Script { state_dir: Some(kept.clone()), think_ms: 10, ..sized.script });
        world.set_env("SEGUE_POLICY", policy);
        let done = world.segue(&["run", "TASK.md", "--json"]);
        assert_eq!(done.code, Some(0), "{policy}: {}", done.all());
        let log = world.steps();
        let second = std::fs::read_to_string(kept.join(format!("{}.jsonl", log.sessions()[1]))).unwrap();
        let prompt: serde_json::Value = serde_json::from_str(second.lines().next().unwrap()).unwrap();
        let prompt = prompt["text"].as_str().unwrap();
        assert!(prompt.contains(words), "{policy}: {prompt}");
        assert!(prompt.contains(world.job.task_text().trim()), "{policy}: the whole task: {prompt}");
        assert!(prompt.contains("step 1: write part 1\n"), "{policy}: {prompt}");
    }
}
