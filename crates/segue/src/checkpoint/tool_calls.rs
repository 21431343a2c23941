//! What tool calls did, in few lines: what changed something is grouped by program, what only read is left out.

use segue_machine::ToolDone;
use segue_machine::checkpoint::cut_chars;

/// How many different calls of one program are named, and how much of each.
const NAMED: usize = 60;
const NAME_CHARS: usize = 100;

/// Commands that only look: by their first word.
const LOOKS: &[&str] = &[
    "cat", "ls", "head", "tail", "grep", "rg", "find", "fd", "wc", "pwd", "echo", "which", "type", "stat",
    "file", "tree", "diff", "less", "more", "du", "df", "env", "printenv", "date", "whoami", "uname", "ps",
    "true", "cd", "sort", "uniq", "cut", "awk", "jq", "test", "[",
];
/// What git, by its second word, only looks at.
const GIT_LOOKS: &[&str] =
    &["status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "grep", "describe"];

/// The calls that changed something and worked, one line a program, the newest first.
pub(super) fn changes(tools: &[ToolDone]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<(String, usize)>)> = Vec::new();
    for tool in tools.iter().rev().filter(|tool| tool.ok && !tool.reads && !only_looks(&tool.title)) {
        let (program, rest) = split(&tool.title);
        let at = groups.iter().position(|(known, _)| known == program).unwrap_or_else(|| {
            groups.push((program.to_owned(), Vec::new()));
            groups.len() - 1
        });
        let calls = &mut groups[at].1;
        match calls.iter_mut().find(|(known, _)| known == rest) {
            Some((_, times)) => *times += 1,
            None => calls.push((rest.to_owned(), 1)),
        }
    }
    groups.iter().map(|(program, calls)| line(program, calls)).collect()
}

/// A call that failed: what it was, how it ended, and the last that it said.
pub(super) fn failure_line(tool: &ToolDone) -> String {
    let exit = tool.exit.map_or_else(String::new, |code| format!(", exit code {code}"));
    let last = tool.last_line.as_ref().map_or_else(String::new, |line| format!(": {line}"));
    format!("{}{exit}{last}", tool.title)
}

fn line(program: &str, calls: &[(String, usize)]) -> String {
    let word = |(rest, times): &(String, usize)| {
        let rest = cut_chars(rest, NAME_CHARS).replace('\n', " ");
        match (rest.is_empty(), times) {
            (true, 1) => String::new(),
            (true, times) => format!("({times} times)"),
            (false, 1) => rest,
            (false, times) => format!("{rest} ({times} times)"),
        }
    };
    let more = calls.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let named: Vec<String> = calls.iter().take(NAMED).map(word).collect();
    format!("{program} {}{more}", named.join(", ")).trim_end().to_owned()
}

// The program and its arguments, without a change of folder before it.
fn split(title: &str) -> (&str, &str) {
    let command = match title.split_once("&&") {
        Some((before, after)) if before.trim_start().starts_with("cd ") => after.trim(),
        _ => title.trim(),
    };
    let (program, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    (program, rest.trim())
}

fn only_looks(title: &str) -> bool {
    let plain = ["2>&1", "2>/dev/null", ">/dev/null", "> /dev/null"];
    let plain = plain.iter().fold(title.to_owned(), |text, quiet| text.replace(quiet, " "));
    if plain.contains('>') || plain.contains('`') || plain.contains("$(") {
        return false;
    }
    let mut parts =
        plain.split(['|', ';', '&', '\n']).map(str::trim).filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some()
        && parts.all(|part| {
            let mut words = part.split_whitespace();
            match (words.next(), words.next()) {
                (Some("git"), Some(what)) => GIT_LOOKS.contains(&what),
                (Some("sed"), Some(what)) => what == "-n",
                (Some("find"), _) => !part.contains("-delete") && !part.contains("-exec"),
                (Some(first), _) => LOOKS.contains(&first),
                (None, _) => true,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(title: &str) -> ToolDone {
        ToolDone { session: 1, title: title.to_owned(), ok: true, reads: false, exit: None, last_line: None }
    }

    #[test]
    fn c9_commands_that_change_something_are_grouped_and_reads_are_left_out() {
        let titles = [
            "cat src/a.rs | head -5",
            "git status",
            "cargo test",
            "cd sub && cargo test",
            "Edit src/a.rs",
            "cargo build",
            "sed -n 1,5p x",
            "sed -i s/a/b/ x",
            "echo hi > out.txt",
            "find . -name x 2>/dev/null",
            "Edit src/b.rs",
            "git commit -m one",
            "Edit src/a.rs",
        ];
        let mut tools: Vec<ToolDone> = titles.into_iter().map(done).collect();
        tools.push(ToolDone { reads: true, ..done("Read src/a.rs") });
        tools.push(ToolDone { ok: false, ..done("make all") });
        assert_eq!(
            changes(&tools),
            [
                "Edit src/a.rs (2 times), src/b.rs",
                "git commit -m one",
                "echo hi > out.txt",
                "sed -i s/a/b/ x",
                "cargo build, test (2 times)",
            ]
        );
    }

    #[test]
    fn c9_a_failure_says_how_it_ended_and_its_last_line() {
        let failed = ToolDone {
            ok: false,
            exit: Some(101),
            last_line: Some("2 failed".to_owned()),
            ..done("cargo test")
        };
        assert_eq!(failure_line(&failed), "cargo test, exit code 101: 2 failed");
    }
}
