//! Files for a worker to read: so many tokens of prose, code, Chinese, base64 or minified data.

use super::count::Count;
use super::{looks, prose};

/// What a text looks like, and so how many characters a token of it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Density {
    /// Sentences.
    Prose,
    /// Source code.
    Code,
    /// Chinese.
    Cjk,
    /// Base64 in lines.
    Base64,
    /// Data without a blank, in long lines.
    Minified,
}

impl Density {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Prose, Self::Code, Self::Cjk, Self::Base64, Self::Minified];

    /// About so many tokens, as `count` counts them, in a file that begins with its own name.
    pub fn file(self, path: &str, seed: u64, tokens: u64, count: Count) -> String {
        let head = looks::first_line(0, path);
        let most = usize::try_from(tokens).unwrap_or(usize::MAX);
        let mut chars = most * 3;
        let mut text = self.text(seed, chars);
        // Twice is enough: a text is as dense at its end as at its beginning.
        for _ in 0..2 {
            let counted = usize::try_from(count(&text).max(1)).unwrap_or(usize::MAX);
            chars = chars * most / counted;
            text = self.text(seed, chars);
        }
        format!("{head}\n{text}\n")
    }

    fn text(self, seed: u64, chars: usize) -> String {
        let mut text = String::new();
        let mut size = 0;
        let mut n = seed.wrapping_mul(1_000_003);
        while size < chars {
            let line = self.line(n);
            size += line.chars().count() + 1;
            text.push_str(&line);
            text.push('\n');
            n += 1;
        }
        text.chars().take(chars).collect()
    }

    fn line(self, n: u64) -> String {
        const CHINESE: &str = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经";
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let dice = |at: u64| {
            n.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(at.wrapping_mul(0xD1B5_4A32_D192_ED03)) >> 29
        };
        let pick = |at: u64, of: usize| usize::try_from(dice(at) % of as u64).unwrap_or(0);
        match self {
            Self::Prose => prose::passage(n, 110).trim_start().to_owned(),
            Self::Code => {
                let names = ["ledger", "entry", "account", "reading", "window", "parser", "cursor", "bucket"];
                let verbs = ["checked_add", "get_mut", "insert", "retain", "and_then", "split_at", "map_or"];
                let indent = "    ".repeat(1 + pick(1, 3));
                let (a, b, v) = (names[pick(2, 8)], names[pick(3, 8)], verbs[pick(4, 7)]);
                format!("{indent}let {a}_{} = self.{b}.{v}({}, &{a})?;", dice(5) % 97, dice(6) % 4_096)
            }
            Self::Cjk => {
                let all: Vec<char> = CHINESE.chars().collect();
                (0..40).map(|at| all[pick(at, all.len())]).collect()
            }
            Self::Base64 => (0..76).map(|at| char::from(DIGITS[pick(at, 64)])).collect(),
            Self::Minified => {
                let pair = |at: u64| {
                    format!("\"k{:x}\":[{},{}]", dice(at) % 65_536, dice(at + 50) % 1_000, dice(at + 90) % 10)
                };
                format!("{{{}}}", (0..40).map(pair).collect::<Vec<_>>().join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thirds(text: &str) -> u64 {
        u64::try_from(text.chars().count().div_ceil(3)).unwrap_or(0)
    }

    #[test]
    fn every_file_has_the_size_asked_for_and_no_line_that_a_reader_would_cut() {
        for density in Density::ALL {
            let text = density.file("looks/1.txt", 7, 2_500, thirds);
            assert!(thirds(&text).abs_diff(2_500) < 60, "{density:?}: {}", thirds(&text));
            assert!(text.lines().all(|line| line.chars().count() < 2_000), "{density:?}");
            assert!(text.starts_with("revision 0 of looks/1.txt\n"));
            assert_ne!(text, density.file("looks/1.txt", 8, 2_500, thirds), "{density:?}");
        }
    }
}
