//! Which new files are secrets as a whole, by their name or by everything that is in them. They are in no commit of segue's.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longer files are not secrets as a whole.
const MOST: u64 = 64 * 1024;

/// Names, in small letters.
const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials.json",
    "client_secret.json",
    "application_default_credentials.json",
    "accesstokens.json",
    "service-account.json",
    "service_account.json",
    "serviceaccountkey.json",
    "gcp-key.json",
    "kubeconfig",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "secrets.env",
    "master.key",
    "credentials.yml.enc",
];
/// Ends of names.
const ENDS: &[&str] =
    &[".env", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", "-credentials.json", ".agekey"];
/// The folder and the name.
const BELOW: &[&str] = &[
    ".aws/credentials",
    ".aws/config",
    ".kube/config",
    ".docker/config.json",
    ".azure/accesstokens.json",
    "gcloud/credentials.db",
    ".config/gh/hosts.yml",
];
/// What stands behind `.env` in files that are meant to be shared.
const SHARED: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// Whether a file below `root` is one; what cannot be read is judged by its name alone.
pub(super) fn is_secret(root: &Path, path: &Path) -> bool {
    by_name(path) || by_content(&root.join(path))
}

fn by_name(path: &Path) -> bool {
    let whole = path.to_string_lossy().to_lowercase();
    let name = whole.rsplit('/').next().unwrap_or_default();
    let shared = name.rsplit('.').next().is_some_and(|last| SHARED.contains(&last));
    if shared {
        return false;
    }
    NAMES.contains(&name)
        || name.starts_with(".env.")
        || ENDS.iter().any(|end| name.ends_with(end))
        || BELOW.iter().any(|below| whole == *below || whole.ends_with(&format!("/{below}")))
}

fn by_content(path: &Path) -> bool {
    let plain = path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST);
    if !plain {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    let Some(text) = read.ok().and_then(|_| std::str::from_utf8(&bytes).ok()) else { return false };
    is_key_block(text) || is_assignments(text)
}

// One or more keys and nothing else of weight.
fn is_key_block(text: &str) -> bool {
    let text = text.trim();
    let begins = text.starts_with("-----BEGIN ") && text.ends_with("-----");
    begins && text.lines().any(|line| line.starts_with("-----BEGIN ") && line.contains("PRIVATE KEY"))
}

// `NAME=value` from the first line to the last, one of them secret.
fn is_assignments(text: &str) -> bool {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';', '[']));
    let pairs: Option<Vec<(String, String)>> = lines.map(assignment).collect();
    pairs.is_some_and(|pairs| !segue_redact::secret_env(pairs.into_iter()).is_empty())
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-:/".contains(c);
    let value = value.trim().trim_matches(['"', '\'']);
    (!name.is_empty() && name.chars().all(plain)).then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_secrets_are_known_by_name_or_by_all_that_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let judge = |name: &str, text: &str| {
            std::fs::write(dir.path().join(name), text).unwrap();
            is_secret(dir.path(), Path::new(name))
        };
        for name in
            [".env", ".env.local", "prod.env", "id_rsa", "server.key", "a.p12", ".netrc", "secrets.yaml"]
        {
            assert!(judge(name, "x"), "{name}");
        }
        assert!(by_name(Path::new("home/.aws/credentials")));
        for name in [".env.example", "env.rs", "id_rsa.pub", "main.rs", "keys.md", "credentials.rs"] {
            assert!(!judge(name, "x"), "{name}");
        }
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n";
        assert!(judge("deploy", key));
        assert!(!judge("notes.md", &format!("How to make a key:\n{key}\nKeep it safe.")));
        assert!(!judge("cert.crt", "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n"));
        let token = "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2";
        assert!(judge("settings", &format!("# mine\nexport GITHUB_TOKEN={token}\nREGION=eu\n")));
        assert!(!judge("config.ini", "[a]\nregion=eu\ncount=3\n"));
        assert!(!judge("script.sh", &format!("GITHUB_TOKEN={token}\necho go\n")));
    }
}
