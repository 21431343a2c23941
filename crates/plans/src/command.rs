//! What can be said about a shell command without running it: whether it counts, lists, or decides nothing at all.

/// Programs that people name in back-ticks with nothing else, in order.
const PROGRAMS: &[&str] = &[
    "!",
    "[",
    "[[",
    "awk",
    "bandit",
    "bash",
    "bazel",
    "biome",
    "black",
    "bun",
    "bundle",
    "cargo",
    "cat",
    "cd",
    "clang",
    "cmake",
    "cmp",
    "comm",
    "composer",
    "cp",
    "ctest",
    "curl",
    "cypress",
    "dart",
    "deno",
    "diff",
    "docker",
    "dotnet",
    "egrep",
    "env",
    "eslint",
    "fgrep",
    "file",
    "find",
    "flake8",
    "flutter",
    "for",
    "gcc",
    "gh",
    "git",
    "go",
    "golangci-lint",
    "gradle",
    "grep",
    "head",
    "helm",
    "if",
    "jest",
    "jq",
    "just",
    "kubectl",
    "ls",
    "make",
    "meson",
    "mise",
    "mix",
    "mkdir",
    "mvn",
    "mypy",
    "ninja",
    "node",
    "npm",
    "npx",
    "nx",
    "perl",
    "php",
    "phpunit",
    "pip",
    "playwright",
    "pnpm",
    "poetry",
    "prettier",
    "psql",
    "pwsh",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rails",
    "rake",
    "rg",
    "rspec",
    "rubocop",
    "ruby",
    "ruff",
    "rustc",
    "sbt",
    "sed",
    "sh",
    "shellcheck",
    "sort",
    "sqlite3",
    "stat",
    "swift",
    "tail",
    "task",
    "terraform",
    "test",
    "timeout",
    "tox",
    "tree",
    "tsc",
    "turbo",
    "uniq",
    "uv",
    "uvx",
    "vite",
    "vitest",
    "wc",
    "while",
    "xcodebuild",
    "yarn",
    "zig",
    "zsh",
];

/// Whether a text looks like a command: its first word is a program, a path to one, or a setting before one.
pub(crate) fn looks_like_one(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_setting = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        })
    };
    let Some(first) = words.find(|word| !is_setting(word)) else { return false };
    let first = first.trim_start_matches(['(', '{']);
    if is_program(first) {
        return true;
    }
    let more = words.next().is_some();
    (first.starts_with("./") && (more || first.ends_with(".sh")))
        || (more && first.contains('/') && first.rsplit('/').next().is_some_and(is_program))
        || first
            .rsplit(['/', '\\'])
            .next()
            .is_some_and(|name| matches!(name, "gradlew" | "mvnw" | "manage.py"))
}

fn is_program(word: &str) -> bool {
    PROGRAMS.binary_search(&word).is_ok()
}

/// What a command prints, as far as its last part shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prints {
    /// A number of matches or lines.
    Count,
    /// One line for each thing found.
    Lines,
    /// Something else.
    Other,
}

/// What the last command of a line prints.
pub(crate) fn prints(command: &str) -> Prints {
    let last = parts(command).into_iter().next_back().map_or("", |(_, part)| part);
    let stage = pipe(last).into_iter().next_back().unwrap_or("").trim();
    let words: Vec<&str> = stage.split_whitespace().skip_while(|word| *word == "!").collect();
    let name = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let sub = words.get(1).copied().unwrap_or("");
    let flag = |short: char, long: &str| {
        words.iter().skip(1).take_while(|word| **word != "--").any(|word| {
            *word == long
                || (word.starts_with('-')
                    && !word.starts_with("--")
                    && word.trim_start_matches('-').contains(short)
                    && word.chars().skip(1).all(char::is_alphabetic))
        })
    };
    match (name, sub) {
        ("grep" | "egrep" | "fgrep" | "rg" | "ag", _) | ("git", "grep") => {
            if flag('c', "--count") || flag('c', "--count-matches") { Prints::Count } else { Prints::Lines }
        }
        ("wc", _) => Prints::Count,
        ("find" | "ls" | "sort" | "uniq" | "head" | "tail" | "cat" | "sed" | "awk", _)
        | ("git", "ls-files" | "log" | "diff") => Prints::Lines,
        ("jq", _) if stage.contains("length") => Prints::Count,
        _ => Prints::Other,
    }
}

/// Whether a command decides nothing: it only talks, or it is nothing.
pub(crate) fn is_idle(command: &str) -> bool {
    parts(command).iter().all(|(_, part)| {
        let part = part.trim();
        part.is_empty() || part.starts_with('#') || talks(part)
    })
}

// A part that always succeeds.
fn talks(part: &str) -> bool {
    if part.contains('|') || part.contains("$(") || part.contains("$?") || part.contains('`') {
        return false;
    }
    let mut words = part.split_whitespace();
    match words.next().unwrap_or("") {
        "echo" | "printf" | "true" | ":" | "/bin/true" => true,
        "exit" => matches!(words.next(), Some("0") | None),
        _ => false,
    }
}

