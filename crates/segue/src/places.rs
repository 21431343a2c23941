//! Where segue was used: the work trees with runs, for lists across repositories and for cleaning up after itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::state::State;

const FILE: &str = "places.json";

/// Remembers a work tree. A list that cannot be written is no reason not to work.
pub(crate) fn remember(root: &Path) {
    let Some(state) = State::of_user() else { return };
    let known: BTreeSet<PathBuf> = state.read(FILE);
    if !known.contains(root) {
        let _ = state.update(FILE, |places: &mut BTreeSet<PathBuf>| places.insert(root.to_owned()));
    }
}

/// The remembered work trees that are still there.
pub(crate) fn known() -> Vec<PathBuf> {
    let places: BTreeSet<PathBuf> = State::of_user().map(|state| state.read(FILE)).unwrap_or_default();
    places.into_iter().filter(|place| place.is_dir()).collect()
}
