//! The processes that segue starts, those that they leave behind, and who may work in a work tree.

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
