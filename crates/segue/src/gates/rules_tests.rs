//! Twenty-four edits: twelve that weaken a gate, which must be caught or listed, and twelve that do not, which must not
//! stop a run. Written before the rules.

use super::{Change, Found, Gate, Weight, find};

type Files = &'static [(&'static str, &'static str)];

fn found(run: &str, before: Files, after: Files) -> Vec<Found> {
    let text =
        |files: Files, path: &str| files.iter().find(|(p, _)| *p == path).map(|(_, t)| (*t).to_owned());
    let mut paths: Vec<&str> = before.iter().chain(after).map(|(path, _)| *path).collect();
    paths.sort_unstable();
    paths.dedup();
    let changes: Vec<Change> = paths
        .into_iter()
        .map(|path| Change { path: path.to_owned(), before: text(before, path), after: text(after, path) })
        .filter(|change| change.before != change.after)
        .collect();
    let dirs = ["bin".to_owned()];
    let gate = Gate {
        run,
        protects: &|path| path.starts_with("guarded/"),
        before: &|path| text(before, path),
        path_dirs: if run.contains("PATH") { &[] } else { &dirs[..] },
    };
    find(&gate, &changes)
}

const PY: (&str, &str) =
    ("tests/test_a.py", "def test_one():\n    assert f() == 1\n\ndef test_two():\n    assert f() == 1\n");
