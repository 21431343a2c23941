//! The commands that a plan's own files bring along: gates, and checks of criteria.

use segue_plans::{Criterion, Plan, Task};

use super::Item;

/// Every command that a plan would run, in its order, each once. Gates that the configuration fills in are not the plan's.
pub(crate) fn items(plan: &Plan) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut add = |run: &str, place: &str| {
        let item = Item::command(run, place);
        if !run.trim().is_empty() && items.iter().all(|other| other.text != item.text) {
            items.push(item);
        }
    };
    for phase in &plan.phases {
        let place = format!("phase {}", phase.id);
        for gate in phase.gates.iter().filter(|gate| !gate.manual) {
            gate.run.iter().for_each(|run| add(run, &place));
        }
        let of_tasks = |of: fn(&Task) -> &Vec<Criterion>| phase.tasks.iter().flat_map(of);
        let criteria = phase.criteria.iter().chain(&phase.verify);
        let criteria = criteria.chain(of_tasks(|task| &task.criteria)).chain(of_tasks(|task| &task.verify));
        criteria.flat_map(|one| &one.checks).for_each(|check| add(&check.run, &place));
    }
    for gate in plan.gates.iter().filter(|gate| !gate.manual) {
        gate.run.iter().for_each(|run| add(run, "plan"));
    }
    items
}
