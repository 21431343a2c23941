//! `segue path`: where the state of a work tree or of a run lies.

use super::failure::Failure;
use super::open::Place;
use super::out;

/// Prints the folder of the state, of one run, or of the work trees of phases.
pub(super) fn path(at: &Place, run: Option<&str>, trees: bool) -> Result<u8, Failure> {
    let store = at.store();
    store.refuse_link()?;
    let path = match run {
        Some(run) => store.run_dir(&at.run(&at.reader()?, Some(run))?.id),
        None if trees => store.all_trees().to_owned(),
        None => store.dir(),
    };
    let shown = path.display().to_string();
    out::line(&if at.json { serde_json::json!({ "path": shown }).to_string() } else { shown });
    Ok(0)
}
