//! List items: their marker, their check box, their number.

/// What a check box says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `[ ]`
    Open,
    /// `[x]`
    Done,
    /// `[-]`, `[~]`, `[/]` or `[>]`
    Begun,
    /// `[!]`
    Stuck,
}

/// One list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    /// Its check box, if it has one.
    pub(crate) mark: Option<Mark>,
    /// The number that is its marker, as in `1.`.
    pub(crate) number: Option<&'a str>,
    /// What it says.
    pub(crate) text: &'a str,
}

/// A list item, if the line is one. The line comes without its indentation.
pub(crate) fn item(line: &str) -> Option<Item<'_>> {
    let (number, rest) = marker(line)?;
    let (mark, text) = check_box(rest);
    Some(Item { mark, number, text: text.trim() })
}

fn marker(line: &str) -> Option<(Option<&str>, &str)> {
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•']) {
        return (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (None, rest.trim_start()));
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = line.get(digits..)?.strip_prefix(['.', ')'])?;
    let is_one = (1..=4).contains(&digits) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_one.then(|| (line.get(..digits), rest.trim_start()))
}

fn check_box(text: &str) -> (Option<Mark>, &str) {
    let mut chars = text.chars();
    let (Some('['), Some(inner), Some(']')) = (chars.next(), chars.next(), chars.next()) else {
        // An empty pair of brackets is a box as well.
        let rest = text.strip_prefix("[]").filter(|rest| rest.starts_with([' ', '\t']));
        return rest.map_or((None, text), |rest| (Some(Mark::Open), rest));
    };
    let mark = match inner {
        ' ' => Mark::Open,
        'x' | 'X' | '✓' | '✔' | '✅' => Mark::Done,
        '-' | '~' | '/' | '>' => Mark::Begun,
        '!' => Mark::Stuck,
        _ => return (None, text),
    };
    // Some mark an optional item with a star behind the box.
    let rest = chars.as_str();
    let rest = rest.strip_prefix('*').unwrap_or(rest);
    if rest.is_empty() || rest.starts_with([' ', '\t']) { (Some(mark), rest) } else { (None, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_boxes_and_numbers_are_read() {
        let read = |line| item(line).map(|i| (i.mark, i.number, i.text));
        assert_eq!(read("- [ ] a"), Some((Some(Mark::Open), None, "a")));
        assert_eq!(read("* [X]\tb"), Some((Some(Mark::Done), None, "b")));
        assert_eq!(read("12) [-] c"), Some((Some(Mark::Begun), Some("12"), "c")));
        assert_eq!(read("- [ ]* 1.2 d"), Some((Some(Mark::Open), None, "1.2 d")));
        assert_eq!(read("+ e"), Some((None, None, "e")));
        assert_eq!(read("- [x](link)"), Some((None, None, "[x](link)")));
        assert_eq!(read("-f"), None);
        assert_eq!(read("**bold**"), None);
        assert_eq!(read("2024. was"), Some((None, Some("2024"), "was")));
    }
}
