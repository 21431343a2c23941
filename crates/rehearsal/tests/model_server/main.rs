//! The model server over real sockets, as an agent CLI meets it.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
mod chat;
#[cfg(test)]
mod client;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod job;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod transport;
