//! Files whose contents are never quoted, whatever stands in them.

const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.db",
    "credentials.xml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ed25519_sk",
    "id_ecdsa_sk",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "master.key",
    "kubeconfig",
    "htpasswd",
    "service-account.json",
    "serviceaccount.json",
    "client_secret.json",
    "auth.json",
    "shadow",
    "gshadow",
    "keystore.properties",
    "terraform.tfvars",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "wallet.dat",
];

const ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".secret",
    ".secrets",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".asc",
    ".gpg",
    ".pkcs8",
    ".pkcs12",
    ".p8",
    ".ovpn",
    ".env",
    ".tfvars",
    ".agekey",
    ".age",
    ".credentials",
];

/// Of these, the copies without values are there to be read.
const SAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist", ".tmpl"];

/// Whether the contents of a file with this path are never to be quoted: `.env`, `*.pem`, `id_rsa`, `credentials`.
#[must_use]
pub fn never_quoted(path: &str) -> bool {
    let lower = path.trim_end_matches(['/', '\\']).to_ascii_lowercase();
    let name = lower.rsplit(['/', '\\']).next().unwrap_or_default();
    if SAMPLES.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let folder = lower.contains("/.ssh/")
        || lower.starts_with(".ssh/")
        || lower.contains(".gnupg/")
        || lower.contains(".aws/");
    let docker = lower.ends_with(".docker/config.json") || lower.ends_with(".kube/config");
    let public = name.ends_with(".pub") || name == "known_hosts";
    NAMES.contains(&name)
        || name.starts_with(".env.")
        || ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
        || (folder || docker) && !public
}

#[cfg(test)]
mod tests {
    use super::never_quoted;

    #[test]
    fn files_of_secrets_are_never_quoted() {
        for path in [
            ".env",
            "app/.env.production",
            "certs/server.pem",
            "a/B.KEY",
            "/home/me/.ssh/id_rsa",
            "x.secret",
            "prod.env",
            ".npmrc",
            "home/.netrc",
            ".aws/credentials",
            "C:\\keys\\app.pfx",
            ".docker/config.json",
            "conf/.env/",
        ] {
            assert!(never_quoted(path), "{path}");
        }
    }

    #[test]
    fn other_files_are() {
        for path in [
            "src/env.rs",
            ".env.example",
            "keyboard.rs",
            "docs/credentials.md",
            ".ssh/id_rsa.pub",
            "key",
            "monkey",
            "",
        ] {
            assert!(!never_quoted(path), "{path}");
        }
    }
}
