//! `segue loop`: a prompt, round after round, until its gates are green and the agent says that it is done.

use segue_machine::LastWords;

use super::args::Loop;
use super::failure::Failure;
use super::open::{self, Place};
use super::{plan, run, trust};
use crate::driver::Look;

/// Runs the loop to its end and returns the exit code.
pub(super) fn looping(at: &Place, args: &Loop) -> Result<u8, Failure> {
    if args.max_iterations == 0 {
        return Err(Failure::usage("--max-iterations must be 1 or more"));
    }
    let word = args.completion_word.trim();
    if word.is_empty() {
        return Err(Failure::usage(
            "--completion-word is empty: give a word that the agent would not say by chance",
        ));
    }
    let mut flags = args.settings.flags();
    flags.policy.get_or_insert_with(|| "loop".to_owned());
    let mut settings = at.settings(&flags)?;
    settings.limits.gate_rounds = args.max_iterations;
    let task = run::task(&args.prompt, &at.dir)?;
    trust::require(at, &flags, None)?;
    let repo = open::repo(&at.dir, &settings)?;
    let look = if at.json { Look::Json } else { Look::Human };
    let last_words = LastWords { report: false, word: Some(word.to_owned()) };
    let order = run::Order { run: run::new_id(), last_words, users: None };
    let (run, code) = run::start_as(at, &settings, task, None, repo, look, order)?;
    plan::write_results(at, &args.results, &run)?;
    Ok(code)
}
