//! Plain bullets as tasks, for plans that have no check boxes: stages with what is to be done in each.

use super::Reading;
use super::list::trees;
use super::task_list::from_item;
use crate::model::{Phase, Status};
use crate::text::{Range, field};

/// Gives a phase without tasks the items of its lists as tasks, or all of its text as one.
pub(crate) fn fill(reading: &Reading<'_, '_>, body: Range, phase: &mut Phase) {
    if !phase.tasks.is_empty() || phase.status.is_over() {
        return;
    }
    // "- Goal: …" and lists below a named part are about the phase, not its work.
    let nodes = trees(reading, body, |_| true);
    let work = nodes.iter().filter(|node| {
        field(&node.text).is_none_or(|(name, _)| super::fields::name(&name).is_none())
            && !phase.criteria.iter().any(|criterion| criterion.at == reading.at_index(node.index))
    });
    phase.tasks = work.map(|node| from_item(reading, node, None)).collect();
    for (index, task) in phase.tasks.iter_mut().enumerate() {
        task.status = Status::Pending;
        if task.id.is_empty() {
            task.id = (index + 1).to_string();
        }
    }
}
