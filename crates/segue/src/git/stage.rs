//! The whole work tree as one tree object, made in a private index so that the user's own stays as it is.
//!
//! What cannot be taken in is left out and named: a damaged index, an unreadable file or a nested repository makes the
//! result smaller, and never stops it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use tempfile::TempDir;

use super::call::{self, Call};
use super::{GitError, OWN_FOLDER, Repo, secret_files};
use crate::secret_store::{self, Entry, SecretStore};

/// New files above this size are left out.
const LARGE: u64 = 10 * 1024 * 1024;

/// From this many changes on, what they hold is written into one file.
const MANY: usize = 500;

/// How many paths a sentence about trouble names.
const NAMED: usize = 5;

/// The work tree as git objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Staged {
    /// The tree's hash.
    pub(super) tree: String,
    /// New files that were left out for their size.
    pub(super) skipped: Vec<(String, u64)>,
    /// Secret files, kept beside the tree.
    pub(super) secrets: Vec<Entry>,
    /// What else is not in the tree, and why.
    pub(super) trouble: Option<String>,
}

/// Which paths are new, and which of them must not be added.
#[derive(Debug, Default)]
struct New {
    taken: BTreeSet<Vec<u8>>,
    large: Vec<(Vec<u8>, u64)>,
    nested: Vec<Vec<u8>>,
    secret: Vec<Vec<u8>>,
}

/// The private index of the last time: what it holds need not be read again.
#[derive(Debug)]
pub(super) struct Kept {
    folder: TempDir,
    /// What the user's index was then; another one is taken as the start of a new private index.
    of: Stamp,
    /// The new paths that went in.
    taken: BTreeSet<Vec<u8>>,
    /// The tree that it was written as, where everything is in it.
    tree: Option<String>,
}

/// By which one state of an index file is told from another: size, time, number and the checksum at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp(Option<(u64, SystemTime, u64, Vec<u8>)>);

impl Repo {
    /// The hash of the work tree as it is, with new files.
    pub(crate) fn tree(&self) -> Result<String, GitError> {
        self.stage().map(|staged| staged.tree)
    }

    /// The same, and what stands for the secret files beside it.
    pub(crate) fn tree_and_secrets(&self) -> Result<(String, Option<String>), GitError> {
        self.stage().map(|staged| (staged.tree, secret_store::digest(&staged.secrets)))
    }

    // What cannot be kept is named: it is only in the work tree.
    fn keep_secrets(&self, paths: &[Vec<u8>], troubles: &mut Vec<String>) -> Vec<Entry> {
        if paths.is_empty() {
            return Vec::new();
        }
        let files: Vec<PathBuf> = paths.iter().map(|path| call::path(path)).collect();
        let kept = match SecretStore::of(self.common_dir()) {
            Some(store) => store.keep(&self.root, &files),
            None => Err(io::Error::other("there is no state folder")),
        };
        kept.unwrap_or_else(|error| {
            troubles.push(format!("secret files are not saved ({error}): {}", names(paths)));
            Vec::new()
        })
    }

    /// Writes the work tree, with new files, into the repository's objects.
    pub(super) fn stage(&self) -> Result<Staged, GitError> {
        // Whoever comes while another stages gets an index of its own.
        let mut slot = self.kept.try_lock().ok();
        let kept = slot.as_mut().and_then(|slot| slot.take());
        let mut troubles = Vec::new();
        let (mut private, new, changes) = Private::look(self, kept, &mut troubles)?;
        if let Some(tree) = private.unchanged.take() {
            if let Some(slot) = slot.as_mut() {
                **slot = Some(private.keep(new.taken, Some(tree.clone())));
            }
            return Ok(Staged { tree, skipped: Vec::new(), secrets: Vec::new(), trouble: None });
        }
        if let Some(why) = private.add(&new, changes)? {
            troubles.push(why);
        }
        let (missed, tree) = thread::scope(|scope| {
            let missed = scope.spawn(|| private.missed());
            let tree = private.write();
            (missed.join(), tree)
        });
        match missed {
            Ok(Ok(missed)) if missed.is_empty() => {}
            Ok(Ok(missed)) => troubles.push(format!("changes left out: {}", names(&missed))),
            Ok(Err(error)) => troubles.push(error.to_string()),
            Err(_) => troubles.push("it is unknown whether everything was included".to_owned()),
        }
        if !new.nested.is_empty() {
            troubles.push(format!("repositories within the repository, left out: {}", names(&new.nested)));
        }
        let tree = tree?;
        let secrets = self.keep_secrets(&new.secret, &mut troubles);
        let skipped = new.large.iter().map(|(path, size)| (call::text(path), *size)).collect();
        let trouble = (!troubles.is_empty()).then(|| troubles.join("; "));
        if let Some(slot) = slot.as_mut().filter(|_| private.sound) {
            // What changes within a submodule shows only when everything is looked at.
            let submodules = self.root.join(".gitmodules").exists();
            let whole = trouble.is_none() && new.left_out() == 0 && !submodules;
            **slot = Some(private.keep(new.taken, whole.then(|| tree.clone())));
        }
        Ok(Staged { tree, skipped, secrets, trouble })
    }
}

/// An index file that only segue uses.
struct Private<'a> {
    repo: &'a Repo,
    // Held so that the folder is removed at the end.
    folder: TempDir,
    file: PathBuf,
    of: Stamp,
    /// Whether it may serve again: it was made of the user's own, and everything went in.
    sound: bool,
    /// Where attributes are read from, if not from the work tree.
    attributes: Option<String>,
    /// The tree of the last time, when nothing has changed since.
    unchanged: Option<String>,
}

