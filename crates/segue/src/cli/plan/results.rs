//! Where the results of gates go beside the screen: a file of JUnit XML, a summary in Markdown.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::args::ResultFlags;
use super::{Failure, Place};
use crate::plan::{junit, step_summary, suites};
use crate::store::Store;

/// Writes the results of one run where they were asked for.
pub(in crate::cli) fn write_results(at: &Place, results: &ResultFlags, run: &str) -> Result<(), Failure> {
    let store = at.store();
    let Ok(row) = at.reader()?.run(run) else { return Ok(()) };
    write(at, results, &store, &row.task, &[(row.task.clone(), row.status.clone(), row.id.clone())])
}

pub(super) fn write(
    at: &Place,
    results: &ResultFlags,
    store: &Store,
    title: &str,
    runs: &[(String, String, String)],
) -> Result<(), Failure> {
    let from_env =
        || std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from);
    let summary = results.step_summary.clone().or_else(from_env);
    if results.junit.is_none() && summary.is_none() {
        return Ok(());
    }
    let told = |path: &Path, error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
    let suites = suites(store, runs)?;
    if let Some(path) = &results.junit {
        std::fs::write(at.dir.join(path), junit(title, &suites)).map_err(|error| told(path, error))?;
    }
    if let Some(path) = &summary {
        let append = || {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(at.dir.join(path))?;
            file.write_all(step_summary(title, &suites).as_bytes())
        };
        append().map_err(|error| told(path, error))?;
    }
    Ok(())
}
