//! Planted secrets, and text in which there are none.
#![expect(clippy::disallowed_methods, reason = "a test reads texts to clean; the crate itself reads nothing")]

#[cfg(test)]
mod after;
#[cfg(test)]
mod before;
#[cfg(test)]
mod draw;
#[cfg(test)]
mod fresh;
#[cfg(test)]
mod harmless;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod keys_open;
#[cfg(test)]
mod keys_sealed;
#[cfg(test)]
mod plant;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recall;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod unseen;
