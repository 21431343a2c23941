//! What a checkpoint of a large work tree costs: facts, document and snapshot, beside git's own part of it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use segue_journal::Journal;
use segue_machine::Event;
use segue_machine::policy::preset;
use segue_rehearsal::sizing;

use super::program::{program, stage};
use super::{Row, median};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How often each is measured.
const TIMES: u32 = 3;

pub(super) fn rows() -> Result<Vec<Row>> {
    let sizes = [
        (50, "checkpoint of a work tree with 50 changed files", "≤ 100 ms"),
        (10_000, "checkpoint of a work tree with 10,000 changed files", "≤ 1,000 ms"),
    ];
    let row = |(files, what, bar)| {
        let (mut own, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let (with, without) = once(files)?;
            own.push(with);
            bare.push(without);
        }
        let (own, bare) = (median(own), median(bare));
        let beside = format!("git's commands for it alone: {bare:.0} ms ({:.2} times)", own / bare);
        Ok(Row { what, figure: format!("{own:.0} ms"), beside, bar })
    };
    sizes.into_iter().map(row).collect()
}

// Milliseconds of the first checkpoint after the first step changed so many files, and of git alone in such a tree.
fn once(files: u32) -> Result<(f64, f64)> {
    let dir = tempfile::tempdir()?;
    let repo = dir.path().join("repo");
    write(&repo, "old", 0..files / 2, 1)?;
    let seamless = preset::find("seamless").ok_or("a preset of our own is missing")?.policy;
    let sized = sizing::for_policy(&seamless, 3);
    let repo = stage(dir.path(), sized.job.steps, &sized.script)?;
    let twin = dir.path().join("twin");
    run(dir.path(), "cp", &["-a".as_ref(), repo.as_os_str(), twin.as_os_str()])?;
    let change = dir.path().join("change");
    write(&change, "old", 0..files / 2, 2)?;
    write(&change, "new", files / 2..files, 2)?;
    let step = repo.join("step.sh");
    let text = std::fs::read_to_string(&step)?;
    std::fs::write(&step, format!("if [ \"$1\" = 1 ]; then cp -R {}/. .; fi\n{text}", change.display()))?;
    let args = ["run", "TASK.md", "--policy", "seamless", "--allow-dirty"];
    let output = Command::new(program()).args(args).current_dir(&repo).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into());
    }
    run(&twin, "cp", &["-R".as_ref(), change.join(".").as_os_str(), ".".as_ref()])?;
    Ok((first_checkpoint(&repo, files as usize)?, bare(&twin)?))
}

fn write(root: &Path, folder: &str, files: std::ops::Range<u32>, version: u32) -> Result<()> {
    for n in files {
        let dir = root.join(folder).join(format!("{:02}", n % 100));
        std::fs::create_dir_all(&dir)?;
        let line = |k: u32| format!("line {k} of file {n}, as it is in version {version} of it\n");
        std::fs::write(dir.join(format!("{n}.txt")), (0..40).map(line).collect::<String>())?;
    }
    Ok(())
}

fn first_checkpoint(repo: &Path, files: usize) -> Result<f64> {
    let reader = Journal::read(&repo.join(".git/segue/runs"));
    let row = reader.runs()?.into_iter().next().ok_or("no run")?;
    for stored in reader.events(&row.id, 0, 1_000_000)? {
        let Event::CheckpointTaken { ms, work, .. } = serde_json::from_str(&stored.event)? else { continue };
        let snapshot = work.snapshot.ok_or_else(|| format!("nothing was saved: {:?}", work.trouble))?;
        let args = ["diff", "--name-only", "--no-renames", "HEAD", &snapshot, "--", "old", "new"];
        let output = Command::new("git").args(args).current_dir(repo).output()?;
        let saved = String::from_utf8(output.stdout)?.lines().count();
        if saved != files {
            return Err(format!("{saved} of {files} changed files are in the snapshot").into());
        }
        #[expect(clippy::cast_precision_loss, reason = "milliseconds are few")]
        return Ok(ms as f64);
    }
    Err("no checkpoint was taken".into())
}

// The least that git has to do for it: look, add, write, compare, keep.
fn bare(repo: &Path) -> Result<f64> {
    std::fs::copy(repo.join(".git/index"), repo.join(".git/bench-index"))?;
    let git = |args: &[&str]| -> Result<String> {
        let output = Command::new("git")
            .args(args)
            .env("GIT_INDEX_FILE", ".git/bench-index")
            .current_dir(repo)
            .stderr(Stdio::inherit())
            .output()?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let began = Instant::now();
    git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    git(&["add", "--all"])?;
    let tree = git(&["write-tree"])?;
    git(&["diff-tree", "-r", "-z", "--name-status", "HEAD", &tree])?;
    git(&["diff-tree", "-r", "--shortstat", "HEAD", &tree])?;
    let who = ["-c", "user.name=b", "-c", "user.email=b@b"];
    let commit = git(&[&who[..], &["commit-tree", "-m", "saved", "-p", "HEAD", &tree]].concat())?;
    git(&["update-ref", "refs/bench/1", &commit])?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn run(folder: &Path, program: &str, args: &[&OsStr]) -> Result<()> {
    let status = Command::new(program).args(args).current_dir(folder).status()?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed").into()) }
}
