//! A world for one test: a repository, a job, a scripted agent, and the built program to run in it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;
use segue_rehearsal::step_log::StepLog;
use serde_json::Value;
use tempfile::TempDir;

/// A repository with a job in it and an agent that can do it.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) job: Job,
    env: Vec<(String, String)>,
}

/// A program that has ended.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    /// A job of `steps` steps in a fresh repository, and an agent that follows `script`.
    pub(crate) fn new(steps: u32, script: Script) -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap(), job: Job { steps }, env: Vec::new() };
        std::fs::create_dir_all(world.repo()).unwrap();
        for (name, contents) in world.job.files() {
            world.write(&name, &contents);
        }
        world.write("TASK.md", &world.job.task_text());
        world.script(script);
        world.git(&["init", "--quiet"]);
        world.configure("");
        world.commit("the job");
        world
    }

    /// Replaces the agent's script.
    pub(crate) fn script(&self, script: Script) {
        let script = Script { step_log: Some(self.log()), ..script };
        std::fs::write(self.script_file(), serde_json::to_string(&script).unwrap()).unwrap();
    }

    /// Writes `segue.toml`: the scripted agent, the job's gate, and what the test adds (top-level keys first).
    pub(crate) fn configure(&self, more: &str) {
        let tables = if more.starts_with('[') { 0 } else { more.find("\n[").map_or(more.len(), |at| at + 1) };
        let (top, tables) = more.split_at(tables);
        let agent = format!(
            "[agent.scripted]\nkind = \"acp\"\ncommand = [{:?}, \"scripted-agent\", \"--script\", {:?}]\n",
            env!("CARGO_BIN_EXE_segue"),
            self.script_file()
        );
        let gate = format!("[[gate]]\nname = \"check\"\nrun = {:?}\n", self.job.gate());
        let head = if top.contains("agents") { "" } else { "agents = [\"scripted\"]\n" };
        self.write("segue.toml", &format!("{head}{top}\n{agent}\n{gate}\n{tables}"));
    }

    /// Sets a variable for every program that is run in this world.
    pub(crate) fn set_env(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.to_owned(), value.into()));
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// Where segue keeps what it knows about the repository; without git, about the only folder that it worked in.
    pub(crate) fn state_dir(&self) -> PathBuf {
        let own = self.repo().join(".git");
        if own.exists() { own.join("segue") } else { only(&self.user_state().join("repositories")) }
    }

    /// The user's state folder.
    pub(crate) fn user_state(&self) -> PathBuf {
        self.root().join(".local/state/segue")
    }

    /// The folder of the work trees of phases.
    pub(crate) fn trees(&self) -> PathBuf {
        only(&self.user_state().join("trees"))
    }

    /// A file of the state folder.
    pub(crate) fn read_state(&self, name: &str) -> String {
        std::fs::read_to_string(self.state_dir().join(name)).unwrap_or_default()
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.dir.path().join("steps.log")
    }

    pub(crate) fn script_file(&self) -> PathBuf {
        self.dir.path().join("script.json")
    }

    pub(crate) fn write(&self, name: &str, contents: &str) {
        let path = self.repo().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.repo().join(name)).unwrap_or_default()
    }

    /// What really happened, by the steps' own log.
    pub(crate) fn steps(&self) -> StepLog {
        StepLog::parse(&std::fs::read_to_string(self.log()).unwrap_or_default())
    }

    /// Runs git in the repository and returns what it printed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(self.repo()).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            message,
        ]);
    }

    /// The program with a clean environment and a home of its own, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        command
            .args(args)
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("XDG_RUNTIME_DIR", self.dir.path())
            .env("LANG", "C.UTF-8")
            .env("SEGUE_TRUST", "1")
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn segue(&self, args: &[&str]) -> Done {
        let output = self.command(args).output().unwrap();
        Done {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The only entry of a folder; one that does not exist when there is none.
pub(crate) fn only(dir: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    let first = entries.next().unwrap_or_else(|| dir.join("none"));
    assert_eq!(entries.next(), None, "one place in {}", dir.display());
    first
}

/// The folder of the only plan of a world.
pub(crate) fn only_plan(world: &World) -> PathBuf {
    let plans = world.state_dir().join("plans").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut plans: Vec<PathBuf> = plans.filter(|path| path.is_dir()).collect();
    assert_eq!(plans.len(), 1, "{plans:?}");
    plans.remove(0)
}

impl Done {
    /// Every line of output as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// The lines of one type.
    pub(crate) fn of(&self, kind: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == kind).collect()
    }

    /// Both outputs, for messages.
    pub(crate) fn all(&self) -> String {
        format!("exit {:?}\n{}\n{}", self.code, self.out, self.err)
    }
}

/// A program that runs, with its output in files.
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl World {
    /// Starts the program and leaves it running; its output goes into files named after `name`.
    pub(crate) fn launch(&self, args: &[&str], name: &str) -> Running {
        self.launch_with(args, name, &[])
    }

    /// The same with more variables, for this program only.
    pub(crate) fn launch_with(&self, args: &[&str], name: &str, env: &[(&str, &str)]) -> Running {
        let (out, err) = (self.root().join(format!("{name}.out")), self.root().join(format!("{name}.err")));
        let file = |path: &Path| std::fs::File::create(path).unwrap();
        let mut command = self.command(args);
        command.envs(env.iter().copied()).stdout(file(&out)).stderr(file(&err));
        let child = command.spawn().unwrap();
        Running { child, out, err }
    }

    /// The journal of this work tree, once there is one.
    pub(crate) fn journal(&self) -> Option<segue_journal::Reader> {
        Some(segue_journal::Journal::read(&self.state_dir().join("runs")))
    }

    /// The latest run.
    pub(crate) fn run_id(&self) -> Option<String> {
        Some(self.journal()?.runs().ok()?.into_iter().next()?.id)
    }

    /// Every event of a run, as it was stored.
    pub(crate) fn events(&self, run: &str) -> Vec<segue_journal::StoredEvent> {
        self.journal().map_or_else(Vec::new, |journal| journal.events(run, 0, 100_000).unwrap())
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, as `kill` knows it.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.pid().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// What it has written so far.
    pub(crate) fn so_far(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Done {
        let mut status = None;
        until("the program to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        Done { code: status.and_then(|s| s.code()), out: read(&self.out), err: read(&self.err) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a compressed file.
pub(crate) fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// Compresses a text into a file.
pub(crate) fn pack(path: &Path, text: &str) {
    let file = std::fs::File::create(path).unwrap();
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap();
}

/// The Markdown beside a stored checkpoint.
pub(crate) fn markdown_of(path: &Path) -> String {
    let name = path.to_string_lossy().replace(".json.gz", ".md");
    std::fs::read_to_string(name).unwrap()
}

/// Waits until something is so; a minute without it is a failure.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < end, "waited for {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A script whose windows hold about four steps each under the usual policy: quick, and with room to be asked.
pub(crate) fn small() -> Script {
    Script {
        window: 40_000,
        system_tokens: 20_000,
        step_output_chars: 8_000,
        think_ms: 25,
        ..Script::default()
    }
}

impl World {
    /// Writes `segue.toml` with the scripted agent and nothing else but `more`: no gate.
    pub(crate) fn configure_without_gate(&self, more: &str) {
        self.configure(more);
        let gate = format!("[[gate]]\nname = \"check\"\nrun = {:?}\n", self.job.gate());
        self.write("segue.toml", &self.read("segue.toml").replace(&gate, ""));
    }

    /// Puts shell code into `step.sh`, to be run after a step's start was noted; `$n` is the step.
    pub(crate) fn in_step(&self, code: &str) {
        let script = self.read("step.sh").replace("note start\n", &format!("note start\n{code}\n"));
        self.write("step.sh", &script);
        self.commit("step.sh does more");
    }

    /// Where the scripted agent keeps its conversations, for a script's `state_dir`.
    pub(crate) fn keep_conversations(&self, script: Script) {
        self.script(Script { state_dir: Some(self.root().join("conversations")), ..script });
    }

    /// The prompts that each session got, in order; only with [`Self::keep_conversations`].
    pub(crate) fn prompts(&self) -> Vec<Vec<String>> {
        let of = |id: &&str| {
            let path = self.root().join("conversations").join(format!("{id}.jsonl"));
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let entries = text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
            let prompts = entries.filter(|e| e["role"] == "prompt");
            prompts.map(|e| e["text"].as_str().unwrap().to_owned()).collect()
        };
        self.steps().sessions().iter().map(of).collect()
    }

    /// Every stored checkpoint, oldest first.
    pub(crate) fn checkpoints(&self) -> Vec<Value> {
        let mut found: Vec<Value> =
            self.checkpoint_files().iter().map(|p| serde_json::from_str(&unpacked(p)).unwrap()).collect();
        found.sort_by_key(|c| c["created_at"].as_str().unwrap().to_owned());
        found
    }

    /// The files of the stored checkpoints.
    pub(crate) fn checkpoint_files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.state_dir().join("checkpoints")).unwrap();
        let paths = entries.map(|e| e.unwrap().path());
        paths.filter(|p| p.to_string_lossy().ends_with(".json.gz")).collect()
    }

    /// The refs under `refs/segue/`, in order.
    pub(crate) fn snapshots(&self) -> Vec<String> {
        let refs = self.git(&["for-each-ref", "--format=%(refname)", "refs/segue"]);
        refs.lines().map(str::to_owned).collect()
    }

    /// The files in the newest snapshot, one a line.
    pub(crate) fn last_saved(&self) -> String {
        let serial =
            |name: &String| name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<u64>().ok();
        let newest = self.snapshots().into_iter().max_by_key(serial).unwrap();
        self.git(&["ls-tree", "-r", "--name-only", &newest])
    }

    /// Asserts that every step of the job was done, and none twice.
    #[track_caller]
    pub(crate) fn assert_each_step_once(&self, done: &Done) {
        let steps = self.steps();
        assert!(
            steps.lost(self.job.steps).is_empty(),
            "lost {:?}\n{}",
            steps.lost(self.job.steps),
            done.all()
        );
        assert!(steps.started_twice().is_empty(), "twice {:?}\n{}", steps.started_twice(), done.all());
    }
}

impl Done {
    /// The last line of the run.
    #[track_caller]
    pub(crate) fn finished(&self) -> Value {
        self.of("run.finished").pop().unwrap_or_else(|| panic!("{}", self.all()))
    }

    /// The warnings with a code.
    pub(crate) fn warnings(&self, code: &str) -> Vec<String> {
        let coded = self.of("warning").into_iter().filter(|w| w["code"] == code);
        coded.map(|w| w["text"].as_str().unwrap().to_owned()).collect()
    }

    /// The id of the run.
    pub(crate) fn run(&self) -> String {
        self.lines()[0]["run"].as_str().unwrap().to_owned()
    }

    /// Asserts the exit code, and that nothing panicked.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.all());
        assert!(!self.all().contains("panicked"), "{}", self.all());
        self
    }
}

/// A stage that fires at the words of call `k` + 1, after the result of tool `k` and just before the next tool: found
/// by a run of the same job and script that is never replaced.
pub(crate) fn stage_after_tool(k: u64, steps: u32, script: &Script, prepare: impl Fn(&World)) -> String {
    let twin = World::new(steps, script.clone());
    prepare(&twin);
    let done = twin.segue(&["run", "TASK.md", "--json", "--context-threshold", "100"]);
    let result = |g: &&Value| g["final"] == false && g["tools"] == k;
    let gauges = done.of("gauge.read");
    let gauge = gauges.iter().find(result).unwrap_or_else(|| panic!("{}", done.all()));
    let line = gauge["projected"].as_u64().unwrap() + 3;
    format!("[[stage]]\nat = \"{} left\"\ndo = [\"restart\"]\n", script.window - line)
}

/// Tries a scene until it comes about: the agent works on while segue decides, so a request may be quicker than what it is
/// meant to meet. A program that is wrong is wrong every time.
pub(crate) fn meets(what: &str, scene: impl Fn() -> bool) {
    const TRIES: u32 = 6;
    assert!((0..TRIES).any(|_| scene()), "never occurred: {what}");
}

/// What is left of a run: every process that carries its mark, by id and command line.
pub(crate) fn left_behind(run: &str) -> Vec<String> {
    let mark = format!("SEGUE_RUN={run}");
    let marked = |dir: &PathBuf| {
        let environ = std::fs::read(dir.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let dirs = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let words = |dir: PathBuf| std::fs::read_to_string(dir.join("cmdline")).unwrap_or_default();
    dirs.filter(marked).map(|dir| format!("{} {}", dir.display(), words(dir.clone()))).collect()
}
