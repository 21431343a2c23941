//! Reading, judging and striking, each by small examples.

use super::*;

fn all(text: &str) -> Vec<ClaimKind> {
    claims(text).into_iter().map(|c| c.kind).collect()
}

fn file(path: &str, change: Change) -> ClaimKind {
    ClaimKind::File { path: path.to_owned(), change }
}

fn world() -> Evidence {
    let list = |paths: &[&str]| paths.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
    Evidence {
        created: list(&["src/new.rs", "src/x/mod.rs"]),
        modified: list(&["src/changed.rs"]),
        deleted: list(&["src/gone.rs"]),
        tree: list(&[
            "src/new.rs",
            "src/x/mod.rs",
            "src/changed.rs",
            "src/same.rs",
            "a/mod.rs",
            "b/twin.rs",
            "c/twin.rs",
        ]),
        ignored: list(&["target/out.txt"]),
        root: Some("/w/repo".to_owned()),
        commits: vec![("abcdef1234567890".to_owned(), "parser: first part".to_owned())],
        git: true,
        ..Evidence::default()
    }
}

fn found(text: &str, evidence: &Evidence) -> Vec<Finding> {
    judge(claims(text), evidence).into_iter().map(|j| j.finding).collect()
}

#[test]
fn v2_only_plain_words_claim_a_file() {
    for (text, claimed) in [
        ("I created `src/a.rs`.", vec![file("src/a.rs", Change::Created)]),
        ("- Added `a.rs` and `b.rs`", vec![file("a.rs", Change::Created), file("b.rs", Change::Created)]),
        ("- `src/a.rs` (new)", vec![file("src/a.rs", Change::Created)]),
        ("I created the following files:\n- src/a.rs", vec![file("src/a.rs", Change::Created)]),
        (
            "Files modified: src/a.rs, b.rs",
            vec![file("src/a.rs", Change::Touched), file("b.rs", Change::Touched)],
        ),
        ("- Added `dist/` to .gitignore", vec![]),
        ("- Created `config.json` parsing helpers", vec![]),
        ("I did not create `src/a.rs`.", vec![]),
        ("Created `src/a.rs`, then removed it again.", vec![]),
        ("I will create `src/a.rs`.", vec![]),
    ] {
        let found: Vec<ClaimKind> = all(text).into_iter().filter(ClaimKind::checkable).collect();
        assert_eq!(found, claimed, "{text}");
    }
}

#[test]
fn sections_say_what_their_items_are() {
    let text = "## Completed Work\n- [x] the parser\n- [ ] the printer\n## Remaining Tasks\n- the tests\n## Do Not Redo\n\
        - mmap: tried it, does not work\n- the layout\n## Key Decisions\n- SQLite for the journal\n- lines must stay below 80\n\
        ## Known issues\n- test_empty fails\n## Rules\n- never push\n";
    assert_eq!(
        all(text),
        [
            ClaimKind::Done,
            ClaimKind::Remaining,
            ClaimKind::Remaining,
            ClaimKind::DeadEnd,
            ClaimKind::DoNotRedo,
            ClaimKind::Decision,
            ClaimKind::Constraint,
            ClaimKind::Failure,
            ClaimKind::Rule
        ]
    );
}

#[test]
fn files_are_held_against_git() {
    use Finding::{Confirmed, Contradicted, Unknown};
    for (text, finding) in [
        ("Created new.rs.", Confirmed),
        ("Created src/changed.rs.", Confirmed),
        ("Modified src/same.rs.", Contradicted),
        ("Modified same.rs.", Contradicted),
        ("Deleted src/gone.rs.", Confirmed),
        ("Deleted same.rs.", Contradicted),
        ("Deleted never.rs.", Unknown),
        ("Updated twin.rs.", Unknown),
        ("Updated b/twin.rs.", Contradicted),
        ("Created mod.rs.", Confirmed),
        ("Created /tmp/x.rs.", Unknown),
        ("Created /w/repo/src/new.rs.", Confirmed),
        ("Created /w/repo/src/nope.rs.", Contradicted),
        ("Wrote target/out.txt.", Unknown),
        ("Created the folder src/x/.", Confirmed),
        ("Created the folder src/y/.", Contradicted),
    ] {
        let text = format!("- {text}");
        assert_eq!(found(&text, &world()), [finding], "{text}");
        let blind = Evidence { git: false, ..world() };
        assert_eq!(found(&text, &blind), [Unknown], "{text}");
    }
}

