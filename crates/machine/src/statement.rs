//! What an agent states about its work, in the one line that every prompt asks for: done, not done, or blocked.
//!
//! Only that form is read. Prose around it says nothing here, and the demand quoted back is not an answer to it.

/// The demand that ends a prompt.
pub const DEMAND: &str = "When you stop, end your last message with exactly one of these lines:\n\
                          STATUS: done\n\
                          STATUS: not done – what is left\n\
                          STATUS: blocked – what you need";

/// What stands in the demand where an agent writes its own words.
const PLACEHOLDERS: [&str; 2] = ["what is left", "what you need"];

/// How many lines of text may follow the line: a signature, a greeting, the end of a fence.
const LINES_AFTER: usize = 8;

/// What the agent states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// The work is done.
    Done,
    /// It is not, and this is left, if it says so.
    NotDone(String),
    /// It cannot continue without this, if it says so.
    Blocked(String),
}

/// The last statement in a message; `None` when there is none.
pub fn read(text: &str) -> Option<Statement> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut found: Vec<(usize, Option<Statement>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(line) = Line::read(line) else { continue };
        if line.is_placeholder() {
            // The demand is quoted: its first line looks like an answer and is none.
            if let Some((_, before)) = found.last_mut()
                && *before == Some(Statement::Done)
                && !found_an_answer_between(&lines, &found, at)
            {
                found.pop();
            }
            found.push((at, None));
            continue;
        }
        let statement = line.statement();
        if statement.is_none() {
            // "Done, but …" takes back a "done" before it.
            found.retain(|(_, before)| *before != Some(Statement::Done));
        }
        found.push((at, statement));
    }
    let (at, statement) = found.into_iter().rfind(|(_, statement)| statement.is_some())?;
    let after = lines.get(at + 1..).unwrap_or_default();
    // Who writes on after "done" quoted it, or was not done.
    let ends = statement != Some(Statement::Done) || after.iter().all(|line| is_signature(line));
    statement.filter(|_| ends && after.len() <= LINES_AFTER)
}

// A name, a greeting, a trailer, a mark: nothing that says anything about the work.
fn is_signature(line: &str) -> bool {
    let dash = line.starts_with(['—', '–', '-', '`', '<', '[', '~']);
    let trailer = line.split_once(": ").is_some_and(|(key, _)| key.contains('-') && !key.contains(' '));
    let words = line.split_whitespace().count();
    let speaks = line.contains(['.', '?']) || line.to_lowercase().contains("not ");
    trailer || (words <= if dash { 8 } else { 4 } && (dash || !speaks))
}

// Whether prose stands between the last statement and this line, so that they do not belong to one quotation.
fn found_an_answer_between(lines: &[&str], found: &[(usize, Option<Statement>)], at: usize) -> bool {
    let Some((last, _)) = found.last() else { return false };
    let connects = |line: &&str| matches!(plain(line).to_lowercase().as_str(), "" | "or" | "oder");
    !lines.iter().take(at).skip(last + 1).all(connects)
}

// A line that begins with `STATUS:`, without the marks around it.
struct Line {
    word: String,
    detail: String,
    /// Something other than a mark follows the word directly.
    runs_on: bool,
}

impl Line {
    // At the beginning of a line, or as the last sentence of one.
    fn read(line: &str) -> Option<Self> {
        Self::begins(line).or_else(|| {
            let ends = [". STATUS:", "! STATUS:", "? STATUS:"].into_iter();
            let at = ends.filter_map(|end| line.rfind(end)).max()?;
            Self::begins(line.get(at + 2..)?)
        })
    }

    fn begins(line: &str) -> Option<Self> {
        let inner = plain(line);
        let rest = strip_word(&inner, "status")?;
        let rest = rest.trim_start_matches(is_mark).strip_prefix([':', '：'])?;
        let rest = rest.trim_start_matches(|c: char| is_mark(c) || c == '"');
        let word =
            ["not done", "done", "blocked"].into_iter().find(|word| strip_word(rest, word).is_some())?;
        let rest = strip_word(rest, word)?;
        let after_marks = rest.trim_start_matches(is_mark);
        let runs_on = after_marks.starts_with(char::is_alphanumeric) && !rest.starts_with(['*', '_', '`']);
        let detail = after_marks.trim_start_matches(is_separator).trim_end_matches(['.', ' ']).trim();
        Some(Self { word: word.to_owned(), detail: closed(detail), runs_on })
    }

    fn is_placeholder(&self) -> bool {
        let detail = self.detail.to_lowercase();
        let inner = detail.trim_matches(|c: char| !c.is_alphanumeric());
        PLACEHOLDERS.contains(&inner) || detail.contains("status:")
    }

