//! How a text begins: what follows the first word or words of it that are known.

/// What follows each of these beginnings that a text has, in the order of the beginnings.
///
/// Most of them differ in their first byte, which is compared more quickly than the whole.
pub(crate) fn after_each<'t>(text: &'t str, beginnings: &[&str]) -> impl Iterator<Item = &'t str> {
    let first = text.bytes().next();
    let alike = beginnings.iter().filter(move |beginning| beginning.bytes().next() == first);
    alike.filter_map(|beginning| text.strip_prefix(beginning))
}

/// What follows the first of these beginnings that a text has.
pub(crate) fn after_any<'t>(text: &'t str, beginnings: &[&str]) -> Option<&'t str> {
    after_each(text, beginnings).next()
}

/// What follows this beginning, whatever the case of its ASCII letters.
pub(crate) fn after_ignoring_case<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(beginning.len())?;
    head.eq_ignore_ascii_case(beginning).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_beginning_is_found() {
        assert_eq!(
            after_each("exit code 1", &["exits", "exit", "exit code"]).collect::<Vec<_>>(),
            [" code 1", " 1"]
        );
        assert_eq!(after_any("only 2", &["exactly ", "only "]), Some("2"));
        assert_eq!(after_any("", &["a"]), None);
        assert_eq!(after_ignoring_case("RUN: x", "run:"), Some(" x"));
        assert_eq!(after_ignoring_case("é", "r"), None);
    }
}
