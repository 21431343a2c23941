//! What a name is given: where the value starts and ends, and whether it is a secret, a placeholder or code.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::{
    names::Telling,
    spelling::{after_spaces, contains, distinct, quote, random, run, strong},
};

/// The most bytes that a quoted value is read for.
const LONGEST_VALUE: usize = 16 * 1024;

/// A value as it stands.
pub(crate) struct Value {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) quoted: bool,
}

/// How a value is tied to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tie {
    /// `NAME=value`, `name: value`, `--name value`.
    Given,
    /// `NAME=value` in capitals and without spaces: a line of a shell or of an `.env` file.
    Shell,
    /// "the password is value".
    Said,
    /// "token value".
    Beside,
    /// `name("value")`, `name == "value"`.
    Literal,
    /// `"name", "value"`.
    Listed,
}

/// The value at `at`; `bare` values end at white space or punctuation, those of a shell only at white space.
pub(crate) fn read(text: &[u8], at: usize, tie: Tie) -> Option<Value> {
    let at = after_spaces(text, at);
    let opening = run(&text[..text.len().min(at + 42)], at, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'(' | b'@' | b'&' | b'!')
    });
    let opens = opening > 0 && opening <= 40 && (text[at + opening - 1] == b'(' || opening <= 2);
    let from = if opens && quote(text, at + opening).is_some() { at + opening } else { at };
    if let Some((slashes, mark, start)) = quote(text, from) {
        return Some(Value { start, end: closing(text, start, slashes, mark), quoted: true });
    }
    if matches!(tie, Tie::Literal | Tie::Listed) {
        return None;
    }
    let end = at + bare(text, at, tie);
    (end > at).then_some(Value { start: at, end, quoted: false })
}

/// Where a quoted text ends: at the same quote with as many backslashes, at one that ends a string of JSON around it, at
/// the end of the line. A text that is too long has no end and is nothing.
fn closing(text: &[u8], start: usize, slashes: usize, mark: u8) -> usize {
    let mut at = start;
    let limit = text.len().min(start + LONGEST_VALUE);
    while at < limit {
        let plain = |b: &u8| !matches!(b, b'\\' | b'"' | b'\n' | b'\r') && *b != mark;
        at += text[at..limit].iter().take_while(|b| plain(b)).count();
        if at == limit {
            break;
        }
        let here = run(text, at, |b| b == b'\\');
        let next = text.get(at + here).copied().unwrap_or(b'\n');
        let same = next == mark && here <= slashes;
        let around = next == b'"' && (here < slashes || ends_string(text, at + here + 1));
        if same || around || here == 0 && matches!(next, b'\n' | b'\r') {
            return at;
        }
        at += here + 1;
    }
    if limit == text.len() { limit } else { start }
}

/// Whether what follows a quote is what follows a string in JSON.
fn ends_string(text: &[u8], at: usize) -> bool {
    let after = at + run(text, at, |b| b.is_ascii_whitespace());
    text.get(after).is_none_or(|b| matches!(b, b',' | b':' | b'}' | b']'))
}

/// The most bytes of an unquoted value that are looked at to tell whether it is secret.
const LONGEST_BARE: usize = 256;

/// Where a secret that was read as far as it needed to be really ends.
pub(crate) fn whole(text: &[u8], value: &Value) -> usize {
    let cut = !value.quoted && value.end - value.start == LONGEST_BARE;
    value.end + if cut { run(text, value.end, unbroken) } else { 0 }
}

fn unbroken(b: u8) -> bool {
    b > b' ' && !matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>')
}

fn bare(text: &[u8], at: usize, tie: Tie) -> usize {
    let near = &text[..text.len().min(at + LONGEST_BARE)];
    let size = run(near, at, unbroken);
    let rest = &text[at..at + size];
    let shell = tie == Tie::Shell;
    let mut end = 0;
    let mut depth = 0_i32;
    while end < rest.len() {
        let after = &rest[end + 1..];
        let stop = match rest[end] {
            b',' | b';' => after.is_empty() || !shell || starts_pair(after),
            b'&' => !shell || starts_pair(after),
            b'%' => !shell && after.starts_with(b"26"),
            b'(' | b'[' | b'{' => {
                depth += 1;
                false
            }
            b')' | b']' | b'}' => {
                depth -= 1;
                depth < 0 && (!shell || after.is_empty())
            }
            _ => false,
        };
        if stop {
            break;
        }
        end += 1;
    }
    while end > 0 && matches!(rest[end - 1], b'.' | b',' | b':') && !shell {
        end -= 1;
    }
    end
}

fn starts_pair(rest: &[u8]) -> bool {
    let name = run(rest, 0, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' '));
    name > 0 && matches!(rest.get(name), Some(b'=' | b':'))
}

