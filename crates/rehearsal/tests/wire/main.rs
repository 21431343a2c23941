//! The scripted agent over its wire: everything that it says is read with the types of the protocol's own schema.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
mod client;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod turns;
