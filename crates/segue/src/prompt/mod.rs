//! The words that agents are given: templates of this crate, or the user's own, with checked variables.
//!
//! Nothing here decides what is said when; that is the machine's.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::{Environment, UndefinedBehavior};
use segue_machine::GateResult;
use segue_machine::checkpoint::cut_chars;
use thiserror::Error;

/// The templates that come with segue.
const BUILT_IN: [(&str, &str); 10] = [
    ("task", include_str!("../../templates/task.md")),
    ("checkpoint", include_str!("../../templates/checkpoint.md")),
    ("facts", include_str!("../../templates/facts.md")),
    ("continuation", include_str!("../../templates/continuation.md")),
    ("continuation.loop", include_str!("../../templates/continuation.loop.md")),
    ("continuation.phased", include_str!("../../templates/continuation.phased.md")),
    ("continuation.staged", include_str!("../../templates/continuation.staged.md")),
    ("gates_failed", include_str!("../../templates/gates_failed.md")),
    ("green_before", include_str!("../../templates/green_before.md")),
    ("go_on", include_str!("../../templates/go_on.md")),
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
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// All templates of a run.
#[derive(Debug)]
pub(crate) struct Prompts {
    environment: Environment<'static>,
}

impl Prompts {
    /// The built-in templates, with the user's files in place of some.
    pub(crate) fn load(workdir: &Path, files: &BTreeMap<String, String>) -> Result<Self, PromptError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        for (name, text) in BUILT_IN {
            add(&mut environment, name, text.to_owned())?;
        }
        for (name, file) in files {
            if !names().contains(&name.as_str()) {
                return Err(PromptError::Unknown { name: name.clone() });
            }
            let path = workdir.join(file);
            let text = std::fs::read_to_string(&path).map_err(|source| PromptError::Unreadable {
                name: name.clone(),
                path: path.display().to_string(),
                source,
            })?;
            add(&mut environment, name, text)?;
        }
        Ok(Self { environment })
    }

    /// Fills a template in.
    pub(crate) fn fill(&self, name: &str, with: impl Into<minijinja::Value>) -> Result<String, PromptError> {
        let bad = |why: minijinja::Error| PromptError::Bad { name: name.to_owned(), why: format!("{why:#}") };
        let template = self.environment.get_template(name).map_err(bad)?;
        template.render(with).map(|text| text.trim().to_owned()).map_err(bad)
    }

    /// The continuation that a policy's users know, or the usual one.
    pub(crate) fn continuation(&self, policy: &str) -> String {
        let own = format!("continuation.{policy}");
        if names().contains(&own.as_str()) { own } else { "continuation".to_owned() }
    }
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
        let exit = gate.exit.map_or_else(|| "did not end in time".to_owned(), |c| format!("exit code {c}"));
        format!("### {} ({exit})\n```\n{}\n```", gate.gate, cut_chars(gate.tail.trim_end(), each))
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
                    id => "c1", restart => 2, checkpoint => "CHECK {{ braces }}", facts => "FACTS", failed => "", task => "TASK"
                })
                .unwrap();
            for part in ["CHECK {{ braces }}", "FACTS", "TASK"] {
                assert!(text.contains(part), "{name}: {text}");
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
