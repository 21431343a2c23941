//! The files that a plan names: beside the plan, or in the work tree.

use std::path::PathBuf;

use segue_plans::{Files, MOST_BYTES};

use super::Place;

/// Files as seen from where the command was called, and from the work tree.
pub(super) struct Disk {
    here: PathBuf,
    tree: PathBuf,
}

impl Disk {
    pub(super) fn new(at: &Place) -> Self {
        Self { here: at.dir.clone(), tree: at.store().workdir().to_owned() }
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.here.join(path);
        let facts = std::fs::metadata(&path).ok()?;
        let fits = facts.is_file() && facts.len() <= MOST_BYTES as u64;
        fits.then(|| std::fs::read(&path).ok()).flatten()
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.here.join(dir)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn size(&self, path: &str) -> Option<u64> {
        let size = |root: &PathBuf| std::fs::metadata(root.join(path)).ok().filter(|facts| facts.is_file());
        size(&self.here).or_else(|| size(&self.tree)).map(|facts| facts.len())
    }
}
