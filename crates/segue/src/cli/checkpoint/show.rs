//! `segue checkpoint show`: the page for people, or everything as JSON.

use super::{Failure, One, Place, Shelf, out};
use crate::checkpoint::page;

/// Shows one checkpoint.
pub(super) fn show(at: &Place, one: &One) -> Result<u8, Failure> {
    let document = Shelf::open(at)?.read(one.id.as_deref(), one.run.as_deref())?;
    if at.json {
        out::json(&document)?;
    } else {
        out::lines(page(&document).lines().map(segue_report::plain));
    }
    Ok(0)
}