impl New {
    fn left_out(&self) -> usize {
        self.large.len() + self.nested.len() + self.secret.len()
    }
}

impl<'a> Private<'a> {
    /// An index to work in, the new paths, and how many changes it has to take in.
    fn look(
        repo: &'a Repo,
        kept: Option<Kept>,
        troubles: &mut Vec<String>,
    ) -> Result<(Self, New, usize), GitError> {
        let users = repo.git_dir.join("index");
        let of = Stamp::of(&users);
        if let Some(kept) = kept.filter(|kept| kept.of == of) {
            let (taken, tree) = (kept.taken, kept.tree);
            let mut private = Self::with(repo, kept.folder, of.clone());
            // A new path that went in and may not any more (ignored, too large, within a repository) has to go.
            let gone_wrong = |new: &New| {
                taken
                    .difference(&new.taken)
                    .any(|path| repo.root.join(call::path(path)).symlink_metadata().is_ok())
            };
            if let Ok((new, changes)) = private.both(&users)
                && !gone_wrong(&new)
            {
                private.unchanged =
                    tree.filter(|_| changes == 0 && new.taken == taken && new.left_out() == 0);
                return Ok((private, new, changes));
            }
        }
        let io =
            |error: io::Error| GitError::Io { call: "git (a private index)".into(), why: error.to_string() };
        let mut private = Self::with(repo, repo.scratch()?, of);
        copy_index(&users, &private.file).map_err(io)?;
        let found = private.both(&private.file);
        let Err(error) = found else { return found.map(|(new, changes)| (private, new, changes)) };
        if let GitError::TimedOut { .. } = error {
            return Err(error);
        }
        private.sound = false;
        private.start_from_head()?;
        let (new, changes) = private.both(&private.file)?;
        troubles
            .push(format!("the index could not be read, so the last commit counts as the start ({error})"));
        Ok((private, new, changes))
    }

    fn with(repo: &'a Repo, folder: TempDir, of: Stamp) -> Self {
        let file = folder.path().join("index");
        Self { repo, folder, file, of, sound: true, attributes: None, unchanged: None }
    }

    fn keep(self, taken: BTreeSet<Vec<u8>>, tree: Option<String>) -> Kept {
        Kept { folder: self.folder, of: self.of, taken, tree }
    }

    // What is new to the user's index, and how much is new to this one.
    fn both(&self, users: &Path) -> Result<(New, usize), GitError> {
        let list = |index: &Path, args: &[&str]| {
            let args = [&["ls-files", "--others", "--exclude-standard", "-z"], args].concat();
            self.repo.long_call(&args).env("GIT_INDEX_FILE", index).run()
        };
        let (new, changes) = thread::scope(|scope| {
            let new = scope.spawn(|| list(users, &[]));
            let changes = list(&self.file, &["--modified"]);
            (new.join(), changes)
        });
        let new =
            new.map_err(|_| GitError::Io { call: "git ls-files".into(), why: "it was not read".into() })??;
        Ok((self.sort(&new), call::parts(&changes?).count()))
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
    fn sort(&self, out: &[u8]) -> New {
        let mut new = New::default();
        for path in call::parts(out) {
            if let Some(folder) = path.strip_suffix(b"/") {
                new.nested.push(folder.to_vec());
                continue;
            }
            if is_ours(path) {
                continue;
            }
            if secret_files::is_secret(&self.repo.root, &call::path(path)) {
                new.secret.push(path.to_vec());
                continue;
            }
            match fs::symlink_metadata(self.repo.root.join(call::path(path))) {
                Ok(meta) if meta.len() > LARGE => new.large.push((path.to_vec(), meta.len())),
                _ => drop(new.taken.insert(path.to_vec())),
            }
        }
        new
    }

    /// Adds every change but those; what git could not add is the answer.
    fn add(&mut self, new: &New, changes: usize) -> Result<Option<String>, GitError> {
        let mut paths: Vec<u8> =
            self.repo.everything().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        for path in new.nested.iter().chain(new.large.iter().map(|(path, _)| path)).chain(&new.secret) {
            paths.extend(leave_out(path));
        }
        // Above this size git writes into one pack and not into a file for each object, which takes half the time.
        let pack: &[&str] = if changes > MANY { &["-c", "core.bigFileThreshold=1"] } else { &[] };
        let args = ["-c", "core.splitIndex=false", "add", "--all", "--ignore-errors"];
        let args = [pack, &args, &["--pathspec-from-file=-", "--pathspec-file-nul"]].concat();
        let answer = self.call(self.repo.long_call(&args)).input(paths.clone()).ask()?;
        if answer.status.success() {
            return Ok(None);
        }
        self.sound = false;
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

/// What leaves a path out of `git add`, ended with a zero byte.
pub(super) fn leave_out(path: &[u8]) -> Vec<u8> {
    [b":(top,exclude,literal)", path, b"\0"].concat()
}

/// Copies the index with its time, by which git tells which files may have changed unseen.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Ok(_) => File::options().write(true).open(to)?.set_modified(fs::metadata(from)?.modified()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

impl Stamp {
    fn of(index: &Path) -> Self {
        let read = || -> io::Result<(u64, SystemTime, u64, Vec<u8>)> {
            let mut file = File::open(index)?;
            let meta = file.metadata()?;
            let mut end = Vec::new();
            file.seek(SeekFrom::Start(meta.len().saturating_sub(32)))?;
            file.read_to_end(&mut end)?;
            #[cfg(unix)]
            let number = std::os::unix::fs::MetadataExt::ino(&meta);
            #[cfg(not(unix))]
            let number = 0;
            Ok((meta.len(), meta.modified()?, number, end))
        };
        Self(read().ok())
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
