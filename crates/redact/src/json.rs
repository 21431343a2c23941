//! Just enough JSON: where the strings of a line are, at which path, and what they say without their escapes. It must
//! not change a line; a line that is not JSON is none of its business.

/// A string value of a line.
pub(crate) struct Text {
    /// The path to it, as a hash of the keys.
    pub(crate) path: u64,
    /// Its raw bytes, without the quotes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The strings of a line that may be parts of a longer text, and a hash of what tells one such text from another.
pub(crate) struct Strings {
    pub(crate) texts: Vec<Text>,
    pub(crate) which: u64,
}

const DEEPEST: usize = 64;

/// Values of these keys are never parts of a longer text.
const LABELS: &[&[u8]] = &[
    b"type",
    b"role",
    b"model",
    b"status",
    b"method",
    b"jsonrpc",
    b"sessionUpdate",
    b"kind",
    b"name",
    b"timestamp",
    b"cwd",
    b"version",
    b"field",
    b"time",
    b"subtype",
    b"stop_reason",
    b"uuid",
    b"level",
];

/// The strings of a line, or nothing if it is not a JSON object.
pub(crate) fn strings(line: &[u8]) -> Option<Strings> {
    let first = line.iter().position(|b| !b.is_ascii_whitespace())?;
    if line[first] != b'{' {
        return None;
    }
    let mut out = Strings { texts: Vec::with_capacity(8), which: 0 };
    let mut open: Vec<(u8, u64)> = Vec::with_capacity(8);
    let mut key = (0, 0);
    let mut expects_key = false;
    let mut at = first;
    while at < line.len() {
        match line[at] {
            b'"' => {
                let end = string_end(line, at + 1)?;
                let (kind, above) = *open.last()?;
                if kind == b'{' && expects_key {
                    key = (at + 1, end);
                    expects_key = false;
                } else if kind == b'{' {
                    let name = &line[key.0..key.1];
                    keep(&mut out, name, Text { path: hash(above, name), start: at + 1, end }, line);
                }
                at = end;
            }
            sign @ (b'{' | b'[') => {
                let above = open.last().map_or(1, |(kind, above)| {
                    if *kind == b'{' { hash(*above, &line[key.0..key.1]) } else { *above }
                });
                open.push((sign, hash(above, &[sign])));
                if open.len() > DEEPEST {
                    return None;
                }
                expects_key = sign == b'{';
            }
            sign @ (b'}' | b']') => {
                let (kind, _) = open.pop()?;
                if (kind == b'{') != (sign == b'}') {
                    return None;
                }
            }
            b',' => expects_key = open.last()?.0 == b'{',
            b if b.is_ascii_digit() && line[key.0..key.1].ends_with(b"index") => {
                out.which = hash(out.which, &[b])
            }
            _ => {}
        }
        at += 1;
    }
    open.is_empty().then_some(out)
}

fn keep(out: &mut Strings, name: &[u8], text: Text, line: &[u8]) {
    if name.ends_with(b"id") || name.ends_with(b"Id") || name.ends_with(b"ID") {
        if name != b"uuid" {
            out.which = hash(hash(out.which, name), &line[text.start..text.end]);
        }
    } else if !LABELS.contains(&name) && text.end > text.start {
        out.texts.push(text);
    }
}

fn string_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match line.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let start = seed ^ 0xcbf2_9ce4_8422_2325;
    bytes.iter().chain(&[0]).fold(start, |sum, b| (sum ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Adds what a raw string says, and where what it says from an offset on stands, if that is not at the same offset.
pub(crate) fn decode(raw: &[u8], out: &mut Vec<u8>, shifts: &mut Vec<(usize, usize)>) {
    let from = out.len();
    let mut at = 0;
    while let Some(plain) = raw[at..].iter().position(|b| *b == b'\\') {
        out.extend_from_slice(&raw[at..at + plain]);
        at += plain;
        let mut letters = [0; 4];
        let (said, size): (&[u8], usize) = match raw.get(at + 1) {
            Some(b'u') => match unit(raw, at) {
                Some((letter, size)) => (letter.encode_utf8(&mut letters).as_bytes(), size),
                None => (b"?", raw.len().min(at + 6) - at),
            },
            Some(sign) => {
                letters[0] = match sign {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 8,
                    b'f' => 12,
                    other => *other,
                };
                (&letters[..1], 2)
            }
            None => (b"\\", 1),
        };
        for b in said {
            shifts.push((out.len() - from, at));
            out.push(*b);
        }
        at += size;
        shifts.push((out.len() - from, at));
    }
    out.extend_from_slice(&raw[at..]);
}

fn unit(raw: &[u8], at: usize) -> Option<(char, usize)> {
    let four = |at: usize| {
        let digits = raw.get(at..at + 6).filter(|unit| unit.starts_with(b"\\u"))?;
        u32::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let high = four(at)?;
    if let Some(letter) = char::from_u32(high) {
        return Some((letter, 6));
    }
    let low = four(at + 6).filter(|low| (0xDC00..0xE000).contains(low) && high < 0xDC00)?;
    Some((char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?, 12))
}
