//! Names, owners and the rules of removal, without git.

use segue_journal::RunRow;
use segue_plans::Status;

use super::owners::PlanRuns;
use super::*;
use crate::checkpoint::Found;
use crate::config::Retention;
use crate::plan::{Standing, State};
use crate::store::Store;

const DAY: Millis = 86_400_000;

fn saved(run: &str, label: &str, back: u32, day: Millis) -> Saved {
    let (run, label, at) = (run.to_owned(), label.to_owned(), day * DAY);
    let (commit, tree) = (String::new(), String::new());
    Saved { run, label, back, at, commit, tree, head: None, base: None }
}

fn row(id: &str, status: &str) -> RunRow {
    let text = String::new;
    let (id, status) = (id.to_owned(), status.to_owned());
    RunRow { id, created_at: 0, task: text(), agent: text(), policy: text(), status, finished_at: None }
}

fn plan(id: &str, status: Standing, runs: &[(&str, &str)]) -> PlanRuns {
    let mut state = State { id: id.to_owned(), status, ..State::default() };
    for (run, phase) in runs {
        let known = state.phase_mut(phase);
        (known.run, known.status) = (Some((*run).to_owned()), Status::Completed);
    }
    let runs = runs.iter().map(|(run, phase)| ((*run).to_owned(), (*phase).to_owned())).collect();
    PlanRuns { state, runs }
}

fn owners() -> Owners {
    let rows =
        [("r1", "verified"), ("r2", "stopped"), ("r3", "unverified"), ("r4", "verified"), ("r5", "failed")];
    let plans = [
        plan("plan-a", Standing::Completed, &[("r5", "2"), ("r3", "2"), ("w1", "2.1"), ("w2", "3")]),
        plan("plan-b", Standing::Stopped, &[("r4", "1"), ("w3", "2")]),
    ];
    Owners::new(rows.map(|(id, status)| row(id, status)).into(), plans)
}

fn named(list: Vec<Saved>) -> Vec<Entry> {
    entries(list, &owners())
}

#[test]
fn names_are_short_where_that_is_clear_and_the_oldest_comes_first() {
    let list = named(vec![
        saved("r1", "r1-c111", 0, 2),
        saved("r1", "end-143", 0, 2),
        saved("r1", "r1-c74", 0, 2),
        saved("r1", "r1-c9", 0, 1),
        saved("r1", "r1-c9", 1, 1),
        saved("r1", "r1-x", 0, 3),
        saved("r1", "x", 0, 3),
    ]);
    let names: Vec<&str> = list.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["r1/c9~1", "r1/c9", "r1/c74", "r1/c111", "r1/end-143", "r1/r1-x", "r1/x"]);
}

#[test]
fn the_plan_and_the_phase_of_a_snapshot_are_known_from_its_run_or_its_label() {
    let place = |run: &str, label: &str| {
        let entry = named(vec![saved(run, label, 0, 1)]).remove(0);
        (entry.plan.unwrap_or_default(), entry.phase.unwrap_or_default())
    };
    let pair = |plan: &str, phase: &str| (plan.to_owned(), phase.to_owned());
    assert_eq!(place("r1", "end-1"), pair("", ""));
    assert_eq!(place("r3", "end-1"), pair("plan-a", "2"));
    assert_eq!(place("r5", "end-1"), pair("plan-a", "2"), "an earlier try of the phase");
    assert_eq!(place("plan-a", "2-1-before-merge"), pair("plan-a", "2.1"));
    assert_eq!(place("plan-a", "2-before-merge"), pair("plan-a", "2"));
    assert_eq!(place("plan-a", "99-before-merge"), pair("plan-a", ""));
}

#[test]
fn one_is_meant_by_name_reference_label_beginning_or_as_the_last() {
    let list = named(vec![
        saved("r1", "r1-c9", 1, 1),
        saved("r1", "r1-c9", 0, 2),
        saved("r2", "r2-c9", 0, 3),
        saved("r2", "end-50", 0, 4),
    ]);
    let meant = |typed: &str| choose(&list, typed).map(|entry| entry.name.clone()).map_err(|e| e.to_string());
    for (typed, name) in [
        ("r1/c9", "r1/c9"),
        ("r1/c9~1", "r1/c9~1"),
        ("r1/r1-c9~1", "r1/c9~1"),
        ("refs/segue/r2/r2-c9", "r2/c9"),
        ("end", "r2/end-50"),
        ("r2-c", "r2/c9"),
        ("r1", "r1/c9"),
        ("c9~1", "r1/c9~1"),
        ("last", "r2/end-50"),
    ] {
        assert_eq!(meant(typed).as_deref(), Ok(name), "{typed}");
    }
    assert!(meant("c9").unwrap_err().contains("r1/c9"));
    assert!(meant("r2").unwrap_err().contains("is ambiguous"));
    assert!(meant("r2/emd-50").unwrap_err().contains("did you mean r2/end-50?"));
    assert!(meant("").unwrap_err().contains("the newest are r2/end-50"));
    assert!(choose(&[], "last").unwrap_err().to_string().contains("no snapshots here yet"));
}