#[test]
fn a_stale_or_missing_gate_settles_nothing_and_would_be_worth_a_run() {
    let gate = |passed, stale| GateFact {
        name: "tests".to_owned(),
        passed,
        stale,
        exit: Some(1),
        ..GateFact::default()
    };
    let with = |gates: Vec<GateFact>| judge(claims("All tests pass."), &Evidence { gates, ..world() });
    for (gates, finding) in [
        (vec![], Finding::Unknown),
        (vec![gate(true, true)], Finding::Unknown),
        (vec![gate(false, true)], Finding::Unknown),
        (vec![gate(true, false)], Finding::Confirmed),
        (vec![gate(false, false)], Finding::Contradicted),
    ] {
        let judged = with(gates);
        assert_eq!(judged.iter().map(|j| j.finding).collect::<Vec<_>>(), [finding]);
        assert!(wants_gate(&judged[0].claim));
    }
    assert_eq!(with(vec![gate(false, false)])[0].evidence, "gate tests: fails (exit 1)");
}

#[test]
fn commits_are_held_against_the_log() {
    let clean = Evidence { ..world() };
    assert_eq!(found("Committed as abcdef1.", &world()), [Finding::Confirmed]);
    assert_eq!(found("Committed as abcdef9.", &world()), [Finding::Contradicted]);
    assert_eq!(found("Commit: abcdef1", &clean), [Finding::Confirmed]);
    assert_eq!(found("Commits: abcdef1, 9d1e0aa", &clean), [Finding::Confirmed, Finding::Contradicted]);
    assert_eq!(found("The bug came with commit 9d1e0aa.", &clean), []);
}

#[test]
fn only_sentences_in_which_something_is_not_so_are_struck() {
    let text = "## Completed Work\n- Created src/new.rs.  It   is fast.\n- Created src/nope.rs\n  with the lexer\n- Created src/new.rs and src/nope.rs\n\
        - All tests pass\n\nProse: {{ kept }}. I created src/lie.rs. It works.\n";
    let judged = judge(claims(text), &world());
    assert_eq!(
        strike(text, &judged),
        "## Completed Work\n- Created src/new.rs.  It   is fast.\n- All tests pass (unverified)\n\n\
        Prose: {{ kept }}. It works."
    );
    assert_eq!(count(&judged).contradicted, 3);
}

#[test]
fn many_changed_files_are_looked_through_once() {
    let created: Vec<String> = (0..10_000).map(|n| format!("src/m{}/f{n}.rs", n % 100)).collect();
    let evidence = Evidence { git: true, tree: created.clone(), created, ..Evidence::default() };
    assert_eq!(
        found("- Created f9999.rs and f10000.rs.", &evidence),
        [Finding::Confirmed, Finding::Contradicted]
    );
}

#[test]
fn v2_the_report_that_was_asked_for_and_lists_of_nothing_claim_no_commit() {
    let report =
        r#"{"status": "completed", "tasks": [], "commits": [], "issues": [], "summary": "All committed."}"#;
    for text in [
        report,
        "Commits: none",
        "Commit: n/a",
        "- Commits: none.",
        &format!("Done.\n```json\n{report}\n```"),
    ] {
        let found = claims(text);
        assert!(!found.iter().any(|c| matches!(c.kind, ClaimKind::Committed { .. })), "{text}: {found:?}");
    }
}
