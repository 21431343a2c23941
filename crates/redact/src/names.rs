//! Names that tell that what they are given is secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`.

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

/// Words at the end of a name that do not change what it is about.
const TRAILING: &[&[u8]] = &[
    b"base",
    b"value",
    b"val",
    b"prod",
    b"production",
    b"dev",
    b"test",
    b"staging",
    b"live",
    b"primary",
    b"secondary",
    b"default",
    b"old",
    b"new",
    b"current",
    b"string",
    b"raw",
    b"b64",
    b"base64",
    b"hex",
    b"plain",
    b"plaintext",
    b"v1",
    b"v2",
    b"local",
    b"ro",
    b"rw",
];

/// Words that make a key a secret one.
const KEY_OF: &[&[u8]] = &[
    b"api",
    b"access",
    b"secret",
    b"private",
    b"encryption",
    b"encrypt",
    b"signing",
    b"sign",
    b"account",
    b"auth",
    b"master",
    b"client",
    b"service",
    b"license",
    b"licence",
    b"storage",
    b"shared",
    b"session",
    b"webhook",
    b"app",
    b"application",
    b"deploy",
    b"ssh",
    b"crypto",
    b"cipher",
    b"hmac",
    b"jwt",
    b"consumer",
    b"admin",
    b"root",
    b"subscription",
    b"functions",
    b"write",
    b"integration",
    b"publishing",
    b"server",
    b"host",
    b"ingest",
    b"ingestion",
    b"tls",
    b"ssl",
    b"rsa",
    b"aes",
    b"data",
    b"backup",
    b"user",
    b"team",
    b"project",
    b"org",
    b"bot",
    b"read",
    b"live",
    b"stripe",
    b"openai",
    b"anthropic",
    b"sendgrid",
    b"twilio",
    b"maps",
    b"google",
    b"azure",
    b"aws",
    b"vault",
    b"unseal",
    b"wallet",
    b"token",
    b"psk",
    b"pre",
    b"cookie",
    b"csrf",
    b"hash",
    b"secure",
    b"decryption",
    b"decrypt",
    b"verification",
    b"device",
    b"trial",
    b"product",
    b"activation",
    b"rest",
    b"sdk",
    b"site",
    b"developer",
    b"dev",
    b"partner",
    b"merchant",
    b"restricted",
    b"vapid",
    b"fernet",
    b"kms",
    b"dek",
    b"kek",
    b"wg",
    b"wireguard",
    b"postgres",
    b"db",
    b"database",
];

/// Words that make a key or a token none that is secret.
const HARMLESS: &[&[u8]] = &[
    b"public",
    b"pub",
    b"primary",
    b"foreign",
    b"cache",
    b"sort",
    b"partition",
    b"index",
    b"idempotency",
    b"registry",
    b"page",
    b"next",
    b"continuation",
    b"cancel",
    b"cancellation",
    b"publishable",
    b"hkey",
    b"max",
    b"min",
    b"sync",
    b"group",
    b"row",
];

const PASSWORDS: &[&[u8]] = &[
    b"password",
    b"passwd",
    b"passphrase",
    b"passcode",
    b"passwort",
    b"passwrd",
    b"passwd1",
    b"pwd",
    b"kennwort",
    b"securestring",
];

/// What `pass` and `pw` may be written together with: `requirepass`, `dbpw`.
const PASS_OF: &[&[u8]] = &[
    b"require", b"store", b"key", b"db", b"user", b"ssh", b"smtp", b"my", b"root", b"admin", b"auth",
    b"ldap", b"mail", b"ftp", b"pg", b"mysql", b"redis", b"proxy", b"bind", b"vpn", b"http", b"master",
    b"web", b"wifi", b"sudo", b"become", b"imap", b"sql", b"rpc", b"service", b"svc",
];

/// Names whose value must be random beyond doubt.
const WEAK: &[&[u8]] = &[
    b"key",
    b"keys",
    b"pass",
    b"pw",
    b"login",
    b"salt",
    b"pepper",
    b"seed",
    b"psk",
    b"auth",
    b"session",
    b"sid",
    b"cookie",
    b"signature",
    b"sig",
    b"webhook",
    b"dsn",
    b"otp",
    b"jwt",
    b"sas",
    b"hmac",
    b"license",
    b"licence",
    b"community",
    b"bearer",
    b"basic",
    b"pat",
    b"tokens",
    b"secrets",
    b"passwords",
    b"pwds",
    b"pin",
    b"cred",
    b"credential",
    b"credentials",
    b"creds",
    b"masterauth",
    b"userpass",
    b"csrf",
    b"xsrf",
    b"apitoken",
    b"pgpass",
    b"authtok",
    b"passin",
    b"passout",
    b"oauth",
    b"sasl",
    b"xoauth",
    b"basicauth",
    b"userpwd",
    b"unlock",
    b"sign",
    b"fernet",
];

/// Weak names near which, on the same line, a random word is a secret.
const NEAR: &[&[u8]] = &[
    b"pass",
    b"pw",
    b"login",
    b"psk",
    b"auth",
    b"pgpass",
    b"passwords",
    b"secrets",
    b"cred",
    b"credential",
    b"credentials",
    b"creds",
    b"bearer",
    b"masterauth",
    b"community",
    b"passin",
    b"passout",
    b"basicauth",
    b"oauth",
    b"sasl",
    b"webhook",
    b"pin",
    b"otp",
    b"userpwd",
    b"basic",
    b"jwt",
    b"hmac",
    b"pat",
    b"fernet",
];

/// Last words of a name that is about a secret but is given none.
const ABOUT: &[&[u8]] = &[
    b"name",
    b"id",
    b"ids",
    b"file",
    b"path",
    b"url",
    b"uri",
    b"type",
    b"count",
    b"length",
    b"len",
    b"size",
    b"limit",
    b"field",
    b"policy",
    b"expiry",
    b"expires",
    b"ttl",
    b"header",
    b"prefix",
    b"usage",
    b"kind",
    b"ref",
    b"arn",
    b"dir",
    b"endpoint",
    b"version",
    b"at",
    b"in",
    b"index",
    b"manager",
    b"provider",
    b"class",
    b"label",
    b"hint",
    b"format",
];

const SECRETS: &[&[u8]] = &[
    b"secret",
    b"token",
    b"apikey",
    b"accesskey",
    b"secretkey",
    b"privatekey",
    b"authkey",
    b"accountkey",
    b"signingkey",
    b"masterkey",
    b"sessid",
    b"sessionid",
    b"encryptionkey",
    b"sharedkey",
    b"sharedaccesskey",
    b"presharedkey",
    b"clientkey",
    b"appkey",
    b"deploykey",
    b"licensekey",
    b"authtoken",
    b"mnemonic",
];

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
    if ends(PASSWORDS) || joined || (last == b"pass" || last == b"pw") && !before.is_empty() {
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
        for name in [
            "max_tokens",
            "token_count",
            "key",
            "public_key",
            "next_page_token",
            "password_hash_rounds",
            "keyboard",
            "pass",
        ] {
            assert_eq!(telling(name.as_bytes()), Telling::No, "{name}");
        }
    }
}
