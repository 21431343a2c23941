//! `segue progress` and `segue done`: for the worker inside a run.

use std::path::Path;

use super::failure::Failure;
use super::out;
use crate::driver::{Message, say_to_run};

/// Leaves a note with the run that this process belongs to.
pub(super) fn note(make: impl FnOnce(String) -> Message, words: &[String]) -> Result<u8, Failure> {
    let (Ok(socket), Ok(token)) = (std::env::var("SEGUE_SOCKET"), std::env::var("SEGUE_TOKEN")) else {
        return Err(Failure::usage(
            "this command works only inside a run: SEGUE_SOCKET and SEGUE_TOKEN are not set",
        ));
    };
    let text = if words.is_empty() { "done".to_owned() } else { words.join(" ") };
    if text.trim().is_empty() {
        return Err(Failure::usage("the note is empty"));
    }
    say_to_run(Path::new(&socket), &token, make(text))
        .map_err(|error| Failure::failed(format!("cannot reach the run: {error}")))?;
    out::line("noted");
    Ok(0)
}
