//! Stand-ins that need no network and no key: a coding agent that follows a script, and a job for it to do.
//!
//! The agent speaks ACP over stdio, runs real commands, and has a real window: it knows nothing but the text in its
//! context, and fails when that grows too long. `segue demo`, the end-to-end tests and the benchmarks use it. It
//! knows nothing of how segue decides, except for [`sizing`], which fits a script and a job to a policy.

pub mod agent;
pub mod brain;
pub mod context;
pub mod job;
pub mod matrix;
pub mod model_server;
pub mod recipe;
pub mod script;
pub mod sizing;
pub mod step_log;
