//! What commands work on: the folder, its configuration, its journal and its runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_journal::{Journal, Reader, RunRow};
use segue_machine::policy::preset;
use segue_machine::{CommitMode, RunSpec, Task, View};
use segue_redact::{Extra, Redactor};

use super::failure::Failure;
use crate::checkpoint::Workplace;
use crate::config::{
    AgentSettings, ConfigErrors, Flags, Layers, RedactSettings, Settings, redaction, resolve,
};
use crate::gates::shell;
use crate::git::Repo;
use crate::keep::Found;
use crate::private::Private;
use crate::process::lock::{Holder, Lock};
use crate::prompt::Prompts;
use crate::store::Store;

/// Where a command was called, and how it answers.
#[derive(Debug)]
pub(super) struct Place {
    /// The folder that was named or is current.
    pub(super) dir: PathBuf,
    /// JSON instead of words.
    pub(super) json: bool,
}

impl Place {
    /// The folder `dir`, or the current one.
    pub(super) fn new(dir: Option<&Path>, json: bool) -> Result<Self, Failure> {
        let here = dir.map_or_else(std::env::current_dir, Path::canonicalize);
        let name = dir.map_or_else(|| "the current folder".to_owned(), |d| d.display().to_string());
        let dir = here.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        if !dir.is_dir() {
            return Err(Failure::usage(format!("{name} is not a folder")));
        }
        Ok(Self { dir, json })
    }

    /// The store of the work tree: of the repository when there is one, else of the folder itself.
    pub(super) fn store(&self) -> Store {
        let root = Repo::find(&self.dir).ok().map(|repo| repo.root().to_owned());
        let own = Store::at(&self.dir);
        if own.runs().exists() { own } else { root.map_or(own, Store::at) }
    }

    /// The configuration in force here, with these flags.
    pub(super) fn layers(&self, flags: &Flags) -> Result<Layers, Failure> {
        let project = self.store().root().join("segue.toml");
        let user = user_file();
        Ok(Layers::load(user.as_deref(), Some(&project), std::env::vars(), flags)?)
    }

    /// The settings in force here, with these flags.
    /// Where no agent is configured and only one is installed, that one works.
    pub(super) fn settings(&self, flags: &Flags) -> Result<Settings, Failure> {
        let layers = self.layers(flags)?;
        resolve(&layers).or_else(|errors| {
            if errors.only_no_agent()
                && let [only] = super::agents::choices().as_slice()
            {
                self.say_only_agent(only);
                let flags = Flags { agent: Some(only.clone()), ..flags.clone() };
                return Ok(resolve(&self.layers(&flags)?)?);
            }
            Err(Self::no_settings(errors))
        })
    }

    fn say_only_agent(&self, name: &str) {
        use std::io::Write;
        if !self.json {
            let _ = writeln!(
                std::io::stderr().lock(),
                "segue: using {name}, the only agent installed; `segue init` writes a segue.toml for this directory"
            );
        }
    }

    fn no_settings(errors: ConfigErrors) -> Failure {
        if errors.only_no_agent() {
            let found = super::agents::installed();
            let next = if found.is_empty() {
                "no known agent is installed; `segue agents` shows how to get one".to_owned()
            } else {
                format!("installed agents: {}; `segue init` sets one up", found.join(", "))
            };
            return Failure::usage(format!("{errors}\n{next}"));
        }
        errors.into()
    }

    /// What takes secrets out of what is shown here, whether or not an agent is configured.
    pub(super) fn redactor(&self) -> Result<Redactor, Failure> {
        let layers = self.layers(&Flags::default())?;
        match resolve(&layers) {
            Ok(settings) => redactor(&settings),
            Err(errors) if errors.only_no_agent() => redactor_of(&redaction(&layers), &[]),
            Err(errors) => Err(errors.into()),
        }
    }

    /// Every run of this work tree; none before the first one.
    pub(super) fn runs(&self) -> Result<Vec<RunRow>, Failure> {
        let store = self.store();
        store.refuse_link()?;
        Ok(Journal::read(&store.runs()).runs()?)
    }

    /// The journal of this work tree, for reading.
    pub(super) fn reader(&self) -> Result<Reader, Failure> {
        let store = self.store();
        store.refuse_link()?;
        let reader = Journal::read(&store.runs());
        if reader.runs()?.is_empty() {
            let here = store.workdir().display().to_string();
            return Err(Failure::usage(format!(
                "no runs in {here} yet; start one with `segue run \"your task\"`"
            )));
        }
        Ok(reader)
    }

    /// A run by id, the beginning or the end of it, `last` or words of its task; the latest when nothing is typed.
    pub(super) fn run(&self, reader: &Reader, id: Option<&str>) -> Result<RunRow, Failure> {
        match id {
            Some(typed) => super::find::find(reader, typed),
            None => reader.runs()?.into_iter().next().ok_or_else(|| {
                Failure::usage("no runs recorded yet; start one with `segue run \"your task\"`")
            }),
        }
    }
}

/// The process that works on a run, in whichever work tree that is.
pub(super) fn owner(at: &Place, run: &str, view: &View) -> Option<Holder> {
    let store = view.spec.as_ref().map_or_else(|| at.store(), |spec| Store::at(&spec.workdir));
    // A work tree that was moved is known by where it is now.
    let dirs = [store.lock_dir(), at.store().lock_dir()];
    dirs.iter()
        .filter_map(|dir| Lock::holder(dir))
        .find(|holder| holder.is_alive() && (holder.run == run || !holder.is_known()))
}

