//! Running other programs from the workspace's own folder.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The workspace's own folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Runs a program and passes its output through.
pub(crate) fn run<A: AsRef<OsStr>>(program: &str, args: &[A]) -> Outcome {
    run_with(&[], program, args)
}

/// The same with more variables in its environment.
pub(crate) fn run_with<A: AsRef<OsStr>>(env: &[(&str, &Path)], program: &str, args: &[A]) -> Outcome {
    let words: Vec<String> = args.iter().map(|a| a.as_ref().to_string_lossy().into_owned()).collect();
    say(&format!("$ {program} {}", words.join(" ")));
    let status = Command::new(program).args(args).envs(env.iter().copied()).current_dir(root()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{program} {} failed ({status})", words.join(" ")).into())
    }
}

/// Runs a program and returns what it printed.
pub(crate) fn read<A: AsRef<OsStr>>(program: &str, args: &[A]) -> Result<String, Box<dyn std::error::Error>> {
    let output = Command::new(program).args(args).current_dir(root()).output()?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The same, with what it says beside its output passed through.
pub(crate) fn read_shown<A: AsRef<OsStr>>(
    program: &str,
    args: &[A],
) -> Result<String, Box<dyn std::error::Error>> {
    let words: Vec<String> = args.iter().map(|a| a.as_ref().to_string_lossy().into_owned()).collect();
    say(&format!("$ {program} {}", words.join(" ")));
    let output = Command::new(program)
        .args(args)
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{program} {} failed ({})", words.join(" "), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Writes one line.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
