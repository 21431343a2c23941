//! Real plans of other people, where they lie beside the checkout, and drawn ones: what is read is what an independent count
//! found, and writing back changes nothing else.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
#[path = "corpus/all.rs"]
mod all;
#[cfg(test)]
#[path = "corpus/drawn.rs"]
mod drawn;
#[cfg(test)]
#[path = "corpus/held.rs"]
mod held;
