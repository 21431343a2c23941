//! The run machine.

mod view;

use crate::{Effect, Record};

pub use view::{CheckpointRef, Doing, EndReason, HandoffKind, Note, Phase, SessionView, ToolDone, Totals, View};

/// The machine of one run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    view: View,
}

impl Run {
    /// What is known about the run.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Takes in one record and says what is to be done about it.
    pub fn handle(&mut self, _record: &Record) -> Vec<Effect> {
        Vec::new()
    }
}