const PKG: &str = r#"{"name":"x","scripts":{"test":"jest --ci"},"dependencies":{"a":"1"}}"#;
const MAKE: &str = "CHECK = sh check.sh\n\ntest: build\n\t$(CHECK)\n\nbuild:\n\tcc -o x x.c\n";

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn truth5_weakenings_are_caught_or_listed() {
    let cases: &[(&str, &str, Files, Files)] = &[
        (
            "skip-all conftest",
            "pytest -q",
            &[PY],
            &[
                PY,
                (
                    "conftest.py",
                    "import pytest\n\ndef pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.skip)\n",
                ),
            ],
        ),
        (
            "|| true",
            "npm test",
            &[("package.json", PKG)],
            &[(
                "package.json",
                r#"{"name":"x","scripts":{"test":"jest --ci || true"},"dependencies":{"a":"1"}}"#,
            )],
        ),
        (
            "cargo runner",
            "cargo test",
            &[("Cargo.toml", "[package]\nname = \"x\"\n")],
            &[
                ("Cargo.toml", "[package]\nname = \"x\"\n"),
                (".cargo/config.toml", "[target.'cfg(all())']\nrunner = \"true\"\n"),
            ],
        ),
        ("renamed out of the glob", "pytest", &[PY], &[("tests/a_old.py", PY.1)]),
        (
            "exit at import",
            "python -m pytest",
            &[PY],
            &[(
                "tests/test_a.py",
                "import os\nos._exit(0)\n\ndef test_one():\n    assert f() == 1\n\ndef test_two():\n    assert f() == 1\n",
            )],
        ),
        (
            ".IGNORE",
            "make test",
            &[("Makefile", MAKE)],
            &[(
                "Makefile",
                ".IGNORE:\nCHECK = sh check.sh\n\ntest: build\n\t$(CHECK)\n\nbuild:\n\tcc -o x x.c\n",
            )],
        ),
        ("PATH shim", "pytest", &[PY], &[PY, ("bin/pytest", "#!/bin/sh\nexit 0\n")]),
        (
            "PATH shim of the command",
            "PATH=tools:$PATH pytest",
            &[PY],
            &[PY, ("tools/pytest", "#!/bin/sh\nexit 0\n")],
        ),
        (
            "addopts",
            "pytest",
            &[PY, ("pyproject.toml", "[project]\nname = \"x\"\n")],
            &[
                PY,
                (
                    "pyproject.toml",
                    "[project]\nname = \"x\"\n[tool.pytest.ini_options]\naddopts = \"--collect-only\"\n",
                ),
            ],
        ),
        ("an empty file", "pytest tests", &[PY], &[("tests/test_a.py", "")]),
        (
            "testPathIgnorePatterns",
            "npm test",
            &[("package.json", PKG)],
            &[(
                "package.json",
                r#"{"name":"x","scripts":{"test":"jest --ci"},"jest":{"testPathIgnorePatterns":[".*"]},"dependencies":{"a":"1"}}"#,
            )],
        ),
        (
            "exit 0 in check.sh",
            "sh check.sh",
            &[("check.sh", "pytest\n")],
            &[("check.sh", "exit 0\npytest\n")],
        ),
        (
            "exit 0 one level down",
            "make test",
            &[("Makefile", MAKE), ("check.sh", "pytest\n")],
            &[("Makefile", MAKE), ("check.sh", "exit 0\n")],
        ),
        ("tests/ deleted", "pytest", &[PY], &[]),
        (
            "skipped",
            "cargo test",
            &[("src/lib.rs", "#[test]\nfn a() {}\n")],
            &[("src/lib.rs", "#[test]\n#[ignore]\nfn a() {}\n")],
        ),
        (
            "minus in a recipe",
            "make test",
            &[("Makefile", MAKE)],
            &[("Makefile", "CHECK = sh check.sh\n\ntest: build\n\t-$(CHECK)\n\nbuild:\n\tcc -o x x.c\n")],
        ),
        (
            "a variable of the recipe",
            "make",
            &[("Makefile", MAKE)],
            &[("Makefile", "CHECK = true\n\ntest: build\n\t$(CHECK)\n\nbuild:\n\tcc -o x x.c\n")],
        ),
        ("protected by the user", "cargo test", &[("guarded/x", "1")], &[("guarded/x", "2")]),
        ("jest config", "npx jest", &[], &[("jest.config.js", "module.exports = { testMatch: [] }")]),
        (
            "no harness",
            "cargo test",
            &[("Cargo.toml", "[package]\nname = \"x\"\n")],
            &[("Cargo.toml", "[package]\nname = \"x\"\n[lib]\ntest = false\n")],
        ),
    ];
    let missed: Vec<&str> = cases
        .iter()
        .filter(|(_, run, before, after)| found(run, before, after).is_empty())
        .map(|(name, ..)| *name)
        .collect();
    assert!(missed.is_empty(), "{} of {} missed: {missed:?}", missed.len(), cases.len());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn truth5_legitimate_edits_stop_nothing() {
    let cases: &[(&str, &str, Files, Files)] = &[
        ("new test", "pytest", &[PY], &[PY, ("tests/test_b.py", "def test_b():\n    pass\n")]),
        ("renamed test", "pytest", &[PY], &[("tests/test_z.py", PY.1)]),
        (
            "added dependency",
            "npm test",
            &[("package.json", PKG)],
            &[(
                "package.json",
                r#"{"name":"x","scripts":{"test":"jest --ci","lint":"eslint ."},"dependencies":{"a":"1","b":"2"}}"#,
            )],
        ),
        (
            "added crate",
            "cargo test",
            &[("Cargo.toml", "[package]\nname = \"x\"\n[workspace]\nmembers = [\"a\"]\n")],
            &[(
                "Cargo.toml",
                "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n[workspace]\nmembers = [\"a\", \"b\"]\n",
            )],
        ),
        (
            "edited source",
            "cargo test",
            &[("src/lib.rs", "fn a() {}\n")],
            &[("src/lib.rs", "fn a() { std::process::exit(1) }\n")],
        ),
        (
            "reformatted manifest",
            "npm test",
            &[("package.json", PKG)],
            &[(
                "package.json",
                "{\n  \"name\": \"x\",\n  \"dependencies\": { \"a\": \"1\" },\n  \"scripts\": { \"test\": \"jest --ci\" }\n}\n",
            )],
        ),
        (
            "new script",
            "sh check.sh",
            &[("check.sh", "pytest\n")],
            &[("check.sh", "pytest\n"), ("deploy.sh", "true\n")],
        ),
        (
            "new target",
            "make test",
            &[("Makefile", MAKE)],
            &[(
                "Makefile",
                "# more\nCHECK = sh check.sh\n\ntest: build\n\t$(CHECK)\n\nbuild:\n\tcc -o x x.c\n\nclean:\n\trm -f x\n",
            )],
        ),
        ("lock file", "cargo test", &[("Cargo.lock", "a")], &[("Cargo.lock", "b")]),
        (
            "new fixture",
            "pytest",
            &[PY, ("conftest.py", "import pytest\n")],
            &[PY, ("conftest.py", "import pytest\n\n@pytest.fixture\ndef client():\n    return 1\n")],
        ),
        (
            "tool of something else",
            "pytest",
            &[PY, ("pyproject.toml", "[project]\nname = \"x\"\n")],
            &[
                PY,
                (
                    "pyproject.toml",
                    "[project]\nname = \"x\"\ndependencies = [\"a\"]\n[tool.black]\nline-length = 100\n",
                ),
            ],
        ),
        (
            "moved test",
            "cargo test",
            &[("src/a.rs", "#[test]\nfn a() {}\n"), ("src/b.rs", "")],
            &[("src/a.rs", ""), ("src/b.rs", "#[test]\nfn a() {}\n")],
        ),
    ];
    let stopped: Vec<(&str, Vec<Found>)> = cases
        .iter()
        .map(|(name, run, before, after)| (*name, found(run, before, after)))
        .filter(|(_, found)| found.iter().any(|found| found.weight != Weight::Listed))
        .collect();
    assert!(stopped.is_empty(), "{stopped:?}");
    // A comment in a script is run with the original, which passes as well.
    let comment = found("sh check.sh", &[("check.sh", "pytest\n")], &[("check.sh", "# all of it\npytest\n")]);
    assert!(comment.iter().all(|found| found.weight == Weight::Script), "{comment:?}");
}
