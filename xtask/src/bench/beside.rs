//! Phases side by side: how much sooner a plan is done, what a phase costs beside plain git, and work trees of a large
//! repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use segue_rehearsal::script::Script;

use super::program::{alone, program, stage};
use super::{Row, median};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const MIDDLE: u32 = 10;
const STEP_MS: u64 = 5_000;
const FILES: usize = 10_000;
const TREES: usize = 20;

pub(super) fn rows() -> Result<Vec<Row>> {
    let (serial, beside) = (fan(None)?, fan(Some("5"))?);
    let (with, without) = (one_by_one(true)?, one_by_one(false)?);
    let large = large()?;
    Ok(vec![
        Row {
            what: "1 + 10 + 1 phases of 5 s with `--parallel 5`, merge gates included",
            figure: format!("{beside:.1} s"),
            beside: format!("one by one: {serial:.1} s ({:.0} %)", beside / serial * 100.0),
            bar: "≤ 45 %",
        },
        Row {
            what: "a phase in a work tree of its own, 0.5 s of work: overhead",
            figure: format!("{:.0} ms", with - without),
            beside: format!(
                "{with:.0} ms; plain `git worktree` and the agent {without:.0} ms ({:.2} times)",
                with / without
            ),
            bar: "–",
        },
        Row {
            what: "20 phases beside each other in a repository of 10,000 files: making a work tree",
            figure: format!("{:.0} ms", large.own),
            beside: format!("`git worktree add`: {:.0} ms ({:.2} times)", large.git, large.own / large.git),
            bar: "≤ 1,000 ms, or git's own",
        },
        Row {
            what: "disk use of those 20 work trees",
            figure: format!("{:.0} MB", large.megabytes),
            beside: format!("one checkout: {:.0} MB", large.one),
            bar: "–",
        },
    ])
}

fn phase(id: u32, needs: &[u32], files: bool) -> String {
    let needs: Vec<String> = needs.iter().map(u32::to_string).collect();
    let files = if files { format!("files = [\"parts/{id:02}.txt\"]\n") } else { String::new() };
    format!(
        "\n[[phase]]\nid = \"{id}\"\nneeds = {needs:?}\n{files}[[phase.task]]\nid = \"{id}\"\ntitle = \"step {id}: write it\"\n\
         [[phase.task.criterion]]\ntext = \"it is there\"\n[[phase.task.criterion.check]]\nrun = \"sh there.sh {id}\"\n"
    )
}

fn git(repo: &Path, args: &[&str]) -> Result<()> {
    let identity = ["-c", "user.name=b", "-c", "user.email=b@b"];
    let out = Command::new("git").args(identity).args(args).current_dir(repo).output()?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into()) }
}

// A job whose phases decide by themselves, and its plan.
fn staged(dir: &Path, steps: u32, script: &Script, plan: &str) -> Result<PathBuf> {
    let repo = stage(dir, steps, script)?;
    let config = std::fs::read_to_string(repo.join("segue.toml"))?;
    let config = config.split("[[gate]]").next().unwrap_or_default().to_owned();
    std::fs::write(repo.join("segue.toml"), config)?;
    std::fs::write(repo.join("there.sh"), "test -f parts/$(printf %02d $1).txt\n")?;
    std::fs::write(repo.join("segue.plan.toml"), format!("title = \"Parts\"\n{plan}"))?;
    git(&repo, &["add", "-A"])?;
    git(&repo, &["commit", "-qm", "a plan"])?;
    Ok(repo)
}

fn run(repo: &Path, flags: &[&str]) -> Result<f64> {
    let began = Instant::now();
    let home = repo.parent().unwrap_or(repo);
    let run = Command::new(program())
        .args(["run", "segue.plan.toml", "--json"])
        .args(flags)
        .current_dir(repo)
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .output()?;
    if !run.status.success() {
        return Err(format!(
            "{}{}",
            String::from_utf8_lossy(&run.stdout),
            String::from_utf8_lossy(&run.stderr)
        )
        .into());
    }
    Ok(began.elapsed().as_secs_f64())
}

// Seconds of a plan whose middle can be done side by side.
fn fan(parallel: Option<&str>) -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let middle: Vec<u32> = (2..2 + MIDDLE).collect();
    let mut plan = phase(1, &[], true);
    middle.iter().for_each(|id| plan.push_str(&phase(*id, &[1], true)));
    plan.push_str(&phase(2 + MIDDLE, &middle, true));
    let script = Script { window: 10_000_000, step_ms: STEP_MS, ..Script::default() };
    let repo = staged(dir.path(), 2 + MIDDLE, &script, &plan)?;
    let flags: Vec<&str> = parallel.into_iter().flat_map(|n| ["--parallel", n]).collect();
    run(&repo, &flags)
}

