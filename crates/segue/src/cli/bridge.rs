//! `segue bridge …`: what segue puts between itself and an agent that is a server.

use super::args::Bridge;
use super::failure::Failure;
use crate::bridge;

/// Runs until its input ends or the server does.
pub(super) fn bridge(which: &Bridge) -> Result<u8, Failure> {
    let Bridge::Opencode { command } = which;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(bridge::run(command));
    // Standard input may still be waited for by a thread that cannot be interrupted.
    runtime.shutdown_background();
    Ok(outcome?)
}
