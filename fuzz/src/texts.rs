//! What must hold for everything else that reads bytes: lines, errors, checkpoints, plans, configuration, requests.

use std::io::Cursor;

use segue_agents::Lines;
use segue_machine::TurnEnd;
use segue_machine::checkpoint::{cut_chars, cut_list, parse};
use segue_rehearsal::model_server::{self, ServerScript};

use crate::config::layers::Source;
use crate::config::{self, ConfigErrors, Flags, Layers};

/// Lines are those between line ends, in whatever pieces they come.
pub(crate) fn lines(data: &[u8]) {
    let (first, data) = data.split_first().unwrap_or((&0, data));
    let mut expected: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let rest = expected.pop().unwrap_or_default();
    let expected: Vec<&[u8]> = expected
        .into_iter()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty())
        .collect();
    for size in [1, usize::from(*first) + 1, data.len().max(1)] {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in data.chunks(size) {
            lines.push(piece, |line| found.push(line.to_vec()));
        }
        assert_eq!(found, expected, "in pieces of {size}");
        assert_eq!(lines.finish().unwrap_or_default(), rest.strip_suffix(b"\r").unwrap_or(rest));
        assert_eq!(lines.finish(), None);
    }
}

/// An error keeps its words, and words alone are no full window.
pub(crate) fn classify(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (code, message) =
        text.split_once('\n').map_or((None, text.as_ref()), |(code, rest)| (Some(code), rest));
    let full = match segue_agents::classify(message, code) {
        TurnEnd::Overflow { message: kept } => {
            assert_eq!(kept, message);
            true
        }
        TurnEnd::Failed { message: kept, .. } => {
            assert_eq!(kept, message);
            false
        }
        other @ (TurnEnd::Finished { .. } | TurnEnd::Cancelled) => panic!("an error is no {other:?}"),
    };
    let numbered = message.bytes().any(|byte| byte.is_ascii_digit());
    assert!(!full || numbered || code.is_some_and(|code| !code.is_empty()));
}

/// A checkpoint is part of the answer, and every cut keeps its limit and whole characters.
pub(crate) fn checkpoint(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let answer = parse(&text);
    assert!(text.contains(&answer.text) && answer.text.trim() == answer.text);
    assert!(answer.tagged == text.contains("<checkpoint>"));
    for section in &answer.sections {
        assert!(section.items.iter().all(|item| answer.text.contains(item.as_str())));
        answer.items(&[section.title.as_str()]);
    }
    let chars = answer.text.chars().count();
    for max in [0, 1, 7, 8, 9, chars / 2, chars.saturating_sub(1), chars, chars + 1] {
        let cut = cut_chars(&answer.text, max);
        assert!(cut.chars().count() <= max && (max < chars || cut == answer.text));
    }
    let lines: Vec<&str> = answer.text.lines().collect();
    assert!(cut_list(&lines, 20).len() <= 21);
}

/// A task is refused or has words, no more than were given.
pub(crate) fn plan(data: &[u8]) {
    match segue_plans::read_task(data, Some("PLAN.md")) {
        Ok(task) => {
            assert!(!task.text.trim().is_empty() && task.text.len() <= data.len());
            assert!(task.open_items as usize <= task.text.lines().count());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A file is read or refused with a place for each problem, the same way each time.
pub(crate) fn config(data: &[u8]) {
    let source = || Source { name: "segue.toml".to_owned(), bytes: data.to_vec() };
    let read = || Layers::from_sources(Ok(None), Ok(Some(source())), Vec::new(), &Flags::default());
    let told = |layers: Result<Layers, ConfigErrors>| match layers {
        Ok(layers) => {
            let shown = config::to_json(&config::show(&layers)).to_string();
            match config::resolve(&layers) {
                Ok(settings) => format!("{shown}\n{settings:?}"),
                Err(errors) => format!("{shown}\n{errors}"),
            }
        }
        Err(errors) => {
            let text = errors.to_string();
            assert!(!text.is_empty());
            text
        }
    };
    assert_eq!(told(read()), told(read()));
}

/// Every request is answered, or the connection ends.
pub(crate) fn model_server(data: &[u8]) {
    let mut answers = Vec::new();
    let script = ServerScript { window: 50_000, ..ServerScript::default() };
    // A request that breaks off is the client's affair.
    let _ = model_server::converse(script, &mut Cursor::new(data), &mut answers);
    assert!(answers.is_empty() || answers.starts_with(b"HTTP/1.1 "));
}
