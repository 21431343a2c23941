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

/// The position after spaces, tabs and colour codes.
#[inline]
pub(crate) fn after_spaces(text: &[u8], at: usize) -> usize {
    if matches!(text.get(at), Some(b' ' | b'\t' | 27 | b'\\')) { after_blank(text, at) } else { at }
}

fn after_blank(text: &[u8], mut at: usize) -> usize {
    loop {
        while matches!(text.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let size = if matches!(text.get(at), Some(27 | b'\\')) { colour(text, at) } else { 0 };
        if size == 0 {
            return at;
        }
        at += size;
    }
}

/// The size of a colour code at `at`, as it is or written out; 0 if there is none.
fn colour(text: &[u8], at: usize) -> usize {
    let start = match text.get(at) {
        Some(27) => 1,
        Some(b'\\') => {
            let slashes = run(text, at, |b| b == b'\\');
            let spelt = [b"u001b".as_slice(), b"u001B", b"x1b", b"x1B", b"033", b"e"];
            let fits = spelt.iter().find(|form| text[at + slashes..].starts_with(form));
            fits.map_or(0, |form| slashes + form.len())
        }
        _ => 0,
    };
    if start == 0 || text.get(at + start) != Some(&b'[') {
        return 0;
    }
    let digits = run(text, at + start + 1, |b| b.is_ascii_digit() || b == b';');
    if text.get(at + start + 1 + digits) == Some(&b'm') { start + digits + 2 } else { 0 }
}

/// The size of a line end or tab that is written out at `at`, however often it is escaped: `\\n`, `\\\\n`.
pub(crate) fn escape(text: &[u8], at: usize) -> usize {
    let slashes = run(text, at, |b| b == b'\\');
    let written = slashes > 0 && matches!(text.get(at + slashes), Some(b'n' | b'r' | b't'));
    if written { slashes + 1 } else { 0 }
}

/// A quote at `at`, with the backslashes before it: how many of those, which quote, and the position after it.
pub(crate) fn quote(text: &[u8], at: usize) -> Option<(usize, u8, usize)> {
    let slashes = if text.get(at) == Some(&b'\\') { run(text, at, |b| b == b'\\') } else { 0 };
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

/// Whether a word is random beyond doubt: three kinds of characters at least, which change often.
pub(crate) fn strong(word: &[u8]) -> bool {
    let count = |of: fn(&u8) -> bool| word.iter().filter(|b| of(b)).count();
    let (lower, upper, digits) =
        (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase), count(u8::is_ascii_digit));
    let signs = count(|b| matches!(b, b'!' | b'#' | b'%' | b'*' | b'~' | b'^' | b'$' | b'@' | b'&' | b'+'));
    let quiet = count(|b| matches!(b, b'.' | b'_' | b'-'));
    let kinds = [lower, upper, digits, signs].iter().filter(|n| **n > 0).count();
    let class = |b: u8| match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        b'.' | b'_' | b'-' | b'/' | b'=' => 0,
        _ => 4,
    };
    let changes = word
        .windows(2)
        .map(|w| (class(w[0]), class(w[1])))
        .filter(|(a, b)| a != b && *a != 0 && *b != 0 && (*a, *b) != (2, 1))
        .count();
    let often =
        changes >= 3 && (changes * 4 >= word.len() || digits >= 2 && signs > 0 && changes * 5 >= word.len());
    let mixed = kinds >= 3 || kinds == 2 && digits >= 3 && lower > 0 && quiet > 0 && changes >= 4;
    let hex = word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let long =
        kinds == 2 && digits >= 3 && lower > 3 && word.len() >= 24 && changes * 3 >= word.len() && !hex;
    word.len() >= 10
        && (mixed || long)
        && !hex
        && often
        && (digits >= 2 || word.len() >= 16 && changes * 4 >= word.len())
        && distinct(word) >= 7
        && (random(word) || changes * 3 >= word.len() || signs > 0 && digits >= 2)
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
