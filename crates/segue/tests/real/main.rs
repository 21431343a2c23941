//! The built program with the real agent CLIs against the scripted model server, which knows the truth.
//!
//! `SEGUE_REAL_AGENTS` names the folder with the pinned CLIs; without it every test says that it is skipped. Each test
//! runs once more inside a network and process namespace of its own, where the system allows that.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
mod any_acp;
#[cfg(test)]
mod beside;
#[cfg(test)]
mod compaction;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod effective;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gauge;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod inside;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod jump;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod newcomer;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod post_mortem;
#[cfg(test)]
mod rehearse;
#[cfg(test)]
mod rivals;
#[cfg(test)]
mod side_questions;
#[cfg(test)]
mod sides;
#[cfg(test)]
mod stop;
#[cfg(test)]
mod support;
#[cfg(test)]
mod thirty_steps;
#[cfg(test)]
mod weights;
