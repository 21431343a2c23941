//! Values that are known to be secret, because an environment variable that looks secret has them: as they are, with
//! JSON's escapes, URL-encoded and in base64, also as part of something longer. Which variables those are.

use crate::{
    names::{Telling, telling},
    spelling::{contains, distinct, random, strong},
    tokens, url,
    values::placeholder,
};

/// Shorter values are too common to be searched for.
const SHORTEST: usize = 8;

/// Of an environment, the variables whose values are secret: by name, by format, or a password in an address.
pub fn secret_env(vars: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    vars.filter_map(|(name, value)| {
        let secret = of_variable(&name, &value)?;
        Some((name, secret))
    })
    .collect()
}

fn of_variable(name: &str, value: &str) -> Option<String> {
    // The shell's own: a folder, however random its name looks.
    if matches!(name, "PWD" | "OLDPWD") {
        return None;
    }
    let bytes = value.trim().as_bytes();
    let place =
        [b"/".as_slice(), b"./", b"~/"].iter().any(|start| bytes.starts_with(start)) && !random(bytes);
    if bytes.len() < SHORTEST || place || placeholder(bytes) {
        return None;
    }
    let in_address = || {
        let sign = value.find("://")?;
        let (start, end) = url::find(value.as_bytes(), sign)?;
        value.get(start..end).filter(|password| password.len() >= SHORTEST).map(str::to_owned)
    };
    let named = match telling(name.as_bytes()) {
        Telling::No => false,
        Telling::Weak => strong(bytes),
        Telling::Key => distinct(bytes) >= 5 && !bytes.iter().all(u8::is_ascii_alphabetic),
        Telling::Password => true,
    };
    let formatted = || {
        tokens::TOKENS.iter().any(|token| {
            tokens::find(token, bytes, 0, &mut tokens::Runs::default())
                .is_some_and(|(_, end)| end == bytes.len())
        })
    };
    if contains(bytes, b"://") {
        return in_address();
    }
    (named || formatted()).then(|| value.trim().to_owned())
}

/// Every form in which a value is searched for.
pub(crate) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for line in value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST) {
        let raw = line.as_bytes();
        forms.push(raw.to_vec());
        forms.push(escaped(raw));
        forms.push(percent(raw, b"0123456789ABCDEF"));
        forms.push(percent(raw, b"0123456789abcdef"));
        for shift in 0..3 {
            forms.push(base64(raw, shift, b'+', b'/'));
            forms.push(base64(raw, shift, b'-', b'_'));
        }
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms.sort();
    forms.dedup();
    forms
}

fn escaped(raw: &[u8]) -> Vec<u8> {
    raw.iter().flat_map(|b| if matches!(b, b'"' | b'\\') { vec![b'\\', *b] } else { vec![*b] }).collect()
}

fn percent(raw: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    let encode = |b: &u8| {
        if plain(*b) {
            vec![*b]
        } else {
            vec![b'%', digits[usize::from(b >> 4)], digits[usize::from(b & 15)]]
        }
    };
    raw.iter().flat_map(encode).collect()
}

/// The characters that base64 has for a value which starts `shift` bytes after a group of three: those that the bytes
/// around it have a share in are left out.
pub(crate) fn base64(raw: &[u8], shift: usize, plus: u8, slash: u8) -> Vec<u8> {
    let bits = |i: usize| i.checked_sub(shift).and_then(|i| raw.get(i)).copied().map_or(0, u32::from);
    let total = shift + raw.len();
    let mut out = Vec::new();
    for group in (0..total).step_by(3) {
        let word = bits(group) << 16 | bits(group + 1) << 8 | bits(group + 2);
        for part in 0..4 {
            let first_byte = group + part * 6 / 8;
            let last_byte = group + (part * 6 + 5) / 8;
            if first_byte < shift || last_byte >= total {
                continue;
            }
            out.push(match (word >> (18 - part * 6)) as u8 & 63 {
                n @ 0..=25 => b'A' + n,
                n @ 26..=51 => b'a' + n - 26,
                n @ 52..=61 => b'0' + n - 52,
                62 => plus,
                _ => slash,
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_shell_is_no_secret_however_random_its_name_looks() {
        let of = |name: &str| secret_env([(name.to_owned(), "/tmp/.tmpK7x2Qm9/repo".to_owned())].into_iter());
        assert_eq!((of("PWD"), of("OLDPWD")), (vec![], vec![]));
        assert_eq!(secret_env([("DB_PWD".to_owned(), "hunter2-and-more".to_owned())].into_iter()).len(), 1);
    }
}
