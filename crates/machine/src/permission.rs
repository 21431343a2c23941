//! Whether an agent may do what it asks for: by the kinds that are allowed, or by `edit`, which allows changes inside the
//! work tree and the gates' commands.
//!
//! Paths are compared as text: whoever reports a request resolves links and relative paths first.

use serde::{Deserialize, Serialize};

use crate::{AgentSpec, RunSpec};

/// What a permission request is about, as far as the agent says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The command that it wants to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The files and folders that it wants to use, as absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl Subject {
    /// A request that says nothing beside its kind and title.
    pub fn is_empty(&self) -> bool {
        self.command.is_none() && self.paths.is_empty()
    }
}

/// Kinds that change files.
const CHANGES: [&str; 3] = ["edit", "delete", "move"];
/// Kinds that change nothing.
const LOOKS: [&str; 3] = ["read", "search", "think"];
/// Folders of the work tree whose files decide what programs run.
const KEPT_OUT: [&str; 1] = [".git"];

/// Whether the agent may do this.
pub(crate) fn grants(agent: &AgentSpec, run: &RunSpec, kind: &str, subject: &Subject) -> bool {
    if agent.allow.iter().any(|allowed| allowed == "*" || allowed == kind) {
        return true;
    }
    let inside = || subject.paths.iter().all(|path| is_inside(path, &run.workdir));
    agent.edits
        && match kind {
            _ if LOOKS.contains(&kind) => inside(),
            _ if CHANGES.contains(&kind) => !subject.paths.is_empty() && inside(),
            "execute" => inside() && subject.command.as_deref().is_some_and(|command| is_gate(command, run)),
            _ => false,
        }
}

/// The value of `--permissions` that allows this kind as well.
pub(crate) fn wider(agent: &AgentSpec, kind: &str) -> String {
    let own = if agent.edits { vec!["edit".to_owned()] } else { Vec::new() };
    let mut kinds: Vec<String> = own.into_iter().chain(agent.allow.clone()).collect();
    if !kinds.iter().any(|known| known == kind) {
        kinds.push(kind.to_owned());
    }
    format!("allow={}", kinds.join(","))
}

fn is_inside(path: &str, workdir: &str) -> bool {
    let workdir = workdir.trim_end_matches('/');
    let Some(rest) = path.strip_prefix(workdir) else { return false };
    let mut parts = rest.split('/').filter(|part| !part.is_empty());
    let below = rest.is_empty() || rest.starts_with('/');
    below && parts.clone().all(|part| part != "..") && !parts.any(|part| KEPT_OUT.contains(&part))
}

// Agents like to change into the folder that they are in.
fn is_gate(command: &str, run: &RunSpec) -> bool {
    let command = command.trim();
    let bare = command
        .strip_prefix("cd ")
        .and_then(|rest| rest.split_once("&&"))
        .filter(|(dir, _)| dir.trim().trim_matches(['\'', '"']) == run.workdir)
        .map_or(command, |(_, rest)| rest.trim());
    run.gates.iter().any(|gate| !gate.manual && gate.run.trim() == bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GateSpec;
    use crate::policy::preset;

    fn run() -> RunSpec {
        let policy = preset::find("auto").unwrap().policy;
        let mut run = RunSpec::new("x", vec![AgentSpec { edits: true, ..AgentSpec::default() }], policy);
        run.workdir = "/w/repo".to_owned();
        run.gates = vec![GateSpec::new("t", "npm test && true", 60_000)];
        run
    }

    fn paths(list: &[&str]) -> Subject {
        Subject { command: None, paths: list.iter().map(|path| (*path).to_owned()).collect() }
    }

    fn command(text: &str) -> Subject {
        Subject { command: Some(text.to_owned()), paths: Vec::new() }
    }

    #[test]
    fn edit_allows_changes_inside_the_work_tree_and_nowhere_else() {
        let run = run();
        let may = |kind: &str, list: &[&str]| grants(&run.agents[0], &run, kind, &paths(list));
        assert!(may("edit", &["/w/repo/src/a.rs"]) && may("delete", &["/w/repo/a", "/w/repo/b"]));
        for outside in [
            "/w/other/a",
            "/w/repository/a",
            "/w/repo/../other/a",
            "/w/repo/.git/hooks/pre-commit",
            "src/a.rs",
            "",
        ] {
            assert!(!may("edit", &[outside]), "{outside}");
            assert!(!may("edit", &["/w/repo/a", outside]), "{outside}");
        }
        assert!(!may("edit", &[]), "an edit that does not say where");
        assert!(may("read", &[]) && may("search", &["/w/repo"]) && !may("read", &["/etc/passwd"]));
        assert!(!may("fetch", &[]) && !may("external_directory", &["/w/repo/a"]));
    }

    #[test]
    fn edit_allows_the_gates_commands_and_no_other() {
        let run = run();
        let may = |text: &str| grants(&run.agents[0], &run, "execute", &command(text));
        assert!(
            may("npm test && true") && may(" npm test && true\n") && may("cd /w/repo && npm test && true")
        );
        for other in
            ["npm test", "npm test && true; rm -rf x", "cd /etc && npm test && true", "npm", "", "cd /w/repo"]
        {
            assert!(!may(other), "{other}");
        }
        let elsewhere = Subject { paths: vec!["/etc".to_owned()], ..command("npm test && true") };
        assert!(!grants(&run.agents[0], &run, "execute", &elsewhere), "the gate's command in another folder");
        assert!(!grants(&run.agents[0], &run, "execute", &Subject::default()));
        let mut manual = run.clone();
        manual.gates[0].manual = true;
        assert!(!grants(&manual.agents[0], &manual, "execute", &command("npm test && true")));
    }

    #[test]
    fn without_edit_only_the_kinds_that_are_listed_count() {
        let run = run();
        let agent = AgentSpec { allow: vec!["execute".to_owned()], ..AgentSpec::default() };
        assert!(grants(&agent, &run, "execute", &command("anything")));
        assert!(!grants(&agent, &run, "edit", &paths(&["/w/repo/a"])));
        assert_eq!(wider(&agent, "edit"), "allow=execute,edit");
        assert_eq!(wider(&run.agents[0], "execute"), "allow=edit,execute");
        assert_eq!(wider(&AgentSpec::default(), "fetch"), "allow=fetch");
        assert_eq!(wider(&run.agents[0], "edit"), "allow=edit");
    }
}
