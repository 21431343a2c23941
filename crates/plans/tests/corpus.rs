//! Real plans of other people, where they lie beside the checkout: what is read is what an independent count found.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
#[path = "corpus/all.rs"]
mod all;
