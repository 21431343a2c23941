//! What an agent may do in an unattended run: where the paths of its requests really lie, and the same in words for people.

use std::path::{Component, Path, PathBuf};

use segue_machine::{AgentEvent, GateSpec};

use crate::config::{AgentKind, AgentSettings, Permissions};

/// Replaces the paths of a permission request by the places that they lead to, so that neither `..` nor a link inside the
/// work tree leads out of it unseen.
pub(crate) fn locate(event: &mut AgentEvent, workdir: &Path) {
    if let AgentEvent::PermissionAsked { subject, .. } = event {
        for path in &mut subject.paths {
            *path = real(&workdir.join(&*path), MOST_LINKS).display().to_string();
        }
    }
}

/// Links in links that are followed; a circle ends here.
const MOST_LINKS: u32 = 40;

// Without links and `..`; parts that do not exist stay as they are, and a circle of links leads to the root.
fn real(path: &Path, links: u32) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                plain.push(part);
                // A link that leads nowhere is followed all the same: writing through it makes its target.
                if let Ok(target) = plain.read_link() {
                    let Some(links) = links.checked_sub(1) else { return PathBuf::from("/") };
                    plain.pop();
                    plain = real(&plain.join(target), links);
                }
            }
        }
    }
    plain
}

/// What an agent may do and what it will be denied, in one or two sentences.
pub(crate) fn words(agent: &AgentSettings, gates: &[GateSpec]) -> String {
    let name = &agent.spec.name;
    match (&agent.permissions, agent.kind) {
        (Permissions::Bypass, _) => {
            format!(
                "{name} may do everything: its own permission checks are switched off (--permissions bypass)"
            )
        }
        (_, AgentKind::Command) => {
            format!("{name} is a plain command: segue neither sees nor limits what it does")
        }
        (Permissions::Allow(kinds), _) => {
            format!("{name} may {} without asking; every other request is denied", kinds.join(", "))
        }
        (Permissions::Edit, kind) => edit_words(name, kind, gates),
        (Permissions::Deny, kind) => deny_words(name, kind),
    }
}

fn edit_words(name: &str, kind: AgentKind, gates: &[GateSpec]) -> String {
    let runs: Vec<&str> = gates.iter().filter(|gate| !gate.manual).map(|gate| gate.run.as_str()).collect();
    let commands = match (kind, runs.is_empty()) {
        (AgentKind::Codex | AgentKind::CodexExec, _) => {
            "run commands in Codex's sandbox (writes only here and in $TMPDIR, no network)".to_owned()
        }
        (_, true) => "run no command (there is no gate)".to_owned(),
        (_, false) => format!("run `{}`", runs.join("`, `")),
    };
    let denied = match (kind, runs.is_empty()) {
        (AgentKind::CodexExec, _) => "everything outside the sandbox".to_owned(),
        (AgentKind::Codex, false) => format!("leaving the sandbox, except for `{}`", runs.join("`, `")),
        (AgentKind::Codex, true) => "leaving the sandbox".to_owned(),
        _ => "other commands, files outside, the network".to_owned(),
    };
    format!("{name} may edit files in this directory and {commands}; denied: {denied}")
}

fn deny_words(name: &str, kind: AgentKind) -> String {
    let own = match kind {
        AgentKind::OpenCode => "OpenCode's own rules decide (by default: everything in this directory)",
        AgentKind::Codex => "Codex's own approval_policy and sandbox_mode decide",
        AgentKind::CodexExec => {
            return format!("{name} works in Codex's own sandbox, which decides what it may do");
        }
        AgentKind::Claude | AgentKind::Gemini | AgentKind::Acp | AgentKind::Command => {
            "its own settings decide (by default: it may only read)"
        }
    };
    format!(
        "{name}: {own}; every request is denied. `--permissions edit` lets it edit files here and run the gates"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_inside_the_work_tree_does_not_hide_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let tree = root.join("tree");
        std::fs::create_dir_all(tree.join("src")).unwrap();
        std::os::unix::fs::symlink(&root, tree.join("out")).unwrap();
        std::os::unix::fs::symlink("../gone.txt", tree.join("dangling")).unwrap();
        let located = |path: &str| real(&tree.join(path), MOST_LINKS);
        assert_eq!(located("src/new/a.rs"), tree.join("src/new/a.rs"));
        assert_eq!(located("./src/../b"), tree.join("b"));
        assert_eq!(located("out/secret"), root.join("secret"));
        assert_eq!(located("src/../../secret"), root.join("secret"));
        assert_eq!(located("dangling"), root.join("gone.txt"));
        std::os::unix::fs::symlink("circle", tree.join("circle")).unwrap();
        assert_eq!(located("circle/a"), Path::new("/a"));
    }
}