/// The repository to work in, when git is to be used.
pub(super) fn repo(dir: &Path, settings: &Settings) -> Result<Option<Repo>, Failure> {
    if !settings.git.enabled {
        return Ok(None);
    }
    let repo = Repo::find(dir)?.leaving_out(own_paths(settings));
    if settings.git.commit == CommitMode::Branch && !settings.git.allow_dirty && repo.is_dirty()? {
        return Err(Failure::usage(
            "there are uncommitted changes, and this policy commits on the branch: \
             commit or stash them, or use --allow-dirty or --no-auto-commit",
        ));
    }
    Ok(Some(repo))
}

/// The preset that a run was begun with, so that what it promises holds when the run is taken up.
pub(super) fn preset_of(spec: &RunSpec) -> Option<String> {
    preset::find(&spec.policy.name).map(|preset| preset.policy.name)
}

/// What segue itself writes into the work tree.
pub(super) fn own_paths(settings: &Settings) -> Vec<String> {
    settings.checkpoint.forms.paths().map(|(_, path)| path.to_owned()).collect()
}

/// Where a run works.
pub(super) fn workplace(
    store: Store,
    run: &str,
    repo: Option<Repo>,
    settings: &Settings,
) -> Result<Workplace, Failure> {
    let prompts = Prompts::load(store.root(), &settings.prompts)?;
    let forms = settings.checkpoint.forms.clone();
    forms.check(store.workdir())?;
    let checkpoints = forms.dir(&store)?;
    let (redactor, private) = (redactor(settings)?, Private::read(&store.run_dir(run)));
    Ok(Workplace {
        run: run.to_owned(),
        store,
        checkpoints,
        forms,
        repo,
        prompts: Arc::new(prompts),
        account_tokens: settings.checkpoint.account_tokens,
        redactor,
        found: Found::default(),
        private,
        env: settings.env.clone(),
    })
}

/// What takes secrets out of everything that is kept, by the configuration and by what is secret in the environment.
pub(super) fn redactor(settings: &Settings) -> Result<Redactor, Failure> {
    redactor_of(&settings.redact, &settings.agents)
}

fn redactor_of(redact: &RedactSettings, agents: &[AgentSettings]) -> Result<Redactor, Failure> {
    let given = agents.iter().flat_map(|agent| agent.env.clone());
    let extra = redact.patterns.iter();
    let options = segue_redact::Options {
        values: segue_redact::secret_env(std::env::vars().chain(given)),
        allow: redact.allow.clone(),
        emails: redact.emails,
        payment: redact.payment,
        extra: extra.map(|(name, pattern)| Extra { name: name.clone(), pattern: pattern.clone() }).collect(),
        enabled: redact.enabled,
    };
    Redactor::new(options).map_err(|error| Failure::usage(error.to_string()))
}

/// Makes sure that every agent can be started, before anything is written.
pub(super) fn check_agents(agents: &[AgentSettings], workdir: &Path) -> Result<(), Failure> {
    for agent in agents {
        let program = agent.command.first().map_or("", String::as_str);
        find_program(program, workdir).map_err(|why| {
            let name = &agent.spec.name;
            Failure::usage(format!("agent {name}: {why}; install it, or set `command` in [agent.{name}]"))
        })?;
    }
    Ok(())
}

/// Makes sure that what was set up can do what it is for, before anything is written: a gate that can be started, a
/// window that the task fits into.
pub(super) fn check_setup(settings: &Settings, task: Option<&Task>, workdir: &Path) -> Result<(), Failure> {
    for gate in settings.gates.iter().filter(|gate| !gate.manual) {
        let Some(program) = shell::first_program(&gate.run) else { continue };
        find_program(&program, workdir).map_err(|why| {
            let hint = if program.contains('/') {
                format!("if the agent will create it, write the gate as `sh {program}`")
            } else {
                "install it, or correct `run` of the gate".to_owned()
            };
            Failure::usage(format!("gate {}: {why}; {hint}", gate.name))
        })?;
    }
    for agent in &settings.agents {
        let spec = &agent.spec;
        if let (Some(window), Some(budget)) = (spec.window, spec.budget)
            && budget >= window
        {
            return Err(Failure::usage(format!(
                "agent {}: budget = {budget} has no effect, its window is {window}; lower the budget or remove it",
                spec.name
            )));
        }
    }
    task.map_or(Ok(()), |task| check_task(settings, task))
}

// Text has hardly ever more than five characters a token: what is refused would not fit for certain.
fn check_task(settings: &Settings, task: &Task) -> Result<(), Failure> {
    const MOST_CHARS_PER_TOKEN: u64 = 5;
    let Some(agent) = settings.agents.first().map(|agent| &agent.spec) else { return Ok(()) };
    let listed = || agent.model.as_deref().and_then(segue_agents::windows::window);
    let window = agent.window.or_else(listed).into_iter().chain(agent.budget).min();
    let least = task.text.chars().count() as u64 / MOST_CHARS_PER_TOKEN;
    match window {
        Some(window) if least > window => Err(Failure::usage(format!(
            "the task does not fit: it has at least {least} tokens, and the window of {} is {window}; move material into files that the task names, or use a larger window",
            agent.name
        ))),
        _ => Ok(()),
    }
}

/// Where a program lies, or why it cannot be started.
pub(super) fn find_program(program: &str, workdir: &Path) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        let path = workdir.join(program);
        return match (path.exists(), runs(&path)) {
            (_, true) => Ok(path),
            (true, false) => Err(format!("{program} is not executable")),
            (false, false) => Err(format!("{program} does not exist")),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A relative folder on PATH would be one of the repository.
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    let found = dirs.map(|dir| dir.join(program)).find(|path| runs(path));
    found.ok_or_else(|| format!("{program} is not on PATH"))
}

/// The settings of the user for every repository.
pub(super) fn user_file() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")))?;
    Some(base.join("segue").join("segue.toml"))
}
