//! Secrets drawn at random from what vendors publish about the form of their keys, for the two halves of the large set:
//! `keys_open.rs`, which the rules may be tuned to, and `keys_sealed.rs`, which they may not.
//!
//! `‹A36›` in a pattern is a secret part, `‹~d12›` a random part that is none (an account, a host). What is arguable, and
//! so neither planted nor counted: identifiers that only accompany a secret (account and client numbers, publishable
//! keys, tenants), hashes of passwords, values that are encrypted already, tokens against forged requests, mnemonic words,
//! and a bare number, UUID or row of hexadecimal digits beside which nothing says what it is.

use crate::plant::Chance;

/// A secret with its surroundings.
pub(crate) struct Drawn {
    pub(crate) text: String,
    pub(crate) secrets: Vec<String>,
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGIT: &str = "0123456789";
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A pattern with every part drawn. A pattern that begins with `base64:`, `folded:` or `percent:` is encoded as a whole where
/// it stands between `⟦` and `⟧`, and all that is encoded is the secret then.
pub(crate) fn draw(pattern: &str, chance: &mut Chance) -> Drawn {
    let (encoding, pattern) = ["base64:", "folded:", "percent:"]
        .iter()
        .find_map(|name| pattern.strip_prefix(name).map(|rest| (*name, rest)))
        .unwrap_or(("", pattern));
    let mut drawn = Drawn { text: String::new(), secrets: Vec::new() };
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('‹') {
        let (code, after) = after.split_once('›').expect("a part is closed");
        drawn.text.push_str(before);
        let secret = !code.starts_with('~');
        let part = part(code.trim_start_matches('~'), chance);
        drawn.text.push_str(&part);
        if secret {
            drawn.secrets.extend(part.lines().map(str::to_owned));
        }
        rest = after;
    }
    drawn.text.push_str(rest);
    if encoding.is_empty() { drawn } else { encoded(encoding, &drawn) }
}

fn encoded(encoding: &str, drawn: &Drawn) -> Drawn {
    let (before, rest) = drawn.text.split_once('⟦').expect("what is encoded begins somewhere");
    let (inner, after) = rest.split_once('⟧').expect("what is encoded ends somewhere");
    let (inner, secrets) = match encoding {
        "percent:" => {
            let percent = |text: &str| text.bytes().map(percent).collect::<String>();
            (percent(inner), drawn.secrets.iter().map(|secret| percent(secret)).collect())
        }
        "folded:" => {
            let whole = base64(inner.as_bytes());
            let lines: Vec<&str> =
                whole.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
            (lines.join("\n"), lines.iter().map(|line| (*line).to_owned()).collect())
        }
        _ => (base64(inner.as_bytes()), vec![base64(inner.as_bytes())]),
    };
    Drawn { text: format!("{before}{inner}{after}"), secrets }
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let number =
            three.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = STANDARD[(number >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn part(code: &str, chance: &mut Chance) -> String {
    let (class, n) = code.split_at(1);
    let n = n.parse().unwrap_or(0);
    let mut of = |set: &str, n: usize| {
        let set: Vec<char> = set.chars().collect();
        (0..n).map(|_| set[chance.below(set.len())]).collect::<String>()
    };
    match class {
        "A" => of(&format!("{LOWER}{UPPER}{DIGIT}"), n),
        "a" => of(&format!("{LOWER}{DIGIT}"), n),
        "L" => of(UPPER, n),
        "U" => of(&format!("{UPPER}{DIGIT}"), n),
        "B" => of(&format!("{UPPER}234567"), n),
        "w" => of(&format!("{LOWER}{UPPER}{DIGIT}_-"), n),
        "x" => of("0123456789abcdef", n),
        "X" => of("0123456789ABCDEF", n),
        "d" => of(DIGIT, n),
        "5" => of(BASE58, n),
        "b" => of(&format!("{LOWER}{UPPER}{DIGIT}+/"), n),
        "i" => [8, 4, 4, 4, 12].map(|n| of("0123456789abcdef", n)).join("-"),
        "p" => {
            let middle = of(&format!("{LOWER}{UPPER}{DIGIT}!#%*+.~^_-"), n - 4);
            of(LOWER, 2) + &of(DIGIT, 1) + &middle + &of(UPPER, 1)
        }
        // A password as people make them: a word, a year, a sign.
        "h" => {
            let words = ["Summer", "Falcon", "Dragon", "Winter", "Monkey", "Bayern", "Coffee", "Orchid"];
            words[chance.below(words.len())].to_owned()
                + &part("d4", chance)
                + ["!", "#", "!!", "$"][chance.below(4)]
        }
        "P" => (0..8).map(|_| of(&format!("{LOWER}{UPPER}{DIGIT}+/"), 64) + "\n").collect::<String>(),
        other => panic!("no class {other}"),
    }
}
