//! The lock, with owners that end in order and owners that are killed.

use std::env;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

const FOLDER: &str = "SEGUE_TEST_LOCK_FOLDER";

/// Not a test by itself: the owner that another test starts as a process of its own.
#[test]
fn owner() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let _lock = Lock::take(Path::new(&folder), "r-dead").unwrap();
    // Outlives its parent, as an agent's server might.
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    fs::write(Path::new(&folder).join("taken"), "").unwrap();
    child.wait().unwrap();
}

fn start_owner(folder: &Path) -> Child {
    let name = format!("{}::owner", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &name]).env(FOLDER, folder).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    while !folder.join("taken").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_second_owner_is_refused_and_told_who_works_there() {
    let dir = tempfile::tempdir().unwrap();
    let lock = Lock::take(dir.path(), "r1").unwrap();
    let refused = Lock::take(dir.path(), "r2").unwrap_err();
    assert!(
        matches!(&refused, LockError::Held { pid, run, since } if *pid == process::id() && run == "r1" && *since > 0)
    );
    let said = refused.to_string();
    assert!(
        said.contains("run r1") && said.contains("segue status") && said.contains("segue stop r1"),
        "{said}"
    );
    assert!(Lock::holder(dir.path()).unwrap().is_alive());
    drop(lock);
    // A process that another test starts just then holds what was open until it runs its own program.
    let freed = (0..500).any(|_| {
        thread::sleep(std::time::Duration::from_millis(10));
        Lock::holder(dir.path()).is_none()
    });
    assert!(freed, "{:?}", Lock::holder(dir.path()));
    drop(Lock::take(dir.path(), "r2").unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn e2_the_lock_of_a_killed_owner_is_stale_at_once_though_its_child_lives_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut owner = start_owner(dir.path());
    assert!(matches!(Lock::take(dir.path(), "r2"), Err(LockError::Held { run, .. }) if run == "r-dead"));
    let holder = Lock::holder(dir.path()).unwrap();
    assert!(holder.is_alive() && holder.pid == owner.id());
    let children = tree::descendants(owner.id());
    assert_eq!(children.len(), 1);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(tree::is_alive(children[0].pid, children[0].start));
    assert!(!Lock::holder(dir.path()).unwrap().is_alive());
    assert_eq!(Lock::holder(dir.path()).map(|holder| holder.run).as_deref(), Some("r-dead"));
    let lock = Lock::take(dir.path(), "r2").unwrap();
    assert_eq!(Lock::holder(dir.path()).unwrap().run, "r2");
    drop(lock);
    tree::end(&children, Duration::ZERO);
}

#[test]
fn a_lock_file_of_nonsense_is_nobodys() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Lock::holder(dir.path()), None);
    for nonsense in ["", "{", "{\"pid\":-1}", "\u{0}"] {
        fs::write(dir.path().join(NAME), nonsense).unwrap();
        assert_eq!(Lock::holder(dir.path()), None);
        drop(Lock::take(dir.path(), "r1").unwrap());
    }
    assert!(matches!(Lock::take(&dir.path().join("nowhere"), "r1"), Err(LockError::Failed { .. })));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere.
    let may_write = fs::write(dir.path().join("probe"), "").is_ok();
    let outcome = Lock::take(dir.path(), "r1");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(may_write || matches!(outcome, Err(LockError::ReadOnly { .. })));
}
