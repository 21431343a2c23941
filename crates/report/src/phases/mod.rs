//! The phases of a plan side by side: where each one stands, what its run told, and how that looks on a terminal.
//!
//! Pure like the rest of the crate: it makes lines and writes none, and the time comes in with each frame.

mod frame;
mod order;
mod progress;
mod spoken;
mod state_words;
mod summary;

use std::collections::BTreeMap;

use segue_machine::{Millis, WaitRules};
use serde::Deserialize;
use serde_json::Value;

use crate::{Line, Style};

use order::Placed;
use progress::Progress;

/// A phase as the plan has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// The phase that it is a part of.
    pub part_of: Option<String>,
    /// The phases that it needs.
    pub needs: Vec<String>,
}

/// Where a phase stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// What it needs is not there, or as many as may be are at work.
    #[default]
    Waiting,
    /// Others work on its paths.
    Held {
        /// Who.
        by: Vec<String>,
    },
    /// Its run goes.
    Working,
    /// Its run is over, and it is queued to be merged.
    Done,
    /// It is being merged.
    Merging,
    /// An agent resolves what its merge led to.
    Mending,
    /// It is over and good.
    Completed,
    /// It cannot be finished as things are.
    Failed,
    /// A person must decide something.
    NeedsInput,
    /// A phase that it needs will not be completed.
    Blocked,
    /// It was stopped and can be gone on with.
    Stopped,
}

/// The state of the view of a plan whose phases run side by side.
///
/// Give it what happens in any order: [`tell`](Self::tell) where a phase stands, [`line`](Self::line) what its run wrote.
#[derive(Debug, Clone)]
pub struct PhaseTree {
    title: String,
    rows: Vec<Placed>,
    phases: BTreeMap<String, PhaseNow>,
    rules: WaitRules,
}

#[derive(Debug, Clone, Default)]
struct PhaseNow {
    standing: Standing,
    why: String,
    progress: Progress,
}

impl PhaseTree {
    /// A plan with these phases; times are named by a clock that is so far from UTC.
    pub fn new(title: &str, rows: &[Row], utc_offset_s: i32) -> Self {
        let rules = WaitRules { utc_offset_s, ..WaitRules::default() };
        let mut tree = Self { title: title.to_owned(), rows: Vec::new(), phases: BTreeMap::new(), rules };
        tree.set_rows(rows);
        tree
    }

    /// The plan has other phases, or one was split. What is known of a phase stays.
    pub fn set_rows(&mut self, rows: &[Row]) {
        self.rows = order::placed(rows);
        for placed in &self.rows {
            self.phases.entry(placed.row.id.clone()).or_default();
        }
    }

    /// Where a phase stands, and why in words where there is something to say.
    pub fn tell(&mut self, id: &str, standing: Standing, why: &str) {
        if let Some(phase) = self.phases.get_mut(id) {
            if matches!(standing, Standing::Working | Standing::Mending) {
                phase.progress.begin();
            }
            (phase.standing, phase.why) = (standing, why.to_owned());
        }
    }

    /// One line that the phase's run wrote. What is no line of the contract is passed over.
    pub fn line(&mut self, id: &str, value: &Value) {
        if let (Some(phase), Some(line)) = (self.phases.get_mut(id), read(value)) {
            phase.progress.take(&line);
        }
    }

    /// What a person should read of such a line and keep, each line beginning with the phase's id; mostly nothing.
    pub fn spoken(&self, id: &str, value: &Value, style: Style) -> Vec<String> {
        let entry = read(value).and_then(|line| spoken::entry(id, &line, &self.rules));
        entry.map_or_else(Vec::new, |entry| style.lay_out(&entry))
    }

    /// The block at the foot of the screen: at most so many rows, none wider than the style.
    pub fn frame(&self, now: Millis, style: Style, rows: usize) -> Vec<String> {
        frame::lines(self, now, style, rows)
    }

    fn phase(&self, row: &Row) -> Option<&PhaseNow> {
        self.phases.get(&row.id)
    }

    // A phase that was split is completed when its parts are.
    fn is_completed(&self, id: &str) -> bool {
        match self.rows.iter().find(|placed| placed.row.id == id) {
            Some(placed) if !placed.parts.is_empty() => {
                placed.parts.iter().all(|part| self.is_completed(part))
            }
            _ => self.phases.get(id).is_some_and(|phase| phase.standing == Standing::Completed),
        }
    }

    /// Phases that are worked on as they are: not those that were split.
    fn leaves(&self) -> impl Iterator<Item = &PhaseNow> {
        self.rows.iter().filter(|placed| placed.parts.is_empty()).filter_map(|placed| self.phase(&placed.row))
    }
}

fn read(value: &Value) -> Option<Line> {
    Line::deserialize(value).ok()
}

#[cfg(test)]
mod fit_tests;
#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
