//! Bytes as they are spelled in logs and JSON: where a word starts, what a quote is, when a run of characters is a word
//! of a language and when it is random. Nothing here knows a rule.

/// The most bytes that one run of characters is read for.
pub(crate) const LONGEST_RUN: usize = 16 * 1024;

/// Whether a token may start at `at`: not in the middle of a word, where `\n`, `\u001b`, `%20` and colour codes are no
/// letters of a word.
pub(crate) fn starts_word(text: &[u8], at: usize) -> bool {
    let Some(previous) = at.checked_sub(1).and_then(|i| text.get(i)) else { return true };
    if !previous.is_ascii_alphanumeric() {
        return true;
    }
    let before = |n: usize| at.checked_sub(n).and_then(|i| text.get(i)).copied().unwrap_or(0);
    if b"ntrbf".contains(previous) && before(2) == b'\\' {
        return true;
    }
    let hex = |from: usize| (1..=from).all(|n| before(n).is_ascii_hexdigit());
    if before(3) == b'%' && hex(2) || before(5) == b'u' && before(6) == b'\\' && hex(4) {
        return true;
    }
    *previous == b'm' && ends_colour(&text[..at - 1])
}

fn ends_colour(text: &[u8]) -> bool {
    let tail = &text[text.len().saturating_sub(12)..];
    let digits = tail.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    digits < tail.len() && tail[tail.len() - digits - 1] == b'['
}

/// How many bytes from `at` on are of a set.
pub(crate) fn run(text: &[u8], at: usize, of: impl Fn(u8) -> bool) -> usize {
    let end = text.len().min(at.saturating_add(LONGEST_RUN));
    text.get(at..end).map_or(0, |rest| rest.iter().take_while(|b| of(**b)).count())
}

/// The position after spaces and tabs.
pub(crate) fn after_spaces(text: &[u8], at: usize) -> usize {
    at + run(text, at, |b| b == b' ' || b == b'\t')
}

/// The size of a line end or tab that is written out at `at`, however often it is escaped: `\\n`, `\\\\n`.
pub(crate) fn escape(text: &[u8], at: usize) -> usize {
    let slashes = run(text, at, |b| b == b'\\');
    let written = slashes > 0 && matches!(text.get(at + slashes), Some(b'n' | b'r' | b't'));
    if written { slashes + 1 } else { 0 }
}

/// A quote at `at`, with the backslashes before it: how many of those, which quote, and the position after it.
pub(crate) fn quote(text: &[u8], at: usize) -> Option<(usize, u8, usize)> {
    let slashes = run(text, at, |b| b == b'\\');
    let mark = *text.get(at + slashes)?;
    matches!(mark, b'"' | b'\'' | b'`').then_some((slashes, mark, at + slashes + 1))
}

/// Whether what a telling name is given looks random: most of it is in pieces that are not words.
pub(crate) fn random(value: &[u8]) -> bool {
    if value.len() < 8 || value.iter().any(|b| b.is_ascii_whitespace() || *b < b' ') {
        return false;
    }
    let pieces = value.split(|b| !b.is_ascii_alphanumeric());
    let odd: usize = pieces.filter(|piece| !wordy(piece)).map(<[u8]>::len).sum();
    (odd >= 8 || odd * 2 >= value.len()) && distinct(value) >= 5
}

/// Whether a piece of letters and digits could be a word, a number or a name such as `sha256`.
fn wordy(piece: &[u8]) -> bool {
    let letters = piece.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (word, rest) = piece.split_at(letters);
    if rest.len() > 3 || !rest.iter().all(u8::is_ascii_digit) {
        return piece.len() <= 4 && piece.iter().all(u8::is_ascii_digit);
    }
    let starts = |w: &[u8]| {
        w[1].is_ascii_uppercase()
            && (w[0].is_ascii_lowercase() || w.get(2).is_some_and(u8::is_ascii_lowercase))
    };
    let words = 1 + (1..word.len()).filter(|i| starts(&word[i - 1..word.len().min(i + 2)])).count();
    word.len() < 12 || word.len() * 2 >= words * 7
}

/// How many different bytes there are.
pub(crate) fn distinct(value: &[u8]) -> u32 {
    let mut seen = [0_u64; 4];
    for b in value {
        seen[usize::from(b >> 6)] |= 1 << (b & 63);
    }
    seen.iter().map(|part| part.count_ones()).sum()
}

/// Whether at least two of small letters, capitals and digits are there.
pub(crate) fn mixed(value: &[u8]) -> bool {
    let classes = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    classes.iter().filter(|class| value.iter().any(class)).count() >= 2
}

/// Whether `needle`, in small letters, is in `text`, however that is capitalised.
pub(crate) fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle))
}
