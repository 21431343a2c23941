//! Reads the work that people write down: one task, or a plan in any of the shapes that people have. Pure.
//!
//! [`read_plan`] turns text into a [`Plan`], [`audit()`] says what is wrong with it and where, [`estimate()`] what each
//! phase costs, [`split`] makes parts of one, [`graph`] says what can be done next, [`judge()`] whether a criterion is met, and [`report`] reads what an
//! agent tells about a phase. Files, time and commands are the caller's.

mod audit;
mod command;
mod context;
mod counts;
mod estimate;
mod expect;
mod formats;
pub mod graph;
pub mod handoff;
pub mod ids;
mod items;
mod judge;
mod model;
mod named;
pub mod report;
mod show;
pub mod split;
mod status_line;
mod task;
mod text;
mod verbs;
mod words;
mod write_back;

pub use audit::{Circumstances, Code, Finding, KnownGate, Severity, audit, fill_gates};
pub use context::{Recognition, Section, SectionKind};
pub use counts::{Counts, counts, counts_per_file};
pub use estimate::{
    Budget, Estimate, Extra, PHASE_LINE, PLAN_LINE, Past, PhaseCost, SubPhase, TaskCost, estimate,
    estimate_with, letters,
};
pub use formats::{
    Files, MOST_BYTES, NoFiles, NoPlan, PlanFile, done_items, plans, read_folder, read_plan, read_plan_as,
    read_prompt, write,
};
pub use items::{Item, ItemKind, Marker};
pub use judge::{BadJudge, Judge, Outcome, Verdict, judge};
pub use model::{
    Artifact, Check, Complexity, Criterion, Format, Gate, Link, MustHave, Oddity, OddityKind, Phase, Place,
    Plan, Source, Status, Step, Task,
};
pub use named::{task_in_words, task_named, task_told};
pub use show::draw;
pub use task::{BadTask, read_task};
pub use write_back::{WrittenBack, merge_by_item, write_back};

/// The published schema of the native format.
pub fn plan_schema() -> schemars::Schema {
    schemars::schema_for!(Plan)
}
