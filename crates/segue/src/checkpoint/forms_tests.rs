use super::*;
use crate::checkpoint::document::{Files, Tokens};
use crate::checkpoint::stored::tests::document;

fn staged() -> Forms {
    Forms { dir: None, project_dir: Some("contexts/sandbox".to_owned()), ..Forms::default() }
}

#[test]
fn c4_a_summary_has_at_most_2_000_characters_whatever_is_in_it() {
    let long = "aä€😀".repeat(2_000);
    let files = Files { created: vec![long.clone(); 30], ..Files::default() };
    let summary = format!("## Completed Work\n- {long}\n## Remaining Tasks\n- {long}\n");
    let errors = vec![long.clone(); 30];
    let large = Document { task: long.clone(), files, summary, errors, reason: long, ..document() };
    let text = short(&large);
    assert!(text.chars().count() <= 2_000, "{}", text.chars().count());
    for heading in ["# Goal", "# Session Status", "# Modified Files", "# Recent Errors", "# Recent Progress"]
    {
        assert!(text.contains(heading), "{heading}: {text}");
    }
    assert!(text.contains("(cut)"), "{text}");
}

#[test]
fn a_projects_pages_are_appended_to_and_never_rewritten() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("shop");
    std::fs::create_dir(&tree).unwrap();
    let first = Document { task: "# Add a cart\n\n- [ ] one".to_owned(), ..document() };
    assert_eq!(staged().write(&tree, &first), [""; 0]);
    let place = tree.join("contexts/sandbox/shop");
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    let (project, task) = (read("project.md"), read("Add-a-cart.md"));
    let second = Document {
        stage: Some("95%".to_owned()),
        created_at: segue_report::Time(1_700_000_060_000),
        ..first
    };
    assert_eq!(staged().write(&tree, &second), [""; 0]);
    assert!(read("project.md").starts_with(&project) && read("project.md").len() > project.len());
    assert!(read("Add-a-cart.md").starts_with(&task) && read("Add-a-cart.md").len() > task.len());
    for name in ["Add-a-cart-a-90p-20231114T221320.000Z.json", "Add-a-cart-a-95p-20231114T221420.000Z.json"] {
        assert_eq!(Document::read(&place.join(name)).unwrap().run, "r");
    }
}

#[test]
fn no_name_leads_out_of_the_folder_and_a_link_is_noticed_at_each_write() {
    let dir = tempfile::tempdir().unwrap();
    let (tree, out) = (dir.path().join("tree"), dir.path().join("out"));
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::create_dir_all(&out).unwrap();
    let hostile = Document { task: "../../../x".to_owned(), agent: "../y/z".to_owned(), ..document() };
    let forms = Forms { project: Some("../../p".to_owned()), task: Some("/etc/q".to_owned()), ..staged() };
    assert_eq!(forms.write(&tree, &hostile), [""; 0]);
    assert!(tree.join("contexts/sandbox/p/etc-q.md").exists());
    std::fs::remove_dir_all(tree.join("contexts")).unwrap();
    std::os::unix::fs::symlink(&out, tree.join("contexts")).unwrap();
    let troubles = forms.write(&tree, &hostile);
    assert!(troubles[0].contains("outside the work tree"), "{troubles:?}");
    assert!(forms.check(&tree).is_err());
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn truth13_a_page_of_staged_names_capacity_and_iteration_and_has_three_depths() {
    let tokens =
        Tokens { used: Some(90_000), ceiling: Some(100_000), percent: Some(90.0), ..Tokens::default() };
    let files = Files { deleted: vec!["old.rs".to_owned()], ..Files::default() };
    let summary =
        "## Completed Work\n- the parser\n## Remaining Tasks\n- the printer\n## Key Decisions\n- SQLite\n";
    let at = |stage: &str, depth| {
        let (stage, summary) = (Some(stage.to_owned()), summary.to_owned());
        let (tokens, files, commits) = (tokens.clone(), files.clone(), vec!["4f2a9c1 first part".to_owned()]);
        detail(
            &Document { iteration: 3, stage, summary, depth, tokens, files, commits, ..document() },
            "copy.json",
        )
    };
    let (brief, full) = (at("90%", Depth::Brief), at("95%", Depth::Full));
    let emergency = at("98%", Depth::Emergency);
    assert!(brief.contains("## Checkpoint at 90% Capacity (Iteration 3)\n"), "{brief}");
    for text in [&brief, &full, &emergency] {
        for part in ["90.0 % used, 10000 tokens left", "commit: 4f2a9c1", "### Next step\n- the printer"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert!(brief.contains("### Deleted files\n- old.rs") && !brief.contains("SQLite"), "{brief}");
    assert!(full.contains("### Decisions\n- SQLite") && full.contains("### Summary"), "{full}");
    assert!(!emergency.contains("### Completed"), "{emergency}");
    let silent = detail(&Document { depth: Depth::Brief, summary: String::new(), ..document() }, "copy.json");
    assert!(silent.contains("### Remaining\n- unknown (the agent did not say)"), "{silent}");
}
