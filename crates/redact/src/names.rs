//! Names that tell that what they are given is secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`.

use crate::vocabulary::{ABOUT, HARMLESS, KEY_OF, NEAR, PASS_OF, PASSWORDS, SECRETS, TRAILING, WEAK};

/// How much a name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Telling {
    /// Nothing.
    No,
    /// What it is given is secret if it is random beyond doubt: a `key`, a `login`, a `salt`.
    Weak,
    /// What it is given is secret if it looks random: tokens, keys, secrets.
    Key,
    /// What it is given is secret unless it is a placeholder: passwords.
    Password,
}

/// What a name tells, by its last words.
pub(crate) fn telling(name: &[u8]) -> Telling {
    let cut = Words::of(name);
    let mut words = [b"".as_slice(); MOST_WORDS];
    let words = cut.read(&mut words);
    let kept = words.len() - words.iter().rev().take_while(|word| filler(word)).count();
    let Some((last, before)) = words[..kept].split_last() else { return Telling::No };
    let letters = last.len() - last.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let last = &last[..letters];
    let ends = |list: &[&[u8]]| list.iter().any(|word| last.ends_with(word));
    let harmless = before.iter().any(|word| HARMLESS.contains(word));
    let capitals = name.iter().all(|b| !b.is_ascii_lowercase());
    let joined = [b"pass".as_slice(), b"pw"]
        .iter()
        .any(|end| last.strip_suffix(*end).is_some_and(|start| PASS_OF.contains(&start)));
    let secure = words.ends_with(&[b"secure", b"string"]);
    if ends(PASSWORDS) || joined || secure || (last == b"pass" || last == b"pw") && !before.is_empty() {
        return Telling::Password;
    }
    if harmless {
        return Telling::No;
    }
    if ends(SECRETS) || key(last, before, capitals) || other(name, last, before, capitals) {
        return Telling::Key;
    }
    if ABOUT.contains(&last) {
        return Telling::No;
    }
    let inside = before.iter().any(|word| PASSWORDS.iter().chain(SECRETS).any(|known| word.ends_with(known)))
        || words.windows(2).any(|pair| pair[1] == b"key" && KEY_OF.contains(&pair[0]));
    match (inside, words.iter().any(|word| WEAK.contains(word))) {
        (true, _) if capitals => Telling::Key,
        (false, false) => Telling::No,
        _ => Telling::Weak,
    }
}

fn key(last: &[u8], before: &[&[u8]], capitals: bool) -> bool {
    matches!(last, b"key" | b"keys") && before.last().is_some_and(|word| capitals || KEY_OF.contains(word))
}

fn other(name: &[u8], last: &[u8], before: &[&[u8]], capitals: bool) -> bool {
    let after = |fits: fn(&[u8]) -> bool| before.last().is_some_and(|word| fits(word));
    match last {
        b"credential" | b"credentials" | b"creds" | b"psk" | b"hmac" | b"pepper" | b"appid" => true,
        b"pat" => capitals,
        b"id" => before.ends_with(&[b"access", b"key"]),
        b"auth" => before.is_empty() || capitals,
        b"sid" if after(|word| word == b"connect") => true,
        b"pass" | b"sid" => name.len() == last.len() && capitals,
        b"login" => after(|word| word.ends_with(b"sonar")),
        b"signature" => after(|word| matches!(word, b"amz" | b"goog" | b"hub")),
        b"seed" | b"secret" | b"code" => {
            after(|word| matches!(word, b"otp" | b"totp" | b"mfa" | b"2fa" | b"recovery" | b"backup"))
        }
        _ => false,
    }
}

/// Whether a name could be one of a password, as far as can be told at a glance.
pub(crate) fn may_be_password(name: &[u8]) -> bool {
    let pairs = name.windows(2).map(|pair| (pair[0] | 32, pair[1] | 32));
    pairs.into_iter().any(|pair| matches!(pair, (b'p', b'a' | b'w') | (b'n', b'n') | (b'r', b'i')))
}

/// Whether a name that is weakly telling is telling for what only stands near it.
pub(crate) fn near_by(name: &[u8]) -> bool {
    let known = |word: &&[u8]| {
        NEAR.contains(word) || PASSWORDS.iter().chain(SECRETS).any(|known| word.ends_with(known))
    };
    let cut = Words::of(name);
    cut.read(&mut [b"".as_slice(); MOST_WORDS]).iter().any(known)
}

fn filler(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit) || TRAILING.contains(&word)
}

/// The end of a longer name tells as much.
const LONGEST: usize = 224;
const MOST_WORDS: usize = 32;

/// The words of a name in small letters: cut at signs and where a capital starts a word.
struct Words {
    letters: [u8; LONGEST],
    /// Where the last words start and end, as many as there is room for.
    bounds: [(u8, u8); MOST_WORDS],
    count: usize,
}

impl Words {
    fn of(name: &[u8]) -> Self {
        let name = &name[name.len().saturating_sub(LONGEST)..];
        let mut words = Self { letters: [0; LONGEST], bounds: [(0, 0); MOST_WORDS], count: 0 };
        let mut open = false;
        let mut previous = None;
        for (i, b) in name.iter().enumerate() {
            let at = i as u8;
            words.letters[i] = b.to_ascii_lowercase();
            let before: Option<u8> = previous.replace(*b);
            if !b.is_ascii_alphanumeric() {
                open = false;
                continue;
            }
            let rises = b.is_ascii_uppercase() && before.is_some_and(|p| !p.is_ascii_uppercase());
            let turns = b.is_ascii_uppercase() && name.get(i + 1).is_some_and(u8::is_ascii_lowercase);
            if !open || rises || turns {
                words.bounds[words.count % MOST_WORDS].0 = at;
                words.count += 1;
            }
            words.bounds[(words.count - 1) % MOST_WORDS].1 = at + 1;
            open = true;
        }
        words
    }

    fn read<'a, 'b>(&'a self, out: &'b mut [&'a [u8]; MOST_WORDS]) -> &'b [&'a [u8]] {
        let kept = self.count.min(MOST_WORDS);
        for (n, word) in out.iter_mut().take(kept).enumerate() {
            let (start, end) = self.bounds[(self.count - kept + n) % MOST_WORDS];
            *word = &self.letters[usize::from(start)..usize::from(end)];
        }
        &out[..kept]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_by_its_last_words() {
        for name in ["DB_PASSWORD", "pgpassword", "adminPasswd", "db.pass", "MYSQL_PWD", "ssh-passphrase"] {
            assert_eq!(telling(name.as_bytes()), Telling::Password, "{name}");
        }
        for name in [
            "apiKey",
            "APIKey",
            "X-Api-Key",
            "SecretAccessKey",
            "secret_key_base",
            "GITHUB_TOKEN",
            "NOTION_KEY",
            "_auth",
        ] {
            assert_eq!(telling(name.as_bytes()), Telling::Key, "{name}");
        }
        for name in ["token_count", "author", "public_key", "secret_name", "next_page_token", "keyboard"] {
            assert_eq!(telling(name.as_bytes()), Telling::No, "{name}");
        }
        for name in ["key", "pass", "tokens", "login", "jwt.sign", "password_for_ci"] {
            assert_eq!(telling(name.as_bytes()), Telling::Weak, "{name}");
        }
    }
}
