//! The helpers that segue itself has started and waits for, such as a call of git.
//!
//! A sweep for strays must neither end nor reap them. A helper is put on the list under the lock that a sweep holds
//! while it looks, so there is no moment at which one could be taken for a stray.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

static PIDS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Keeps one helper on the list until it is dropped; drop it only after the child has been waited for.
#[derive(Debug)]
pub(crate) struct Own(u32);

impl Drop for Own {
    fn drop(&mut self) {
        pids().remove(&self.0);
    }
}

/// Starts a helper of segue's own.
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Own)> {
    let mut pids = pids();
    let child = command.spawn()?;
    pids.insert(child.id());
    let own = Own(child.id());
    Ok((child, own))
}

/// Starts a process in some other way and puts it on the list.
pub(crate) fn watch<C>(start: impl FnOnce() -> io::Result<(C, u32)>) -> io::Result<(C, Own)> {
    let mut pids = pids();
    let (child, pid) = start()?;
    pids.insert(pid);
    Ok((child, Own(pid)))
}

/// The helpers at work; none starts or leaves while the answer is held.
pub(crate) fn pids() -> MutexGuard<'static, BTreeSet<u32>> {
    PIDS.lock().unwrap_or_else(PoisonError::into_inner)
}
