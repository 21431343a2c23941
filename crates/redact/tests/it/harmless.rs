//! Text without secrets: this repository, prose, and lines that look like secrets and are none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{plant::Chance, recall::redactor};

/// Lines that look like a secret to a careless rule.
const LINES: &[&str] = &[
    "password = get_password()",
    "password: String,",
    "let token: Token = lexer.next();",
    "token: &str,",
    "API_KEY=changeme",
    "API_KEY=<your-key>",
    "API_KEY=${API_KEY}",
    "API_KEY=$API_KEY",
    "api_key = os.environ[\"API_KEY\"]",
    "const token = process.env.GITHUB_TOKEN;",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: xxxxxxxxxxxx",
    "PASSWORD=********",
    "password = \"\"",
    "\"password\": \"string\"",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\",",
    "checksum = \"3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed\"",
    "\"session_id\": \"0b7d6f0e-7e1d-4f3e-9a53-2b8a4f3c9d11\"",
    "max_tokens: 4096",
    "\"input_tokens\": 12345678, \"output_tokens\": 120",
    "The password is incorrect.",
    "the token is expired, please log in again",
    "Enter password: ",
    "if password == confirm_password {",
    "secret_name: my-app-secret",
    "see https://example.com/path?page=2#key",
    "git@github.com:acme/app.git",
    "ssh://git@github.com/acme/app.git",
    "http://localhost:8080/a@b",
    "postgres://user:password@localhost/db",
    "mysql://${USER}:${PASS}@host/db",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "headers.set('Authorization', `Bearer ${token}`)",
    "-----BEGIN CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqfakekeyfakekeyfakekeyfakekeyfakekey me@host",
    "public_key = \"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\"",
    "primary_key: user_id_2",
    "sort_key = \"created_at_2\"",
    "mysql -p -u root",
    "curl -u $USER:$PASS https://host",
    "fn check_password(password: &str) -> bool {",
    "self.password = password;",
    "user.password = params[:password]",
    "Cookie: a small baked good",
    "cookie = cookies.get(name)",
    "key: value",
    "KEY_FILE=/etc/ssl/private/server.key",
    "SSH_AUTH_SOCK=/tmp/ssh-XXXXabcd/agent.123",
    "next_page_token = \"CAUQAA3f786850e387550f\"",
    "class=\"sk-spinner-container-with-a-long-name\"",
    "AKIAIOSFODNN7EXAMPLE",
    "the cio of the company decided on something that is quite long",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    "passwordHash = bcrypt(password, 10)",
    "--token-file /run/secrets/token",
    "token: 12",
    "[redacted:aws-key]",
    "password=[redacted:password]",
];

#[test]
fn what_only_looks_like_a_secret_stays() {
    let redactor = redactor();
    let changed = |line: &&&str| redactor.text(line).text != **line;
    let wrong: Vec<_> =
        LINES.iter().filter(changed).map(|line| redactor.text(line).text.into_owned()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn this_repositorys_source_has_next_to_no_false_positives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "docs"] {
        walk(&root.join(folder), 12, &mut files, &|path| {
            let ours = path.extension().is_some_and(|end| {
                ["rs", "toml", "md", "json", "jsonl", "py", "sh"].iter().any(|e| end == *e)
            });
            ours && !path
                .components()
                .any(|part| part.as_os_str() == "target" || part.as_os_str() == "node_modules")
        });
    }
    let texts: Vec<String> = files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    rate("this repository", &texts);
}

#[test]
fn english_text_has_next_to_no_false_positives() {
    let mut texts = vec![sentences(600_000)];
    let mut files = Vec::new();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    if let Some(home) = home {
        walk(&home.join("registry/src"), 4, &mut files, &|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".md") || name.starts_with("LICENSE")
        });
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    walk(&root, 1, &mut files, &|path| path.extension().is_some_and(|end| end == "md"));
    walk(&root.join("docs"), 3, &mut files, &|path| path.extension().is_some_and(|end| end == "md"));
    let generated = texts[0].len();
    texts.extend(files.iter().filter_map(|path| fs::read_to_string(path).ok()));
    let all: usize = texts.iter().map(String::len).sum();
    println!("prose: {all} bytes, {generated} of them generated");
    assert!(all >= 600_000, "too little text to say anything");
    rate("English text", &texts);
}

fn rate(what: &str, texts: &[String]) {
    let redactor = redactor();
    let (mut lines, mut changed, mut shown) = (0_usize, 0_usize, Vec::new());
    for text in texts {
        for line in text.lines() {
            lines += 1;
            let clean = redactor.text(line);
            if clean.counts.total() > 0 {
                changed += 1;
                shown.push(clean.text.chars().take(160).collect::<String>());
            }
        }
    }
    println!(
        "{what}: {changed} of {lines} lines changed ({:.4} %)\n{}",
        changed as f64 * 100.0 / lines as f64,
        shown.join("\n")
    );
    assert!(lines > 1000 && changed * 100 <= lines, "{what}: {changed} of {lines} lines");
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>, wanted: &dyn Fn(&Path) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && depth > 0 {
            walk(&path, depth - 1, files, wanted);
        } else if path.is_file() && wanted(&path) {
            files.push(path);
        }
    }
}

/// Sentences made from a list of words, a fifth of them about secrets without giving one away.
fn sentences(size: usize) -> String {
    let plain = "the a of and to in that it was for on are as with his they at be this from I have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know";
    let about = "password token key secret credentials login session cookie authorization api private public account certificate rotation passphrase bearer header variable environment vault user expired rejected stored changed required";
    let (plain, about): (Vec<&str>, Vec<&str>) = (plain.split(' ').collect(), about.split(' ').collect());
    let mut chance = Chance::new(7);
    let mut out = String::new();
    while out.len() < size {
        let words = 6 + chance.below(12);
        for n in 0..words {
            let list = if chance.below(5) == 0 { &about } else { &plain };
            out.push_str(list[chance.below(list.len())]);
            out.push_str(match chance.below(30) {
                _ if n + 1 == words => ".\n",
                0 => ", ",
                1 => ": ",
                2 => " = ",
                3 => " - ",
                4 => " 2024 ",
                _ => " ",
            });
        }
    }
    out
}
