//! Made-up secrets: a pattern such as `ghp_{A36}` and a seed give the same secret each time, so that nothing which looks
//! like a real key is in a file of this repository.

/// One planted secret: its kind, how it is made, where it stands.
pub(crate) struct Plant {
    pub(crate) kind: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) place: Place,
}

/// Where a secret stands; `§` in a text is the secret.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Goal(&'static str),
    Tool(&'static str),
    FileName(&'static str),
    Diff(&'static str),
    Error(&'static str),
    /// Text that an agent streams: it is cut into deltas of this many characters in the form of this agent.
    Stream(Form, usize, &'static str),
}

/// How agents stream text.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Claude,
    ClaudeTool,
    Acp,
    Codex,
    OpenCode,
}

/// What a pattern made: the whole text, and the random parts of it that nobody may see.
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) parts: Vec<String>,
}

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % n
    }

    fn of(&mut self, set: &str, n: usize) -> String {
        let set: Vec<char> = set.chars().collect();
        (0..n).map(|_| set[self.below(set.len())]).collect()
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGIT: &str = "0123456789";

/// `{A36}` letters and digits, `{x32}` hexadecimal, `{U16}` capitals and digits, `{a9}` small letters and digits,
/// `{w43}` letters, digits, `_` and `-`, `{b64}` base64, `{d10}` digits, `{p14}` a password with signs in it,
/// `{i}` a UUID, `{P}` lines of a key block.
pub(crate) fn make(pattern: &str, chance: &mut Chance) -> Made {
    let mut made = Made { text: String::new(), parts: Vec::new() };
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (code, after) = after.split_once('}').expect("a pattern's braces are closed");
        made.text.push_str(before);
        let (class, n) = code.split_at(1);
        let n = n.parse().unwrap_or(0);
        if class == "P" {
            for _ in 0..6 {
                let line = random("b", 64, chance);
                made.text.push_str(&line);
                made.text.push('\n');
                made.parts.push(line);
            }
        } else {
            let part = random(class, n, chance);
            made.text.push_str(&part);
            made.parts.push(part);
        }
        rest = after;
    }
    made.text.push_str(rest);
    made
}

fn random(class: &str, n: usize, chance: &mut Chance) -> String {
    match class {
        "A" => chance.of(&format!("{LOWER}{UPPER}{DIGIT}"), n),
        "x" => chance.of("0123456789abcdef", n),
        "U" => chance.of(&format!("{UPPER}{DIGIT}"), n),
        "a" => chance.of(&format!("{LOWER}{DIGIT}"), n),
        "w" => chance.of(&format!("{LOWER}{UPPER}{DIGIT}_-"), n),
        "b" => chance.of(&format!("{LOWER}{UPPER}{DIGIT}+/"), n),
        "d" => chance.of(DIGIT, n),
        "p" => {
            let start = chance.of(LOWER, 2) + &chance.of(DIGIT, 2);
            start + &chance.of(&format!("{LOWER}{UPPER}{DIGIT}!#%*+.~^_-"), n - 5) + &chance.of(LOWER, 1)
        }
        "i" => [8, 4, 4, 4, 12].map(|n| chance.of("0123456789abcdef", n)).join("-"),
        other => panic!("no class {other}"),
    }
}