    fn statement(&self) -> Option<Statement> {
        match self.word.as_str() {
            // "done with step 2 of 5" says something else than "done".
            "done" => (!self.runs_on && !is_limited(&self.detail)).then_some(Statement::Done),
            "not done" => Some(Statement::NotDone(self.detail.clone())),
            _ => Some(Statement::Blocked(self.detail.clone())),
        }
    }
}

/// Whether what follows "done" takes a part of it back, asks, or names the other choices.
fn is_limited(detail: &str) -> bool {
    const LIMITS: [&str; 12] = [
        "but",
        "except",
        "excluding",
        "apart",
        "partially",
        "partly",
        "incomplete",
        "almost",
        "aber",
        "außer",
        "teilweise",
        "fast",
    ];
    let low = detail.to_lowercase();
    let words: Vec<&str> =
        low.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let number = |word: &str| word.parse::<u64>().ok();
    let part = |part: Option<u64>, all: Option<u64>| part.zip(all).is_some_and(|(part, all)| part < all);
    let counted = words
        .windows(3)
        .any(|three| ["of", "von", "out"].contains(&three[1]) && part(number(three[0]), number(three[2])));
    let fraction =
        words.iter().filter_map(|word| word.split_once('/')).any(|(a, b)| part(number(a), number(b)));
    let others = low.contains("not done") || low.contains("blocked") || low.starts_with('?');
    others || counted || fraction || words.iter().any(|word| LIMITS.contains(word))
}

/// A line without what Markdown puts around it: quotes, headings, lists, tables, emphasis, code.
fn plain(line: &str) -> String {
    let line = line.trim_start_matches(|c: char| is_mark(c) || "#>|+-\"“„»\u{2022}".contains(c));
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = match number.strip_prefix(['.', ')']) {
        Some(rest) if number.len() < line.len() => rest.trim_start_matches(is_mark),
        _ => line,
    };
    line.trim_end_matches(|c: char| c.is_whitespace() || "*|\"”“«".contains(c)).to_owned()
}

fn is_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_' | '`' | '~')
}

fn is_separator(c: char) -> bool {
    is_mark(c) || matches!(c, '-' | '–' | '—' | '−' | ':' | ',' | ';' | '.' | '=' | '>')
}

/// What follows a word, whatever its case; `None` when the text begins with another word.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text;
    for part in word.split(' ') {
        rest = rest.trim_start_matches([' ', '_', '-', '*', '`']);
        let (head, tail) = rest.split_at_checked(part.len())?;
        if !head.eq_ignore_ascii_case(part) || tail.starts_with(char::is_alphanumeric) {
            return None;
        }
        rest = tail;
    }
    Some(rest)
}

/// A detail without the mark that closes what was opened before it.
fn closed(detail: &str) -> String {
    let mut detail = detail;
    for mark in ['`', '_'] {
        if detail.ends_with(mark) && detail.matches(mark).count() % 2 == 1 {
            detail = detail.trim_end_matches(mark);
        }
    }
    detail.trim_end_matches("__").trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_the_demand_itself_is_no_answer() {
        assert_eq!(read(DEMAND), None);
        assert_eq!(read(&format!("Task\n\n{DEMAND}\r\n\r\nSTATUS: done\r\n")), Some(Statement::Done));
    }

    #[test]
    fn v1_words_that_run_on_are_not_done() {
        assert_eq!(read("STATUS: done with 2 of 5 steps"), None);
        assert_eq!(read("STATUS: done, all tests pass"), Some(Statement::Done));
        assert_eq!(read("STATUS: **done**"), Some(Statement::Done));
        assert_eq!(read("STATUS: doner"), None);
        assert_eq!(read("STATUS: done – 40 of 40 tests pass, no warning"), Some(Statement::Done));
        for taken_back in [
            "STATUS: done, but two tests fail",
            "STATUS: done – 3 of 5 steps",
            "STATUS: done (3/5)",
            "STATUS: done – except the migration",
            "STATUS: done?",
            "STATUS: done | not done | blocked",
            "STATUS: done\n\nSTATUS: done, aber die Tests fehlen",
        ] {
            assert_eq!(read(taken_back), None, "{taken_back}");
        }
    }

    #[test]
    fn truth1_a_done_that_somebody_writes_on_after_is_quoted() {
        for (text, meant) in [
            ("You asked me to end with\n\nSTATUS: done\n\nbut I am not there yet, two tests fail.", None),
            ("The script prints\n```\nSTATUS: done\n```\nand then hangs. I could not find out why.", None),
            ("> STATUS: done\n\nI cannot say that. I give up.", None),
            ("All is in place.\n\nSTATUS: done\n\n— Codex, on behalf of the team", Some(Statement::Done)),
            ("STATUS: done\n\nHave a nice day!", Some(Statement::Done)),
            ("STATUS: done\nSigned-off-by: A. Gent <a@example.com>", Some(Statement::Done)),
        ] {
            assert_eq!(read(text), meant, "{text}");
        }
    }
}
