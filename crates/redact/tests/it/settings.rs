//! Options, known values, and how lines are held back.

use segue_redact::{Extra, Lines, Options, RedactError, Redactor, secret_env};

use crate::{plant::Form, recall::delta};

fn with(options: Options) -> Redactor {
    Redactor::new(options).unwrap()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

const VALUE: &str = "plain words? 9/ok+ab";

#[test]
fn values_of_the_environment_are_found_in_every_form() {
    let redactor = with(Options { values: vec![pair("MY_PASSWORD", VALUE)], ..Options::default() });
    let forms = [
        VALUE,
        "plain%20words%3F%209%2Fok%2Bab",
        "cGxhaW4gd29yZHM/IDkvb2srYWI=",
        "bWU6cGxhaW4gd29yZHM/IDkvb2srYWI=",
        "bTpwbGFpbiB3b3Jkcz8gOS9vaythYg==",
    ];
    for form in forms {
        let clean = redactor.text(form);
        assert_eq!(
            clean.counts.by_kind().collect::<Vec<_>>(),
            [("env-value", 1)],
            "{form} became {}",
            clean.text
        );
        assert!(clean.text.len() < 32, "{form} became {}", clean.text);
    }
}

#[test]
fn only_variables_that_look_secret_are_taken() {
    let vars = [
        pair("GITHUB_TOKEN", "abcd1234efgh"),
        pair("DATABASE_URL", "postgres://me:s3cretpart@db/x"),
        pair("SOME", &["sk_", "live_", "a8Bd0Ef2Gh4Ij6Kl8Mn0"].concat()),
        pair("SSH_AUTH_SOCK", "/tmp/ssh-abc/agent.1"),
        pair("API_KEY", "changeme"),
        pair("PASSWORD", "short"),
        pair("PATH", "/usr/bin:/bin"),
        pair("GPG_KEY_FILE", "/home/me/keys/1"),
        pair("MAX_TOKENS", "100000000"),
    ];
    let found = secret_env(vars.into_iter());
    assert_eq!(
        found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["GITHUB_TOKEN", "DATABASE_URL", "SOME"]
    );
    assert_eq!(found[1].1, "s3cretpart");
}

#[test]
fn what_is_allowed_stays() {
    let text = "password: \"hunter2hunter\" and postgres://a:zx81zx81@db";
    let allow = |entries: &[&str]| {
        let allow = entries.iter().map(|entry| (*entry).to_owned()).collect();
        with(Options { allow, ..Options::default() }).text(text).text.into_owned()
    };
    assert_eq!(allow(&["hunter2hunter", "zx8?*"]), text);
    assert_eq!(allow(&["kind:url-password"]), text.replace("hunter2hunter", "[redacted:password]"));
    assert_eq!(
        allow(&["hunter2"]),
        text.replace("hunter2hunter", "[redacted:password]").replace("zx81zx81", "[redacted:url-password]")
    );
}

#[test]
fn a_setting_that_cannot_work_is_named() {
    let extra = |name: &str, pattern: &str| {
        let extra = vec![Extra { name: name.to_owned(), pattern: pattern.to_owned() }];
        Redactor::new(Options { extra, ..Options::default() })
    };
    assert!(
        matches!(extra("ticket", "(").unwrap_err(), RedactError::Pattern { name, .. } if name == "ticket")
    );
    assert!(matches!(extra("ticket", "a*").unwrap_err(), RedactError::Empty { name } if name == "ticket"));
    assert!(
        matches!(extra("My ticket", "a").unwrap_err(), RedactError::Name { name } if name == "My ticket")
    );
    let unknown =
        Redactor::new(Options { allow: vec!["kind:nonsense".to_owned()], ..Options::default() }).unwrap_err();
    assert!(unknown.to_string().contains("nonsense"), "{unknown}");
    assert_eq!(extra("ticket", r"T-(\d+)").unwrap().text("see T-1234").text, "see T-[redacted:ticket]");
}

#[test]
fn personal_data_is_redacted_on_request_only() {
    let text = "mail me@acme.dev or pay with 4111 1111 1111 1111 or DE89 3704 0044 0532 0130 00";
    assert_eq!(with(Options::default()).text(text).text, text);
    let all = with(Options { emails: true, payment: true, ..Options::default() });
    assert_eq!(all.text(text).text, "mail [redacted:email] or pay with [redacted:card] or [redacted:iban]");
    assert_eq!(all.text("order 4111 1111 1111 1112").text, "order 4111 1111 1111 1112");
}

#[test]
fn nothing_is_changed_when_switched_off() {
    let text = "password: \"hunter2hunter\"";
    assert_eq!(with(Options { enabled: false, ..Options::default() }).text(text).text, text);
}

#[test]
fn no_value_is_in_debug_or_in_an_error() {
    let options = Options {
        values: vec![pair("A_TOKEN", VALUE)],
        allow: vec!["zx81zx81".to_owned()],
        ..Options::default()
    };
    let redactor = with(options.clone());
    let mut lines = Lines::new(redactor.clone());
    lines.push(VALUE.as_bytes(), &mut Vec::new());
    let shown = format!("{options:?} {redactor:?} {lines:?} {:?}", redactor.text(VALUE));
    assert!(!shown.contains("plain words") && !shown.contains("zx81"), "{shown}");
}

#[test]
fn a_secret_over_two_deltas_is_found_with_other_texts_between_them() {
    let redactor = with(Options::default());
    let secret = ["gh", "p_a8Bd0Ef2Gh4Ij6Kl8Mn0Op2Qr4St6Uv8Wx0Y"].concat();
    let (one, two) = secret.split_at(14);
    let other = |n: usize| {
        let text = format!("part {n} of something else");
        serde_json::json!({"event": {"index": 7, "delta": {"text": text}}, "n": n}).to_string() + "\n"
    };
    let line =
        |text: &str| serde_json::json!({"event": {"index": 1, "delta": {"text": text}}}).to_string() + "\n";
    let whole = [line(&format!("it is {one}")), other(1), other(2), line(&format!("{two} there"))].concat();
    let (mut lines, mut out) = (Lines::new(redactor), Vec::new());
    lines.push(whole.as_bytes(), &mut out);
    lines.finish(&mut out);
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out, [line("it is [redacted:github-token]"), other(1), other(2), line(" there")].concat());
    assert_eq!(lines.count(), 1);
}

