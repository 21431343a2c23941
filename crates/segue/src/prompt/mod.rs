//! The words that agents are given: templates of this crate, or the user's own, with checked variables.
//!
//! Nothing here decides what is said when; that is the machine's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use minijinja::{Environment, UndefinedBehavior};
use segue_machine::GateResult;
use segue_machine::checkpoint::cut_chars;
use thiserror::Error;

use crate::store::safely;

/// A template that comes with segue, and what it may speak of.
#[derive(Debug)]
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    variables: &'static [&'static str],
}

const CONTINUATION: &[&str] = &[
    "id",
    "restart",
    "resumed",
    "why",
    "session",
    "checkpoint",
    "ledger",
    "facts",
    "failed",
    "cut",
    "role",
    "task",
];

/// The templates that come with segue.
const BUILT_IN: &[BuiltIn] = &[
    built_in("task", include_str!("../../templates/task.md"), &["task"]),
    built_in(
        "phase",
        include_str!("../../templates/phase.md"),
        &[
            "plan",
            "path",
            "part_of",
            "documents",
            "write_back",
            "goal",
            "id",
            "title",
            "about",
            "whole",
            "sections",
            "handoff",
            "notes",
            "tasks",
            "files",
            "write",
            "criteria",
            "unchecked",
        ],
    ),
    built_in(
        "checkpoint",
        include_str!("../../templates/checkpoint.md"),
        &["depth", "fill", "max_chars", "role", "sections", "side", "running", "again"],
    ),
    built_in(
        "facts",
        include_str!("../../templates/facts.md"),
        &[
            "git", "trouble", "diffstat", "commits", "added", "modified", "deleted", "since", "gates",
            "notes", "role", "tracked",
        ],
    ),
    built_in("continuation", include_str!("../../templates/continuation.md"), CONTINUATION),
    built_in("continuation.loop", include_str!("../../templates/continuation.loop.md"), CONTINUATION),
    built_in("continuation.phased", include_str!("../../templates/continuation.phased.md"), CONTINUATION),
    built_in("continuation.staged", include_str!("../../templates/continuation.staged.md"), CONTINUATION),
    built_in(
        "merge",
        include_str!("../../templates/merge.md"),
        &["plan", "id", "title", "trouble", "own", "others"],
    ),
    built_in("gates_failed", include_str!("../../templates/gates_failed.md"), &["round", "of", "failed"]),
    built_in("claims_wrong", include_str!("../../templates/claims_wrong.md"), &["round", "of", "claims"]),
    built_in("green_before", include_str!("../../templates/green_before.md"), &["open"]),
    built_in("continue", include_str!("../../templates/continue.md"), &["after", "cut", "gates", "session"]),
    built_in("go_on", include_str!("../../templates/go_on.md"), &[]),
    built_in("not_done", include_str!("../../templates/not_done.md"), &["left"]),
    built_in("ask_status", include_str!("../../templates/ask_status.md"), &[]),
    built_in("answered", include_str!("../../templates/answered.md"), &["answer"]),
    built_in("verify", include_str!("../../templates/verify.md"), &["task", "ledger", "facts", "summary"]),
];

/// Steps that one template may take: a loop in a user's template ends.
const FUEL: u64 = 200_000;

/// A template that cannot be used.
#[derive(Debug, Error)]
pub(crate) enum PromptError {
    /// The file cannot be read.
    #[error("prompt {name}: cannot read {path}: {source}")]
    Unreadable {
        /// The template's name.
        name: String,
        /// Its file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is no such template.
    #[error("there is no prompt named {name:?}; the prompts are: {}", names().join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// It speaks of something that it is not given.
    #[error("prompt {name} ({path}): there is no variable {variable:?}; it may use {}", known.join(", "))]
    Variable {
        /// The template's name.
        name: String,
        /// Its file.
        path: String,
        /// What it speaks of.
        variable: String,
        /// What it may speak of.
        known: Vec<String>,
    },
    /// It leaves out what every continuation must hold.
    #[error(
        "prompt {name} ({path}): {{{{ {variable} }}}} is missing, so the next session would not get it{hint}"
    )]
    Lacks {
        /// The template's name.
        name: String,
        /// Its file.
        path: String,
        /// What it leaves out.
        variable: &'static str,
        /// What to write instead of what was found.
        hint: String,
    },
    /// It is wrong, or names something that does not exist.
    #[error("prompt {name}: {why}")]
    Bad {
        /// The template's name.
        name: String,
        /// Why.
        why: String,
    },
}

