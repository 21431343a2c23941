use super::*;

fn told(text: &str) -> Vec<(String, String)> {
    checks(text).into_iter().map(|check| (check.run, check.judge.to_string())).collect()
}

fn one(text: &str) -> String {
    let told = told(text);
    assert_eq!(told.len(), 1, "{text}: {told:?}");
    told[0].1.clone()
}

#[test]
fn p5_the_words_of_autopilot_are_read() {
    assert_eq!(one("It is gone -- verified by: `grep -c \"40%\" a.md` (returns 0)"), "count 0");
    assert_eq!(one("It is there -- verified by: `grep -c 'a\\|b' a.md` (returns at least 2)"), "at least 2");
    assert_eq!(one("x -- verified by: `grep 'a' f | grep -ic 'b'` (returns at least 1)"), "at least 1");
    assert_eq!(one("x -- verified by: `bash t.sh 2>&1; echo EXIT:$?` (expect EXIT:0)"), "EXIT:0");
    assert_eq!(one("x -- verified by: `bash t.sh; echo EXIT:$?`"), "EXIT:0");
    assert_eq!(one("x -- verified by: `cargo test` (returns 0)"), "exit 0");
    assert_eq!(one("x -- verified by: `my-own-tool check all`"), "exit 0");
}

#[test]
fn p5_the_words_of_gsd_are_read() {
    assert_eq!(one("`grep -c 'x' f` returns >= 3 (read + write)"), "at least 3");
    assert_eq!(one("`grep -rn \"X\\b\" src` returns zero matches"), "count 0");
    assert_eq!(one("`grep -n \"a\" f` matches exactly one line"), "count 1");
    assert_eq!(one("`grep \"a\" f` matches at least one line and more"), "at least 1");
    assert_eq!(one("`grep -c x f` == 0 (all gone)"), "count 0");
    assert_eq!(one("`grep -c x f` returns 1"), "count 1");
    assert_eq!(one("`pnpm exec tsc --noEmit` exits 0 with no errors"), "exit 0");
    assert_eq!(one("`! grep -E 'x' f` exits 0"), "exit 0");
    assert_eq!(one("`pnpm x` — passes with zero errors"), "exit 0");
    assert_eq!(one("`grep -i zod f` returns at least one match (why)"), "at least 1");
    assert_eq!(one("`grep -r x src` returns no matches (exit 1 from grep)"), "count 0");
    assert_eq!(one("`ls a/b.ts` — file exists"), "x".replace('x', "exit 0"));
}

#[test]
fn p5_other_words_for_the_same_are_read() {
    assert_eq!(one("`cat VERSION` matches `^v[0-9]+`"), "matches ^v[0-9]+");
    assert_eq!(one("`cat VERSION` outputs \"v2\""), "contains v2");
    assert_eq!(one("`cargo test` fails"), "exit not 0");
    assert_eq!(one("`npm test` exits with code 1"), "exit 1");
    assert_eq!(one("`npm test` exits non-zero"), "exit not 0");
    assert_eq!(one("`wc -l f` returns more than 100"), "at least 101");
    assert_eq!(one("`wc -l f` is < 300"), "at most 299");
    assert_eq!(one("`uv run ruff check .` → 0 errors"), "exit 0");
    assert_eq!(one("`grep -c x f` ≥ 2"), "at least 2");
    assert_eq!(one("`grep -rn x src` — no importers (as required)"), "count 0");
}

#[test]
fn several_commands_in_one_line_are_all_checks() {
    let told = told("`grep -c a f` returns >= 1; `grep -c b f` returns 0");
    assert_eq!(told[0].1, "at least 1");
    assert_eq!(told[1].1, "count 0");
}

#[test]
fn names_in_back_ticks_are_no_commands() {
    assert!(told("`messages.ts` exists with `Foo` and `Bar`").is_empty());
    assert!(told("Tests for `cargo` are written").is_empty());
    assert!(told("ruff check returns 0 errors").is_empty());
    assert!(told("The `x` column matches").is_empty());
}

#[test]
fn p5_entities_in_a_command_are_decoded() {
    let found = criterion("`grep -n \"Node&lt;T&gt;\" a &amp;&amp; test -f b` exits 0", Place::default());
    assert_eq!(found.checks[0].run, "grep -n \"Node<T>\" a && test -f b");
}