#[test]
fn a_plan_stands_for_its_phases_runs_too() {
    let list = named(vec![saved("old", "c1", 0, 1), saved("r3", "c1", 0, 1)]);
    let runs = |typed: &str| choose_owner(&list, &owners(), typed).map_err(|error| error.to_string());
    let all: Vec<String> = runs("plan-a").unwrap().1.into_iter().collect();
    assert_eq!(all, ["plan-a", "r3", "r5", "w1", "w2"]);
    assert_eq!(runs("ol").unwrap().0, "old");
    assert_eq!(runs("r1").unwrap().1.len(), 1);
    assert!(runs("plan").unwrap_err().contains("is ambiguous: plan-b, plan-a"));
    assert!(runs("plan-q").unwrap_err().contains("did you mean plan-"));
    assert!(runs("zzzz").unwrap_err().contains("no run and no plan"));
}

fn gone(list: &[Entry], checkpoints: &[Found], keep: Retention) -> Vec<String> {
    let gone = to_remove(list, &owners(), checkpoints, keep, 100 * DAY);
    gone.into_iter().map(|(entry, _)| entry.name.clone()).collect()
}

#[test]
fn only_old_ones_of_what_is_done_go_and_never_those_of_stored_checkpoints() {
    let runs = ["r1", "r2", "r3", "r4", "r5", "w1", "w3", "nobody", "plan-a", "plan-b"];
    let mut list: Vec<Saved> = runs.iter().map(|run| saved(run, "end-5", 0, 80)).collect();
    list.extend([saved("r1", "r1-c3", 0, 70), saved("r1", "r1-c2", 0, 70), saved("r1", "r1-c2", 1, 60)]);
    list.push(saved("r1", "end-9", 0, 99));
    let list = named(list);
    let stored = Found { id: "r1-c3".to_owned(), run: "r1".to_owned(), path: "x".into(), written_at: 0 };
    let days = Retention { days: Some(7), ..Retention::default() };
    assert_eq!(
        gone(&list, std::slice::from_ref(&stored), days),
        ["plan-a/end-5", "r1/c2", "r1/end-5", "r3/end-5", "w1/end-5"]
    );
    let count = Retention { count: Some(1), ..Retention::default() };
    assert_eq!(gone(&list, &[stored], count), ["r1/c2", "r1/end-5"]);
    let done = Retention { until_done: true, ..Retention::default() };
    assert_eq!(gone(&list, &[], done).len(), 7);
    assert_eq!(gone(&list, &[], Retention::default()), [""; 0]);
}

#[test]
fn empty_folders_of_completed_plans_go_and_a_worktree_with_a_file_stays_whole() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::within(dir.path(), dir.path().join("state"));
    let work = store.all_trees().to_owned();
    for path in ["plan-a/1/x/empty", "plan-a/2/x/src/empty", "plan-a/2/y", "plan-b/1/x", "other/1"] {
        std::fs::create_dir_all(work.join(path)).unwrap();
    }
    std::fs::write(work.join("plan-a/2/x/src/main.rs"), "x").unwrap();
    std::os::unix::fs::symlink(dir.path(), work.join("plan-a/3")).unwrap();
    let mut found = leftovers(&store, &owners());
    found.sort();
    assert_eq!(found, [work.join("plan-a/1"), work.join("plan-a/2/y")]);
    for folder in &found {
        remove_leftover(folder).unwrap();
    }
    assert!(remove_leftover(&work.join("plan-a/3")).is_err() && work.exists(), "a link is no folder");
    assert!(work.join("plan-a/2/x/src/empty").exists() && work.join("plan-b/1/x").exists());
    assert!(!work.join("plan-a/1").exists());
    assert!(disk_use(&work) > 0 && disk_use(&work.join("nowhere")) == 0);
}

#[test]
fn what_is_done_is_cleared_up_quietly_and_nothing_without_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path());
    let git = |args: &str| {
        let known = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let mut call = std::process::Command::new("git");
        let out = call.args(known).args(args.split(' ')).current_dir(dir.path()).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    git("init --quiet");
    git("commit --quiet --allow-empty -m x");
    for name in ["r1/end-1", "r1/r1-c1", "r2/end-1", "nobody/end-1"] {
        git(&format!("update-ref refs/segue/{name} HEAD"));
    }
    let left = || -> Vec<String> {
        git("for-each-ref --format=%(refname:short) refs/segue").lines().map(str::to_owned).collect()
    };
    let (keep, shelf) = (Retention { until_done: true, ..Retention::default() }, dir.path().join("shelf"));
    std::fs::create_dir_all(&shelf).unwrap();
    std::fs::write(shelf.join("r1-c1.json.gz"), "x").unwrap();
    prune::prune_work_quietly(&store, &shelf, keep);
    assert_eq!(left().len(), 4);
    let store = store.create().unwrap();
    let mut journal = segue_journal::Journal::open(&store.runs());
    for one in [row("r1", "verified"), row("r2", "stopped")] {
        journal.create_run(&one).unwrap();
    }
    prune::prune_work_quietly(&store, &shelf, keep);
    assert_eq!(left(), ["segue/nobody/end-1", "segue/r1/r1-c1", "segue/r2/end-1"]);
}
