//! What a person sees of phases side by side while they run: where each stands, and what holds it up.

use segue_plans::Status;
use segue_report::{Row, Standing};

use super::{Claim, Stage};
use crate::plan::board::Board;
use crate::plan::runner::Runner;
use crate::plan::screen::Screen;
use crate::plan::state::PhaseState;

impl Runner {
    /// A screen, where phases run side by side and a person looks on.
    pub(in crate::plan) fn new_screen(&self) -> Option<Screen> {
        let state = self.kept.state();
        let open = |id: &String| !state.phase(id).is_some_and(|known| known.status.is_over());
        let parts = state.phases.keys().any(|id| open(id) && state.has_parts_in_parallel(id));
        let wanted = !self.set.json && (state.options.beside() || parts);
        let mut screen =
            wanted.then(|| Screen::new(&self.plan.title, &self.rows(), self.set.redactor.clone()))?;
        for (id, known) in &self.kept.state().phases {
            screen.tell(id, standing(known), &known.why);
        }
        Some(screen)
    }

    fn rows(&self) -> Vec<Row> {
        let splits = self.kept.state().splits();
        let mut rows = Vec::new();
        for phase in &self.plan.phases {
            let row = |id: &str, title: &str, part_of: Option<String>| Row {
                id: id.to_owned(),
                title: title.to_owned(),
                part_of,
                needs: phase.needs.clone(),
            };
            rows.push(row(&phase.id, &phase.title, None));
            let parts = splits.get(&phase.id).into_iter().flatten();
            rows.extend(parts.map(|part| row(&part.id, &part.title, Some(phase.id.clone()))));
        }
        rows
    }

    /// The plan was read again, or a phase was split.
    pub(in crate::plan) fn show_rows(&mut self) {
        if self.voice.screen.is_some() {
            let rows = self.rows();
            self.voice.screen.iter_mut().for_each(|screen| screen.set_rows(&rows));
        }
    }

    /// Shows where a phase stands.
    pub(in crate::plan) fn show_standing(&mut self, id: &str) {
        let Some(known) = self.kept.state().phase(id) else { return };
        let (standing, why) = (standing(known), known.why.clone());
        self.voice.screen.iter_mut().for_each(|screen| screen.tell(id, standing.clone(), &why));
    }

    /// Shows which phases could begin, but for others' claims.
    pub(in crate::plan) fn show_what_is_held(&mut self) {
        let board = Board::new(&self.plan, self.kept.state(), self.set.force);
        let state = self.kept.state();
        let taken: Vec<(String, Claim)> = self.claims();
        let held = board.ready().into_iter().filter(|phase| !self.is_at_work(&phase.id)).map(|phase| {
            let claim = Claim::of(phase, state.whole_of(&phase.id));
            let by = taken.iter().filter(|(_, other)| claim.excludes(other)).map(|(id, _)| id.clone());
            (phase.id.clone(), by.collect::<Vec<String>>())
        });
        let held: Vec<(String, Vec<String>)> = held.collect();
        let Some(screen) = &mut self.voice.screen else { return };
        for (id, by) in held {
            let standing = if by.is_empty() { Standing::Waiting } else { Standing::Held { by } };
            screen.tell(&id, standing, "");
        }
        screen.tick();
    }
}

fn standing(known: &PhaseState) -> Standing {
    match (known.status, known.work.as_ref().map(|work| work.stage)) {
        (Status::Completed | Status::Skipped, _) => Standing::Completed,
        (Status::Failed, _) => Standing::Failed,
        (Status::NeedsInput, _) => Standing::NeedsInput,
        (Status::Blocked, _) => Standing::Blocked,
        (Status::Pending, _) => Standing::Waiting,
        (Status::InProgress, Some(Stage::Done)) => Standing::Done,
        (Status::InProgress, Some(Stage::Merging | Stage::Landing | Stage::Landed)) => Standing::Merging,
        (Status::InProgress, Some(Stage::Mending)) => Standing::Mending,
        (Status::InProgress, Some(Stage::Stuck)) => Standing::NeedsInput,
        (Status::InProgress, Some(Stage::Making | Stage::Working | Stage::Split) | None) => Standing::Working,
    }
}
