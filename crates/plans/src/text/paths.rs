//! Paths as plans name them, and how one file names another.

use super::inline::spans;

/// The paths in a text: its code spans that look like one, or else its words.
pub(crate) fn paths(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['-', '*', '+', '@', ' ']);
        let line = ["Create:", "Modify:", "Test:", "Delete:", "Edit:", "Update:", "New:"]
            .iter()
            .find_map(|word| line.strip_prefix(word))
            .unwrap_or(line);
        let spans = spans(line);
        if spans.is_empty() {
            let words = line.split([',', ';']).filter_map(|part| part.split_whitespace().next());
            found.extend(words.map(clean).filter(|word| is_path(word)).map(str::to_owned));
        } else {
            found.extend(spans.iter().map(|s| clean(s.code)).filter(|word| is_path(word)).map(str::to_owned));
        }
    }
    if found.len() < 2 {
        return found;
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

// A line range and what a sentence leaves at the end are no part of it.
fn clean(word: &str) -> &str {
    let word = word.trim().trim_matches(['"', '\'', '(', ')', ',']);
    let word = word.trim_end_matches(['.', ':']);
    match word.rsplit_once(':') {
        Some((path, lines)) if !lines.is_empty() && lines.chars().all(|c| c.is_ascii_digit() || c == '-') => {
            path
        }
        _ => word,
    }
}

/// Whether a word looks like a file or a folder: no white space, and a slash or an ending.
pub(crate) fn is_path(word: &str) -> bool {
    if word.is_empty()
        || word.len() > 300
        || (word.contains(':') && word.contains("://"))
        || word.eq_ignore_ascii_case("n/a")
    {
        return false;
    }
    if word.chars().any(|c| c.is_whitespace() || matches!(c, '<' | '>' | '|' | '"' | '=' | ';' | '$' | '`')) {
        return false;
    }
    let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or(word);
    let ending = || {
        last.rsplit_once('.').is_some_and(|(stem, end)| {
            (1..=8).contains(&end.len())
                && end.chars().all(char::is_alphanumeric)
                && !stem.ends_with('.')
                && !end.chars().all(|c| c.is_ascii_digit())
        })
    };
    let hidden =
        || last.starts_with('.') && last.len() > 2 && last.chars().nth(1).is_some_and(char::is_alphanumeric);
    let known =
        || matches!(last, "Makefile" | "Dockerfile" | "Justfile" | "Rakefile" | "Gemfile" | "LICENSE");
    let folder = || word.contains('/') && word.chars().any(char::is_alphanumeric) && !word.contains("()");
    !last.contains('(') && (ending() || hidden() || known() || folder())
}

/// A path as it stands in `from`, seen from where `from` is seen.
pub(crate) fn beside(from: &str, path: &str) -> String {
    match from.rsplit_once('/') {
        Some((dir, _)) if !path.starts_with('/') => join(dir, path),
        _ => join("", path),
    }
}

/// A path below a folder, without `.` and, where it can be, without `..`.
pub(crate) fn join(dir: &str, path: &str) -> String {
    let rooted = path.starts_with('/') || dir.starts_with('/');
    let whole =
        if path.starts_with('/') || dir.is_empty() { path.to_owned() } else { format!("{dir}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_lists_spans_and_words() {
        assert_eq!(paths("src/a.rs, src/b.rs"), ["src/a.rs", "src/b.rs"]);
        assert_eq!(
            paths("- Create: `src/a.rs:12-30` (new `Foo` there)\n- Modify: package.json"),
            ["src/a.rs", "package.json"]
        );
        assert_eq!(paths("- `src/p.md` (Section 6 rewrite)\n"), ["src/p.md"]);
        assert_eq!(paths("none, N/A, a b c, v1.0"), [""; 0]);
    }

    #[test]
    fn what_looks_like_a_path_is_one() {
        assert!(
            ["a.rs", "src/", "x/y", ".gitignore", "Makefile", "a-b_c.test.ts"].iter().all(|p| is_path(p))
        );
        assert!(
            !["Foo", "1.2", "request_stop()", "http://a/b", "a b.rs", "--flag", "x.y()", ""]
                .iter()
                .any(|p| is_path(p))
        );
    }

    #[test]
    fn a_file_beside_another_is_named_from_the_same_place() {
        assert_eq!(beside("plans/MASTER.md", "./phase-1.md"), "plans/phase-1.md");
        assert_eq!(beside("MASTER.md", "p/1.md"), "p/1.md");
        assert_eq!(beside("a/b/M.md", "../x.md"), "a/x.md");
        assert_eq!(beside("M.md", "../x.md"), "../x.md");
        assert_eq!(beside("/a/M.md", "x.md"), "/a/x.md");
    }
}
