//! Keeps the files that segue writes for people within the work tree.
//!
//! A path is checked by its words when the configuration is read, and by what really lies there when a run begins and
//! again before each write: a folder may have become a link meanwhile.

use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::config::path_fault;

/// A path that segue does not write to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{key} = {path:?} {why}; name a place below the work tree")]
pub(crate) struct OutsideError {
    key: String,
    path: String,
    why: String,
}

/// The full path of `path`, given that nothing on the way to it leads out of the work tree.
pub(crate) fn inside(workdir: &Path, key: &str, path: &str) -> Result<PathBuf, OutsideError> {
    let refused = |why: String| OutsideError { key: key.to_owned(), path: path.to_owned(), why };
    if let Some(why) = path_fault(path) {
        return Err(refused(why.to_owned()));
    }
    let root = workdir.canonicalize().map_err(|error| refused(format!("cannot be read ({error})")))?;
    let mut real = root.clone();
    for part in Path::new(path).components().filter(|part| *part != Component::CurDir) {
        let next = real.join(part);
        match next.symlink_metadata() {
            // From here on nothing exists, so nothing can be a link.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                real = next;
                continue;
            }
            Err(error) => return Err(refused(format!("cannot be read ({error})"))),
            Ok(_) => {}
        }
        real =
            next.canonicalize().map_err(|error| refused(format!("goes through a broken link ({error})")))?;
        if !real.starts_with(&root) {
            return Err(refused(format!("is a link to {}, outside the work tree", real.display())));
        }
        if real.starts_with(root.join(".git")) {
            return Err(refused("is a link into git's own folder".to_owned()));
        }
    }
    Ok(workdir.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_those_that_lead_out_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (root, out) = (dir.path().join("tree"), dir.path().join("out"));
        for folder in [&root.join("in"), &root.join(".git"), &out] {
            std::fs::create_dir_all(folder).unwrap();
        }
        symlink(&out, root.join("away")).unwrap();
        symlink("in", root.join("near")).unwrap();
        symlink(out.join("new.md"), root.join("later.md")).unwrap();
        symlink(".git", root.join("hidden")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for path in ["near/x.md", "in/x.md", "new/deep/x.md"] {
            assert_eq!(inside(&root, "k", path).unwrap(), root.join(path));
        }
        for path in ["away/x.md", "away", "later.md", "hidden/x", "loop/x"] {
            let error = inside(&root, "checkpoint.dir", path).unwrap_err().to_string();
            assert!(error.contains("checkpoint.dir") && error.contains("below the work tree"), "{error}");
        }
    }
}
