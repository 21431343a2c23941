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

/// A plan of a few changes with flags, in a folder of its name.
fn whole(dir: &Path, id: &str) -> PathBuf {
    let dir = dir.join(id);
    let mut kept = Kept::begin(
        &dir,
        State { version: State::VERSION, id: id.to_owned(), plan: format!("{id}.md"), ..State::default() },
    )
    .unwrap();
    kept.keep_flags(&["--gate".to_owned(), "sh check.sh".to_owned()]).unwrap();
    for n in 0..10 {
        kept.change(|state| state.phase_mut(&n.to_string()).why = format!("why {n}")).unwrap();
    }
    dir
}

fn told(dir: &Path) -> String {
    Kept::open(dir).map(|_| String::new()).unwrap_or_else(|error| error.to_string())
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }
}

/// Changes the plan in one of the ways, and says which; every link that follows is right again where that is the way.
fn tamper(dir: &Path, other: &Path, dice: &mut Dice) -> String {
    let path = dir.join(CHANGES);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = dice.roll(lines.len());
    let flip = |line: &str| line.replacen("\"seq\":", "\"more\":1,\"seq\":", 1);
    let repaired = |lines: &[String]| {
        let mut chain = Chain::of(dir);
        let line = |line: &String| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("chain");
            String::from_utf8(chain.line(record["seq"].as_u64().unwrap(), record)).unwrap()
        };
        lines.iter().map(line).collect::<String>()
    };
    match dice.roll(7) {
        0 => {
            lines[at] = flip(&lines[at]);
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            format!("line {at} changed")
        }
        1 => {
            lines[at] = flip(&lines[at]);
            std::fs::write(&path, repaired(&lines)).unwrap();
            format!("line {at} changed, and the links repaired")
        }
        2 => {
            lines.truncate(at.max(1));
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            format!("cut off after {at}")
        }
        3 => {
            std::fs::copy(other.join(CHANGES), &path).unwrap();
            "another plan's changes".to_owned()
        }
        4 => {
            let theirs = std::fs::read_to_string(other.join(CHANGES)).unwrap();
            let theirs: Vec<String> = theirs.lines().map(str::to_owned).collect();
            std::fs::write(&path, repaired(&theirs)).unwrap();
            "another plan's changes, the links repaired".to_owned()
        }
        5 => {
            std::fs::write(dir.join(FLAGS), "[\"--gate\",\"true\"]").unwrap();
            "another gate among the flags".to_owned()
        }
        _ => {
            lines.remove(at.min(lines.len() - 2));
            std::fs::write(&path, repaired(&lines)).unwrap();
            format!("line {at} taken out, and the links repaired")
        }
    }
}

#[test]
fn s5_of_a_thousand_changes_to_a_plan_none_goes_unnoticed() {
    let top = tempfile::tempdir().unwrap();
    let (dir, other) = (whole(top.path(), "plan-a"), whole(top.path(), "plan-b"));
    assert_eq!(told(&dir), "");
    let files = [CHANGES, FLAGS].map(|name| (dir.join(name), std::fs::read(dir.join(name)).unwrap()));
    let mut dice = Dice(7);
    for n in 0..1_000 {
        let what = tamper(&dir, &other, &mut dice);
        let error = told(&dir);
        assert!(error.contains("changed outside segue"), "change {n}, {what}: {error:?}");
        files.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    }
    assert_eq!(told(&dir), "");
}

#[test]
fn s5_an_anchor_of_a_plan_that_is_gone_or_old_is_noticed_and_a_person_may_accept_it() {
    let top = tempfile::tempdir().unwrap();
    let dir = whole(top.path(), "plan-a");
    let anchor = dir.join("anchors/anchors/plan-a.json");
    let before = std::fs::read(&anchor).unwrap();
    Kept::open(&dir).unwrap().change(|state| state.phase_mut("1").tries = 1).unwrap();
    // A tail that extends the anchor is what a crash leaves.
    let last = std::fs::read(&anchor).unwrap();
    std::fs::write(&anchor, &before).unwrap();
    assert_eq!(told(&dir), "");
    Kept::open(&dir).unwrap().change(|state| state.phase_mut("1").tries = 2).unwrap();
    std::fs::write(&anchor, &before).unwrap();
    assert!(told(&dir).contains("its anchor is of change 11"), "{}", told(&dir));
    std::fs::write(&anchor, &last).unwrap();
    std::fs::remove_file(&anchor).unwrap();
    assert!(told(&dir).contains("was removed"), "{}", told(&dir));
    std::fs::remove_dir_all(dir.join("anchors")).unwrap();
    assert_eq!(told(&dir), "", "another container: a warning");
    std::fs::write(dir.join(FLAGS), "[]").unwrap();
    assert!(told(&dir).contains("flags.json"), "{}", told(&dir));
    Kept::open_as(&dir, true).unwrap();
    assert_eq!(told(&dir), "");
}

#[test]
fn s5_changes_of_an_older_version_have_no_links_and_are_read_on() {
    let top = tempfile::tempdir().unwrap();
    let dir = whole(top.path(), "plan-a");
    std::fs::remove_dir_all(dir.join("anchors")).unwrap();
    let text = std::fs::read_to_string(dir.join(CHANGES)).unwrap();
    let bare = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        for key in ["chain", "anchored"] {
            record.as_object_mut().unwrap().remove(key);
        }
        record.to_string() + "\n"
    };
    std::fs::write(dir.join(CHANGES), text.lines().map(bare).collect::<String>()).unwrap();
    Kept::open(&dir).unwrap().change(|state| state.phase_mut("1").tries = 1).unwrap();
    assert_eq!(told(&dir), "");
    let text = std::fs::read_to_string(dir.join(CHANGES)).unwrap();
    std::fs::write(dir.join(CHANGES), text.replacen("why 3", "why 4", 1)).unwrap();
    assert!(told(&dir).contains("changed outside segue"));
}

#[test]
fn s5_flags_that_are_gone_are_missed_and_those_of_a_plan_that_was_killed_as_it_began_are_not() {
    let top = tempfile::tempdir().unwrap();
    let dir = whole(top.path(), "plan-a");
    let flags = std::fs::read(dir.join(FLAGS)).unwrap();
    std::fs::remove_file(dir.join(FLAGS)).unwrap();
    assert!(told(&dir).contains("removed"), "{}", told(&dir));
    std::fs::write(dir.join(FLAGS), &flags).unwrap();
    assert_eq!(told(&dir), "");
    Kept::open(&dir).unwrap().change(|state| state.status = Standing::Completed).unwrap();
    std::fs::remove_file(dir.join(FLAGS)).unwrap();
    assert_eq!(told(&dir), "", "a completed plan needs them no more");

    let begun = top.path().join("plan-b");
    Kept::begin(&begun, State { version: State::VERSION, id: "plan-b".to_owned(), ..State::default() })
        .unwrap();
    std::fs::write(begun.join(FLAGS), &flags).unwrap();
    assert_eq!(told(&begun), "");
}
