//! A world for one test: a repository with a job, a home of its own, the model server, and the built program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use segue_rehearsal::brain::CHECKPOINT_REQUEST;
use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::answer::Thread;
use segue_rehearsal::model_server::script::{Chore, PersonaOptions};
use segue_rehearsal::model_server::{Count, ModelServer, Opening, ServerScript, TruthLine};
use segue_rehearsal::recipe::{self, Recipe, Setup};
use segue_rehearsal::step_log::StepLog;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::inside;

/// A repository with a job in it, and a model server that plays the worker.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) job: Job,
    server: ModelServer,
    env: Vec<(String, String)>,
    /// The tables of the agents in `segue.toml`, where they were set up by recipe.
    agents: String,
}

/// A program that has ended.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

impl World {
    /// A job of `steps` steps, a server that follows `script`, and Claude Code and Codex with windows of its size.
    pub(crate) fn new(steps: u32, script: ServerScript) -> Self {
        let window = script.window;
        let mut world = Self::bare(steps, script, &["claude", "codex"], None);
        world.configure("");
        world.codex_config(window, "");
        world.set_env("CLAUDE_CODE_MAX_CONTEXT_TOKENS", window.to_string());
        world.commit();
        world
    }

    /// The same with other agents, each set up by its recipe and with this window; no file of the user's is needed.
    pub(crate) fn of(agents: &[(&str, u64)], steps: u32, script: ServerScript) -> Self {
        Self::set_up(agents, steps, script, None)
    }

    /// The same, with tokens as `count` counts them.
    pub(crate) fn counted(agents: &[(&str, u64)], steps: u32, script: ServerScript, count: Count) -> Self {
        Self::set_up(agents, steps, script, Some(count))
    }

    fn set_up(agents: &[(&str, u64)], steps: u32, script: ServerScript, count: Option<Count>) -> Self {
        let names: Vec<&str> = agents.iter().map(|(name, _)| *name).collect();
        let mut world = Self::bare(steps, script, &names, count);
        for (name, window) in agents {
            let recipe = world.recipe(name, *window);
            for (path, text) in &recipe.files {
                let path = world.repo().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            world.agents += &agent_table(name, *window, &recipe);
        }
        world.configure("");
        world.commit();
        world
    }

    fn bare(steps: u32, script: ServerScript, agents: &[&str], count: Option<Count>) -> Self {
        let mut dir = tempfile::tempdir().unwrap();
        dir.disable_cleanup(std::env::var_os("SEGUE_REAL_KEEP").is_some());
        let chores = script.persona.chores.iter().map(|chore| placed(chore, dir.path())).collect();
        let persona =
            PersonaOptions { step_log: Some(dir.path().join("steps.log")), chores, ..script.persona };
        let server = ModelServer::counting(ServerScript { persona, ..script }, count).unwrap();
        let world = Self { dir, job: Job { steps }, server, env: Vec::new(), agents: String::new() };
        for folder in ["repo", "home/.codex", "tmp", "bin"] {
            std::fs::create_dir_all(world.root().join(folder)).unwrap();
        }
        let link = |from: PathBuf, name: &str| {
            std::os::unix::fs::symlink(from, world.root().join("bin").join(name)).unwrap();
        };
        for name in agents {
            link(inside::agent(name), name);
        }
        if let Some(node) = inside::on_path("node") {
            link(node, "node");
        }
        for (name, contents) in world.job.files() {
            world.write(&name, &contents);
        }
        world.write("TASK.md", &world.job.task_text());
        world
    }

    /// What makes an agent talk to this world's server.
    pub(crate) fn recipe(&self, agent: &str, window: u64) -> Recipe {
        let setup = Setup { url: self.server.url(), window, output: 4_000, patience_ms: 60_000 };
        let mut recipe = recipe::recipe(agent, &setup).unwrap();
        recipe.args.append(&mut recipe.bypass);
        recipe
    }

    /// Writes `segue.toml`: the agents, the gate, and what the test adds.
    pub(crate) fn configure(&self, more: &str) {
        // An unknown model for Claude Code, so that its window can be set.
        let claude = "[agent.claude]\nmodel = \"scripted-model\"\n";
        let agents = if self.agents.is_empty() { claude } else { &self.agents };
        let gate = format!("[[gate]]\nname = \"check\"\nrun = {:?}\n", self.job.gate());
        let tables = if more.starts_with('[') { 0 } else { more.find("\n[").map_or(more.len(), |at| at + 1) };
        let (top, tables) = more.split_at(tables);
        self.write("segue.toml", &format!("{top}\n{agents}\n{gate}\n{tables}"));
    }

    /// Writes `segue.toml` with this command as the only gate.
    pub(crate) fn only_gate(&self, run: &str) {
        self.write(
            "segue.toml",
            &format!("{}\n[[gate]]\nname = \"check\"\nrun = {}\n", self.agents, quoted(run)),
        );
    }

    /// Writes the configuration of Codex: the scripted model with this window, and what the test adds on top.
    pub(crate) fn codex_config(&self, window: u64, top: &str) {
        let config = format!(
            "model = \"scripted\"\nmodel_provider = \"rig\"\nmodel_context_window = {window}\n\
             check_for_update_on_startup = false\n{top}\n[model_providers.rig]\nname = \"rig\"\n\
             base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"RIG_KEY\"\nrequest_max_retries = 1\n\
             stream_max_retries = 1\nstream_idle_timeout_ms = 4000\n[analytics]\nenabled = false\n",
            self.server.url()
        );
        std::fs::write(self.home().join(".codex/config.toml"), config).unwrap();
    }

    /// Sets a variable for every program that is run in this world.
    pub(crate) fn set_env(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.to_owned(), value.into()));
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn write(&self, name: &str, contents: &str) {
        std::fs::write(self.repo().join(name), contents).unwrap();
    }

