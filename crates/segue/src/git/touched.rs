//! When a file of the work tree last changed, as a sign of life.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{GitError, Repo, call};

/// How many changed files are looked at.
const LOOKED_AT: usize = 5_000;

impl Repo {
    /// How long ago any of the files that git lists as changed or new was written, or a folder that holds one.
    ///
    /// What git ignores is not looked at. `None` when nothing is changed.
    pub(crate) fn untouched_for(&self) -> Result<Option<Duration>, GitError> {
        let ask = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--"];
        let args: Vec<&str> = ask.into_iter().chain(self.everything()).collect();
        let out = self.call(&args).run()?;
        let paths = call::parts(&out).filter_map(|entry| Some(call::text(entry.get(3..)?)));
        let newest = paths.take(LOOKED_AT).filter_map(|path| newest(&self.root.join(path))).max();
        Ok(newest.map(|at| SystemTime::now().duration_since(at).unwrap_or_default()))
    }
}

// A file that was removed is known by its folder.
fn newest(path: &Path) -> Option<SystemTime> {
    let written = |path: &Path| fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    written(path).max(path.parent().and_then(written))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};

    use super::*;
    use crate::git::tests::Sandbox;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn age(path: &Path) {
        let old = FileTimes::new().set_modified(SystemTime::now() - 2 * HOUR);
        File::open(path).unwrap().set_times(old).unwrap();
    }

    #[test]
    fn the_newest_of_what_changed_counts_and_what_is_segues_own_does_not() {
        let sandbox = Sandbox::new();
        let repo = sandbox.repo();
        sandbox.write(".segue/journal.db", "x");
        assert_eq!(repo.untouched_for().unwrap(), None);
        sandbox.write("a.txt", "other").write("sub/new.txt", "x");
        for path in ["a.txt", "sub/new.txt", "sub", "."] {
            age(&sandbox.path(path));
        }
        assert!(repo.untouched_for().unwrap().unwrap() > HOUR);
        sandbox.write("sub/new.txt", "more");
        assert!(repo.untouched_for().unwrap().unwrap() < HOUR);
        age(&sandbox.path("sub/new.txt"));
        age(&sandbox.path("sub"));
        sandbox.remove("b.txt");
        assert!(repo.untouched_for().unwrap().unwrap() < HOUR, "a file that was removed is a change");
    }
}
