//! What plans take, and where results go.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use segue_plans::Format;

use crate::plan::{Options, Splitting, Trouble};

/// The flags that say how a plan is run.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Plans")]
pub(in crate::cli) struct PlanFlags {
    /// Run only these phases: one, a list (1,4) or a range (3-5)
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) phase: Option<String>,
    /// Continue the plan where it stopped
    #[arg(long, conflicts_with = "restart")]
    pub(in crate::cli) resume: bool,
    /// Start the plan over
    #[arg(long)]
    pub(in crate::cli) restart: bool,
    /// Run completed phases again
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Review each phase once more after its gates pass
    #[arg(long)]
    pub(in crate::cli) quality: bool,
    /// What to do with a phase that is too large (default: propose; with the policy observe: auto)
    #[arg(long, value_name = "HOW")]
    pub(in crate::cli) split: Option<Splitting>,
    /// Read the plan in this format instead of detecting it: kiro, spec-kit, checklist, …
    #[arg(long, value_name = "FORMAT", value_parser = format_named)]
    pub(in crate::cli) format: Option<Format>,
    /// Do not tick off finished work in the plan's files
    #[arg(long)]
    pub(in crate::cli) no_write_back: bool,
    #[command(flatten)]
    pub(in crate::cli) beside: BesideFlags,
}

/// The flags for parallel phases.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Plans")]
pub(in crate::cli) struct BesideFlags {
    /// Run up to N phases at a time, each in its own git work tree, merged in plan order
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(in crate::cli) parallel: Option<u16>,
    /// When a phase fails, continue with everything that does not depend on it
    #[arg(long, conflicts_with = "fail_fast")]
    pub(in crate::cli) keep_going: bool,
    /// When a phase fails, stop the others too; by default they finish and no new phase starts
    #[arg(long)]
    pub(in crate::cli) fail_fast: bool,
}

impl BesideFlags {
    /// Whether anything was said.
    pub(in crate::cli) fn any(&self) -> bool {
        self.parallel.is_some() || self.keep_going || self.fail_fast
    }

    /// Puts what was said into what is known.
    pub(in crate::cli) fn put(&self, options: &mut Options) {
        options.parallel = self.parallel.map(usize::from).or(options.parallel);
        if self.keep_going {
            options.trouble = Trouble::KeepGoing;
        }
        if self.fail_fast {
            options.trouble = Trouble::FailFast;
        }
    }
}

/// The format of a plan by its name.
pub(in crate::cli) fn format_named(typed: &str) -> Result<Format, String> {
    Format::named(typed).ok_or_else(|| {
        let names: Vec<String> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("known formats: {}", names.join(", "))
    })
}

/// Where the results of gates go beside the screen.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Results")]
pub(in crate::cli) struct ResultFlags {
    /// Write the results of gates and criteria as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) junit: Option<PathBuf>,
    /// Append the results of gates and criteria to this Markdown file (default: $GITHUB_STEP_SUMMARY)
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) step_summary: Option<PathBuf>,
}
