//! Inside a line: code spans, links, entities, and fields such as `**Files:** …`.

use std::borrow::Cow;

/// A code span and where it stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span<'a> {
    /// What is between the back-ticks.
    pub(crate) code: &'a str,
    /// Where it begins, back-ticks included.
    pub(crate) from: usize,
    /// Where it ends, back-ticks included.
    pub(crate) to: usize,
}

/// The code spans of a text, in order. As many back-ticks end a span as began it.
pub(crate) fn spans(text: &str) -> Vec<Span<'_>> {
    let runs = runs(text);
    let (mut found, mut next) = (Vec::new(), 0);
    let mut far: Option<Vec<Option<usize>>> = None;
    while let Some((start, count)) = runs.get(next).copied() {
        let end = match runs.get(next + 1) {
            Some((_, same)) if *same == count => Some(next + 1),
            _ => far.get_or_insert_with(|| later(&runs))[next],
        };
        let Some(end) = end else {
            next += 1;
            continue;
        };
        let inner = (start + count, runs[end].0);
        let code = text.get(inner.0..inner.1).unwrap_or("");
        let code = if count > 1 { code.trim() } else { code };
        found.push(Span { code, from: start, to: inner.1 + count });
        next = end + 1;
    }
    found
}

// Every run of back-ticks: where it begins and how long it is.
fn runs(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| *byte == b'`') {
        match found.last_mut() {
            Some((start, count)) if *start + *count == at => *count += 1,
            _ => found.push((at, 1)),
        }
    }
    found
}

// Where a run of the same length occurs next, so that a text full of back-ticks costs no more than its length.
fn later(runs: &[(usize, usize)]) -> Vec<Option<usize>> {
    let longest = runs.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let (mut later, mut last) = (vec![None; runs.len()], vec![None; longest + 1]);
    for (index, (_, count)) in runs.iter().enumerate().rev() {
        later[index] = last[*count].replace(index);
    }
    later
}

/// The first link of a text: its words and its target.
pub(crate) fn link(text: &str) -> Option<(&str, &str)> {
    let (before, after) = text.split_once("](")?;
    let words = before.rsplit_once('[')?.1;
    let target = after.split_once(')')?.0;
    let target = target.split_whitespace().next().unwrap_or("").trim_matches(['<', '>']);
    Some((words, target.split('#').next().unwrap_or(target)))
}

/// XML entities as the characters that they stand for. What is no entity stays.
pub(crate) fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((entity(rest.get(1..end)?)?, end))) {
            Some((char, end)) => {
                out.push(char);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let digits = name.strip_prefix('#')?;
            digits.strip_prefix(['x', 'X']).map_or_else(|| number(digits, 10), |hex| number(hex, 16))
        }
    }
}

/// A line that begins with a name and a colon: the name in lower case, and what follows.
///
/// `**Files:** a`, `**Files**: a` and `Files: a` are the same. Without stars only a short name of letters is one.
pub(crate) fn field(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix("> ").unwrap_or(text);
    if let Some(rest) = text.strip_prefix("**") {
        let (name, rest) = rest.split_once("**")?;
        let (name, rest) = match name.strip_suffix(':') {
            Some(name) => (name, rest),
            None => (name, without_remark(rest.trim_start()).strip_prefix(':')?),
        };
        return Some((name.trim().to_lowercase(), rest.trim()));
    }
    let (name, rest) = text.split_once(':')?;
    let fits = name.len() <= 24 && name.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '_' | '-'));
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    (fits && ends && name.starts_with(char::is_alphabetic)).then(|| (name.trim().to_lowercase(), rest.trim()))
}

// "(what must be TRUE)" between a name and its colon.
fn without_remark(text: &str) -> &str {
    let rest = text.strip_prefix('(').and_then(|text| text.split_once(')'));
    rest.map_or(text, |(_, rest)| rest.trim_start())
}

/// Words without stars, back-ticks, links and trailing colons, for titles.
pub(crate) fn plain(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    if text.bytes().any(|byte| matches!(byte, b']' | b'*')) {
        while let Some((words, whole)) = link_range(&text) {
            text.to_mut().replace_range(whole, &words);
        }
        text = Cow::Owned(text.replace("**", ""));
    }
    text.trim().trim_end_matches(':').trim().to_owned()
}

fn link_range(text: &str) -> Option<(String, std::ops::Range<usize>)> {
    let middle = text.find("](")?;
    let from = text[..middle].rfind('[')?;
    let to = middle + text[middle..].find(')')? + 1;
    Some((text[from + 1..middle].to_owned(), from..to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_end_with_as_many_back_ticks_as_they_began() {
        let codes = |text| spans(text).into_iter().map(|s| s.code).collect::<Vec<_>>();
        assert_eq!(codes("a `b` ``c ` d`` e ` f"), ["b", "c ` d"]);
        assert_eq!(codes("`grep -c \"x\\|y\" f` (returns 0)"), ["grep -c \"x\\|y\" f"]);
        assert_eq!(spans("é`x`")[0], Span { code: "x", from: 2, to: 5 });
    }

    #[test]
    fn entities_become_characters_and_the_rest_stays() {
        assert_eq!(
            decode("a 2&gt;&amp;1 &amp;&amp; b &lt;x&gt; &#39;&#x41; &foo; & &#xffffffff;"),
            "a 2>&1 && b <x> 'A &foo; & &#xffffffff;"
        );
    }

    #[test]
    fn fields_are_read_with_and_without_stars() {
        assert_eq!(field("**Files:** a, b"), Some(("files".to_owned(), "a, b")));
        assert_eq!(field("**Depends On**: x"), Some(("depends on".to_owned(), "x")));
        assert_eq!(field("Status: Done"), Some(("status".to_owned(), "Done")));
        assert_eq!(field("> **Status**: x"), Some(("status".to_owned(), "x")));
        assert_eq!(field("see http://x"), None);
        assert_eq!(field("**ALL must pass**"), None);
        assert_eq!(
            field("**Success Criteria** (what must be TRUE):"),
            Some(("success criteria".to_owned(), ""))
        );
    }

    #[test]
    fn links_give_words_and_target() {
        assert_eq!(link("1. [Phase 1](a-phase-1.md#x) and"), Some(("Phase 1", "a-phase-1.md")));
        assert_eq!(plain("**[A](b)** and [C](d) in __init__:"), "A and C in __init__");
    }
}
