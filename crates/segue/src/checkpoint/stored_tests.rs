use segue_machine::{CheckpointBy, Claims, Depth};
use segue_report::Time;

use super::*;
use crate::checkpoint::document::{Files, History, Next, Tokens, schema};

pub(crate) fn document() -> Document {
    Document {
        version: 0,
        id: "r-c7".to_owned(),
        created_at: Time(1_700_000_000_000),
        run: "r".to_owned(),
        session: 1,
        iteration: 1,
        agent: "a".to_owned(),
        policy: "auto".to_owned(),
        by: CheckpointBy::Agent,
        source: None,
        depth: Depth::Full,
        stage: Some("90%".to_owned()),
        reason: "full".to_owned(),
        from: None,
        tokens: Tokens { percent: Some(88.37), ..Tokens::default() },
        task: "do it".to_owned(),
        summary: "done: a\n\"quoted\" {braces} ä€😀".to_owned(),
        history: History::default(),
        files: Files::default(),
        diffstat: None,
        commits: vec![],
        gates: vec![],
        errors: vec![],
        claims: vec![],
        counts: Claims::default(),
        ledger: Some(serde_json::json!({ "z": 1, "a": [{ "y": null, "b": "x" }] })),
        outputs: vec![],
        next: Next::default(),
        snapshot: None,
        tree: None,
        notes: vec![],
        trouble: None,
        redacted: 0,
        checksum: String::new(),
    }
}

fn unpack(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn it_is_read_as_it_was_stored() {
    let dir = tempfile::tempdir().unwrap();
    let path = document().store(dir.path(), "# md").unwrap();
    assert_eq!(path.file_name().unwrap(), "r-c7.json.gz");
    let read = Document::read(&path).unwrap();
    assert_eq!((read.version, read.checksum.len()), (2, 64));
    assert_eq!(Document { version: 0, checksum: String::new(), ..read }, document());
    assert!(dir.path().join("r-c7.md").exists());
    assert_eq!(Document::file(dir.path(), "r-c7"), path);
}

#[test]
fn it_is_smaller_than_its_json_and_says_by_how_much() {
    let dir = tempfile::tempdir().unwrap();
    let long = Document { summary: "the same line again\n".repeat(2_000), ..document() };
    let stored = Document::open(&long.store(dir.path(), "").unwrap()).unwrap();
    assert!(stored.unpacked > 38_000 && stored.bytes < 2_000, "{stored:?}");
    assert!(stored.ratio() > 19.0, "{}", stored.ratio());
}

#[test]
fn c9_a_changed_or_damaged_file_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = document().store(dir.path(), "").unwrap();
    let text = unpack(&path);
    let read = |text: &str| {
        std::fs::write(&path, pack(text.as_bytes()).unwrap()).unwrap();
        let packed = Document::read(&path);
        std::fs::write(&path, text).unwrap();
        let plain = Document::read(&path);
        assert_eq!(packed.is_ok(), plain.is_ok());
        packed
    };
    assert!(read(&text).is_ok());
    for (from, to) in [("done: a", "done: b"), ("\"y\":null", "\"y\":0"), ("{\"", "{\"extra\":1,\"")] {
        assert_ne!(text.replacen(from, to, 1), text);
        let changed = read(&text.replacen(from, to, 1));
        assert!(matches!(changed, Err(CheckpointError::Changed { .. })), "{from}: {changed:?}");
    }
    assert!(matches!(read(&text[..text.len() / 2]), Err(CheckpointError::Damaged { .. })));
    assert!(matches!(read("{}"), Err(CheckpointError::Damaged { .. })));
    let newer = read(&text.replace("\"version\":2", "\"version\":9"));
    assert!(matches!(newer, Err(CheckpointError::Newer { found: 9, .. })));
    let packed = pack(text.as_bytes()).unwrap();
    for cut in 0..packed.len() {
        std::fs::write(&path, &packed[..cut]).unwrap();
        assert!(Document::read(&path).is_err(), "cut at {cut}");
    }
}

#[test]
fn a_file_that_was_unpacked_and_laid_out_again_is_the_same_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let path = document().store(dir.path(), "").unwrap();
    let value: Value = serde_json::from_str(&unpack(&path)).unwrap();
    let other = dir.path().join("other.json");
    std::fs::write(&other, serde_json::to_string_pretty(&value).unwrap()).unwrap();
    assert_eq!(Document::read(&other).unwrap().summary, document().summary);
}

#[test]
fn fields_that_a_later_segue_adds_to_this_version_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let mut value: Value = serde_json::from_slice(&document().json().unwrap()).unwrap();
    value["later"] = "x".into();
    value["checksum"] = sum(&value).into();
    let path = dir.path().join("later.json");
    std::fs::write(&path, value.to_string()).unwrap();
    assert_eq!(Document::read(&path).unwrap().id, "r-c7");
}

#[test]
fn the_first_version_is_still_read_and_its_changes_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let first = include_str!("first_version.json");
    let path = dir.path().join("old-c36.json");
    std::fs::write(&path, first).unwrap();
    assert_eq!(Document::file(dir.path(), "old-c36"), path);
    let read = Document::read(&path).unwrap();
    assert!(read.summary.contains("## Completed Work"), "{}", read.summary);
    assert_eq!((read.gates[0].name.as_str(), read.gates[0].passed), ("check", false));
    std::fs::write(&path, first.replace("step 1", "step 9")).unwrap();
    assert!(matches!(Document::read(&path), Err(CheckpointError::Changed { .. })));
}

#[test]
fn what_is_stored_fits_the_published_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let value: Value = serde_json::from_slice(&document().json().unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let mut wrong = value;
    wrong["summary"] = 5.into();
    assert!(!validator.is_valid(&wrong));
}
