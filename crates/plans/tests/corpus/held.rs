//! What must hold for every plan that is read, wherever it comes from, and how tests are told what they need.

use segue_plans::{NoFiles, Plan, Status, read_plan_as, write_back};

#[expect(clippy::disallowed_methods, reason = "what the tests are run with")]
pub(crate) fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Says that something could not be tested. Where nobody reads it, that is a failure.
pub(crate) fn skipped(test: &str, why: &str) {
    assert!(setting("CI").as_deref() != Some("true"), "{test} must not be skipped with CI=true: {why}");
    println!("{test}: skipped: {why}");
}

/// The check boxes of a plan, and how many of them are ticked.
pub(crate) fn boxes(plan: &Plan) -> (usize, usize) {
    let boxes: Vec<bool> =
        plan.all_items().filter(|item| item.mark.is_box()).map(|item| !item.is_open()).collect();
    (boxes.len(), boxes.iter().filter(|done| **done).count())
}

/// Every item has a key of its own, writing nothing changes nothing, and writing one item changes its mark only.
pub(crate) fn nothing_else_changes(name: &str, text: &str, plan: &Plan) {
    let nothing = write_back(name, text, plan.format, &[]).unwrap();
    assert_eq!((nothing.text.as_str(), nothing.changed.len()), (text, 0), "{name}");
    let mut keys: Vec<(u32, &str)> = plan.all_items().map(|item| (item.at.file, item.key.as_str())).collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all, "{name}");
    let open: Vec<_> = plan.all_items().filter(|item| item.is_open() && item.mark.to > 0).collect();
    let Some(item) = open.get(text.len() % open.len().max(1)) else { return };
    let back = write_back(name, text, plan.format, &[(&item.key, Status::Completed)]).unwrap();
    let wanted = format!("{}{}{}", &text[..item.mark.from], item.mark.done, &text[item.mark.to..]);
    // With its last item a file may say that all of it is done.
    let told = if back.status { without_status(&wanted, &back.text) } else { back.text.clone() };
    assert_eq!((told.as_str(), back.changed.len()), (wanted.as_str(), 1), "{name}: {}", item.key);
    let again = read_plan_as(name, back.text.as_bytes(), &NoFiles, Some(plan.format)).unwrap();
    let found = again.all_items().find(|other| other.key == item.key).map(|other| other.status.is_over());
    assert_eq!((found, again.all_items().count()), (Some(true), all), "{name}: {}", item.key);
}

// The second text with the one line of the first that says how far the file is.
fn without_status(before: &str, after: &str) -> String {
    let (before, after) = (before.split_inclusive(['\n', '\r']), after.split_inclusive(['\n', '\r']));
    let mut differing = 0;
    let line = |(before, after): (&'_ str, &'_ str)| {
        differing += usize::from(before != after);
        before.to_owned()
    };
    let same = before.clone().count() == after.clone().count();
    let text = before.zip(after).map(line).collect();
    assert!(same && differing == 1, "{differing} lines differ, and only the status may");
    text
}
