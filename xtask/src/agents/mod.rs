//! `cargo xtask agents`: the real agents at pinned versions, from the npm registry into a folder under `target/`.
//!
//! What is pinned stands in `xtask/agents.json`. Nothing is installed outside that folder, and nothing that differs from
//! its pin is ever unpacked.

mod fetch;
mod pins;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, shell};
use pins::{Package, Pin};

/// Anything that can go wrong, in words.
type Trouble = Box<dyn std::error::Error>;

/// The mark of a folder that is complete; it holds the integrity of what was unpacked.
const MARK: &str = ".ok";

/// Installs what is missing and says what is there.
pub(crate) fn agents() -> Outcome {
    install().map(|_| ())
}

/// Installs what is missing and returns the folder that holds all agents.
pub(crate) fn install() -> Result<PathBuf, Trouble> {
    let dir = shell::target().join("agents");
    std::fs::create_dir_all(&dir)?;
    let platform = pins::platform(std::env::consts::OS, std::env::consts::ARCH, cfg!(target_env = "musl"));
    for pin in pins::pins()? {
        let Some(package) = platform.as_deref().and_then(|p| pin.packages.get(p)) else {
            let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
            shell::say(&format!("skipped {} {}: it has no package for {os} {arch}", pin.name, pin.version));
            continue;
        };
        let home = dir.join(pin.folder());
        if let Some(least) = pin.node {
            fetch::needs_node(least, &pin.folder())?;
        }
        if !is_complete(&home, &pin, package) {
            shell::say(&format!("getting {}", package.spec));
            place(&dir, &home, &pin, package)?;
        }
        let said = first_words(&pin, &home.join(&pin.name), &dir)?;
        if pin.check == pins::VERSION && !said.contains(&pin.version) {
            return Err(format!("{} says that it is {said:?}, not {}", home.display(), pin.version).into());
        }
        shell::say(&format!("{:<10} {:<8} {}", pin.name, pin.version, home.join(&pin.name).display()));
    }
    Ok(dir)
}

fn is_complete(home: &Path, pin: &Pin, package: &Package) -> bool {
    let mark = std::fs::read_to_string(home.join(MARK)).unwrap_or_default();
    mark == package.mark() && home.join(&pin.name).is_file()
}

/// Fetches into a folder of its own and moves it into place in one step.
fn place(dir: &Path, home: &Path, pin: &Pin, package: &Package) -> Outcome {
    let work = tempfile::Builder::new().prefix(".new-").tempdir_in(dir)?;
    let unpacked = get(package, work.path())?.join(&package.folder).canonicalize()?;
    if !unpacked.join(&pin.program).is_file() {
        return Err(format!("{} has no {} in {}", package.spec, pin.program, package.folder).into());
    }
    // Not every archive says of its program that it is one.
    std::fs::set_permissions(unpacked.join(&pin.program), Permissions::from_mode(0o755))?;
    if pin.program != pin.name {
        std::os::unix::fs::symlink(&pin.program, unpacked.join(&pin.name))?;
    }
    for other in &package.also {
        let aside = tempfile::Builder::new().prefix("also-").tempdir_in(work.path())?;
        let place = unpacked.join(&other.folder);
        std::fs::create_dir_all(place.parent().unwrap_or(&unpacked))?;
        std::fs::rename(get(other, aside.path())?, place)?;
    }
    std::fs::write(unpacked.join(MARK), package.mark())?;
    if home.exists() {
        std::fs::rename(home, work.path().join("old"))?;
    }
    match std::fs::rename(&unpacked, home) {
        Err(_) if is_complete(home, pin, package) => Ok(()), // Somebody else was quicker.
        done => Ok(done?),
    }
}

/// The unpacked package.
fn get(package: &Package, into: &Path) -> Result<PathBuf, Trouble> {
    let archive = fetch::pack(&package.spec, into)?;
    fetch::verify(&archive, package)?;
    fetch::unpack(&archive, into)?;
    Ok(into.join("package"))
}

/// What the program says when it is asked its version, or just to be sure that it runs.
fn first_words(pin: &Pin, program: &Path, dir: &Path) -> Result<String, Trouble> {
    let home = tempfile::Builder::new().prefix(".home-").tempdir_in(dir)?;
    let mut command = Command::new(program);
    command.arg(&pin.check).env_clear().env("HOME", home.path()).current_dir(home.path());
    // A script finds its Node where this program would.
    let path = if pin.node.is_some() { std::env::var_os("PATH") } else { None };
    let output = command
        .env("PATH", path.unwrap_or_else(|| "/usr/bin:/bin".into()))
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !text.is_empty() {
        return Ok(text);
    }
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{} {} failed ({}): {why}", program.display(), pin.check, output.status).into())
}
