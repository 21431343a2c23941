//! What is no plan, and why.

use segue_plans::{NoFiles, NoPlan, read_plan, read_prompt};

fn refused(bytes: &[u8]) -> NoPlan {
    read_plan("x.md", bytes, &NoFiles).unwrap_err()
}

#[test]
fn p6_a_text_without_structure_is_refused_with_advice() {
    for text in [
        "Make it faster.",
        "# Title\n\nSome words.\n\n- a list\n- of things\n",
        "---\nphase: 1\nplan: 2\n---\n\nNothing here.\n",
        "{\"a\": 1}",
        "[]",
        "[{\"a\": 1}]",
    ] {
        let error = refused(text.as_bytes());
        assert!(matches!(error, NoPlan::NoStructure(_)), "{text}: {error:?}");
        assert!(error.to_string().contains("### Task 1"), "{error}");
    }
}

#[test]
fn nothing_and_bytes_are_refused() {
    assert_eq!(refused(b" \n"), NoPlan::Empty("x.md".to_owned()));
    assert_eq!(refused(b"- [ ] a\xff"), NoPlan::NotText("x.md".to_owned(), 7));
}

#[test]
fn broken_files_are_refused_with_their_line() {
    let toml = refused(b"title = \"x\"\n[[phase]]\nid = 1\n");
    assert!(matches!(&toml, NoPlan::Broken { line: 3, .. }), "{toml:?}");
    let unknown = refused(b"[[phase]]\nid = \"1\"\nneds = [\"2\"]\n");
    assert!(matches!(&unknown, NoPlan::Broken { line: 3, why, .. } if why.contains("neds")), "{unknown:?}");
    let json = refused(b"[\n  {\"id\": 1,}\n]");
    assert!(matches!(&json, NoPlan::Broken { line: 2, .. }), "{json:?}");
}

#[test]
fn any_text_can_be_one_task_when_it_is_said_to_be_a_prompt() {
    let plan = read_prompt("PROMPT.md", b"Make it faster.", &NoFiles).unwrap();
    assert_eq!((plan.phases.len(), plan.phases[0].tasks[0].action.as_str()), (1, "Make it faster."));
    assert!(read_prompt("PROMPT.md", b"", &NoFiles).is_err());
}

#[test]
fn native_tables_shown_in_markdown_are_no_native_plan() {
    let plan =
        read_plan("x.md", b"# Docs\n\n```toml\n[[phase]]\nid = \"1\"\n```\n\n- [ ] a\n", &NoFiles).unwrap();
    assert_eq!(plan.phases[0].tasks[0].title, "a");
}
