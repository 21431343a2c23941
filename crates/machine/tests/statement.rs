//! Endings of agents' messages, written before the reader was or without sight of it: each is read as it was meant.

use segue_machine::statement::{Statement, read};

const ENDINGS: &str = include_str!("statement/endings.txt");
const BLIND: &str = include_str!("blind/endings.txt");

#[test]
fn v1_forty_endings_are_read_as_they_are_meant() {
    let cases: Vec<(&str, &str)> = ENDINGS.split("@@ ").filter_map(|case| case.split_once('\n')).collect();
    assert_eq!(cases.len(), 40);
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(head, text)| {
            let (_, meant) = head.split_once(' ')?;
            let found = match read(text) {
                None => "none".to_owned(),
                Some(Statement::Done) => "done".to_owned(),
                Some(Statement::NotDone(left)) if left.is_empty() => "not done".to_owned(),
                Some(Statement::NotDone(left)) => format!("not done: {left}"),
                Some(Statement::Blocked(need)) if need.is_empty() => "blocked".to_owned(),
                Some(Statement::Blocked(need)) => format!("blocked: {need}"),
            };
            (found != meant).then(|| format!("{head}: read as {found}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of 40 wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn v1_forty_endings_of_another_author_are_read_as_they_are_meant() {
    let cases: Vec<(&str, &str)> =
        BLIND.split("\n=== ").skip(1).filter_map(|case| case.split_once('\n')).collect();
    assert_eq!(cases.len(), 40);
    for (meant, text) in cases {
        let found = match read(text) {
            None => "none",
            Some(Statement::Done) => "done",
            Some(Statement::NotDone(_)) => "not done",
            Some(Statement::Blocked(_)) => "blocked",
        };
        assert_eq!(found, meant, "{text}");
    }
}
