//! What holds for any text: no panic, cleaning twice is cleaning once, and how bytes are cut does not matter.

use std::borrow::Cow;

use proptest::prelude::*;
use segue_redact::{Lines, Options, Redactor};

use crate::{
    before,
    plant::{Chance, Form, make},
    recall::{delta, redactor, scene},
};

/// Pieces that rules look at, in any order, with anything between them.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "password",
            "PASSWORD=",
            "token: ",
            "\"",
            "\\\"",
            "'",
            "\\n",
            "\n",
            "://",
            "user:",
            "@host",
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----END RSA PRIVATE KEY-----",
            "AKIA",
            "ghp_",
            "eyJ",
            ".",
            "Authorization: ",
            "Bearer ",
            "Cookie: ",
            "=",
            ": ",
            "--password ",
            "mysql -p",
            "curl -u a:",
            "[redacted:",
            "]",
            "[redacted:password]",
            "\\",
            "{",
            "}",
            "é",
            "→",
            "%41",
            "\\u0041",
            "<secret>",
            "(",
            ",",
            "secret",
            "key",
            " is ",
            "+",
            "value",
            "jdbc:oracle:thin:",
            "/",
            ":AA",
            "SK",
            "\u{1b}[31m",
            "name",
            " ",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9]{1,40}",
        "[A-Z0-9]{16}",
        "[0-9a-f]{32}",
        "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn scenes() -> impl Strategy<Value = String> {
    (0..before::PLANTS.len(), any::<u64>()).prop_map(|(n, seed)| {
        let plant = &before::PLANTS[n];
        scene(plant.place, &make(plant.pattern, &mut Chance::new(seed)).text)
    })
}

fn through(redactor: &Redactor, bytes: &[u8], cuts: &[usize]) -> (Vec<u8>, u64) {
    let (mut lines, mut out, mut rest) = (Lines::new(redactor.clone()), Vec::new(), bytes);
    for cut in cuts {
        let (now, later) = rest.split_at((*cut).min(rest.len()));
        lines.push(now, &mut out);
        rest = later;
    }
    lines.push(rest, &mut out);
    lines.finish(&mut out);
    assert!(!lines.pending());
    (out, lines.count())
}

fn everything() -> Redactor {
    let values = vec![("A_TOKEN".to_owned(), "pass key \"9/ä".to_owned())];
    Redactor::new(Options { emails: true, payment: true, values, ..Options::default() }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cleaning_twice_is_cleaning_once(text in prop_oneof![pieces(), scenes()]) {
        for redactor in [redactor(), everything()] {
            let once = redactor.text(&text).text.into_owned();
            let twice = redactor.text(&once);
            prop_assert_eq!(&twice.text, &once, "from {:?}", text);
            prop_assert!(matches!(twice.text, Cow::Borrowed(_)));
        }
    }

    #[test]
    fn a_json_string_stays_one(text in prop_oneof![pieces(), scenes()]) {
        let json = serde_json::json!({"text": text, "more": {"line": serde_json::json!({"t": text}).to_string()}}).to_string();
        let clean = redactor().text(&json).text.into_owned();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{} became {}", json, clean);
    }

    #[test]
    fn nothing_found_is_nothing_changed(text in pieces()) {
        let clean = redactor().text(&text);
        prop_assert_eq!(clean.counts.total() == 0, matches!(clean.text, Cow::Borrowed(_)));
        if clean.counts.total() == 0 {
            prop_assert_eq!(clean.text.as_ref(), text.as_str());
        }
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), text in pieces()) {
        let mixed = [bytes.as_slice(), text.as_bytes(), &bytes].concat();
        let _ = everything().bytes(&mixed);
        let _ = through(&everything(), &mixed, &[3, 50]);
    }

    #[test]
    fn how_bytes_are_cut_does_not_matter(
        texts in prop::collection::vec(prop_oneof![pieces(), scenes()], 1..6),
        cuts in prop::collection::vec(0_usize..60, 0..40),
    ) {
        let redactor = redactor();
        let mut whole = String::new();
        for (n, text) in texts.iter().enumerate() {
            match n % 3 {
                0 => whole.push_str(&delta(Form::Acp, n, text).to_string()),
                1 => whole.push_str(&delta(Form::Claude, n, text).to_string()),
                _ => whole.push_str(text),
            }
            whole.push('\n');
        }
        let one = through(&redactor, whole.as_bytes(), &[]);
        prop_assert_eq!(&one, &through(&redactor, whole.as_bytes(), &cuts));
        let json = |text: &str| text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count();
        prop_assert!(json(&String::from_utf8_lossy(&one.0)) >= json(&whole), "{} became {:?}", whole, String::from_utf8_lossy(&one.0));
    }
}
