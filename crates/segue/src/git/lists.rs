//! Lists that claims are held against: every file of the work tree, what is ignored, every commit since a run began.

use super::call;
use super::{GitError, Repo};
use crate::gates::swap::Contents;

/// The most commits that are looked through.
const MOST_COMMITS: &str = "--max-count=10000";

impl Repo {
    /// Every file that is there and not ignored, from the root of the work tree.
    pub(crate) fn files(&self) -> Result<Vec<String>, GitError> {
        let out = self.call(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).run()?;
        let mut files = names(&out);
        let gone: std::collections::BTreeSet<String> =
            names(&self.call(&["ls-files", "-z", "--deleted"]).run()?).into_iter().collect();
        files.retain(|file| !gone.contains(file));
        files.sort_unstable();
        Ok(files)
    }

    /// Those of these paths that git ignores; paths that lie elsewhere are not asked about.
    pub(crate) fn ignored(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let outside =
            |path: &str| path.is_empty() || path.starts_with(['/', '~', ':', '-']) || path.contains("..");
        let asked: Vec<&str> = paths.iter().map(String::as_str).filter(|path| !outside(path)).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let input = asked.join("\0").into_bytes();
        let answer = self.call(&["check-ignore", "-z", "--no-index", "--stdin"]).input(input).ask()?;
        Ok(names(&answer.out))
    }

    /// Short hash and subject of every commit since the base, newest first.
    pub(crate) fn commits_since(&self, base: Option<&str>) -> Result<Vec<(String, String)>, GitError> {
        let range = base.map_or_else(|| "HEAD".to_owned(), |base| format!("{base}..HEAD"));
        let out = self.call(&["log", MOST_COMMITS, "--format=%h%x09%s", &range, "--"]).run()?;
        let text = call::text(&out);
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        Ok(pairs.map(|(hash, subject)| (hash.to_owned(), subject.to_owned())).collect())
    }
}

fn names(out: &[u8]) -> Vec<String> {
    let parts = out.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

impl Repo {
    /// Paths that differ between a tree and the work tree, new files included; segue's own are left out.
    pub(crate) fn changed_since(&self, tree: &str) -> Result<Vec<String>, GitError> {
        let now = self.tree()?;
        let args = ["diff-tree", "-r", "--no-renames", "--no-ext-diff", "-z", "--name-only", tree, &now];
        Ok(call::parts(&self.long_call(&args).run()?).map(call::text).collect())
    }

    /// A plain file of a tree; `None` when it is not there, or something else.
    pub(crate) fn file_of(&self, tree: &str, path: &str) -> Option<Contents> {
        let listed = self.call(&["ls-tree", "-z", tree, "--", path]).run().ok()?;
        let listed = call::text(&listed);
        let mut words = listed.split([' ', '\t', '\0']);
        let (mode, kind, hash) = (words.next()?, words.next()?, words.next()?);
        if kind != "blob" || mode == "120000" {
            return None;
        }
        let bytes = self.call(&["cat-file", "blob", hash]).run().ok()?;
        Some(Contents { bytes, runs: mode == "100755" })
    }
}

#[cfg(test)]
mod tests {
    use crate::git::tests::Sandbox;

    #[test]
    fn files_are_those_that_are_there_and_ignored_ones_are_told_apart() {
        let sandbox = Sandbox::new();
        sandbox.write(".gitignore", "out/\n").commit("second");
        sandbox.write("new file.txt", "b").remove("a.txt");
        let repo = sandbox.repo();
        assert_eq!(repo.files().unwrap(), [".gitignore", "b.txt", "new file.txt"]);
        let asked = ["out/x.log", "a.rs", "../b", "/etc/passwd"].map(str::to_owned);
        assert_eq!(repo.ignored(&asked).unwrap(), ["out/x.log"]);
        assert_eq!(repo.commits_since(None).unwrap().len(), 2);
    }
}
