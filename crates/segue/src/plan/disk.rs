//! The files that a plan names, and the plan itself: beside the plan, or in the work tree.

use std::path::{Path, PathBuf};

use segue_plans::{Files, Format, MOST_BYTES, NoPlan, Plan, read_folder, read_plan_as};

use crate::store::safely;

/// Files as seen from where the command was called, and from the work tree.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    here: PathBuf,
    tree: PathBuf,
    // The same without links.
    real: [PathBuf; 2],
    format: Option<Format>,
}

impl Disk {
    /// The files of a folder and a work tree.
    pub(crate) fn new(here: &Path, tree: &Path) -> Self {
        let real = [here, tree].map(|root| root.canonicalize().unwrap_or_else(|_| root.to_owned()));
        Self { here: here.to_owned(), tree: tree.to_owned(), real, format: None }
    }

    /// The same, with plan files read in the format that a person chose.
    #[must_use]
    pub(crate) fn reading(self, format: Option<Format>) -> Self {
        Self { format, ..self }
    }

    /// Reads the plan of that name: a file, or a folder of them.
    pub(crate) fn plan(&self, name: &str) -> std::io::Result<Result<Plan, NoPlan>> {
        let path = self.here.join(name);
        safely::refuse_link_out(&self.tree, &path)?;
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

    // A plan names no file outside the work tree and the folder that the command was called in, by words or by a link.
    fn inside(&self, path: PathBuf) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        self.real.iter().any(|root| real.starts_with(root)).then_some(real)
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.inside(self.here.join(path))?;
        let facts = std::fs::metadata(&path).ok()?;
        let fits = facts.is_file() && facts.len() <= MOST_BYTES as u64;
        fits.then(|| std::fs::read(&path).ok()).flatten()
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let dir = self.inside(self.here.join(dir));
        let entries = dir.and_then(|dir| std::fs::read_dir(dir).ok()).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn size(&self, path: &str) -> Option<u64> {
        // Of many thousand names most are of no file: those cost one look.
        let size = |root: &PathBuf| {
            let path = root.join(path);
            std::fs::metadata(&path).ok().filter(|facts| facts.is_file() && self.inside(path).is_some())
        };
        let elsewhere = || (self.here != self.tree).then(|| size(&self.tree)).flatten();
        size(&self.here).or_else(elsewhere).map(|facts| facts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_the_work_tree_are_not_there_for_a_plan() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, secret) = (dir.path().join("tree"), dir.path().join("secret.md"));
        std::fs::create_dir_all(tree.join("plans")).unwrap();
        for file in [&secret, &tree.join("own.md"), &tree.join("plans/1.md")] {
            std::fs::write(file, "words").unwrap();
        }
        std::os::unix::fs::symlink(&secret, tree.join("plans/link.md")).unwrap();
        std::os::unix::fs::symlink(dir.path(), tree.join("plans/out")).unwrap();
        std::os::unix::fs::symlink("../own.md", tree.join("plans/near.md")).unwrap();
        let disk = Disk::new(&tree.join("plans"), &tree);
        for path in ["1.md", "near.md", "../own.md"] {
            assert!(disk.read(path).is_some() && disk.size(path) == Some(5), "{path}");
        }
        assert!(disk.plan("link.md").is_err() && disk.plan("out/secret.md").is_err());
        assert!(disk.plan("near.md").is_ok() && disk.plan(secret.to_str().unwrap()).is_ok());
        for path in ["link.md", "out/secret.md", "../../secret.md", secret.to_str().unwrap()] {
            assert_eq!((disk.read(path), disk.size(path)), (None, None), "{path}");
        }
        assert!(disk.list("out").is_empty() && disk.list("../..").is_empty() && !disk.list(".").is_empty());
    }
}
