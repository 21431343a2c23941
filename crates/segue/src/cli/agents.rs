//! `segue agents`: which agents segue knows, which are here in which version, how each is driven and how exact its gauge is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use segue_agents::windows;
use serde_json::{Value, json};

use super::failure::Failure;
use super::known::{self, Facts};
use super::open::{Place, find_program};
use super::{agents_cache, out, version};
use crate::config::{AgentKind, AgentSettings, Flags, KNOWN_AGENTS, Permissions};
use crate::trust::project;

/// Where programs are asked for their version: in no repository, whose files some of them would read.
const NOWHERE: &str = "/";

/// One agent as it was found here.
#[derive(Debug)]
pub(super) struct Look {
    /// Its name.
    pub(super) name: String,
    /// It is named in the configuration, not only known.
    pub(super) configured: bool,
    /// Where its program lies, or why it cannot be started.
    pub(super) path: Result<PathBuf, String>,
    /// Its version, or why it is not known.
    version: Result<String, String>,
    /// What this version cannot do and would have to.
    pub(super) lacks: Vec<&'static str>,
    /// Why it would refuse to work as it is configured.
    pub(super) refuses: Option<&'static str>,
    command: Vec<String>,
    facts: Facts,
    notes: Vec<&'static str>,
}

/// An agent that is to be looked at.
struct Wanted {
    name: String,
    configured: bool,
    kind: AgentKind,
    command: Vec<String>,
    env: BTreeMap<String, String>,
    bypass: bool,
    /// The project's own file says how it is started.
    from_project: bool,
}

/// The known agents whose program is on PATH.
pub(super) fn installed() -> Vec<String> {
    let here = |command: &[&str]| command.first().is_some_and(|p| find_program(p, Path::new(".")).is_ok());
    KNOWN_AGENTS.iter().filter(|b| here(b.command)).map(|b| b.name.to_owned()).collect()
}

/// The installed agents to choose from: a program once, and an ACP adapter only where the CLI itself is not installed.
pub(super) fn choices() -> Vec<String> {
    let here = |command: &[&str]| command.first().is_some_and(|p| find_program(p, Path::new(".")).is_ok());
    let mut programs = std::collections::BTreeSet::new();
    let known = KNOWN_AGENTS.iter().filter(|b| here(b.command) && programs.insert(b.command.first()));
    let names: Vec<&str> = known.map(|b| b.name).collect();
    let is_second = |name: &str| name.strip_suffix("-acp").is_some_and(|own| names.contains(&own));
    names.iter().filter(|name| !is_second(name)).map(|name| (*name).to_owned()).collect()
}

/// Lists configured agents first, then the known ones; or the table of windows.
pub(super) fn agents(at: &Place, windows: bool) -> Result<u8, Failure> {
    if windows {
        out::lines(window_lines(at.json));
        return Ok(0);
    }
    for look in look(at) {
        if at.json {
            out::line(&look.json().to_string());
        } else {
            out::lines(look.words());
        }
    }
    Ok(0)
}

/// Looks at every configured and every known agent, all at once.
pub(super) fn look(at: &Place) -> Vec<Look> {
    let workdir = at.store().workdir().to_owned();
    let wanted = wanted(at);
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            wanted.into_iter().map(|wanted| scope.spawn(|| wanted.look(&workdir))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Looks at the agents that would work here, or else at those that could, and hands each over as soon as it has answered.
pub(super) fn look_each(at: &Place, mut tell: impl FnMut(Look)) {
    let workdir = at.store().workdir().to_owned();
    let wanted = wanted(at);
    let chosen = wanted.iter().any(|wanted| wanted.configured);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for wanted in wanted.into_iter().filter(|wanted| wanted.configured || !chosen) {
            let (sender, workdir) = (sender.clone(), &workdir);
            scope.spawn(move || sender.send(wanted.look(workdir)).is_ok());
        }
        drop(sender);
        for look in receiver {
            tell(look);
        }
    });
}

