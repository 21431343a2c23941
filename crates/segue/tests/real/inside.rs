//! Where a test's body runs: in a network and process namespace of its own, with a limit of time.
//!
//! A test starts its own binary again for just itself. What it has to say comes back through a file, so that the lines
//! of tests that run side by side do not mix.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

use serde_json::Value;

/// Names the folder with the CLIs.
const AGENTS: &str = "SEGUE_REAL_AGENTS";
/// Set in the inner run: the file for what it has to say.
const REPORT: &str = "SEGUE_REAL_REPORT";
/// Set in the inner run when it has processes of its own only.
const OWN_PROCESSES: &str = "SEGUE_REAL_OWN_PROCESSES";

/// What is pinned, by platform.
const PINS: &str = include_str!("../../../../xtask/agents.json");

/// Why a test cannot be run here, thrown from wherever that is noticed.
struct Skipped(String);

/// The ways into a namespace, the best first.
const WAYS: [&[&str]; 2] = [
    &["--net", "--pid", "--fork", "--mount-proc", "--kill-child"],
    &["--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"],
];

/// Runs `body` once, with so many seconds at most; a test without the CLIs is skipped.
pub(crate) fn inside<F: FnOnce()>(seconds: u64, body: F) {
    let path = std::any::type_name::<F>();
    let test = path.trim_start_matches("real::").trim_end_matches("::{{closure}}");
    if std::env::var_os(AGENTS).is_none() {
        return show(&format!("{test}: skipped: {AGENTS} is not set\n"));
    }
    if std::env::var_os(REPORT).is_some() {
        if let Some(why) = run(body) {
            say(&format!("{test}: skipped: {why}"));
        }
        return;
    }
    let _slot = Slot::take();
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report");
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", &seconds.to_string()]).env(REPORT, &report);
    match way() {
        Some(flags) => {
            // A shell comes first: it is the one that has to reap what others leave behind.
            let first = "ip link set lo up || exit 9; \"$@\"; exit $?";
            command.arg("unshare").args(flags).args(["sh", "-c", first, "sh"]).env(OWN_PROCESSES, "1");
        }
        None => {
            show(&format!("{test}: no namespace can be made here; it runs without\n"));
        }
    }
    command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture", "--test-threads=1"]);
    let output = command.output().unwrap();
    show(&std::fs::read_to_string(&report).unwrap_or_default());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{test} inside: {}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    assert!(text(&output.stdout).contains("1 passed"), "{test} was not found inside");
}

/// The real CLIs need about a core each, but for what they wait, however many tests run side by side.
struct Slot;

static TAKEN: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

impl Slot {
    fn take() -> Self {
        let most = std::thread::available_parallelism().map_or(1, usize::from) + 1;
        let taken = TAKEN.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken =
            TAKEN.1.wait_while(taken, |taken| *taken >= most).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Self
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *TAKEN.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        TAKEN.1.notify_one();
    }
}

/// Says something that is shown also when the test passes.
pub(crate) fn say(text: &str) {
    let path = std::env::var_os(REPORT).unwrap();
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{text}\n").as_bytes()).unwrap();
}

/// Whether every process that can be seen belongs to this test.
pub(crate) fn has_own_processes() -> bool {
    std::env::var_os(OWN_PROCESSES).is_some()
}

/// The program of a CLI: `NAME-VERSION/NAME` in the folder. The test is skipped when there is none for this platform.
pub(crate) fn agent(name: &str) -> PathBuf {
    let folder = PathBuf::from(std::env::var_os(AGENTS).unwrap());
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let found = names.filter(|entry| entry.to_str().is_some_and(|entry| is_version_of(name, entry))).max();
    found.map_or_else(|| missing(name, &platform(), &folder), |found| folder.join(found).join(name))
}

fn is_version_of(name: &str, folder: &str) -> bool {
    let version = folder.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

// A CLI that is pinned for this platform and is not there is a fault of the folder, and no reason to skip anything.
fn missing(name: &str, platform: &str, folder: &Path) -> ! {
    let pins: Vec<Value> = serde_json::from_str(PINS).unwrap();
    let pin = pins.iter().find(|pin| pin["name"] == name).unwrap_or_else(|| panic!("{name} is not pinned"));
    let there_is_one = !pin["packages"][platform].is_null();
    assert!(!there_is_one, "no {name}-VERSION in {}: run cargo xtask agents", folder.display());
    panic::resume_unwind(Box::new(Skipped(format!("{name} has no package for {platform}"))))
}

/// This platform as `agents.json` names it.
fn platform() -> String {
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    match std::env::consts::OS {
        "macos" => format!("darwin-{cpu}"),
        os => format!("{os}-{cpu}-{}", if cfg!(target_env = "musl") { "musl" } else { "gnu" }),
    }
}

/// Runs the body; why it cannot be run here, if it cannot.
fn run(body: impl FnOnce()) -> Option<String> {
    let thrown = panic::catch_unwind(AssertUnwindSafe(body)).err()?;
    match thrown.downcast::<Skipped>() {
        Ok(skipped) => Some(skipped.0),
        Err(failed) => panic::resume_unwind(failed),
    }
}

/// A program of the machine's own.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

// Past the capture of the test runner, which would keep it back.
fn show(text: &str) {
    std::io::stdout().lock().write_all(text.as_bytes()).unwrap();
}

fn way() -> Option<&'static [&'static str]> {
    static WAY: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    *WAY.get_or_init(|| {
        let works = |flags: &&&[&str]| {
            let tried =
                Command::new("unshare").args(**flags).args(["ip", "link", "set", "lo", "up"]).output();
            tried.is_ok_and(|output| output.status.success())
        };
        WAYS.iter().find(works).copied()
    })
}

#[test]
fn a_cli_is_known_by_its_whole_name() {
    assert!(is_version_of("codex", "codex-0.166.0") && is_version_of("codex-acp", "codex-acp-0.16.0"));
    assert!(!is_version_of("codex", "codex-acp-0.16.0") && !is_version_of("codex-acp", "codex-0.166.0"));
}

#[test]
fn only_a_cli_without_a_package_for_the_platform_skips_a_test() {
    let here = Path::new(".");
    let why = run(|| missing("opencode", "linux-x64-musl", here));
    assert_eq!(why.as_deref(), Some("opencode has no package for linux-x64-musl"));
    let failed = panic::catch_unwind(|| run(|| missing("opencode", "linux-x64-gnu", here))).unwrap_err();
    assert!(failed.downcast::<String>().unwrap().contains("cargo xtask agents"));
    assert_eq!(run(|| {}), None);
}
