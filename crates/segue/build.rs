//! Puts the commit and its date into the version of a release build. Without git, and in development builds, which would
//! otherwise be compiled again after every commit, the version stands alone. And a hash of what a stored state is made of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the stored state of a run is made of and what it means.
const STATE: [&str; 2] = ["../machine/src", "../report/src/stream.rs"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if release { commit() } else { None };
    let full = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=SEGUE_VERSION={full}");
    println!("cargo:rustc-env=SEGUE_STATE_VERSION={:016x}", state_version());
}

// FNV-1a over the sources: it tells versions apart and is no protection.
fn state_version() -> u64 {
    let mut files = Vec::new();
    for place in STATE {
        println!("cargo:rerun-if-changed={place}");
        collect(Path::new(place), &mut files);
    }
    files.sort();
    let texts = files.iter().filter_map(|file| fs::read(file).ok());
    texts
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) {
    let tests = place.to_string_lossy().contains("_tests");
    if tests {
        return;
    }
    match fs::read_dir(place) {
        Ok(entries) => entries.flatten().for_each(|entry| collect(&entry.path(), files)),
        Err(_) => files.push(place.to_owned()),
    }
}

// `1476fdb12 2026-11-18`, of the repository that this file belongs to and of no other around it.
fn commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={head}");
    }
    git(&["show", "--no-patch", "--abbrev=9", "--format=%h %cs", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned())
}