fn wanted(at: &Place) -> Vec<Wanted> {
    let layers = at.layers(&Flags::default()).ok();
    let settings = layers.as_ref().and_then(|layers| crate::config::resolve(layers).ok());
    let from_project = |name: &str| layers.as_ref().is_some_and(|layers| project::starts(layers, name));
    let configured: Vec<AgentSettings> = settings.map(|settings| settings.agents).unwrap_or_default();
    let known = KNOWN_AGENTS.iter().filter(|known| configured.iter().all(|a| a.spec.name != known.name));
    let known = known.map(|known| Wanted {
        name: known.name.to_owned(),
        configured: false,
        kind: known.kind,
        command: known.command.iter().map(|c| (*c).to_owned()).collect(),
        env: BTreeMap::new(),
        bypass: false,
        from_project: false,
    });
    let known: Vec<Wanted> = known.collect();
    let configured = configured.into_iter().map(|agent| Wanted {
        from_project: from_project(&agent.spec.name),
        name: agent.spec.name,
        configured: true,
        kind: agent.kind,
        command: agent.command,
        env: agent.env,
        bypass: agent.permissions == Permissions::Bypass,
    });
    configured.chain(known).collect()
}

// A program in the work tree is the repository's, whatever names it.
fn lies_in(program: &Path, workdir: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    program.starts_with(workdir) || real(program).starts_with(real(workdir))
}

impl Wanted {
    fn look(self, workdir: &Path) -> Look {
        let facts = known::facts(&self.name, self.kind);
        let path = find_program(self.command.first().map_or("", String::as_str), workdir);
        let theirs = self.from_project || path.as_ref().is_ok_and(|path| lies_in(path, workdir));
        let kept = path.as_ref().ok().filter(|_| !theirs);
        let kept = kept.and_then(|path| agents_cache::known(path, &self.command));
        let version = match (&path, known::version_command(self.kind, &self.command)) {
            _ if kept.is_some() => kept.as_ref().map(|kept| kept.version.clone()).ok_or_else(String::new),
            (Err(_), _) => Err("not installed".to_owned()),
            _ if theirs => {
                Err("the project's own settings say how it starts, so it was not started".to_owned())
            }
            (_, None) => Err("segue does not know this program, so it was not started".to_owned()),
            (Ok(_), Some(command)) => version::ask(&command, &self.env, Path::new(NOWHERE))
                .and_then(|text| version::find(&text).ok_or_else(|| "it did not say".to_owned())),
        };
        let tested = version.as_ref().is_ok_and(|v| facts.tested.contains(&v.as_str()));
        let lacks = match (&kept, version.is_ok() && !tested) {
            (_, false) => Vec::new(),
            (Some(kept), true) => facts.words().filter(|word| kept.lacks.iter().any(|l| l == word)).collect(),
            (None, true) => self.lacks(&facts),
        };
        if let (None, Ok(path), Ok(version)) = (&kept, &path, &version) {
            let lacks = lacks.iter().map(|word| (*word).to_owned()).collect();
            let answer = agents_cache::Answer { version: version.clone(), lacks };
            agents_cache::keep(path, &self.command, &answer);
        }
        let mut notes = facts.notes.to_vec();
        let root = self.kind == AgentKind::Claude && rustix::process::geteuid().is_root();
        let sandboxed = self.env.contains_key("IS_SANDBOX") || std::env::var_os("IS_SANDBOX").is_some();
        let refused = root && !sandboxed;
        let refuses = (refused && self.bypass).then_some(AS_ROOT);
        if refused && !self.bypass {
            notes.push(AS_ROOT);
        }
        let Self { name, configured, command, .. } = self;
        Look { name, configured, path, version, lacks, refuses, command, facts, notes }
    }

    fn lacks(&self, facts: &Facts) -> Vec<&'static str> {
        let Some((args, words)) = facts.needs else { return Vec::new() };
        let command: Vec<String> =
            self.command.iter().cloned().chain(args.iter().map(|a| (*a).to_owned())).collect();
        // Without an answer nothing is known to be lacking.
        version::ask(&command, &self.env, Path::new(NOWHERE))
            .map_or_else(|_| Vec::new(), |help| known::lacking(words, &help))
    }
}

