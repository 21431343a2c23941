//! The processes that segue starts, those that they leave behind, and who may work in a work tree.

pub(crate) mod activity;
pub(crate) mod lock;
pub(crate) mod own;
pub(crate) mod tree;

#[cfg(not(target_os = "linux"))]
#[path = "table_group.rs"]
mod table;
#[cfg(target_os = "linux")]
#[path = "table_proc.rs"]
mod table;

/// The environment variable that marks every process of a run.
pub(crate) const RUN_MARK: &str = "SEGUE_RUN";
/// The environment variable that marks every process of one session.
pub(crate) const SESSION_MARK: &str = "SEGUE_SESSION";
/// The environment variable that marks every process of one gate.
pub(crate) const GATE_MARK: &str = "SEGUE_GATE";

/// Ends everything that carries a mark (`NAME=value` in its environment) and every stray, and says how many.
pub(crate) fn sweep_marked(mark: &str, grace: std::time::Duration) -> u32 {
    tree::sweep(mark, &[], grace)
}

/// Sends a signal to a process group that segue started.
pub(crate) fn signal_group(leader: u32, signal: rustix::process::Signal) {
    let leader = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(leader) = leader {
        let _ = rustix::process::kill_process_group(leader, signal);
    }
}