/// Whether a value is a secret, given how telling its name is and how it is tied to it.
pub(crate) fn secret(value: &[u8], telling: Telling, quoted: bool, tie: Tie) -> bool {
    if value.len() < 4
        || telling == Telling::No
        || quoted && matches!(value[0], b';' | b',' | b')' | b' ')
        || !quoted && code(value)
    {
        return false;
    }
    let enough = match tie {
        Tie::Said | Tie::Listed => random(value),
        Tie::Beside if quoted && telling == Telling::Password => value.len() >= 6 && !value.contains(&b' '),
        Tie::Beside => value.len() >= 16 && random(value),
        Tie::Given | Tie::Shell | Tie::Literal => true,
    };
    let plain =
        value.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b' ' | b'/' | b':'));
    let fits = || match telling {
        Telling::No => false,
        Telling::Weak => tie != Tie::Beside && strong(value) && !path(value),
        Telling::Key => value.len() >= 8 && random(value) && !path(value),
        Telling::Password if plain => {
            value.len() >= 6
                && !value.contains(&b' ')
                && (quoted && tie != Tie::Beside || tie == Tie::Shell || random(value))
        }
        Telling::Password => !path(value) && !prose(value),
    };
    enough && fits() && !marked(value) && !placeholder(value)
}

/// Whether a value is what this crate itself put there.
pub(crate) fn marked(value: &[u8]) -> bool {
    contains(&value[..value.len().min(64)], b"[redacted:")
        || value == b"[redacted"
        || value.starts_with(b"redacted:")
}

const PLACEHOLDERS: &[&[u8]] = &[
    b"changeme",
    b"change-me",
    b"change_me",
    b"example",
    b"placeholder",
    b"your-",
    b"your_",
    b"yourpass",
    b"yourtoken",
    b"yourkey",
    b"yoursecret",
    b"xxxx",
    b"****",
    b"dummy",
    b"fixme",
    b"todo",
    b"replace",
    b"insert",
    b"sample",
    b"redacted",
    b"masked",
    b"hidden",
    b"environ",
    b"process.env",
    b"getenv",
    b"secrets.",
    b"env.",
    b"${",
    b"{{",
    b"$(",
    b"%(",
    b"%{",
    b"{}",
    b"#{",
    b"undefined",
    b"not-a-real",
    b"not_a_real",
    b"\xe2\x80\xa6",
];

const WORDS: &[&[u8]] = &[
    b"password",
    b"passwd",
    b"pass",
    b"secret",
    b"token",
    b"string",
    b"null",
    b"none",
    b"true",
    b"false",
    b"test",
    b"testing",
    b"text",
    b"number",
    b"boolean",
    b"integer",
    b"required",
    b"optional",
    b"input",
    b"field",
    b"empty",
    b"unset",
    b"default",
    b"disabled",
    b"enabled",
    b"prompt",
    b"value",
    b"my-secret",
    b"my-token",
    b"mypassword",
    b"my_password",
    b"username",
    b"current-password",
    b"new-password",
    b"object",
    b"varchar",
    b"unknown",
    b"invalid",
    b"valid",
    b"expired",
    b"missing",
];

/// Whether a value stands for one: `changeme`, `<your-key>`, `${VAR}`, `xxxx`.
pub(crate) fn placeholder(value: &[u8]) -> bool {
    let trimmed = value.trim_ascii();
    let (Some(first), Some(last)) = (trimmed.first(), trimmed.last()) else { return true };
    let wrapped =
        matches!((first, last), (b'<', b'>') | (b'{', b'}') | (b'[', b']') | (b'%', b'%') | (b'_', b'_'));
    let variable = *first == b'$'
        && !trimmed.starts_with(b"$2")
        && !trimmed.starts_with(b"$6")
        && !trimmed.starts_with(b"$a");
    let short = trimmed.len() < 200;
    let cut = trimmed.ends_with(b"...") && trimmed.len() < 16;
    let format = *first == b'%' && trimmed.len() <= 4;
    wrapped
        || variable
        || cut
        || format
        || distinct(trimmed) <= 2
        || WORDS.iter().any(|word| trimmed.eq_ignore_ascii_case(word))
        || short && holds_place(trimmed)
}

fn holds_place(value: &[u8]) -> bool {
    static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let kind = Some(AhoCorasickKind::DFA);
        AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(PLACEHOLDERS).ok()
    });
    match &*SEARCH {
        Some(search) => search.is_match(value),
        None => PLACEHOLDERS.iter().any(|part| contains(value, part)),
    }
}

/// Whether an unquoted value is code: a call, a path of names, a reference.
fn code(value: &[u8]) -> bool {
    let call = value.contains(&b'(')
        || value.windows(2).any(|w| matches!(w, b"::" | b"->" | b"=>" | b"||" | b"&&" | b"[\""));
    let starts =
        matches!(value[0], b'$' | b'{' | b'[' | b'&' | b'*' | b'!' | b'|' | b'=' | b'?' | b')' | b'(');
    let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    let steps = value.iter().all(name) && value.contains(&b'.') && !random(value);
    let index = value.iter().position(|b| !name(b)).is_some_and(|i| value[i] == b'[');
    call || starts || index || steps && value.iter().filter(|b| b.is_ascii_digit()).count() < 2
}

/// Whether a value is a place on a disk or in a network.
fn path(value: &[u8]) -> bool {
    let rooted = [b"/".as_slice(), b"./", b"../", b"~/"].iter().any(|start| value.starts_with(start));
    let network = [b"http://".as_slice(), b"https://", b"file:", b"arn:", b"projects/"]
        .iter()
        .any(|start| value.starts_with(start));
    network || rooted && (value.contains(&b'.') || !random(value))
}

/// Whether a quoted value is a sentence.
fn prose(value: &[u8]) -> bool {
    let spaces = value.iter().filter(|b| **b == b' ').count();
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic() || **b == b' ').count();
    spaces >= 2 && letters * 10 >= value.len() * 9
}
