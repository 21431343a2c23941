//! Whether the ground that a run stands on is still what it was: the checked-out commit, and the file of its task.
//!
//! What is found is told and stops nothing: a person may have meant it.

use segue_plans::read_task;

use crate::checkpoint::{Situation, Workplace};
use crate::git::Facts;
use crate::store::safely;

/// What is not as it was when the work was last looked at, a sentence each. Blocking: it asks git and reads a file.
pub(super) fn moved(place: &Workplace, situation: &Situation, facts: Option<&Facts>) -> Vec<String> {
    head_moved(place, situation, facts).into_iter().chain(task_moved(place, situation)).collect()
}

fn head_moved(place: &Workplace, situation: &Situation, facts: Option<&Facts>) -> Option<String> {
    let repo = place.repo.as_ref()?;
    let (before, now) = (situation.head.as_deref()?, facts?.head.as_deref()?);
    if before == now || repo.leads_to(before, now)? {
        return None;
    }
    let short = |hash: &str| hash.chars().take(10).collect::<String>();
    Some(format!(
        "the checked-out commit was {} and is {} now, which does not follow from it: somebody switched branches or \
         changed history, so files may not be what the checkpoint says",
        short(before),
        short(now)
    ))
}

// Ticked boxes are what working through a list looks like; other words are another task.
fn task_moved(place: &Workplace, situation: &Situation) -> Option<String> {
    let source = situation.source.as_deref()?;
    let bytes = safely::read_inside(place.store.workdir(), source).ok()?;
    let now = read_task(&bytes, Some(source)).ok()?;
    let given = place.private.task(&situation.task);
    if unticked(&now.text) != unticked(given) {
        return Some(format!(
            "{source} has changed since the run started; the run continues with the task as given"
        ));
    }
    let had = given.contains("[ ]");
    (had && now.open_items == 0).then(|| format!("every item of the list in {source} is ticked"))
}

fn unticked(text: &str) -> String {
    text.trim_end().replace("[x]", "[ ]").replace("[X]", "[ ]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticked_box_is_no_other_task_and_other_words_are() {
        assert_eq!(unticked("- [x] a\n- [X] b\n"), unticked("- [ ] a\n- [ ] b"));
        assert_ne!(unticked("- [ ] a"), unticked("- [ ] b"));
    }
}
