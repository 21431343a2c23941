//! Getting one package with the machine's own npm, holding it against its pin, and unpacking it.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Trouble;
use super::pins::Package;
use crate::Outcome;

/// Reads the hash of a file as npm writes it. Node is there wherever npm is.
const HASH: &str = "const h = require('crypto').createHash('sha512');\
    require('fs').createReadStream(process.argv[1]).on('data', d => h.update(d))\
    .on('end', () => console.log('sha512-' + h.digest('base64')))";

/// Lets npm fetch a package into a folder and returns the archive.
pub(super) fn pack(spec: &str, into: &Path) -> Result<PathBuf, Trouble> {
    let mut npm = Command::new("npm");
    npm.args(["pack", spec, "--ignore-scripts", "--loglevel=error"]).current_dir(into);
    let fetched = run(&mut npm);
    fetched.map_err(|why| format!("{why}\n{spec} could not be fetched, and it is not in the cache yet"))?;
    let files = std::fs::read_dir(into)?.filter_map(Result::ok).map(|entry| entry.path());
    let archive = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "tgz"));
    archive.ok_or_else(|| format!("npm said that it fetched {spec}, but there is no archive").into())
}

/// Fails unless the archive is the one that is pinned.
pub(super) fn verify(archive: &Path, package: &Package) -> Outcome {
    let hash = run(Command::new("node").args(["-e", HASH]).arg(archive))?;
    match difference(package, hash.trim()) {
        None => Ok(()),
        Some(why) => Err(why.into()),
    }
}

/// Unpacks an archive.
pub(super) fn unpack(archive: &Path, into: &Path) -> Outcome {
    run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into))?;
    Ok(std::fs::remove_file(archive)?)
}

/// Fails unless there is a Node of at least this version.
pub(super) fn needs_node(least: u64, for_whom: &str) -> Outcome {
    let version = run(Command::new("node").arg("--version"))?;
    match too_old(version.trim(), least) {
        None => Ok(()),
        Some(why) => Err(format!("{why}: {for_whom} needs {least} or newer").into()),
    }
}

fn too_old(version: &str, least: u64) -> Option<String> {
    let major = version.trim_start_matches('v').split('.').next().and_then(|n| n.parse::<u64>().ok());
    match major {
        Some(major) if major >= least => None,
        _ => Some(format!("this machine's Node is {version:?}")),
    }
}

fn difference(package: &Package, hash: &str) -> Option<String> {
    (package.integrity != hash).then(|| {
        format!(
            "{} is not what is pinned; nothing was installed\n  xtask/agents.json  {}\n  was delivered      {hash}",
            package.spec, package.integrity
        )
    })
}

fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| not_started(&program, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{program} failed ({}): {}", output.status, last_lines(&output.stderr)))
}

fn not_started(program: &str, error: &Error) -> String {
    if error.kind() != ErrorKind::NotFound {
        return format!("{program}: {error}");
    }
    let advice = match program {
        "npm" | "node" => ": install Node, which the tests need to get the real agents",
        _ => "",
    };
    format!("{program} is not on PATH{advice}")
}

fn last_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_hash_is_named_beside_the_pinned_one() {
        let package = Package {
            spec: "p@1".into(),
            integrity: "sha512-a".into(),
            folder: ".".into(),
            also: Vec::new(),
        };
        assert_eq!(difference(&package, "sha512-a"), None);
        let why = difference(&package, "sha512-b").unwrap();
        assert!(
            why.contains("p@1 is not what is pinned") && why.contains("sha512-a") && why.contains("sha512-b")
        );
    }

    #[test]
    fn a_node_that_is_too_old_is_named() {
        assert_eq!(too_old("v20.20.0", 20), None);
        assert_eq!(too_old("v22.1.0", 20), None);
        assert!(too_old("v18.19.1", 20).unwrap().contains("v18.19.1"));
        assert!(too_old("what", 20).is_some());
    }

    #[test]
    fn a_missing_program_is_named() {
        let why = run(&mut Command::new("no-such-program-at-all")).unwrap_err();
        assert_eq!(why, "no-such-program-at-all is not on PATH");
    }

    #[test]
    fn only_the_end_of_a_long_complaint_is_shown() {
        let text: String = (0..20).map(|n| format!("line {n}\n\n")).collect();
        assert!(last_lines(text.as_bytes()).starts_with("line 12\n"));
        assert_eq!(last_lines(b""), "");
    }
}
