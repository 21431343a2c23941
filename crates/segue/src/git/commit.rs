//! A real commit on the checked-out branch, for those who asked for `commit = "branch"`.
//!
//! The user's hooks, identity and signing apply; this is the only place that touches the user's index and branch.

use super::call;
use super::snapshot::IDENTITY;
use super::stage::leave_out;
use super::{GitError, Repo, secret_files};

impl Repo {
    /// Commits every change but segue's own and secret files; `None` when there is nothing to commit.
    pub(crate) fn commit_all(&self, message: &str, allow_empty: bool) -> Result<Option<String>, GitError> {
        self.refuse_conflicts()?;
        let args = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let mut paths: Vec<u8> =
            self.everything().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        self.new_secrets()?.iter().for_each(|path| paths.extend(leave_out(path)));
        self.long_call(&args).input(paths).run()?;
        if !allow_empty && !self.is_anything_staged()? {
            return Ok(None);
        }
        let mut args = vec!["commit", "--quiet", "--file=-"];
        if allow_empty {
            args.push("--allow-empty");
        }
        let mut call = self.hooked_call(&args).input(message);
        if !self.has_identity()? {
            call = IDENTITY.iter().fold(call, |call, (key, value)| call.env(key, value));
        }
        call.run()?;
        Ok(self.head())
    }

    /// Commits what changed since the user left these files on this commit. What the user had changed stays as it is,
    /// staged or not; files that were changed since as well are named.
    pub(crate) fn commit_since(
        &self,
        before: Option<&(String, String)>,
        message: &str,
    ) -> Result<(Option<String>, Vec<String>), GitError> {
        let Some((base, tree)) = before else {
            return self.commit_all(message, false).map(|commit| (commit, Vec::new()));
        };
        let users = self.differing(&[base, tree])?;
        if users.is_empty() {
            return self.commit_all(message, false).map(|commit| (commit, Vec::new()));
        }
        self.refuse_conflicts()?;
        let staged = self.stage()?;
        let now = self.differing(&[tree, &staged.tree])?;
        let both = now.iter().filter(|path| users.contains(path)).map(|path| call::text(path)).collect();
        let head = self.head().unwrap_or_default();
        let changed = self.differing(&[&head, &staged.tree])?;
        let own: Vec<Vec<u8>> = changed.into_iter().filter(|path| !users.contains(path)).collect();
        if own.is_empty() {
            return Ok((None, both));
        }
        let list: Vec<u8> =
            own.iter().flat_map(|path| [b":(top,literal)", &path[..], b"\0"].concat()).collect();
        let from_list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        let args = [&["add", "--all"][..], &from_list].concat();
        self.long_call(&args).input(list.clone()).run()?;
        let args = [&["commit", "--quiet", "--only", "-m", message][..], &from_list].concat();
        let mut call = self.hooked_call(&args).input(list);
        if !self.has_identity()? {
            call = IDENTITY.iter().fold(call, |call, (key, value)| call.env(key, value));
        }
        call.run()?;
        Ok((self.head(), both))
    }

    // The paths in which two trees differ.
    fn differing(&self, trees: &[&str; 2]) -> Result<Vec<Vec<u8>>, GitError> {
        let args = [&["diff-tree", "-r", "-z", "--name-only", "--no-renames"][..], trees].concat();
        Ok(call::parts(&self.long_call(&args).run()?).map(<[u8]>::to_vec).collect())
    }

    // New files that are secrets.
    pub(super) fn new_secrets(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let out = self.long_call(&["ls-files", "--others", "--exclude-standard", "-z"]).run()?;
        let secret = |path: &&[u8]| secret_files::is_secret(&self.root, &call::path(path));
        Ok(call::parts(&out).filter(secret).map(<[u8]>::to_vec).collect())
    }

    /// Whether git knows a file.
    pub(crate) fn is_tracked(&self, path: &str) -> bool {
        self.call(&["ls-files", "--error-unmatch", "--", path])
            .ask()
            .is_ok_and(|answer| answer.status.success())
    }

    /// Whether the last commit is in no remote branch, as far as is known here, and may be added to.
    pub(crate) fn head_is_own(&self) -> bool {
        let remote = self.call(&["branch", "--remotes", "--contains", "HEAD"]).line();
        remote.is_ok_and(|branches| branches.trim().is_empty())
    }

    /// Commits these files and no other change; `amend` adds them to the last commit.
    pub(crate) fn commit_only(&self, paths: &[String], message: &str, amend: bool) -> Result<(), GitError> {
        let mut args = vec!["commit", "--quiet", "--no-verify", "--only"];
        if amend {
            args.extend(["--amend", "--no-edit"]);
        } else {
            args.push("--file=-");
        }
        args.push("--");
        args.extend(paths.iter().map(String::as_str));
        let mut call = self.long_call(&args);
        if !amend {
            call = call.input(message);
        }
        if !self.has_identity()? {
            call = IDENTITY.iter().fold(call, |call, (key, value)| call.env(key, value));
        }
        call.run().map(drop)
    }

    fn refuse_conflicts(&self) -> Result<(), GitError> {
        let out = self.call(&["diff", "--name-only", "--diff-filter=U", "-z"]).run()?;
        let mut paths: Vec<String> = call::parts(&out).map(call::text).collect();
        paths.dedup();
        if paths.is_empty() { Ok(()) } else { Err(GitError::Unmerged { paths }) }
    }

    fn is_anything_staged(&self) -> Result<bool, GitError> {
        let answer = self.call(&["diff", "--cached", "--quiet", "--no-ext-diff"]).ask()?;
        match answer.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(answer.failure()),
        }
    }

    pub(super) fn has_identity(&self) -> Result<bool, GitError> {
        for which in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            if !self.call(&["var", which]).ask()?.status.success() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
