//! What is personal rather than secret, and only redacted on request: e-mail addresses, card numbers, IBANs.

use crate::spelling::{run, starts_word};

/// The address around the `@` at `at`.
pub(crate) fn email(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let local = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'%' | b'+' | b'-');
    let before = text[at.saturating_sub(64)..at].iter().rev().take_while(|b| local(**b)).count();
    let host = run(text, at + 1, |b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')).min(253);
    let mut end = at + 1 + host;
    while end > at + 1 && matches!(text[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let host = &text[at + 1..end];
    let dot = host.iter().rposition(|b| *b == b'.')?;
    let top = &host[dot + 1..];
    let fine = before > 0 && dot > 0 && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic);
    let mut start = at - before;
    if start > 0 && text[start - 1] == b'\\' && b"ntr".contains(&text[start]) {
        start += 1;
    }
    (fine && start < at).then_some((start, end))
}

/// Card numbers and IBANs in a text.
pub(crate) fn payment(text: &[u8], mut found: impl FnMut(usize, usize, &'static str)) {
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_digit() && starts_word(text, at) {
            let size = run(text, at, |b| b.is_ascii_digit() || matches!(b, b' ' | b'-'));
            let end =
                at + size - text[at..at + size].iter().rev().take_while(|b| !b.is_ascii_digit()).count();
            if card(&text[at..end]) && !text.get(end).is_some_and(u8::is_ascii_alphanumeric) {
                found(at, end, "card");
            }
            at += size;
        } else if text[at].is_ascii_uppercase() && starts_word(text, at) {
            match iban(&text[at..text.len().min(at + 42)]) {
                Some(size) => {
                    found(at, at + size, "iban");
                    at += size;
                }
                None => at += 1,
            }
        } else {
            at += 1;
        }
    }
}

fn card(text: &[u8]) -> bool {
    let digits: Vec<u32> = text.iter().filter(|b| b.is_ascii_digit()).map(|b| u32::from(b - b'0')).collect();
    if !(13..=19).contains(&digits.len()) || !(2..=6).contains(&digits[0]) {
        return false;
    }
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, d)| if i % 2 == 0 { *d } else { d * 2 / 10 + d * 2 % 10 })
        .sum();
    sum.is_multiple_of(10)
}

fn iban(text: &[u8]) -> Option<usize> {
    let (country, rest) = text.split_at_checked(2)?;
    let shape = country.iter().all(u8::is_ascii_uppercase)
        && rest.iter().take(2).filter(|b| b.is_ascii_digit()).count() == 2;
    let size = run(text, 0, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
    let size = size - text[..size].iter().rev().take_while(|b| **b == b' ').count();
    let signs: Vec<u8> = text[..size].iter().copied().filter(|b| *b != b' ').collect();
    if !shape || !(15..=34).contains(&signs.len()) {
        return None;
    }
    let turned = signs[4..].iter().chain(&signs[..4]);
    let rest = turned.fold(0_u32, |rest, b| match b {
        b'0'..=b'9' => (rest * 10 + u32::from(b - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    (rest == 1).then_some(size)
}