/// The names of all templates.
pub(crate) fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|template| template.name).collect()
}

const fn built_in(name: &'static str, text: &'static str, variables: &'static [&'static str]) -> BuiltIn {
    BuiltIn { name, text, variables }
}

/// All templates of a run.
#[derive(Debug)]
pub(crate) struct Prompts {
    environment: Environment<'static>,
    /// Templates of the user's own.
    own: BTreeSet<&'static str>,
}

impl Prompts {
    /// The built-in templates; in place of some the files that the configuration names.
    pub(crate) fn load(workdir: &Path, files: &BTreeMap<String, String>) -> Result<Self, PromptError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        if let Some(name) = files.keys().find(|name| !names().contains(&name.as_str())) {
            return Err(PromptError::Unknown { name: name.clone() });
        }
        let mut own_ones = BTreeSet::new();
        for template in BUILT_IN {
            match files.get(template.name) {
                None => add(&mut environment, template.name, template.text.to_owned())?,
                Some(file) => {
                    add(&mut environment, template.name, read(template.name, workdir, file)?)?;
                    check_variables(&environment, template, file)?;
                    own_ones.insert(template.name);
                }
            }
        }
        Ok(Self { environment, own: own_ones })
    }

    /// Fills a template in.
    pub(crate) fn fill(&self, name: &str, with: impl Into<minijinja::Value>) -> Result<String, PromptError> {
        let bad = |why: minijinja::Error| PromptError::Bad { name: name.to_owned(), why: format!("{why:#}") };
        let template = self.environment.get_template(name).map_err(bad)?;
        template.render(with).map(|text| text.trim().to_owned()).map_err(bad)
    }

    /// The continuation that a policy's users know, or the usual one. A user's own holds for every policy that they wrote
    /// none for.
    pub(crate) fn continuation(&self, policy: &str) -> String {
        let usual = "continuation";
        let special = format!("{usual}.{policy}");
        let ours = names().contains(&special.as_str());
        let overruled = self.own.contains(usual) && !self.own.contains(special.as_str());
        if ours && !overruled { special } else { usual.to_owned() }
    }
}

fn read(name: &str, workdir: &Path, file: &str) -> Result<String, PromptError> {
    let path = workdir.join(file);
    let read = safely::refuse_link_out(workdir, &path).and_then(|()| safely::plain_text(&path));
    read.map_err(|source| PromptError::Unreadable {
        name: name.to_owned(),
        path: path.display().to_string(),
        source,
    })
}

// A template is filled in hours after the start: what it lacks is said before the first session.
fn check_variables(
    environment: &Environment<'static>,
    template: &BuiltIn,
    file: &str,
) -> Result<(), PromptError> {
    let bad =
        |why: minijinja::Error| PromptError::Bad { name: template.name.to_owned(), why: format!("{why:#}") };
    let parsed = environment.get_template(template.name).map_err(bad)?;
    let known = |name: &String| {
        template.variables.contains(&name.as_str()) || environment.globals().any(|(global, _)| global == name)
    };
    let mut used: Vec<String> = parsed.undeclared_variables(false).into_iter().collect();
    used.sort();
    if template.name.starts_with("continuation") {
        holds_what_it_must(template.name, file, parsed.source(), &used)?;
    }
    match used.into_iter().find(|name| !known(name)) {
        None => Ok(()),
        Some(variable) => Err(PromptError::Variable {
            name: template.name.to_owned(),
            path: file.to_owned(),
            variable,
            known: template.variables.iter().map(|v| (*v).to_owned()).collect(),
        }),
    }
}

