//! `cargo xtask fuzz`: every decoder given bytes that nobody wrote, by libFuzzer on the stable compiler.
//!
//! The coverage that libFuzzer steers by is put in by the compiler's own pass; no sanitizer is needed, since there is no
//! unsafe code to watch. Without a C++ compiler the same targets get inputs at random, which find less.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::{Outcome, shell};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What makes the compiler count which parts of the code an input reaches.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=16",
];

/// How a run of one target is bounded.
#[derive(Clone, Copy)]
struct Bounds {
    seconds: u64,
    /// The most inputs of a run from a fixed seed.
    runs: Option<u64>,
}

/// What can run a target.
enum Runner {
    LibFuzzer(PathBuf),
    Plain,
}

/// Runs one target or all of them for so many seconds each; what is found is kept for the next time.
pub(crate) fn fuzz(words: &[&str]) -> Outcome {
    let (target, seconds) = match words {
        [] => (None, "60"),
        ["--seconds", seconds] => (None, *seconds),
        [target] => (Some(*target), "60"),
        [target, "--seconds", seconds] => (Some(*target), *seconds),
        _ => return Err("cargo xtask fuzz [TARGET] [--seconds N]".into()),
    };
    let seconds = seconds.parse().map_err(|_| format!("--seconds {seconds}: not a whole number"))?;
    run(target, Bounds { seconds, runs: None })
}

/// The short run that is part of the tests, from a fixed seed. The plain runner gives the same inputs each time; libFuzzer
/// stops at its seconds if it has not had all of its inputs by then, so a slower machine sees fewer of them.
pub(crate) fn short() -> Outcome {
    run(None, Bounds { seconds: 2, runs: Some(20_000) })
}

fn run(only: Option<&str>, bounds: Bounds) -> Outcome {
    shell::run("cargo", &["build", "--quiet", "--package", "segue-fuzz"])?;
    let all = shell::read(&helper_program(), &["list"])?;
    let targets: Vec<&str> = all.lines().filter(|name| only.is_none_or(|only| only == *name)).collect();
    if targets.is_empty() {
        return Err(format!("there is no such target; there are: {}", all.replace('\n', " ")).into());
    }
    let runner = runner()?;
    let seeds = folder().join("seeds");
    let _ = fs::remove_dir_all(&seeds);
    fs::create_dir_all(folder().join("found"))?;
    helper(&["seeds", &seeds.to_string_lossy()])?;
    let (queue, broken) = (Mutex::new(targets.into_iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().ok().and_then(|mut queue| queue.next());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(target) = next() {
                    let outcome = one(&runner, target, bounds).map_err(|error| error.to_string());
                    if let (Err(error), Ok(mut broken)) = (outcome, broken.lock()) {
                        broken.push(error);
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().unwrap_or_default();
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n\n").into()) }
}

fn folder() -> PathBuf {
    shell::target().join("fuzz")
}

fn runner() -> Result<Runner> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let found = Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        shell::say(&format!(
            "no C++ compiler ({compiler}), so no libFuzzer: inputs are changed at random instead"
        ));
        return Ok(Runner::Plain);
    }
    let version = shell::read("rustc", &["--version", "--verbose"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    // With a target named, build scripts and macros are compiled without the flags, which they could not be linked with.
    let target = folder();
    let args = ["build", "--package", "segue-fuzz", "--bin", "segue-libfuzzer", "--features", "libfuzzer"];
    let args = [args.as_slice(), &["--profile", "fuzz", "--target", host]].concat();
    let flags = COVERAGE.join("\x1f");
    let env = [("CARGO_ENCODED_RUSTFLAGS", Path::new(&flags)), ("CARGO_TARGET_DIR", target.as_path())];
    shell::run_with(&env, "cargo", &args)?;
    Ok(Runner::LibFuzzer(target.join(host).join("fuzz").join("segue-libfuzzer")))
}

fn one(runner: &Runner, target: &str, bounds: Bounds) -> Outcome {
    let folder = folder();
    let found = folder.join("found").join(format!("{target}-"));
    let program = match runner {
        Runner::LibFuzzer(program) => program,
        Runner::Plain => {
            let runs = bounds.runs.unwrap_or(bounds.seconds * 500).to_string();
            let file = format!("{}plain", found.display());
            return helper(&["plain", target, &runs, &file]).map_err(|_| again(target, &file).into());
        }
    };
    let seeds = folder.join("seeds").join(target);
    let mut command = Command::new(program);
    command.env("SEGUE_FUZZ_TARGET", target).args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=8192"]);
    command.arg(format!("-max_total_time={}", bounds.seconds));
    command.arg(format!("-artifact_prefix={}", found.display()));
    command.arg(format!("-dict={}", seeds.with_extension("dict").display()));
    if let Some(runs) = bounds.runs {
        command.arg(format!("-runs={runs}")).arg("-seed=1");
    } else {
        let corpus = folder.join("corpus").join(target);
        fs::create_dir_all(&corpus)?;
        command.arg(corpus);
    }
    let output = command.arg(seeds).stdin(Stdio::null()).output()?;
    let log = folder.join("found").join(format!("{target}.log"));
    fs::write(&log, &output.stderr)?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let done = text.lines().rev().find(|line| line.starts_with("Done")).unwrap_or("Done");
        shell::say(&format!("{target}: {done}"));
        return Ok(());
    }
    let file = text.lines().find_map(|line| line.rsplit_once("Test unit written to ").map(|(_, file)| file));
    let Some(file) = file else { return Err(format!("{target} ended early; see {}", log.display()).into()) };
    let why = text.lines().find(|line| line.contains("panicked at") || line.contains("ERROR: libFuzzer"));
    let words = text.lines().skip_while(|line| !line.contains("panicked at")).nth(1).unwrap_or_default();
    Err(format!("{}\n{words}\n{}", why.unwrap_or_default(), again(target, file)).into())
}

fn again(target: &str, file: &str) -> String {
    format!(
        "{target} broke; once more: cargo run -p segue-fuzz -- one {target} {file}\n\
         when it is mended, keep the input as fuzz/regressions/{target}/WHAT-IT-WAS"
    )
}

fn helper(args: &[&str]) -> Outcome {
    let status = Command::new(helper_program()).args(args).current_dir(shell::root()).status()?;
    if status.success() { Ok(()) } else { Err(format!("segue-fuzz {} failed", args.join(" ")).into()) }
}

// It is built by now, and cargo would only wait for its own lock.
fn helper_program() -> String {
    shell::target().join("debug").join("segue-fuzz").to_string_lossy().into_owned()
}
