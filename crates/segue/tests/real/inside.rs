//! Where a test's body runs: in a network and process namespace of its own, with a limit of time.
//!
//! A test starts its own binary again for just itself. What it has to say comes back through a file, so that the lines
//! of tests that run side by side do not mix.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Names the folder with the CLIs.
const AGENTS: &str = "SEGUE_REAL_AGENTS";
/// Set in the inner run: the file for what it has to say.
const REPORT: &str = "SEGUE_REAL_REPORT";
/// Set in the inner run when it has processes of its own only.
const OWN_PROCESSES: &str = "SEGUE_REAL_OWN_PROCESSES";

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
        return body();
    }
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

/// The program of a CLI: `NAME-VERSION/NAME` in the folder.
pub(crate) fn agent(name: &str) -> PathBuf {
    let folder = PathBuf::from(std::env::var_os(AGENTS).unwrap());
    let found = std::fs::read_dir(&folder).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let version = path.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('-')?;
        let is_it = version.starts_with(|c: char| c.is_ascii_digit());
        is_it.then(|| path.join(name))
    });
    found.max().unwrap_or_else(|| panic!("no {name}-VERSION in {}", folder.display()))
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
