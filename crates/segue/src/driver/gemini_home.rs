//! A home for Gemini CLI that is the user's own in all but one file: its settings, with segue's hook in them.
//!
//! Gemini CLI takes hooks from files only, and from a system file only where every folder above it belongs to root. So it
//! is given a folder of links to what lies in the user's, and a copy of the user's settings beside them. Nothing of the
//! user's is written; what Gemini CLI writes goes through the links, to where it always goes.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::store::safely;

/// The variable that moves Gemini CLI's home.
const MOVES: &str = "GEMINI_CLI_HOME";
const HOME: &str = "gemini-home";
const FOLDER: &str = ".gemini";
const SETTINGS: &str = "settings.json";

/// The home, and what the user's settings say.
#[derive(Debug)]
pub(super) struct GeminiHome {
    pub(super) path: PathBuf,
    pub(super) settings: Value,
}

/// Makes the home below the run's folder; `env` is what the agent is given beside segue's own environment.
pub(super) fn make(run_dir: &Path, env: &[(String, String)]) -> io::Result<GeminiHome> {
    let given = |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| value.into());
    let var = |name: &str| given(name).or_else(|| std::env::var_os(name)).filter(|value| !value.is_empty());
    let home = var(MOVES).or_else(|| var("HOME")).ok_or_else(|| io::Error::other("there is no home"))?;
    link(&PathBuf::from(home).join(FOLDER), &run_dir.join(HOME))
}

/// Removes the home when its session is over, if there is one; what it links to stays.
pub(super) fn remove(run_dir: &Path) {
    let _ = std::fs::remove_dir_all(run_dir.join(HOME));
}

fn link(theirs: &Path, home: &Path) -> io::Result<GeminiHome> {
    let ours = home.join(FOLDER);
    // The user's settings may hold keys: nobody else may look in here.
    DirBuilder::new().recursive(true).mode(0o700).create(&ours)?;
    for kept in ["tmp", "history"] {
        // It would make them itself; made there, what it keeps outlives the run.
        let _ = std::fs::create_dir_all(theirs.join(kept));
    }
    for entry in std::fs::read_dir(theirs).into_iter().flatten().filter_map(Result::ok) {
        let at = ours.join(entry.file_name());
        if entry.file_name() != SETTINGS && at.symlink_metadata().is_err() {
            symlink(theirs.join(entry.file_name()), at)?;
        }
    }
    let text = match std::fs::read_to_string(theirs.join(SETTINGS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => "{}".to_owned(),
        read => read?,
    };
    let settings: Value = serde_json::from_str(&without_comments(&text)).map_err(io::Error::other)?;
    if !settings.is_object() {
        return Err(io::Error::other("the user's settings are no object"));
    }
    Ok(GeminiHome { path: home.to_owned(), settings })
}

/// Whether hooks are switched off, by the user or for this work tree. Then they stay off: switched on for segue's own, those
/// of the user, of extensions and of the project would run as well.
pub(super) fn hooks_are_off(settings: &Value, workdir: &Path) -> bool {
    let theirs = safely::plain_text(&workdir.join(FOLDER).join(SETTINGS)).unwrap_or_default();
    let theirs: Value = serde_json::from_str(&without_comments(&theirs)).unwrap_or_default();
    [settings, &theirs].iter().any(|settings| settings["hooksConfig"]["enabled"] == json!(false))
}

/// The user's settings with the hook of segue's and without compression.
pub(super) fn with_hook(mut settings: Value, command: &str) -> Value {
    let hook = json!({ "type": "command", "name": "segue", "command": command, "timeout": 10_000 });
    let entry = json!({ "matcher": "*", "hooks": [hook] });
    object(&mut settings, "model")["compressionThreshold"] = json!(1);
    let before = &mut object(&mut settings, "hooks")["BeforeModel"];
    match before.as_array_mut() {
        Some(theirs) => theirs.push(entry),
        None => *before = json!([entry]),
    }
    settings
}

fn object<'a>(of: &'a mut Value, key: &str) -> &'a mut Value {
    if !of[key].is_object() {
        of[key] = json!({});
    }
    &mut of[key]
}

// Gemini CLI allows comments in its settings.
fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['"', '/']) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let length = if from.starts_with('"') {
            let length = string_length(from);
            kept.push_str(&from[..length]);
            length
        } else if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with("/*") {
            from.find("*/").map_or(from.len(), |end| end + 2)
        } else {
            kept.push('/');
            1
        };
        rest = &from[length..];
    }
    kept + rest
}

// From its first quotation mark to behind its last.
fn string_length(from: &str) -> usize {
    let mut escaped = true; // The first mark opens it.
    for (at, letter) in from.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    from.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_of_the_users_is_a_link_and_only_the_settings_are_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let (theirs, home) = (dir.path().join("theirs"), dir.path().join("home"));
        std::fs::create_dir_all(theirs.join("tmp")).unwrap();
        std::fs::write(theirs.join("oauth_creds.json"), "x").unwrap();
        let text = "{ // mine\n \"ui\": { \"theme\": \"a//b \\\" /* c */\" } /* end */ }";
        std::fs::write(theirs.join(SETTINGS), text).unwrap();
        for _ in 0..2 {
            let made = link(&theirs, &home).unwrap();
            assert_eq!(made.settings, json!({ "ui": { "theme": "a//b \" /* c */" } }));
        }
        let is_link = |name: &str| home.join(FOLDER).join(name).is_symlink();
        assert!(is_link("tmp") && is_link("oauth_creds.json"));
        assert!(!home.join(FOLDER).join(SETTINGS).exists());
        std::fs::rename(&home, dir.path().join(HOME)).unwrap();
        remove(dir.path());
        assert!(!dir.path().join(HOME).exists() && theirs.join("tmp").is_dir());
        assert_eq!(std::fs::read_to_string(theirs.join(SETTINGS)).unwrap(), text);
    }

    #[test]
    fn settings_that_cannot_be_read_are_an_error_and_missing_ones_are_empty() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        assert_eq!(link(&dir.path().join("none"), &home).unwrap().settings, json!({}));
        std::fs::write(dir.path().join(SETTINGS), "{ broken").unwrap();
        assert!(link(dir.path(), &home).is_err());
    }

    #[test]
    fn e6_hooks_that_the_user_or_the_project_switched_off_stay_off() {
        let dir = tempfile::tempdir().unwrap();
        let off = json!({ "hooksConfig": { "enabled": false } });
        assert!(hooks_are_off(&off, dir.path()));
        assert!(!hooks_are_off(&json!({ "hooksConfig": { "disabled": ["x"] } }), dir.path()));
        std::fs::create_dir(dir.path().join(FOLDER)).unwrap();
        std::fs::write(dir.path().join(FOLDER).join(SETTINGS), off.to_string()).unwrap();
        assert!(hooks_are_off(&json!({}), dir.path()));
    }

    #[test]
    fn e6_hooks_of_the_users_stay_in_force_beside_segues() {
        let theirs = json!({ "model": { "name": "m" }, "hooks": { "BeforeModel": [1], "AfterTool": [2] } });
        let settings = with_hook(theirs, "segue hook before-model");
        assert_eq!(settings["model"], json!({ "name": "m", "compressionThreshold": 1 }));
        assert_eq!(settings["hooksConfig"], json!(null), "hooks are on by default; nothing is switched");
        assert_eq!(settings["hooks"]["AfterTool"], json!([2]));
        assert_eq!(settings["hooks"]["BeforeModel"][0], 1);
        assert_eq!(settings["hooks"]["BeforeModel"][1]["hooks"][0]["command"], "segue hook before-model");
    }
}
