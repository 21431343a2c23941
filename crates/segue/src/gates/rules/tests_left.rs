//! Tests that are gone, emptied or skipped. They are the agent's to change, so this is told and stops nothing.

use super::{Change, Found, Weight, name};

/// What marks a test, by the ending of the file.
const TESTS: &[(&str, &[&str])] = &[
    ("py", &["def test"]),
    ("rs", &["#[test]", "#[tokio::test", "#[rstest", "#[test_case"]),
    ("go", &["func Test", "func Fuzz"]),
    ("js", &["it(", "test(", "it.each", "test.each"]),
    ("java", &["@Test", "@ParameterizedTest"]),
    ("rb", &["it \"", "it '", "def test_", "it("]),
];

/// What skips a test or lets others be the only ones.
const SKIPS: &[(&str, &[&str])] = &[
    (
        "py",
        &[
            "mark.skip",
            "mark.xfail",
            "unittest.skip",
            "pytest.skip(",
            "self.skipTest(",
            "SkipTest(",
            "def load_tests(",
        ],
    ),
    ("rs", &["#[ignore"]),
    ("go", &[".Skip(", ".SkipNow(", ".Skipf("]),
    (
        "js",
        &[
            ".skip(",
            ".only(",
            "xit(",
            "xdescribe(",
            "xtest(",
            ".todo(",
            "skip: true",
            "todo: true",
            "only: true",
        ],
    ),
    ("java", &["@Disabled", "@Ignore"]),
    ("rb", &["skip ", "xit ", "pending "]),
];

/// What compares something in a test.
const ASSERTS: &[(&str, &[&str])] = &[
    ("py", &["assert", "raises("]),
    ("rs", &["assert", "panic!", ".unwrap()", ".expect("]),
    ("go", &["t.Error", "t.Fatal", "assert.", "require."]),
    ("js", &["assert", "expect(", "throw "]),
    ("java", &["assert", "verify("]),
    ("rb", &["expect", "assert"]),
];

/// What ends a test program before its tests do, at the beginning of a line.
const EXITS: &[&str] =
    &["os._exit(", "sys.exit(", "exit(", "quit(", "raise SystemExit", "pytest.exit(", "process.exit("];

/// What is less than before, a line for each file.
pub(super) fn fewer(changes: &[Change]) -> Vec<Found> {
    let mut found: Vec<Found> =
        changes.iter().filter_map(skipped).chain(changes.iter().filter_map(exits)).collect();
    let told = |change: &Change, before, after| match &change.after {
        None => format!("is gone, with {}", plural(before)),
        Some(_) => format!("has {after} of {}", plural(before)),
    };
    found.extend(less(changes, &tests, &told));
    let told = |_: &Change, before, after| format!("compares less than before ({after} of {before} lines)");
    for one in less(changes, &assertions, &told) {
        if !found.iter().any(|known| known.path == one.path) {
            found.push(one);
        }
    }
    found
}

// Where there is less than before, unless there is as much in all the files together.
fn less(
    changes: &[Change],
    count: &dyn Fn(&str, &str) -> usize,
    told: &dyn Fn(&Change, usize, usize) -> String,
) -> Vec<Found> {
    let of =
        |text: &Option<String>, change: &Change| text.as_deref().map_or(0, |text| count(&change.path, text));
    let counts: Vec<(usize, usize)> =
        changes.iter().map(|change| (of(&change.before, change), of(&change.after, change))).collect();
    let (before, after) = counts.iter().fold((0, 0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
    let fewer = changes.iter().zip(counts).filter(|(_, (had, has))| after < before && has < had);
    fewer.map(|(change, (had, has))| listed(&change.path, told(change, had, has))).collect()
}

fn skipped(change: &Change) -> Option<Found> {
    let after = change.after.as_deref()?;
    let before = change.before.as_deref().unwrap_or_default();
    if !is_tested(&change.path) {
        return None;
    }
    let count = |text: &str| occurrences(SKIPS, &change.path, text);
    let more = count(after).checked_sub(count(before)).filter(|more| *more > 0)?;
    Some(listed(&change.path, format!("skips more than before ({more} new)")))
}

fn exits(change: &Change) -> Option<Found> {
    let after = change.after.as_deref()?;
    let before = change.before.as_deref().unwrap_or_default();
    if !is_test_file(&change.path) && name(&change.path) != "__init__.py" {
        return None;
    }
    let count =
        |text: &str| text.lines().filter(|line| EXITS.iter().any(|exit| line.starts_with(exit))).count();
    (count(after) > count(before))
        .then(|| listed(&change.path, "ends the program when it is read".to_owned()))
}

fn listed(path: &str, what: String) -> Found {
    Found { path: path.to_owned(), what, weight: Weight::Listed }
}

fn plural(tests: usize) -> String {
    if tests == 1 { "1 test".to_owned() } else { format!("{tests} tests") }
}

fn tests(path: &str, text: &str) -> usize {
    if is_tested(path) { occurrences(TESTS, path, text) } else { 0 }
}

// Only in files with tests: elsewhere they are the program's own.
fn assertions(path: &str, text: &str) -> usize {
    if tests(path, text) > 0 { occurrences(ASSERTS, path, text) } else { 0 }
}

fn occurrences(table: &[(&str, &[&str])], path: &str, text: &str) -> usize {
    let marks =
        table.iter().find(|(ending, _)| *ending == language(path)).map_or(&[][..], |(_, marks)| marks);
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//") && (!line.starts_with('#') || line.starts_with("#[")));
    lines.filter(|line| marks.iter().any(|mark| line.contains(mark))).count()
}

fn language(path: &str) -> &str {
    match name(path).rsplit_once('.').map_or("", |(_, ending)| ending) {
        "ts" | "tsx" | "jsx" | "mjs" | "cjs" | "mts" => "js",
        "kt" => "java",
        other => other,
    }
}

// Rust has its tests beside the code; elsewhere the name decides whether a runner finds them.
fn is_tested(path: &str) -> bool {
    language(path) == "rs" || is_test_file(path)
}

fn is_test_file(path: &str) -> bool {
    let file = name(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match language(path) {
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
        "go" => stem.ends_with("_test"),
        "rs" => path.starts_with("tests/") || path.contains("/tests/"),
        "js" => {
            stem.ends_with(".test")
                || stem.ends_with(".spec")
                || path.contains("__tests__/")
                || stem == "test"
        }
        "java" => stem.ends_with("Test") || stem.ends_with("Tests") || stem.starts_with("Test"),
        "rb" => stem.ends_with("_spec") || stem.ends_with("_test") || stem.starts_with("test_"),
        _ => false,
    }
}
