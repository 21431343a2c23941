//! The session at work: its adapter and, once it is started, its process.

use std::path::Path;
use std::time::Instant;

use segue_agents::acp::Acp;
use segue_agents::claude::{self, Claude};
use segue_agents::codex::{self, Codex};
use segue_agents::command::Command;
use segue_agents::gemini::{self, Gemini};
use segue_agents::opencode::{self, OpenCode};
use segue_agents::{Act, Adapter, Io, windows};
use segue_machine::policy::Policy;
use segue_machine::{EndHow, Event, SessionReason};

use super::Driver;
use super::child::{self, Control, Handle, Launch, News};
use super::gemini_home::{self, GeminiHome};
use super::tail::Along;
use super::watchdog::unwatched;
use crate::config::{AgentKind, AgentSettings, Permissions, PromptBy};
use crate::permissions;
use crate::process;

/// The session at work.
pub(super) struct Live {
    n: u32,
    agent: AgentSettings,
    adapter: Box<dyn Adapter>,
    process: Option<Handle>,
    heard: Instant,
    along: Option<Along>,
    /// What the agent's hook is to add to the next tool's result.
    hook_context: Option<String>,
}

impl Live {
    /// For how long the agent has not written a byte.
    pub(super) fn quiet_ms(&self) -> u64 {
        let errors = self.process.as_ref().map(|process| process.errors.last());
        let heard = errors.map_or(self.heard, |errors| errors.max(self.heard));
        u64::try_from(heard.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The session's number.
    pub(super) fn n(&self) -> u32 {
        self.n
    }

    /// The session's number, and the id and start time of its process.
    pub(super) fn process(&self) -> Option<(u32, u32, u64)> {
        self.process.as_ref().map(|process| (self.n, process.pid, process.start))
    }

    /// Whether there is a file to be read along, or will be.
    pub(super) fn tails(&self) -> bool {
        self.along.is_some()
    }

    /// Puts what the agent has written into its file, so that a checkpoint can quote it.
    pub(super) fn keep_output(&self) {
        if let Some(process) = &self.process {
            process.output.quiet(false);
        }
    }

    /// Ends the process without ceremony.
    pub(super) fn kill(&self) {
        if let Some(process) = &self.process {
            let _ = process.control.send(Control::Kill);
        }
    }
}

impl Driver {
    pub(super) fn start_session(
        &mut self,
        n: u32,
        agent: &str,
        conversation: Option<String>,
        reason: SessionReason,
    ) {
        let Some(mut settings) = self.agents.iter().find(|a| a.spec.name == agent).cloned() else {
            let why = format!("agent {agent} is not configured any more");
            return self.queue.push_back(Event::SessionNotStarted { session: n, why });
        };
        if reason == SessionReason::Helper {
            settings.permissions = Permissions::default();
        }
        let adapter = self.adapter(&settings, conversation);
        let waits = adapter.starts_with_prompt();
        let (heard, hook_context) = (Instant::now(), None);
        self.live =
            Some(Live { n, agent: settings, adapter, process: None, heard, along: None, hook_context });
        if waits || self.spawn(n, None) {
            self.with_adapter(n, |adapter, io| adapter.open(io));
        }
    }

    fn adapter(&mut self, settings: &AgentSettings, conversation: Option<String>) -> Box<dyn Adapter> {
        let cwd = self.place.store.workdir().display().to_string();
        let policy = self.machine.view().spec.as_ref().map(|s| &s.policy);
        let replaces = policy.is_some_and(Policy::replaces);
        let hints = policy.is_some_and(Policy::hints);
        let model = settings.spec.model.clone();
        let bypass = settings.permissions == Permissions::Bypass;
        let edit = settings.permissions == Permissions::Edit;
        let native = self.machine.view().spec.as_ref().is_some_and(|s| s.policy.native);
        let program = &self.program;
        let command = |which: &str| program.as_ref().map(|p| format!("'{}' hook {which}", p.display()));
        let hook = |which: &str| command(which).filter(|_| replaces);
        match settings.kind {
            AgentKind::Acp => Box::new(Acp::new(cwd, conversation)),
            AgentKind::Command => Box::new(Command::default()),
            AgentKind::Claude => Box::new(Claude::new(claude::Options {
                conversation: uuid::Uuid::new_v4().to_string(),
                resume: conversation,
                model,
                permission: if bypass { claude::Permission::Bypass } else { claude::Permission::Ask },
                no_compaction: replaces,
                brake: command("after-tool").filter(|_| replaces || hints),
                archive: native.then(|| command("archive")).flatten(),
            })),
            AgentKind::Gemini => Box::new(Gemini::new(gemini::Options {
                cwd,
                model,
                bypass,
                brake: hook("before-model").and_then(|hook| self.gemini_brake(settings, &hook)),
            })),
            AgentKind::OpenCode => Box::new(OpenCode::new(opencode::Options {
                no_compaction: replaces,
                resume: conversation,
                model,
                bypass,
                edit,
            })),
            AgentKind::CodexExec => Box::new(codex::CodexExec::new(model, bypass).with_edit(edit)),
            AgentKind::Codex => Box::new(Codex::new(codex::Options {
                cwd,
                resume: conversation,
                model,
                bypass,
                edit,
                compaction_guard: hook("before-compaction"),
            })),
        }
    }

    // Without it the agent is stopped between two tools.
    fn gemini_brake(&mut self, settings: &AgentSettings, hook: &str) -> Option<gemini::Braked> {
        let env: Vec<(String, String)> = settings.env.clone().into_iter().collect();
        match gemini_home::make(&self.place.store.run_dir(&self.place.run), &env) {
            Ok(GeminiHome { settings, .. })
                if gemini_home::hooks_are_off(&settings, self.place.store.workdir()) =>
            {
                self.face.note(
                    "Gemini CLI is run without the brake: its hooks are turned off, and segue does not turn them on",
                );
                None
            }
            Ok(GeminiHome { path, settings }) => Some(gemini::Braked {
                home: path.display().to_string(),
                settings: gemini_home::with_hook(settings, hook).to_string(),
            }),
            Err(error) => {
                self.face.note(&format!("Gemini CLI is run without the brake: its settings: {error}"));
                None
            }
        }
    }

    // Whether there is a process now.
    fn spawn(&mut self, n: u32, prompt: Option<&str>) -> bool {
        let Some(live) = self.live.as_ref().filter(|l| l.n == n) else { return false };
        let launch = self.launch(n, live, prompt);
        let program = launch.command.first().cloned().unwrap_or_default();
        let to = self.sender.clone();
        match unwatched(|| child::spawn(launch, n, to)) {
            Ok(handle) => {
                self.queue.push_back(Event::SessionSpawned {
                    session: n,
                    pid: handle.pid,
                    pid_start: handle.start,
                });
                if let Some(live) = self.live.as_mut() {
                    live.heard = Instant::now();
                    live.process = Some(handle);
                }
                true
            }
            Err(error) => {
                self.live = None;
                let why = format!("{program}: {error}");
                self.queue.push_back(Event::SessionNotStarted { session: n, why });
                false
            }
        }
    }

    fn launch(&self, n: u32, live: &Live, prompt: Option<&str>) -> Launch {
        let (agent, extras) = (&live.agent, live.adapter.extras());
        let mut command = bridge(agent.kind, self.program.as_deref());
        command.extend(agent.command.iter().chain(&extras.args).chain(&agent.args).cloned());
        if let Some(prompt) = prompt.filter(|_| agent.prompt_by == PromptBy::Argument) {
            command.push(prompt.to_owned());
        }
        let run = &self.place.run;
        let mut env: Vec<(String, String)> = agent.env.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        let grace = extras.grace_ms.map(std::time::Duration::from_millis);
        env.extend(extras.env);
        env.push((process::RUN_MARK.to_owned(), run.clone()));
        env.push(("SEGUE_RUN_DIR".to_owned(), self.place.store.run_dir(run).display().to_string()));
        env.push(("SEGUE_SOCKET".to_owned(), self.socket.path().display().to_string()));
        env.push(("SEGUE_TOKEN".to_owned(), self.socket.token().to_owned()));
        Launch {
            command,
            env,
            without: self.place.env.kept_from(agent),
            workdir: self.place.store.workdir().to_owned(),
            output: self.place.store.output(run, n),
            errors: self.place.store.errors(run, n),
            grace,
            files: extras.files,
            mark: format!("{run}.{n}"),
            redactor: self.place.redactor.clone(),
            found: self.place.found.clone(),
        }
    }

    pub(super) fn prompt_agent(&mut self, n: u32, text: String) {
        let Some(live) = self.live.as_ref().filter(|l| l.n == n) else { return };
        let chars = segue_machine::gauge::weigh(&text);
        if live.adapter.starts_with_prompt() && live.process.is_none() {
            let by_stdin = live.agent.prompt_by == PromptBy::Stdin;
            if !self.spawn(n, Some(&text)) {
                return;
            }
            if let Some(process) = self.live.as_mut().and_then(|l| l.process.as_mut()) {
                let (closed, _) = tokio::sync::mpsc::unbounded_channel();
                let input = std::mem::replace(&mut process.input, closed);
                if by_stdin {
                    let _ = input.send(text.into_bytes());
                }
            }
        } else {
            self.with_adapter(n, |adapter, io| adapter.act(Act::Prompt(text), io));
        }
        self.queue.push_back(Event::PromptSent { session: n, chars });
    }

    /// Lets the adapter do something, then writes what it wants written and takes in what it found.
    pub(super) fn with_adapter(&mut self, n: u32, act: impl FnOnce(&mut dyn Adapter, &mut Io)) {
        let Some(live) = self.live.as_mut().filter(|l| l.n == n) else { return };
        let mut io = Io::default();
        act(live.adapter.as_mut(), &mut io);
        live.hook_context = io.hook_context.or(live.hook_context.take());
        if let Some(process) = live.process.as_mut() {
            if !io.write.is_empty() {
                let _ = process.input.send(io.write);
            }
            if io.close {
                let (closed, _) = tokio::sync::mpsc::unbounded_channel();
                process.input = closed;
            }
        }
        let (window, model) = (live.agent.spec.window, live.agent.spec.model.clone());
        for mut event in io.events {
            windows::fill(&mut event, window, model.as_deref());
            permissions::locate(&mut event, self.place.store.workdir());
            self.queue.extend(self.priced(n, &event, model.as_deref()));
            self.queue.push_back(Event::Agent { session: n, event });
        }
    }

    /// Takes in what the agent has written beside its output.
    pub(super) fn read_along(&mut self) {
        let Some(live) = self.live.as_mut() else { return };
        if live.along.is_none()
            && let Some(tail) = live.adapter.tail()
        {
            let extras = live.adapter.extras().env.into_iter();
            let env: Vec<(String, String)> = extras.chain(live.agent.env.clone()).collect();
            live.along = Along::new(&tail, &env);
        }
        let Some(along) = live.along.as_mut() else { return };
        let (n, lines) = (live.n, along.news());
        if !lines.is_empty() {
            live.heard = Instant::now();
        }
        for line in lines {
            self.with_adapter(n, |adapter, io| adapter.tailed(&line, io));
        }
    }

    /// What the agent's hook is to add to the tool's result that it asks about.
    pub(super) fn hook_context(&mut self) -> Option<String> {
        self.live.as_mut().and_then(|live| live.hook_context.take())
    }

    /// The agent gave a sign of life beside its output.
    pub(super) fn heard(&mut self) {
        if let Some(live) = self.live.as_mut() {
            live.heard = Instant::now();
        }
    }

    pub(super) fn agent_news(&mut self, n: u32, news: News) {
        match news {
            News::Lines(lines) => {
                if let Some(live) = self.live.as_mut().filter(|l| l.n == n) {
                    live.heard = Instant::now();
                }
                for line in lines {
                    self.read_along();
                    self.with_adapter(n, |adapter, io| adapter.line(&line, io));
                }
                self.read_along();
            }
            News::Gone { exit, orphans } => {
                if let Some(along) = self.live.as_mut().and_then(|live| live.along.as_mut()) {
                    along.seek();
                }
                self.read_along();
                self.with_adapter(n, |adapter, io| adapter.exited(exit, io));
                gemini_home::remove(&self.place.store.run_dir(&self.place.run));
                self.live = None;
                self.queue.push_back(Event::SessionExited { session: n, exit, orphans });
            }
        }
    }

    pub(super) fn end_session(&mut self, n: u32, how: EndHow) {
        if how == EndHow::Gently {
            self.with_adapter(n, |adapter, io| adapter.act(Act::Close, io));
        }
        let Some(live) = self.live.as_ref().filter(|l| l.n == n) else { return };
        match &live.process {
            Some(process) => {
                let order = if how == EndHow::Gently { Control::Close } else { Control::Kill };
                let _ = process.control.send(order);
            }
            None => {
                self.live = None;
                self.queue.push_back(Event::SessionExited { session: n, exit: None, orphans: 0 });
            }
        }
    }
}

// What stands before the command of an agent that is a server: this program, which turns it into lines.
fn bridge(kind: AgentKind, program: Option<&Path>) -> Vec<String> {
    match program.filter(|_| kind == AgentKind::OpenCode) {
        Some(program) => [&program.display().to_string(), "bridge", "opencode", "--"]
            .map(|word: &str| word.to_owned())
            .to_vec(),
        None => Vec::new(),
    }
}
