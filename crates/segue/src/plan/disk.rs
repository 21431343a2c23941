//! The files that a plan names, and the plan itself: beside the plan, or in the work tree.

use std::path::{Path, PathBuf};

use segue_plans::{Files, Format, MOST_BYTES, NoPlan, Plan, read_folder, read_plan_as};

/// Files as seen from where the command was called, and from the work tree.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    here: PathBuf,
    tree: PathBuf,
    format: Option<Format>,
}

impl Disk {
    /// The files of a folder and a work tree.
    pub(crate) fn new(here: &Path, tree: &Path) -> Self {
        Self { here: here.to_owned(), tree: tree.to_owned(), format: None }
    }

    /// The same, with plan files read in the format that a person chose.
    #[must_use]
    pub(crate) fn reading(self, format: Option<Format>) -> Self {
        Self { format, ..self }
    }

    /// Reads the plan of that name: a file, or a folder of them.
    pub(crate) fn plan(&self, name: &str) -> std::io::Result<Result<Plan, NoPlan>> {
        let path = self.here.join(name);
        let facts = std::fs::metadata(&path)?;
        if facts.is_dir() {
            return Ok(read_folder(name.trim_end_matches('/'), self));
        }
        if !facts.is_file() {
            let why = "it is a pipe or a device; give a file, or the task itself with `segue run -`";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why));
        }
        if facts.len() > MOST_BYTES as u64 {
            let bytes = usize::try_from(facts.len()).unwrap_or(usize::MAX);
            return Ok(Err(NoPlan::TooLarge(name.to_owned(), bytes)));
        }
        Ok(read_plan_as(name, &std::fs::read(&path)?, self, self.format))
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
