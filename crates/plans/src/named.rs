//! Which task of a phase somebody means: by its id, its title, its place in the list, or a file that it changes.
//!
//! Agents and people name tasks in their own words; a name that fits none, or several, stands for none.

use crate::ids::same;
use crate::model::Task;
use crate::report::TaskReport;

/// The fewest characters of a title that stand for all of it.
const SHORTEST: usize = 8;

/// The task that a name stands for.
pub fn task_named<'t>(tasks: &[&'t Task], name: &str) -> Option<&'t Task> {
    let name = name.trim();
    by_id(tasks, name)
        .or_else(|| only(tasks, |task| !task.title.is_empty() && plain(&task.title) == plain(name)))
        .or_else(|| by_first_word(tasks, name))
        .or_else(|| only(tasks, |task| task.files.iter().any(|file| same_path(file, name))))
        .or_else(|| by_number(tasks, name))
}

/// The task that a report is about. Where its words name one, they count: an id may be a place in a list that has changed.
pub fn task_told<'t>(tasks: &[&'t Task], told: &TaskReport) -> Option<&'t Task> {
    task_in_words(tasks, &told.title).or_else(|| task_named(tasks, &told.id))
}

/// The task with that title, or the only one whose title begins with these words, or they with it.
pub fn task_in_words<'t>(tasks: &[&'t Task], words: &str) -> Option<&'t Task> {
    let words = plain(words);
    let words = words.trim_end_matches(['…', '.', ' ']);
    if words.is_empty() {
        return None;
    }
    let title = |task: &Task| plain(&task.title);
    let long = words.chars().count() >= SHORTEST;
    only(tasks, |task| title(task) == words)
        .or_else(|| only(tasks, |task| long && title(task).starts_with(words)))
        .or_else(|| only(tasks, |task| title(task).len() >= SHORTEST && words.starts_with(&title(task))))
}

/// The tasks that change one of these files.
pub(crate) fn tasks_of_files<'t>(tasks: &[&'t Task], files: &[String]) -> Vec<&'t Task> {
    let changes = |task: &Task| task.files.iter().any(|own| files.iter().any(|file| same_path(own, file)));
    tasks.iter().copied().filter(|task| changes(task)).collect()
}

fn by_id<'t>(tasks: &[&'t Task], name: &str) -> Option<&'t Task> {
    tasks.iter().copied().find(|task| same(&task.id, name))
}

fn only<'t>(tasks: &[&'t Task], fits: impl Fn(&Task) -> bool) -> Option<&'t Task> {
    let mut found = tasks.iter().copied().filter(|task| fits(task));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

// "T001 Create the model", "1.2: Sum it", "Task 16-01 - Parts": an id with the title behind it.
fn by_first_word<'t>(tasks: &[&'t Task], name: &str) -> Option<&'t Task> {
    let rest = name.strip_prefix("Task ").or_else(|| name.strip_prefix("task ")).unwrap_or(name);
    let word = rest.split([' ', ':', '\t']).next()?.trim_end_matches(['.', ')', ',']);
    if word.len() == rest.len() || !word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    by_id(tasks, word)
}

// "3" or "task 3" where no id is a plain number: the third one.
fn by_number<'t>(tasks: &[&'t Task], name: &str) -> Option<&'t Task> {
    if tasks.iter().any(|task| task.id.parse::<u32>().is_ok()) {
        return None;
    }
    let lower = name.to_lowercase();
    let number = lower.trim_start_matches("task").trim_start_matches([' ', '#']);
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    tasks.get(at).copied()
}

fn plain(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.trim_matches(['`', '*', '"', '\'']));
    words.collect::<Vec<_>>().join(" ").trim_end_matches('.').to_lowercase()
}

fn same_path(a: &str, b: &str) -> bool {
    fn plain(path: &str) -> &str {
        path.trim().trim_matches('`').trim_start_matches("./").trim_end_matches('/')
    }
    let (a, b) = (plain(a), plain(b));
    a == b && a.contains(['/', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_report_count_more_than_a_place_in_a_list() {
        let task =
            |id: &str, title: &str| Task { id: id.to_owned(), title: title.to_owned(), ..Task::default() };
        let all =
            [task("1", "Look around"), task("2", "Write the `model`"), task("3", "Write the model of it")];
        let tasks: Vec<&Task> = all.iter().collect();
        let found = |id: &str, title: &str| {
            let told = TaskReport { id: id.to_owned(), title: title.to_owned(), ..TaskReport::default() };
            task_told(&tasks, &told).map(|task| task.id.as_str())
        };
        assert_eq!(found("1", "Write the model"), Some("2"));
        assert_eq!(found("1", "write the model of…"), Some("3"));
        assert_eq!(found("1", "Look around (done in abc)"), Some("1"));
        assert_eq!(found("1", "Write the"), Some("1"), "the words of two");
        assert_eq!(found("2", ""), Some("2"));
    }

    #[test]
    fn p1_a_task_is_found_by_id_title_number_or_file_and_never_guessed() {
        let task = |id: &str, title: &str, file: &str| Task {
            id: id.to_owned(),
            title: title.to_owned(),
            files: vec![file.to_owned()],
            ..Task::default()
        };
        let all = [
            task("16-01", "Add the `model`", "src/model.rs"),
            task("16-02", "Write it", "src/view.rs"),
            task("16-03", "Write it", "src/view.rs"),
        ];
        let tasks: Vec<&Task> = all.iter().collect();
        let found = |name: &str| task_named(&tasks, name).map(|task| task.id.as_str());
        for name in
            ["16-01", "Task 16-01", "add the model", "16-01: Add something", "./src/model.rs", "1", "task 1"]
        {
            assert_eq!(found(name), Some("16-01"), "{name}");
        }
        for name in ["Write it", "src/view.rs", "4", "0", "the model", "", "Phase 16"] {
            assert_eq!(found(name), None, "{name}");
        }
    }
}