// Milliseconds per phase of phases that come one after the other, each in a work tree of its own.
fn one_by_one(with_segue: bool) -> Result<f64> {
    const PHASES: u32 = 8;
    let dir = tempfile::tempdir()?;
    let plan: String = (1..=PHASES).map(|id| phase(id, &[], false)).collect();
    let script = Script { window: 10_000_000, step_ms: 500, ..Script::default() };
    let repo = staged(dir.path(), PHASES, &script, &plan)?;
    if with_segue {
        return Ok(run(&repo, &["--parallel", "2"])? * 1e3 / f64::from(PHASES));
    }
    let began = Instant::now();
    for id in 1..=PHASES {
        let tree = dir.path().join(format!("tree-{id}"));
        let (branch, place) = (format!("phase-{id}"), tree.display().to_string());
        git(&repo, &["worktree", "add", "-q", "-b", &branch, &place])?;
        std::fs::write(tree.join("TASK.md"), format!("- [ ] step {id}: write it\n"))?;
        alone(&dir.path().join("script.json"), &tree)?;
        let gate = Command::new("sh").args(["there.sh", &id.to_string()]).current_dir(&tree).status()?;
        if !gate.success() {
            return Err("the gate of plain git is red".into());
        }
        git(&tree, &["checkout", "-q", "TASK.md"])?;
        git(&tree, &["add", "-A"])?;
        git(&tree, &["commit", "-qm", "done"])?;
        git(&repo, &["merge", "-q", "--ff-only", &branch])?;
        git(&repo, &["worktree", "remove", &place])?;
        git(&repo, &["branch", "-q", "-d", &branch])?;
    }
    Ok(began.elapsed().as_secs_f64() * 1e3 / f64::from(PHASES))
}

struct Large {
    own: f64,
    git: f64,
    megabytes: f64,
    one: f64,
}

// Work trees of a repository of many files, as segue makes them for phases side by side, and as git alone does.
fn large() -> Result<Large> {
    let dir = tempfile::tempdir()?;
    let steps = u32::try_from(TREES)?;
    let plan: String = (1..=steps).map(|id| phase(id, &[], true)).collect();
    let script = Script { window: 10_000_000, step_ms: 30_000, ..Script::default() };
    let repo = staged(dir.path(), steps, &script, &plan)?;
    for n in 0..FILES {
        let path = repo.join(format!("src/d{}/f{n}.txt", n / 100));
        std::fs::create_dir_all(path.parent().unwrap_or(&repo))?;
        std::fs::write(path, format!("{n}\n").repeat(200))?;
    }
    git(&repo, &["add", "-A"])?;
    git(&repo, &["commit", "-qm", "many files"])?;
    let mut plain = Vec::new();
    for n in 0..5 {
        let place = dir.path().join(format!("plain-{n}")).display().to_string();
        let began = Instant::now();
        git(&repo, &["worktree", "add", "-q", "--detach", &place])?;
        plain.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let one = disk(&dir.path().join("plain-0"))?;
    for n in 0..5 {
        let place = dir.path().join(format!("plain-{n}")).display().to_string();
        git(&repo, &["worktree", "remove", &place])?;
    }
    let own = made(&repo)?;
    Ok(Large { own: own.0, git: median(plain), megabytes: own.1, one })
}

// Milliseconds between two starts while all phases begin, and what their work trees take.
fn made(repo: &Path) -> Result<(f64, f64)> {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(program())
        .args(["run", "segue.plan.toml", "--json", "--parallel", &TREES.to_string()])
        .current_dir(repo)
        .env("HOME", repo.parent().unwrap_or(repo))
        .env_remove("XDG_STATE_HOME")
        .stdout(std::process::Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    let mut starts = Vec::new();
    for line in BufReader::new(output).lines() {
        if line?.contains("\"type\":\"phase.started\"") {
            starts.push(Instant::now());
        }
        if starts.len() == TREES {
            break;
        }
    }
    // The last one is made after it is told.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let megabytes = disk(&repo.parent().unwrap_or(repo).join(".local/state/segue/trees"))?;
    let stop = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    stop?;
    std::thread::sleep(std::time::Duration::from_millis(200));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    child.wait()?;
    let gaps = starts.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3);
    Ok((median(gaps.collect()), megabytes))
}

fn disk(path: &Path) -> Result<f64> {
    let out = Command::new("du").args(["-sk"]).arg(path).output()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let kilobytes: f64 = text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(f64::NAN);
    Ok(kilobytes / 1024.0)
}
