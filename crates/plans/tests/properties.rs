//! What must hold whatever the text and whatever the plan.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
#[path = "properties/all.rs"]
mod all;
