use segue_plans::Status;
use std::fs::OpenOptions;

use super::*;

fn begin(dir: &Path) -> Kept {
    Kept::begin(dir, State { version: State::VERSION, id: "p".to_owned(), ..State::default() }).unwrap()
}

fn patches(dir: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join("changes.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["patch"].clone()).collect()
}

#[test]
fn p7_a_change_of_one_phase_is_a_small_patch_however_many_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = begin(dir.path());
    for n in 0..200 {
        kept.change(|state| state.phase_mut(&n.to_string()).status = Status::Completed).unwrap();
    }
    kept.change(|state| state.phase_mut("7").why = "it is so".to_owned()).unwrap();
    let last = patches(dir.path()).pop().unwrap();
    assert_eq!(last, json!({ "phases": { "7": { "why": "it is so" } } }));
    for patch in patches(dir.path()) {
        assert!(serde_json::to_string_pretty(&patch).unwrap().lines().count() < 20, "{patch}");
    }
    assert_eq!(Kept::look(dir.path()).unwrap(), *kept.state());
    let view: State = serde_json::from_slice(&std::fs::read(dir.path().join("state.json")).unwrap()).unwrap();
    assert_eq!(view, *kept.state());
}

#[test]
fn what_a_dying_process_left_half_written_is_dropped_and_the_rest_stands() {
    let dir = tempfile::tempdir().unwrap();
    begin(dir.path()).change(|state| state.phase_mut("1").tries = 1).unwrap();
    let path = dir.path().join("changes.jsonl");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"seq\":3,\"patch\":{\"phases\"").unwrap();
    let mut kept = Kept::open(dir.path()).unwrap();
    assert_eq!(kept.state().phase("01").unwrap().tries, 1);
    kept.change(|state| state.phase_mut("1").tries = 2).unwrap();
    assert_eq!(Kept::look(dir.path()).unwrap().phase("1").unwrap().tries, 2);
}

#[test]
fn a_damaged_line_is_named() {
    let dir = tempfile::tempdir().unwrap();
    begin(dir.path());
    let path = dir.path().join("changes.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}not this\n")).unwrap();
    let error = Kept::look(dir.path()).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("--restart"), "{error}");
}

#[test]
fn no_id_of_a_phase_leads_out_of_the_plan() {
    let dir = Path::new("/p");
    for (id, name) in
        [("6D", "6D"), ("26.2", "26.2"), ("../x", ".._x"), ("..", "_"), ("", "_"), ("a/b c", "a_b_c")]
    {
        assert_eq!(phase_dir(dir, id), dir.join("phases").join(name));
    }
}

#[test]
fn every_run_of_a_phase_is_remembered_and_not_only_the_last() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = begin(dir.path());
    for (phase, run) in [("1", "r1"), ("2", "r2"), ("1", "r3")] {
        kept.change(|state| state.phase_mut(phase).run = Some(run.to_owned())).unwrap();
    }
    let found = runs(dir.path());
    let found: Vec<(&str, &str)> = found.iter().map(|(phase, run)| (phase.as_str(), run.as_str())).collect();
    assert_eq!(found, [("1", "r1"), ("2", "r2"), ("1", "r3")]);
    assert!(runs(&dir.path().join("nowhere")).is_empty());
}