    /// Makes the job a repository with one commit.
    pub(crate) fn commit(&self) {
        let git = |args: &[&str]| {
            let done = Command::new("git").args(args).current_dir(self.repo()).output().unwrap();
            assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        git(&["init", "--quiet"]);
        git(&["add", "--all"]);
        git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "the job",
        ]);
    }

    /// What really happened, by the steps' own log.
    pub(crate) fn steps(&self) -> StepLog {
        StepLog::parse(&std::fs::read_to_string(self.root().join("steps.log")).unwrap_or_default())
    }

    /// What the server really saw.
    pub(crate) fn truth(&self) -> Vec<TruthLine> {
        self.server.truth()
    }

    /// The first request of every conversation of the worker, in order: what each successor was told.
    pub(crate) fn openings(&self) -> Vec<Opening> {
        self.server.openings()
    }

    /// What agents sent, in order, where the script keeps it.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.server.bodies().into_iter().map(|(_, body)| body).collect()
    }

    /// The messages of every call of the worker, in order, without the marks for the cache, which move.
    pub(crate) fn talks(&self) -> Vec<Vec<Value>> {
        let truth = self.truth();
        let main: Vec<u64> = truth.iter().filter(|l| l.thread == Thread::Main).map(|l| l.n).collect();
        let bodies = self.server.bodies();
        bodies.iter().filter(|(n, _)| main.contains(n)).map(|(_, body)| messages(body)).collect()
    }

    /// The numbers of the calls that ask for a checkpoint.
    pub(crate) fn bodies_asking(&self) -> Vec<u64> {
        let asking = |body: &Value| body.to_string().contains(CHECKPOINT_REQUEST);
        self.server.bodies().into_iter().filter(|(_, body)| asking(body)).map(|(n, _)| n).collect()
    }

    /// A program with a clean environment and a home of its own, not yet started.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.root().join("bin").display());
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", path)
            .env("SEGUE_TRUST", "1")
            .env("HOME", self.home())
            .env("TMPDIR", self.root().join("tmp"))
            .env("XDG_RUNTIME_DIR", self.root().join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("RIG_KEY", "dummy")
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("ANTHROPIC_BASE_URL", self.server.url())
            .env("SEGUE_WAIT_FIRST", "300ms")
            .env("SEGUE_WAIT_MOST", "1s")
            .env("IS_SANDBOX", "1")
            .env("CLAUDE_CODE_MAX_RETRIES", "1")
            .env("API_TIMEOUT_MS", "6000")
            .envs(
                [
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
                    "DISABLE_TELEMETRY",
                    "DISABLE_ERROR_REPORTING",
                    "DISABLE_AUTOUPDATER",
                ]
                .map(|name| (name, "1")),
            )
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null());
        command
    }

    /// Starts segue and leaves it running; its output goes into files named after its first argument.
    pub(crate) fn launch(&self, args: &[&str]) -> Running {
        let file = |end: &str| self.root().join(format!("{}.{end}", args[0]));
        let (out, err) = (file("out"), file("err"));
        let mut command = self.command(env!("CARGO_BIN_EXE_segue"), args);
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        Running { child: command.spawn().unwrap(), out, err, since: Instant::now() }
    }

    /// Runs segue to its end.
    pub(crate) fn segue(&self, args: &[&str]) -> Done {
        self.launch(args).wait()
    }

    /// Runs the job with an agent that may do everything.
    pub(crate) fn run(&self, agent: &str, more: &[&str]) -> Done {
        let args = ["run", "TASK.md", "--json", "--agent", agent, "--permissions", "bypass"];
        self.segue(&[&args, more].concat())
    }

    /// What the agent wrote in a session.
    pub(crate) fn kept_output(&self, run: &str, session: usize) -> String {
        let path = self.repo().join(format!(".git/segue/runs/{run}/s{session}.out"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// Every process of this world that is still there, by id and command line.
    pub(crate) fn processes_left(&self) -> Vec<String> {
        let own = std::process::id();
        let root = self.root().display().to_string();
        let mut left = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap() {
            let path = entry.unwrap().path();
            let Some(pid) = path.file_name().and_then(|n| n.to_str()?.parse::<u32>().ok()) else { continue };
            let read = |name: &str| std::fs::read(path.join(name)).unwrap_or_default();
            let status = String::from_utf8_lossy(&read("status")).into_owned();
            let ours = inside::has_own_processes()
                || String::from_utf8_lossy(&read("environ")).contains(&format!("TMPDIR={root}/tmp"));
            // The shell that reaps is the first process.
            let counts =
                pid != own && pid != 1 && ours && !status.is_empty() && !status.contains("State:\tZ");
            if counts {
                left.push(format!("{pid} {}", String::from_utf8_lossy(&read("cmdline")).replace('\0', " ")));
            }
        }
        left
    }

    /// Asserts that the job was done by the steps' own log, each step once, and that nothing is left of the run.
    #[track_caller]
    pub(crate) fn assert_done_once(&self, done: &Done) {
        let steps = self.steps();
        let all = self.job.steps;
        assert!(steps.lost(all).is_empty(), "lost {:?}\n{}", steps.lost(all), done.all());
        assert!(steps.half_done().is_empty(), "half done {:?}\n{}", steps.half_done(), done.all());
        assert!(steps.started_twice().is_empty(), "twice {:?}\n{}", steps.started_twice(), done.all());
        self.assert_nothing_left(done);
    }

    #[track_caller]
    pub(crate) fn assert_nothing_left(&self, done: &Done) {
        let left = self.processes_left();
        assert!(left.is_empty(), "left behind: {left:#?}\n{}", done.all());
    }

    /// How many requests were refused because they were too long.
    pub(crate) fn overflow_answers(&self) -> usize {
        self.truth().iter().filter(|line| line.is_overflow()).count()
    }
}

impl Done {
    /// The lines of one type.
    pub(crate) fn of(&self, kind: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == kind).collect()
    }

    /// Every line of output as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The last line of the run.
    #[track_caller]
    pub(crate) fn finished(&self) -> Value {
        self.of("run.finished").pop().unwrap_or_else(|| panic!("{}", self.all()))
    }

    /// The warnings with a code.
    pub(crate) fn warnings(&self, code: &str) -> Vec<String> {
        let coded = self.of("warning").into_iter().filter(|w| w["code"] == code);
        coded.map(|w| w["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The id of the run.
    pub(crate) fn run_id(&self) -> String {
        self.lines()[0]["run"].as_str().unwrap().to_owned()
    }

    /// Both outputs, for messages.
    pub(crate) fn all(&self) -> String {
        let news = self.out.lines().filter(|line| !line.contains("\"gauge.read\"")).collect::<Vec<_>>();
        format!("exit {:?} after {:?}\n{}\n{}", self.code, self.took, news.join("\n"), self.err)
    }

    /// Asserts the verdict and the exit code.
    #[track_caller]
    pub(crate) fn ends(&self, verdict: &str, code: i32) -> &Self {
        assert_eq!(
            (self.code, self.finished()["verdict"].as_str()),
            (Some(code), Some(verdict)),
            "{}",
            self.all()
        );
        self
    }
}

/// A program that runs, with its output in files.
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    since: Instant,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until something is so while it runs.
    #[track_caller]
    pub(crate) fn until(&mut self, mut is_so: impl FnMut() -> bool) {
        while !is_so() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended first: {ended:?}\n{}", self.read().0);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn read(&self) -> (String, String) {
        let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        (read(&self.out), read(&self.err))
    }

    /// Ends it by force, and nothing that it started.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Done {
        let status = self.child.wait().unwrap();
        let (out, err) = self.read();
        Done { code: status.code(), out, err, took: self.since.elapsed() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so; the limit of the test's time ends a wait that is in vain.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The messages of a request, without the marks for the cache, which move.
pub(crate) fn messages(body: &Value) -> Vec<Value> {
    let list = ["messages", "input", "contents"].iter().find_map(|key| body[*key].as_array());
    list.into_iter().flatten().cloned().map(without_cache_marks).collect()
}

// A text with a mark is a list of one part, and without one it may be the text alone.
fn without_cache_marks(mut message: Value) -> Value {
    if let Some(text) = message["content"].as_str() {
        message["content"] = json!([{ "type": "text", "text": text }]);
    }
    let parts = message.get_mut("content").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten() {
        if let Some(part) = part.as_object_mut() {
            part.remove("cache_control");
        }
    }
    message
}

fn agent_table(name: &str, window: u64, recipe: &Recipe) -> String {
    let model = recipe.model.as_deref().unwrap_or_default();
    let list: Vec<String> = recipe.args.iter().map(|arg| quoted(arg)).collect();
    let env: String =
        recipe.env.iter().map(|(name, value)| format!("{name} = {}\n", quoted(value))).collect();
    format!(
        "[agent.{name}]\nmodel = {}\nwindow = {window}\nargs = [{}]\n[agent.{name}.env]\n{env}",
        quoted(model),
        list.join(", ")
    )
}

// `{root}` stands for the folder of the world, which is known only now.
fn placed(chore: &Chore, root: &Path) -> Chore {
    let text = serde_json::to_string(chore).unwrap().replace("{root}", &root.display().to_string());
    serde_json::from_str(&text).unwrap()
}

// JSON strings are TOML strings.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
