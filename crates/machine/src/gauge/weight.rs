//! How much a text weighs in a prompt: about four for each token that it takes.
//!
//! No vocabulary is needed for that, only what sort of characters there are: a word is about a token whatever its length,
//! digits go three by three, and what has no words (base64, hashes, CJK) goes almost one by one. The weights were fitted to
//! a vocabulary that counts; what a model's own counts otherwise, the gauge learns in the session.

/// Hundredths of a token, by sort.
const HUMP: u64 = 52;
const LONG: u64 = 39;
const CAPITAL: u64 = 10;
const DIGITS: u64 = 123;
const DENSE: u64 = 68;
const MARK: u64 = 68;
const NEXT_MARK: u64 = 34;
const SAME_MARK: u64 = 3;
const BREAK: u64 = 52;
const SPACE: u64 = 52;
const INDENT: u64 = 122;
const IDEOGRAPH: u64 = 98;
const ACCENTED: u64 = 80;
const LETTER: u64 = 40;
const SYMBOL: u64 = 150;

/// Letters of a part of a word that cost nothing more.
const PART: usize = 7;
/// A word without words in it is at least this long and changes its sort of characters at every fourth at the latest.
const LEAST_DENSE: usize = 16;
const CHANGES: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Word,
    Mark,
    Break,
    Space,
    Ideograph,
    Accented,
    Letter,
    Symbol,
}

impl Sort {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => Self::Word,
            '\n' | '\r' => Self::Break,
            ' ' | '\t' => Self::Space,
            _ if c.is_ascii_punctuation() => Self::Mark,
            '\u{2E80}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7AF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF00}'..='\u{FFEF}'
            | '\u{20000}'..='\u{3FFFF}' => Self::Ideograph,
            '\u{80}'..='\u{24F}' if c.is_alphabetic() => Self::Accented,
            _ if c.is_alphabetic() => Self::Letter,
            _ => Self::Symbol,
        }
    }
}

/// The weight of a text.
pub fn weigh(text: &str) -> u64 {
    let (mut hundredths, mut rest) = (0_u64, text);
    while let Some(sort) = rest.chars().next().map(Sort::of) {
        let end = rest.find(|c| Sort::of(c) != sort).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        hundredths = hundredths.saturating_add(of_run(sort, run));
        rest = after;
    }
    hundredths.div_ceil(25)
}

fn of_run(sort: Sort, run: &str) -> u64 {
    let chars = || run.chars().count() as u64;
    match sort {
        Sort::Word => of_word(run.as_bytes()),
        Sort::Mark => {
            let next = |pair: &[u8]| if pair[0] == pair[1] { SAME_MARK } else { NEXT_MARK };
            MARK + run.as_bytes().windows(2).map(next).sum::<u64>()
        }
        Sort::Break => BREAK,
        Sort::Space => {
            if run.len() > 1 {
                INDENT
            } else {
                SPACE
            }
        }
        Sort::Ideograph => chars() * IDEOGRAPH,
        Sort::Accented => chars() * ACCENTED,
        Sort::Letter => chars() * LETTER,
        Sort::Symbol => chars() * SYMBOL,
    }
}

// A word of letters and digits goes by its parts, `parseHTML2` by three.
fn of_word(word: &[u8]) -> u64 {
    let kind = |c: u8| (c.is_ascii_digit(), c.is_ascii_uppercase());
    let changes = word.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    if word.len() >= LEAST_DENSE && changes * CHANGES >= word.len() {
        return word.len() as u64 * DENSE;
    }
    let (mut sum, mut rest) = (0, word);
    while let Some(first) = rest.first() {
        let run = |is: fn(&u8) -> bool, from: usize| rest[from..].iter().take_while(|c| is(c)).count();
        let len = if first.is_ascii_digit() {
            let digits = run(u8::is_ascii_digit, 0);
            sum += digits.div_ceil(3) as u64 * DIGITS;
            digits
        } else {
            let capitals = run(u8::is_ascii_uppercase, 0);
            let len = capitals + run(u8::is_ascii_lowercase, capitals);
            let capitals = if capitals > 1 { capitals as u64 } else { 0 };
            sum += HUMP + capitals * CAPITAL + len.saturating_sub(PART) as u64 * LONG;
            len
        };
        rest = &rest[len..];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_weigh_about_four_a_token_and_what_has_no_words_more() {
        let prose = "The quick brown fox jumps over the lazy dog.";
        assert!((36..=46).contains(&weigh(prose)), "{}", weigh(prose));
        let hash = "4fA9zQ0bX7cLm2Rk8sTe1uVw";
        assert!(weigh(hash) >= 2 * hash.len() as u64, "{}", weigh(hash));
        assert!(weigh("的一是在不了有和人这中大") >= 3 * 12);
        assert!(weigh("1234567890") > weigh("abcdefghij"));
        assert_eq!((weigh(""), weigh(" "), weigh(&"-".repeat(80))), (0, 3, 13));
    }

    #[test]
    fn a_text_weighs_no_less_than_its_parts_nearly() {
        let text = "let parsed = self.reader.next(HTML2, &cursor)?; // größer, привет\n".repeat(20);
        let parts: u64 = text.lines().map(|line| weigh(&format!("{line}\n"))).sum();
        assert!(parts.abs_diff(weigh(&text)) <= 20, "{parts} {}", weigh(&text));
    }
}
