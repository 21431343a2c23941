//! Which checkpoints there are, told from the names of their files, and which of them is meant.
//!
//! No file is opened here, so that a long list costs nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use segue_machine::Millis;
use thiserror::Error;

/// How many names an error lists.
const NAMED: usize = 10;

/// A stored checkpoint, unopened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its id.
    pub(crate) id: String,
    /// Its run.
    pub(crate) run: String,
    /// Its file.
    pub(crate) path: PathBuf,
    /// When the file was written.
    pub(crate) written_at: Millis,
}

impl Found {
    /// Its name within the run: `c36`, or `m40` for one that a person asked for.
    pub(crate) fn name(&self) -> &str {
        self.id.rsplit_once('-').map_or(&self.id, |(_, name)| name)
    }

    fn order(&self) -> (&str, u64, &str) {
        let number = self.name().trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        (&self.run, number.parse().unwrap_or(u64::MAX), self.name())
    }
}

/// A checkpoint that cannot be told from what was typed.
#[derive(Debug, Error)]
pub(crate) enum NotFound {
    /// There is none at all.
    #[error("there are no checkpoints{of} yet; `segue checkpoint create` makes one of the latest run")]
    Nothing {
        /// ` of run …`, or nothing.
        of: String,
    },
    /// None has that name.
    #[error("there is no checkpoint {typed:?}; there are: {}", known.join(", "))]
    Unknown {
        /// As it was typed.
        typed: String,
        /// Some that exist.
        known: Vec<String>,
    },
    /// Several have that beginning.
    #[error("{typed:?} is ambiguous: {}; type more of it", found.join(", "))]
    Several {
        /// As it was typed.
        typed: String,
        /// Those that begin so.
        found: Vec<String>,
    },
}

/// Every checkpoint in a folder, by run and place in the run, the newest last.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<Found>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(id) = name.strip_suffix(".json.gz").or_else(|| name.strip_suffix(".json")) else { continue };
        let Some((run, _)) = id.rsplit_once('-') else { continue };
        let written = entry.metadata().and_then(|meta| meta.modified()).unwrap_or(UNIX_EPOCH);
        let since = written.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        found.push(Found {
            id: id.to_owned(),
            run: run.to_owned(),
            path: entry.path(),
            written_at: u64::try_from(since).unwrap_or(u64::MAX),
        });
    }
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    found.dedup_by(|a, b| a.id == b.id);
    Ok(found)
}

/// The checkpoint that is meant: `last`, an id, its name in the run, or the beginning of either.
///
/// Names and `last` are looked up in `run`, or in the newest run that has checkpoints.
pub(crate) fn choose<'a>(
    found: &'a [Found],
    typed: Option<&str>,
    run: Option<&str>,
) -> Result<&'a Found, NotFound> {
    let run = run.or_else(|| found.last().map(|newest| newest.run.as_str()));
    let here: Vec<&Found> = found.iter().filter(|f| run.is_some_and(|run| f.run == run)).collect();
    let typed = typed.unwrap_or("last");
    if typed == "last" {
        let of = run.map_or_else(String::new, |run| format!(" of run {run}"));
        return here.last().copied().ok_or(NotFound::Nothing { of });
    }
    let exact =
        found.iter().find(|f| f.id == typed).or_else(|| here.iter().copied().find(|f| f.name() == typed));
    if let Some(exact) = exact {
        return Ok(exact);
    }
    let ids =
        |list: &[&Found]| -> Vec<String> { list.iter().rev().take(NAMED).map(|f| f.id.clone()).collect() };
    let mut begin: Vec<&Found> = found.iter().filter(|f| f.id.starts_with(typed)).collect();
    if begin.is_empty() {
        begin = here.iter().copied().filter(|f| f.name().starts_with(typed)).collect();
    }
    match begin.as_slice() {
        [one] => Ok(one),
        [] if found.is_empty() => Err(NotFound::Nothing { of: String::new() }),
        [] => {
            let known = if here.is_empty() { found.iter().collect() } else { here };
            Err(NotFound::Unknown { typed: typed.to_owned(), known: ids(&known) })
        }
        several => Err(NotFound::Several { typed: typed.to_owned(), found: ids(several) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(names: &[&str]) -> (tempfile::TempDir, Vec<Found>) {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        let found = list(dir.path()).unwrap();
        (dir, found)
    }

    #[test]
    fn they_are_in_the_order_in_which_they_were_taken() {
        let (_dir, found) = shelf(&[
            "b-c9.json.gz",
            "a-c100.json.gz",
            "a-c36.json",
            "a-c36.md",
            "b-m9.json.gz",
            "notes.txt",
            "x.json",
        ]);
        let ids: Vec<&str> = found.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(ids, ["a-c36", "a-c100", "b-c9", "b-m9"]);
        assert!(list(Path::new("/nowhere/at/all")).unwrap().is_empty());
    }

    #[test]
    fn one_is_meant_by_id_name_beginning_or_as_the_last() {
        let (_dir, found) =
            shelf(&["20-1-c36.json.gz", "20-1-c108.json.gz", "20-2-c36.json.gz", "20-2-c40.json.gz"]);
        let id = |typed, run| choose(&found, typed, run).map(|f| f.id.clone()).map_err(|e| e.to_string());
        assert_eq!(id(None, None).unwrap(), "20-2-c40");
        assert_eq!(id(Some("last"), Some("20-1")).unwrap(), "20-1-c108");
        assert_eq!(id(Some("c36"), None).unwrap(), "20-2-c36");
        assert_eq!(id(Some("c36"), Some("20-1")).unwrap(), "20-1-c36");
        assert_eq!(id(Some("c4"), None).unwrap(), "20-2-c40");
        assert_eq!(id(Some("20-1-c1"), None).unwrap(), "20-1-c108");
        assert!(id(Some("20-1"), None).unwrap_err().contains("20-1-c36"));
        assert!(id(Some("c9"), None).unwrap_err().contains("20-2-c40"));
        assert!(choose(&[], Some("c9"), None).unwrap_err().to_string().contains("create"));
    }
}