/// Whether a command succeeds whatever happens in it: `… || true`, `…; echo done`.
pub(crate) fn always_passes(command: &str) -> bool {
    if is_idle(command) {
        return true;
    }
    let parts = parts(command);
    match parts.last() {
        Some((Joint::Or | Joint::Then, part)) => talks(part.trim()),
        _ => false,
    }
}

/// Whether a command prints its own exit code, as in `…; echo EXIT:$?`.
pub(crate) fn tells_exit(command: &str) -> bool {
    let asks = |part: &str| part.contains("$?");
    asks(command)
        && parts(command).last().is_some_and(|(_, part)| part.trim_start().starts_with("echo") && asks(part))
}

/// How a part is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    First,
    And,
    Or,
    Then,
}

// The parts of a command line, cut at `&&`, `||`, `;` and line ends outside of quotes and parentheses.
fn parts(command: &str) -> Vec<(Joint, &str)> {
    cut(command, |rest| {
        if rest.starts_with("&&") {
            Some((Joint::And, 2))
        } else if rest.starts_with("||") {
            Some((Joint::Or, 2))
        } else if rest.starts_with([';', '\n']) {
            Some((Joint::Then, 1))
        } else {
            None
        }
    })
}

// The stages of a pipe.
fn pipe(part: &str) -> Vec<&str> {
    let stages =
        cut(part, |rest| (rest.starts_with('|') && !rest.starts_with("||")).then_some((Joint::Then, 1)));
    stages.into_iter().map(|(_, stage)| stage).collect()
}

fn cut(text: &str, joint: impl Fn(&str) -> Option<(Joint, usize)>) -> Vec<(Joint, &str)> {
    let (mut found, mut from, mut how) = (Vec::new(), 0, Joint::First);
    let (mut quote, mut depth, mut at) = (None, 0_usize, 0);
    while let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let mut step = char.len_utf8();
        match (quote, char) {
            (None | Some('"'), '\\') => step += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), char) if open == char => quote = None,
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => {
                if let Some((next, width)) = joint(&text[at..]) {
                    found.push((how, &text[from..at]));
                    (how, from, step) = (next, at + width, width);
                }
            }
            _ => {}
        }
        at += step;
    }
    found.push((how, &text[from.min(text.len())..]));
    // A line end or a semicolon at the end begins nothing.
    while found.len() > 1 && found.last().is_some_and(|(_, part)| part.trim().is_empty()) {
        found.pop();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_and_listing_commands_are_told_apart() {
        assert_eq!(prints("grep -c 'a\\|b' f"), Prints::Count);
        assert_eq!(prints("grep 'x' f | grep -ic 'y'"), Prints::Count);
        assert_eq!(prints("grep -rn \"-c\" src"), Prints::Lines);
        assert_eq!(prints("grep -r 'a | b' src"), Prints::Lines);
        assert_eq!(prints("find . -name '*.rs' | wc -l"), Prints::Count);
        assert_eq!(prints("cd a && grep -c x f"), Prints::Count);
        assert_eq!(prints("cargo test"), Prints::Other);
        assert_eq!(prints("! grep -E 'x' f"), Prints::Lines);
    }

    #[test]
    fn p3_a_command_that_only_talks_decides_nothing() {
        for idle in ["echo ok", "true", ":", "", "exit 0", "echo a; echo b", "printf 'x' && true", "# later"]
        {
            assert!(is_idle(idle), "{idle}");
        }
        for real in
            ["cargo test", "echo x | grep x", "test -f a && echo ok", "echo $(cargo test)", "a; echo EXIT:$?"]
        {
            assert!(!is_idle(real), "{real}");
        }
    }

    #[test]
    fn p3_a_command_that_cannot_fail_is_known() {
        for masked in [
            "cargo test || true",
            "tsc | grep x || echo \"no errors\"",
            "make; echo done",
            "make ; exit 0",
            "echo",
        ] {
            assert!(always_passes(masked), "{masked}");
        }
        for real in [
            "a || b",
            "x; test $? -ne 0 && echo PASS",
            "bash -c 'a || true'",
            "a && echo ok",
            "a || exit 1",
            "a; echo EXIT:$?",
        ] {
            assert!(!always_passes(real), "{real}");
        }
    }

    #[test]
    fn programs_are_in_order() {
        assert!(PROGRAMS.is_sorted());
    }

    #[test]
    fn commands_are_told_from_names() {
        for yes in [
            "cargo test",
            "pytest",
            "FOO=1 npm test",
            "./run.sh",
            "! grep x f",
            ".venv/bin/python -m x",
            "test -f a",
        ] {
            assert!(looks_like_one(yes), "{yes}");
        }
        for no in ["src/a.rs", "Foo", "messages.ts", "", "split_request", "X=1"] {
            assert!(!looks_like_one(no), "{no}");
        }
    }
}
