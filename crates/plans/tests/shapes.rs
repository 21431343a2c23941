//! Plans of every shape, and what is found in them: counts, places, gates, criteria, dependencies.

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
#[path = "shapes/files.rs"]
mod files;
#[cfg(test)]
#[path = "shapes/folders.rs"]
mod folders;
#[cfg(test)]
#[path = "shapes/found.rs"]
mod found;
#[cfg(test)]
#[path = "shapes/json.rs"]
mod json;
#[cfg(test)]
#[path = "shapes/known.rs"]
mod known;
#[cfg(test)]
#[path = "shapes/markdown.rs"]
mod markdown;
#[cfg(test)]
#[path = "shapes/order.rs"]
mod order;
#[cfg(test)]
#[path = "shapes/phases.rs"]
mod phases;
#[cfg(test)]
#[path = "shapes/refused.rs"]
mod refused;
#[cfg(test)]
#[path = "shapes/support.rs"]
mod support;
#[cfg(test)]
#[path = "shapes/tagged.rs"]
mod tagged;
