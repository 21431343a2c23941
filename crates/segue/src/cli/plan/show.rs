//! `segue plan show`: what comes before what, drawn in text.

use segue_plans::graph::Graph;
use segue_plans::{Plan, draw};
use serde_json::{Value, json};

use super::{Failure, One, Place, out, read, refused};
use crate::driver::screen_width;

/// Draws a plan.
pub(super) fn show(at: &Place, one: &One) -> Result<u8, Failure> {
    let mut plan = read(at, one)?.map_err(|error| refused(&error))?;
    if at.json {
        let phases = phases(&plan);
        out::line(
            &json!({ "file": one.file, "format": plan.format, "title": plan.title, "phases": phases })
                .to_string(),
        );
        return Ok(0);
    }
    let width = match screen_width() {
        0 => 80,
        width => usize::from(width),
    };
    if !plan.title.is_empty() {
        out::line(&segue_report::plain(&plan.title));
    }
    for phase in &mut plan.phases {
        phase.id = segue_report::plain(&phase.id);
        phase.title = segue_report::plain(&phase.title);
        phase.needs.iter_mut().for_each(|need| *need = segue_report::plain(need));
    }
    out::lines(draw(&plan, width));
    Ok(0)
}

fn phases(plan: &Plan) -> Vec<Value> {
    let graph = Graph::new(plan);
    let levels = graph.levels();
    let each = plan.phases.iter().enumerate().map(|(at, phase)| {
        let needs: Vec<&str> = graph.needs(at).iter().map(|need| plan.phases[*need].id.as_str()).collect();
        json!({
            "id": phase.id, "title": phase.title, "status": phase.status, "needs": needs, "level": levels[at],
            "tasks": phase.tasks.len(), "gates": phase.gates.len(), "file": plan.file(phase.at), "line": phase.at.line,
        })
    });
    each.collect()
}
