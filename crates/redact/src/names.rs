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
    let words = words(name);
    let kept = words.len() - words.iter().rev().take_while(|word| filler(word)).count();
    let Some((last, before)) = words[..kept].split_last() else { return Telling::No };
    let letters = last.len() - last.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let last = &last[..letters];
    let ends = |list: &[&[u8]]| list.iter().any(|word| last.ends_with(word));
    let harmless = before.iter().any(|word| HARMLESS.contains(&word.as_slice()));
    let capitals = name.iter().all(|b| !b.is_ascii_lowercase());
    let joined = [b"pass".as_slice(), b"pw"]
        .iter()
        .any(|end| last.strip_suffix(*end).is_some_and(|start| PASS_OF.contains(&start)));
    let secure = words.ends_with(&[b"secure".to_vec(), b"string".to_vec()]);
    if ends(PASSWORDS) || joined || secure || (last == b"pass" || last == b"pw") && !before.is_empty() {
        return Telling::Password;
    }
    if harmless {
        return Telling::No;
    }
    let key = matches!(last, b"key" | b"keys")
        && before.last().is_some_and(|word| capitals || KEY_OF.contains(&word.as_slice()));
    let other = matches!(last, b"credential" | b"credentials" | b"creds")
        || last == b"pat" && capitals
        || matches!(last, b"psk" | b"hmac" | b"pepper" | b"appid")
        || last == b"id" && before.ends_with(&[b"access".to_vec(), b"key".to_vec()])
        || last == b"auth" && (before.is_empty() || capitals)
        || matches!(last, b"pass" | b"sid") && name.len() == last.len() && capitals
        || last == b"sid" && before.last().is_some_and(|word| word == b"connect")
        || last == b"login" && before.last().is_some_and(|word| word.ends_with(b"sonar"))
        || last == b"signature"
            && before.last().is_some_and(|word| matches!(word.as_slice(), b"amz" | b"goog" | b"hub"))
        || matches!(last, b"seed" | b"secret" | b"code")
            && before.last().is_some_and(|word| {
                matches!(word.as_slice(), b"otp" | b"totp" | b"mfa" | b"2fa" | b"recovery" | b"backup")
            });
    if ends(SECRETS) || key || other {
        return Telling::Key;
    }
    if ABOUT.contains(&last) {
        return Telling::No;
    }
    let inside = before.iter().any(|word| PASSWORDS.iter().chain(SECRETS).any(|known| word.ends_with(known)))
        || words.windows(2).any(|pair| pair[1] == b"key" && KEY_OF.contains(&pair[0].as_slice()));
    match (inside, words.iter().any(|word| WEAK.contains(&word.as_slice()))) {
        (true, _) if capitals => Telling::Key,
        (false, false) => Telling::No,
        _ => Telling::Weak,
    }
}

/// Whether a name that is weakly telling is telling for what only stands near it.
pub(crate) fn near_by(name: &[u8]) -> bool {
    let known = |word: &Vec<u8>| {
        NEAR.contains(&word.as_slice()) || PASSWORDS.iter().chain(SECRETS).any(|known| word.ends_with(known))
    };
    words(name).iter().any(known)
}

fn filler(word: &[u8]) -> bool {
    TRAILING.contains(&word) || word.iter().all(u8::is_ascii_digit)
}

/// The words of a name in small letters: cut at signs and where a capital starts a word.
fn words(name: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    for (i, b) in name.iter().enumerate() {
        if !b.is_ascii_alphanumeric() {
            open = false;
            continue;
        }
        let before = i.checked_sub(1).and_then(|j| name.get(j));
        let rises = b.is_ascii_uppercase() && before.is_some_and(|p| !p.is_ascii_uppercase());
        let turns = b.is_ascii_uppercase() && name.get(i + 1).is_some_and(u8::is_ascii_lowercase);
        match words.last_mut() {
            Some(word) if open && !rises && !turns => word.push(b.to_ascii_lowercase()),
            _ => words.push(vec![b.to_ascii_lowercase()]),
        }
        open = true;
    }
    words
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