// Single braces are how other tools write it; here they would be sent as they stand.
fn holds_what_it_must(name: &str, file: &str, source: &str, used: &[String]) -> Result<(), PromptError> {
    let lacks = |variable: &&&'static str| !used.iter().any(|used| used == **variable);
    let Some(variable) = ["task", "checkpoint"].iter().find(lacks) else { return Ok(()) };
    let single = format!("{{{variable}}}");
    let hint = if source.contains(&single) {
        format!(": {single} has single braces, write {{{{ {variable} }}}}")
    } else {
        format!(": add a line with {{{{ {variable} }}}}")
    };
    Err(PromptError::Lacks { name: name.to_owned(), path: file.to_owned(), variable, hint })
}

fn add(environment: &mut Environment<'static>, name: &str, text: String) -> Result<(), PromptError> {
    environment
        .add_template_owned(name.to_owned(), text)
        .map_err(|why| PromptError::Bad { name: name.to_owned(), why: format!("{why:#}") })
}

/// What failed gates said, for the agent.
pub(crate) fn failed_gates(failed: &[GateResult], max_chars: usize) -> String {
    let each = max_chars / failed.len().max(1);
    let parts = failed.iter().map(|gate| {
        format!("### {} ({})\n```\n{}\n```", gate.gate, gate.ended(), cut_chars(gate.tail.trim_end(), each))
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::context;

    fn prompts() -> Prompts {
        Prompts::load(Path::new("."), &BTreeMap::new()).unwrap()
    }

    #[test]
    fn c7_every_continuation_holds_the_checkpoint_the_facts_and_the_task() {
        let names = names().into_iter().filter(|n| n.starts_with("continuation"));
        for name in names {
            let text = prompts()
                .fill(name, context! {
                    id => "c1", restart => 2, resumed => false, why => "", session => 3, checkpoint => "CHECK {{ braces }}", ledger => "LEDGER", facts => "FACTS",
                    failed => "", cut => "CUT", role => "", task => "TASK"
                })
                .unwrap();
            for part in ["CHECK {{ braces }}", "LEDGER", "FACTS", "CUT", "TASK"] {
                assert!(text.contains(part), "{name}: {text}");
            }
        }
    }

    #[test]
    fn truth10_notes_are_quoted_as_the_agents_and_not_among_the_facts() {
        let facts = context! {
            git => true, trouble => "", diffstat => "1 file changed", commits => Vec::<String>::new(), added => Vec::<String>::new(),
            modified => ["a.rs"], deleted => Vec::<String>::new(), tracked => Vec::<String>::new(), role => "", since => Vec::<String>::new(),
            gates => Vec::<String>::new(), notes => ["all tests pass"]
        };
        let text = prompts().fill("facts", facts).unwrap();
        let (before, notes) = text.split_once("## Notes that the agent left").unwrap();
        assert!(before.contains("a.rs") && !before.contains("all tests pass"), "{text}");
        assert!(
            notes.starts_with(" (its own words, not checked)") && notes.contains("\"all tests pass\""),
            "{text}"
        );
    }

    #[test]
    fn truth6_after_a_crash_the_prompt_says_so_and_nothing_of_a_full_window() {
        for name in ["continuation", "continuation.phased"] {
            let fill = |restart: u32, resumed: bool| {
                let words = context! {
                    id => "c1", restart, resumed, why => "it was killed", session => 2, checkpoint => "", ledger => "", facts => "", failed => "", cut => "",
                    role => "", task => ""
                };
                prompts().fill(name, words).unwrap()
            };
            let (full, crashed) = (fill(1, false), fill(0, true));
            assert!(full.contains("full") || full.contains("limit was reached"), "{full}");
            assert!(crashed.contains("cut off: it was killed"), "{crashed}");
            for words in ["full", "limit was reached", "number 0"] {
                assert!(!crashed.contains(words), "{crashed}");
            }
        }
    }

    #[test]
    fn a_variable_that_does_not_exist_is_named() {
        let error = prompts().fill("task", context! {}).unwrap_err().to_string();
        assert!(error.contains("task") && error.contains("undefined"), "{error}");
    }

    #[test]
    fn a_template_of_the_users_own_takes_the_place_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("t.md"), "Do: {{ task }}").unwrap();
        let files = BTreeMap::from([("task".to_owned(), "t.md".to_owned())]);
        let prompts = Prompts::load(dir.path(), &files).unwrap();
        assert_eq!(prompts.fill("task", context! { task => "x" }).unwrap(), "Do: x");
        let unknown = BTreeMap::from([("tusk".to_owned(), "t.md".to_owned())]);
        assert!(Prompts::load(dir.path(), &unknown).unwrap_err().to_string().contains("continuation"));
    }

    #[test]
    fn a_template_that_only_lies_in_the_work_tree_is_not_taken_for_the_users() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".segue/prompts")).unwrap();
        std::fs::write(dir.path().join(".segue/prompts/go_on.md"), "On.").unwrap();
        std::fs::write(dir.path().join("other.md"), "Go.").unwrap();
        let prompts = Prompts::load(dir.path(), &BTreeMap::new()).unwrap();
        assert_ne!(prompts.fill("go_on", context! {}).unwrap(), "On.");
        let files = BTreeMap::from([("go_on".to_owned(), "other.md".to_owned())]);
        assert_eq!(Prompts::load(dir.path(), &files).unwrap().fill("go_on", context! {}).unwrap(), "Go.");
    }

    #[test]
    fn a_template_that_speaks_of_something_unknown_is_refused_before_it_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "{{ task }}{{ checkpoint }}{% for g in failed %}{{ g }}{% endfor %}{{ tusk }}{{ range(3) }}";
        std::fs::write(dir.path().join("t.md"), text).unwrap();
        let files = BTreeMap::from([("continuation".to_owned(), "t.md".to_owned())]);
        let error = Prompts::load(dir.path(), &files).unwrap_err().to_string();
        assert!(
            error.contains("\"tusk\"") && error.contains("t.md") && error.contains("checkpoint"),
            "{error}"
        );
    }

    #[test]
    fn c7_a_continuation_without_the_task_or_the_checkpoint_is_refused_with_what_to_write() {
        let dir = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            std::fs::write(dir.path().join("t.md"), text).unwrap();
            let files = BTreeMap::from([("continuation.loop".to_owned(), "t.md".to_owned())]);
            Prompts::load(dir.path(), &files).map(|_| ()).map_err(|error| error.to_string())
        };
        load("{{ task }} {% if checkpoint %}{{ checkpoint }}{% endif %}").unwrap();
        let error = load("Go on with {{ task }}").unwrap_err();
        assert!(error.contains("{{ checkpoint }} is missing") && error.contains("t.md"), "{error}");
        let error = load("{{ task }}\n{checkpoint}").unwrap_err();
        assert!(error.contains("{checkpoint} has single braces, write {{ checkpoint }}"), "{error}");
        assert!(load("{{ checkpoint }}").unwrap_err().contains("{{ task }} is missing"));
    }

    #[test]
    fn c7_a_users_continuation_holds_for_every_preset_they_wrote_none_for() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("t.md"), "{{ task }}{{ checkpoint }}").unwrap();
        let file = |name: &str| (name.to_owned(), "t.md".to_owned());
        let prompts = Prompts::load(dir.path(), &BTreeMap::from([file("continuation")])).unwrap();
        assert_eq!(prompts.continuation("loop"), "continuation");
        let both = BTreeMap::from([file("continuation"), file("continuation.loop")]);
        let prompts = Prompts::load(dir.path(), &both).unwrap();
        assert_eq!(prompts.continuation("loop"), "continuation.loop");
        assert_eq!(prompts.continuation("staged"), "continuation");
        let prompts = Prompts::load(dir.path(), &BTreeMap::new()).unwrap();
        assert_eq!(prompts.continuation("loop"), "continuation.loop");
    }

    #[test]
    fn every_template_of_ours_speaks_only_of_what_it_is_given() {
        let prompts = prompts();
        for template in BUILT_IN {
            check_variables(&prompts.environment, template, "built in").unwrap();
        }
    }

    #[test]
    fn a_template_that_never_ends_runs_out_of_fuel() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(
            dir.path().join("t.md"),
            "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}",
        )
        .unwrap();
        let files = BTreeMap::from([("task".to_owned(), "t.md".to_owned())]);
        let prompts = Prompts::load(dir.path(), &files).unwrap();
        assert!(prompts.fill("task", context! { task => "x" }).is_err());
    }
}