#[test]
fn lines_go_out_once_nothing_can_follow() {
    let (mut lines, mut out) = (Lines::new(with(Options::default())), Vec::new());
    lines.push(b"a plain line\nhalf a", &mut out);
    lines.catch_up(&mut out);
    assert_eq!(out, b"a plain line\n");
    assert!(lines.pending());
    lines.push(b" line\n", &mut out);
    lines.catch_up(&mut out);
    assert!(!lines.pending());
    let first = delta(Form::Acp, 0, "ends in a wor").to_string() + "\n";
    out.clear();
    lines.push(first.as_bytes(), &mut out);
    lines.catch_up(&mut out);
    assert!(out.is_empty() && lines.pending(), "the last word may go on");
    (0..8).for_each(|_| lines.push(b"other\n", &mut out));
    assert!(out.is_empty());
    lines.flush_ready(&mut out);
    assert!(out.starts_with(first.as_bytes()) && !lines.pending());
}

#[test]
fn no_more_than_so_much_is_held_back_and_a_very_long_line_is_cleaned_in_pieces() {
    let (mut lines, mut out, mut pushed) = (Lines::new(with(Options::default())), Vec::new(), 0);
    for n in 0..9000 {
        let line = delta(Form::Acp, n, "word").to_string() + "\n";
        pushed += line.len();
        lines.push(line.as_bytes(), &mut out);
        assert!(pushed - out.len() <= 4097 * line.len(), "{} bytes held back", pushed - out.len());
    }
    lines.finish(&mut out);
    out.clear();
    let secret = ["AK", "IAQ3EGRZ7TPLMN4WXY"].concat();
    let piece = "some words without any meaning ".repeat(40_000);
    for _ in 0..6 {
        lines.push(format!("{piece}{secret} ").as_bytes(), &mut out);
    }
    assert!(out.len() > 2 << 20, "only {} bytes went out", out.len());
    lines.finish(&mut out);
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out, format!("{piece}[redacted:aws-key] ").repeat(6));
}

#[test]
fn the_name_of_a_kind_is_not_taken_for_a_header() {
    let redactor = with(Options::default());
    let once = redactor.text("Authorization: 0AAAaAA0,0a0aaaaA").text.into_owned();
    assert_eq!(redactor.text(&once).text, once);
}
