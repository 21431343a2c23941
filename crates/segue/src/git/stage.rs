//! The whole work tree as one tree object, made in a private index so that the user's own stays as it is.
//!
//! What cannot be taken in is left out and named: a damaged index, an unreadable file or a nested repository makes the
//! result smaller, and never stops it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::call::{self, Call};
use super::{GitError, OWN_FOLDER, Repo};

/// New files above this size are left out.
const LARGE: u64 = 10 * 1024 * 1024;

/// How many paths a sentence about trouble names.
const NAMED: usize = 5;

/// The work tree as git objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Staged {
    /// The tree's hash.
    pub(super) tree: String,
    /// New files that were left out for their size.
    pub(super) skipped: Vec<(String, u64)>,
    /// What else is not in the tree, and why.
    pub(super) trouble: Option<String>,
}

/// New paths that must not be added.
#[derive(Debug, Default)]
struct Left {
    large: Vec<(Vec<u8>, u64)>,
    nested: Vec<Vec<u8>>,
}

impl Repo {
    /// The hash of the work tree as it is, with new files.
    pub(crate) fn tree(&self) -> Result<String, GitError> {
        self.stage().map(|staged| staged.tree)
    }

    /// Writes the work tree, with new files, into the repository's objects.
    pub(super) fn stage(&self) -> Result<Staged, GitError> {
        let mut troubles = Vec::new();
        let mut private = Private::new(self, &mut troubles)?;
        let left = private.look()?;
        if let Some(why) = private.add(&left)? {
            troubles.push(why);
        }
        match private.missed() {
            Ok(missed) if missed.is_empty() => {}
            Ok(missed) => troubles.push(format!("changes not taken in: {}", names(&missed))),
            Err(error) => troubles.push(error.to_string()),
        }
        if !left.nested.is_empty() {
            troubles.push(format!("repositories within the repository, left out: {}", names(&left.nested)));
        }
        let tree = private.write()?;
        let skipped = left.large.iter().map(|(path, size)| (call::text(path), *size)).collect();
        let trouble = (!troubles.is_empty()).then(|| troubles.join("; "));
        Ok(Staged { tree, skipped, trouble })
    }
}

/// An index file that only segue uses.
struct Private<'a> {
    repo: &'a Repo,
    // Held so that the folder is removed at the end.
    _folder: TempDir,
    file: PathBuf,
    /// Where attributes are read from, if not from the work tree.
    attributes: Option<String>,
}

impl<'a> Private<'a> {
    fn new(repo: &'a Repo, troubles: &mut Vec<String>) -> Result<Self, GitError> {
        let io =
            |error: io::Error| GitError::Io { call: "git (a private index)".into(), why: error.to_string() };
        let folder = tempfile::Builder::new().prefix("segue-").tempdir_in(&repo.git_dir).map_err(io)?;
        let file = folder.path().join("index");
        copy_index(&repo.git_dir.join("index"), &file).map_err(io)?;
        let private = Self { repo, _folder: folder, file, attributes: None };
        if let Err(error) = private.call(repo.call(&["ls-files", "--stage", "--", OWN_FOLDER])).run() {
            troubles.push(format!(
                "the index could not be read, so the last commit was taken as the start ({error})"
            ));
            private.start_from_head()?;
        }
        Ok(private)
    }

    fn start_from_head(&self) -> Result<(), GitError> {
        // A missing file is an empty index.
        let _ = fs::remove_file(&self.file);
        match self.repo.head() {
            Some(head) => self.call(self.repo.call(&["read-tree", &head])).run().map(drop),
            None => Ok(()),
        }
    }

    fn call(&self, call: Call) -> Call {
        let call = call.env("GIT_INDEX_FILE", &self.file);
        match &self.attributes {
            Some(tree) => call.env("GIT_ATTR_SOURCE", tree),
            None => call,
        }
    }

    /// Which new paths are to be left out.
    fn look(&self) -> Result<Left, GitError> {
        let args = ["ls-files", "--others", "--exclude-standard", "-z"];
        let out = self.call(self.repo.long_call(&args)).run()?;
        let mut left = Left::default();
        for path in call::parts(&out) {
            if let Some(folder) = path.strip_suffix(b"/") {
                left.nested.push(folder.to_vec());
            } else if !is_ours(path)
                && let Ok(meta) = fs::symlink_metadata(self.repo.root.join(call::path(path)))
                && meta.len() > LARGE
            {
                left.large.push((path.to_vec(), meta.len()));
            }
        }
        Ok(left)
    }

    /// Adds every change but those; what git could not add is the answer.
    fn add(&mut self, left: &Left) -> Result<Option<String>, GitError> {
        let mut paths: Vec<u8> =
            self.repo.everything().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        for path in left.nested.iter().chain(left.large.iter().map(|(path, _)| path)) {
            paths.extend_from_slice(b":(top,exclude,literal)");
            paths.extend_from_slice(path);
            paths.push(0);
        }
        let args = ["-c", "core.splitIndex=false", "add", "--all", "--ignore-errors"];
        let args = [args.as_slice(), &["--pathspec-from-file=-", "--pathspec-file-nul"]].concat();
        let answer = self.call(self.repo.long_call(&args)).input(paths.clone()).ask()?;
        if answer.status.success() {
            return Ok(None);
        }
        let why = call::short(&answer.err);
        // git has left something out (1) or given up before anything was taken in, as it does when a filter fails.
        if answer.status.code() == Some(1) {
            return Ok(Some(why));
        }
        // Attributes name the filters, and an empty tree has none.
        self.attributes = Some(self.repo.call(&["mktree"]).line()?);
        let again = self.call(self.repo.long_call(&args)).input(paths).ask()?;
        let then = if again.status.success() { "saved without filters" } else { "not saved" };
        Ok(Some(format!("new and changed files were {then} ({why})")))
    }

    /// Changes that are in the work tree and yet not in the index, such as those within a submodule.
    fn missed(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let args = ["diff-files", "--name-only", "-z", "--ignore-submodules=none", "--"];
        let args: Vec<&str> = args.into_iter().chain(self.repo.everything()).collect();
        let out = self.call(self.repo.long_call(&args)).run()?;
        let mut paths: Vec<Vec<u8>> = call::parts(&out).map(<[u8]>::to_vec).collect();
        paths.dedup();
        Ok(paths)
    }

    fn write(&self) -> Result<String, GitError> {
        self.call(self.repo.long_call(&["write-tree"])).line()
    }
}

/// Copies the index with its time, by which git tells which files may have changed unseen.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Ok(_) => File::options().write(true).open(to)?.set_modified(fs::metadata(from)?.modified()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_ours(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == OWN_FOLDER.as_bytes())
}

/// A list of paths for a sentence, cut where it gets long.
pub(super) fn names<P: AsRef<[u8]>>(paths: &[P]) -> String {
    let mut list: Vec<String> =
        paths.iter().take(NAMED).map(|path| call::text(path.as_ref()).escape_debug().to_string()).collect();
    if paths.len() > NAMED {
        list.push(format!("and {} more", paths.len() - NAMED));
    }
    list.join(", ")
}
