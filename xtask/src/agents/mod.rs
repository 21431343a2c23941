//! `cargo xtask agents`: the real agents at pinned versions, from the npm registry into a folder under `target/`.
//!
//! What is pinned stands in `xtask/agents.json`. Nothing is installed outside that folder, and nothing that differs from
//! its pin is ever unpacked.

mod fetch;
mod pins;

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
        if !is_complete(&home, &pin, package) {
            shell::say(&format!("getting {}", package.spec));
            place(&dir, &home, &pin, package)?;
        }
        let version = version(&home.join(&pin.name), &dir)?;
        if !version.contains(&pin.version) {
            return Err(format!("{} says that it is {version:?}, not {}", home.display(), pin.version).into());
        }
        shell::say(&format!("{:<8} {version}  {}", pin.name, home.join(&pin.name).display()));
    }
    Ok(dir)
}

fn is_complete(home: &Path, pin: &Pin, package: &Package) -> bool {
    let mark = std::fs::read_to_string(home.join(MARK)).unwrap_or_default();
    mark == package.integrity && home.join(&pin.name).is_file()
}

/// Fetches into a folder of its own and moves it into place in one step.
fn place(dir: &Path, home: &Path, pin: &Pin, package: &Package) -> Outcome {
    let work = tempfile::Builder::new().prefix(".new-").tempdir_in(dir)?;
    let archive = fetch::pack(&package.spec, work.path())?;
    fetch::verify(&archive, package)?;
    fetch::unpack(&archive, work.path())?;
    let unpacked = work.path().join("package").join(&package.folder).canonicalize()?;
    if !unpacked.join(&pin.program).is_file() {
        return Err(format!("{} has no {} in {}", package.spec, pin.program, package.folder).into());
    }
    if pin.program != pin.name {
        std::os::unix::fs::symlink(&pin.program, unpacked.join(&pin.name))?;
    }
    std::fs::write(unpacked.join(MARK), &package.integrity)?;
    if home.exists() {
        std::fs::rename(home, work.path().join("old"))?;
    }
    match std::fs::rename(&unpacked, home) {
        Err(_) if is_complete(home, pin, package) => Ok(()), // Somebody else was quicker.
        done => Ok(done?),
    }
}

fn version(program: &Path, dir: &Path) -> Result<String, Trouble> {
    let home = tempfile::Builder::new().prefix(".home-").tempdir_in(dir)?;
    let output = Command::new(program)
        .arg("--version")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path())
        .current_dir(home.path())
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !text.is_empty() {
        return Ok(text);
    }
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{} --version failed ({}): {why}", program.display(), output.status).into())
}
