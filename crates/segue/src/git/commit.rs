//! A real commit on the checked-out branch, for those who asked for `commit = "branch"`.
//!
//! The user's hooks, identity and signing apply; this is the only place that touches the user's index and branch.

use super::call;
use super::snapshot::IDENTITY;
use super::{GitError, Repo};

impl Repo {
    /// Commits every change but segue's own files; `None` when there is nothing to commit.
    pub(crate) fn commit_all(&self, message: &str, allow_empty: bool) -> Result<Option<String>, GitError> {
        self.refuse_conflicts()?;
        let args: Vec<&str> = ["add", "--all", "--"].into_iter().chain(self.everything()).collect();
        self.long_call(&args).run()?;
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