/// Whether to call a place a sandbox is for the user to decide, not for segue.
const AS_ROOT: &str = "as root it refuses --permissions bypass unless IS_SANDBOX=1 is in its environment, which is \
                       for you to decide; --permissions allow=… works without";

impl Look {
    /// Its version and whether that one was tested, in words.
    pub(super) fn version_words(&self) -> String {
        let tested = self.facts.tested.join(" and ");
        match (&self.version, tested.as_str()) {
            (Ok(version), _) if self.is_tested() => format!("{version} (tested)"),
            (Ok(version), "") => version.clone(),
            (Ok(version), tested) => format!("{version} (not tested; {tested} was)"),
            (Err(why), _) => format!("version unknown: {why}"),
        }
    }

    /// What is wrong with it, and what to do; `None` when it can work.
    pub(super) fn trouble(&self) -> Option<String> {
        let get = self.facts.get;
        let update = get.map_or_else(String::new, |get| format!("; update it: {get}"));
        let instead = self.facts.instead.map_or_else(String::new, |name| format!(", or use {name}"));
        match (&self.path, self.refuses) {
            (Err(why), _) => Some(match get {
                Some(get) => format!("{why}; get it: {get}"),
                None => why.clone(),
            }),
            (Ok(_), Some(why)) => Some(why.to_owned()),
            (Ok(_), None) if self.lacks.is_empty() => None,
            (Ok(_), None) => Some(format!("this version lacks {}{update}{instead}", self.lacks.join(", "))),
        }
    }

    /// How it is driven, in words.
    pub(super) fn driven(&self) -> &'static str {
        self.facts.driven
    }

    fn is_tested(&self) -> bool {
        self.version.as_ref().is_ok_and(|v| self.facts.tested.contains(&v.as_str()))
    }

    fn json(&self) -> Value {
        json!({
            "agent": self.name, "from": if self.configured { "configured" } else { "known" },
            "installed": self.path.is_ok(), "path": self.path.as_ref().ok(), "missing": self.path.as_ref().err(),
            "version": self.version.as_ref().ok(), "tested": self.is_tested(), "tested_versions": self.facts.tested,
            "command": self.command, "driven_by": self.facts.driven_by, "gauge": self.facts.gauge,
            "trouble": self.trouble(), "get": self.facts.get, "notes": self.notes,
        })
    }

    fn words(&self) -> Vec<String> {
        let mark = match (&self.path, self.trouble()) {
            (Ok(_), None) => "here",
            (Ok(_), Some(_)) => "TROUBLE",
            (Err(_), _) => "missing",
        };
        let mut lines = vec![format!("{mark:<8} {:<11} {}", self.name, self.driven())];
        let mut more = |text: String| lines.push(format!("{:<21}{text}", ""));
        if let Ok(path) = &self.path {
            more(format!("{}, {}", path.display(), self.version_words()));
        }
        if let Some(trouble) = self.trouble() {
            more(trouble);
        }
        if self.path.is_ok() {
            more(format!("gauge: {}", self.facts.gauge));
            self.notes.iter().for_each(|note| more(format!("note: {note}")));
        }
        lines
    }
}

fn window_lines(json: bool) -> Vec<String> {
    let entries = windows::TABLE.iter();
    if json {
        let line = |e: &windows::Entry| json!({ "model": e.model, "vendor": e.vendor, "window": e.window, "note": e.note, "as_of": windows::AS_OF });
        return entries.map(|entry| line(entry).to_string()).collect();
    }
    let head = format!(
        "windows as of {}, used when neither the agent nor your settings name one; `window` in [agent.NAME] overrides them",
        windows::AS_OF
    );
    let rows = entries.map(|e| format!("{:<20} {:>9}  {:<10} {}", e.model, e.window, e.vendor, e.note));
    std::iter::once(head).chain(rows).collect()
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
