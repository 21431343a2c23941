//! What users of other tools have in their fingers: what their settings, keys and flags are called here.
//!
//! One table (`names.rs`) answers for all of them. Nothing of it is ever applied: whoever typed or wrote such a name is
//! told the line of `segue.toml` or the flag that means the same.

mod names;
mod settings;

use names::NAMES;

pub(crate) use settings::found_settings;

/// A name of another tool, and what means the same here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    /// The tool.
    pub(crate) tool: &'static str,
    /// The file whose keys these are; empty for flags and for the tool's commands.
    pub(crate) file: &'static str,
    /// Its name there: a flag, or a key with dots.
    pub(crate) theirs: &'static str,
    /// The line or flag here; `{}` stands for its value. Empty where segue needs none.
    pub(crate) here: &'static str,
    /// What else is to be known.
    pub(crate) note: &'static str,
}

/// What a key of another tool is called here.
pub(crate) fn key(typed: &str) -> Option<String> {
    let last = |theirs: &str| theirs.rsplit('.').next().unwrap_or_default().to_owned();
    let fits =
        |name: &&Name| !name.theirs.starts_with('-') && (name.theirs == typed || last(name.theirs) == typed);
    NAMES.iter().find(fits).map(answer)
}

/// What a flag of another tool is called here.
pub(crate) fn flag(typed: &str) -> Option<String> {
    let typed = typed.split('=').next().unwrap_or(typed);
    NAMES.iter().find(|name| name.theirs == typed).map(answer)
}

fn answer(name: &Name) -> String {
    let here = name.here.replace("{}", "…").replace('\n', " ");
    match (here.is_empty(), name.note.is_empty()) {
        (false, true) => format!("in segue: {here}"),
        (false, false) => format!("in segue: {here} ({})", name.note),
        (true, _) => format!("segue needs none: {}", name.note),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_answered_with_what_they_are_called_here() {
        assert_eq!(flag("--test-cmd").as_deref(), Some("in segue: --gate \"…\""));
        assert!(flag("--checkpoint-file=x.json").is_some_and(|text| text.contains("--from-checkpoint")));
        assert!(key("context_limit").is_some_and(|text| text.contains("window")));
        assert!(key("auto_commit").is_some_and(|text| text.contains("commit = \"branch\"")));
        assert_eq!(flag("--gate"), None);
    }

    #[test]
    fn every_name_stands_in_the_documents() {
        let page = include_str!("../../../../../docs/from-other-tools.md");
        for name in NAMES {
            let theirs = format!("`{}`", name.theirs);
            let row = page.lines().find(|line| line.contains(&theirs) && line.contains(name.tool));
            let row = row.unwrap_or_else(|| panic!("{theirs} of {} is in no row", name.tool));
            let here = name.here.replace("{}", "…");
            assert!(here.lines().all(|line| row.contains(line)), "{row}: {here}");
        }
    }
}
