//! Which checkpoints are kept no longer, and their removal.
//!
//! Whatever the rules say, the last checkpoint of a run that is not done stays.

use std::collections::BTreeMap;
use std::io;

use segue_journal::RunRow;
use segue_machine::{Millis, Verdict};

use super::catalog::{self, Found};
use crate::config::Retention;
use crate::git::Repo;

const DAY: Millis = 86_400_000;

/// A checkpoint that is to be removed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doomed {
    pub(crate) found: Found,
    pub(crate) why: String,
}

/// The checkpoints that are kept no longer. A run that the journal does not know cannot go on and counts as done.
pub(crate) fn doomed(found: &[Found], rows: &[RunRow], keep: Retention, now: Millis) -> Vec<Doomed> {
    let mut runs: BTreeMap<&str, Vec<&Found>> = BTreeMap::new();
    for one in found {
        runs.entry(&one.run).or_default().push(one);
    }
    let mut doomed = Vec::new();
    for (run, list) in runs {
        let row = rows.iter().find(|row| row.id == run);
        let done = row.is_none_or(is_done);
        // The run itself goes on from the last that it took, and a person from the last that there is.
        let last_own = list.iter().rposition(|f| f.name().starts_with('c'));
        for (place, one) in list.iter().enumerate() {
            let last = place + 1 == list.len() || Some(place) == last_own;
            if !done && last {
                continue;
            }
            let newer = list.len() - place - 1;
            if let Some(why) = no_longer_kept(keep, done, now.saturating_sub(one.written_at), newer) {
                doomed.push(Doomed { found: (*one).clone(), why });
            }
        }
    }
    doomed
}

/// Whether a run has reached its end, by its gates or by the agent's word.
pub(crate) fn is_done(row: &RunRow) -> bool {
    Verdict::word_is_success(&row.status)
}

/// Why the rules do not keep something of a run any longer; `None` while they do.
pub(crate) fn no_longer_kept(keep: Retention, done: bool, age: Millis, newer: usize) -> Option<String> {
    if keep.until_done {
        return done.then(|| "its run is done".to_owned());
    }
    if let Some(days) = keep.days.filter(|days| age > Millis::from(*days) * DAY) {
        return Some(format!("older than {days} days"));
    }
    let count = keep.count.filter(|count| newer >= usize::try_from(*count).unwrap_or(usize::MAX))?;
    Some(format!("its run has {count} newer ones"))
}

/// Removes a checkpoint with its page and its snapshot.
pub(crate) fn remove(found: &Found, repo: Option<&Repo>) -> io::Result<()> {
    std::fs::remove_file(&found.path)?;
    let name = found.path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(".gz").trim_end_matches(".json");
    match std::fs::remove_file(found.path.with_file_name(format!("{stem}.md"))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    repo.map_or(Ok(()), |repo| repo.forget_snapshot(&found.run, &found.id).map_err(io::Error::other))
}

/// Removes what is kept no longer; what cannot be removed stays.
pub(crate) fn prune_quietly(
    dir: &std::path::Path,
    rows: &[RunRow],
    keep: Retention,
    repo: Option<&Repo>,
    now: Millis,
) {
    for one in doomed(&catalog::list(dir).unwrap_or_default(), rows, keep, now) {
        let _ = remove(&one.found, repo);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(id: &str, days_old: u64) -> Found {
        Found {
            id: id.to_owned(),
            run: id.rsplit_once('-').unwrap().0.to_owned(),
            path: id.into(),
            written_at: 100 * DAY - days_old * DAY,
        }
    }

    fn row(id: &str, status: &str) -> RunRow {
        RunRow {
            id: id.to_owned(),
            created_at: 0,
            task: String::new(),
            agent: String::new(),
            policy: String::new(),
            status: status.to_owned(),
            finished_at: None,
        }
    }

    fn gone(list: &[Found], keep: Retention) -> Vec<String> {
        let rows = [row("open", "stopped"), row("done", "verified")];
        doomed(list, &rows, keep, 100 * DAY).into_iter().map(|d| d.found.id).collect()
    }

    #[test]
    fn old_ones_go_but_never_the_last_of_a_run_that_is_not_done() {
        let list = [
            found("done-c1", 9),
            found("done-c2", 8),
            found("lost-c1", 8),
            found("open-c1", 30),
            found("open-c2", 20),
            found("open-m3", 19),
        ];
        let days = Retention { days: Some(7), ..Retention::default() };
        assert_eq!(gone(&list, days), ["done-c1", "done-c2", "lost-c1", "open-c1"]);
        assert_eq!(gone(&list, Retention::default()), [""; 0]);
        let fresh = [found("done-c1", 7), found("done-c2", 1)];
        assert_eq!(gone(&fresh, days), [""; 0]);
    }

    #[test]
    fn of_each_run_only_so_many_stay() {
        let list: Vec<Found> = (1..=4)
            .flat_map(|n| [format!("done-c{n}"), format!("open-c{n}")])
            .map(|id| found(&id, 0))
            .collect();
        let count = Retention { count: Some(2), ..Retention::default() };
        assert_eq!(gone(&list, count), ["done-c1", "done-c2", "open-c1", "open-c2"]);
    }

    #[test]
    fn until_done_keeps_all_of_an_open_run_and_none_of_a_done_one() {
        let list = [found("done-c1", 0), found("open-c1", 90), found("open-c2", 90)];
        let keep = Retention { until_done: true, days: Some(7), count: Some(1) };
        assert_eq!(gone(&list, keep), ["done-c1"]);
    }
}
