//! `segue demo`: the whole way in a throw-away repository, with an agent that needs no key and no network.

use std::path::{Path, PathBuf};
use std::process::Command;

use segue_machine::amounts::{count, short};
use segue_machine::policy::preset;
use segue_plans::read_task;
use segue_rehearsal::job::Job;
use segue_rehearsal::script::Script;
use segue_rehearsal::sizing;
use segue_rehearsal::step_log::StepLog;

use super::args::Demo;
use super::failure::Failure;
use super::open::{self, Place};
use super::{out, run};
use crate::config::{BudgetSettings, Flags};
use crate::driver::Look;

/// How many windows the job of the demo takes.
const SESSIONS: u32 = 4;
/// How long a step takes when a person watches.
const STEP_MS: u64 = 250;

/// Runs the demo and returns its exit code.
pub(super) fn demo(at: &Place, args: &Demo) -> Result<u8, Failure> {
    let Some(preset) = preset::find(&args.policy) else {
        let known = preset::NAMES.join(", ");
        return Err(Failure::usage(format!(
            "there is no policy {:?}; the policies are: {known}",
            args.policy
        )));
    };
    let sized = sizing::for_policy(&preset.policy, SESSIONS);
    let mut script = sized.script;
    if !args.fast {
        script.step_ms = STEP_MS;
    }
    let stage = Stage::build(at, args, &script, sized.job)?;
    if args.bare {
        return bare(at, &stage, &script, sized.job);
    }
    let there = Place { dir: stage.repository.clone(), json: at.json };
    let mut settings = there.settings(&Flags { policy: Some(args.policy.clone()), ..Flags::default() })?;
    settings.budget = BudgetSettings::of_rehearsal();
    let repo = open::repo(&there.dir, &settings)?;
    let task = read_task(sized.job.task_text().as_bytes(), Some("TASK.md"))?;
    if !at.json {
        out::lines([
            format!(
                "a job of {} steps, an agent with a window of {} tokens",
                sized.job.steps,
                short(script.window)
            ),
            format!("repository  {}", stage.repository.display()),
            String::new(),
        ]);
    }
    let look = if at.json { Look::Json } else { Look::Human };
    let (_, code) = run::start(&there, &settings, task, None, repo, look)?;
    account(at, &stage, sized.job);
    Ok(code)
}

/// The files of a demo.
struct Stage {
    repository: PathBuf,
    log: PathBuf,
    script: PathBuf,
}

impl Stage {
    fn build(at: &Place, args: &Demo, script: &Script, job: Job) -> Result<Self, Failure> {
        let base = match &args.keep {
            Some(dir) => {
                let dir = at.dir.join(dir);
                if dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
                    return Err(Failure::usage(format!("{} is not empty: name a new folder", dir.display())));
                }
                std::fs::create_dir_all(&dir)?;
                dir
            }
            None => tempfile::Builder::new().prefix("segue-demo-").tempdir()?.keep(),
        };
        let stage = Self {
            repository: base.join("repository"),
            log: base.join("steps.log"),
            script: base.join("script.json"),
        };
        std::fs::create_dir_all(&stage.repository)?;
        let script = Script { step_log: Some(stage.log.clone()), ..script.clone() };
        std::fs::write(&stage.script, serde_json::to_string_pretty(&script).unwrap_or_default())?;
        for (name, contents) in job.files() {
            let path = stage.repository.join(name);
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            std::fs::write(path, contents)?;
        }
        std::fs::write(stage.repository.join("segue.toml"), stage.configuration(job)?)?;
        stage.git(&["init", "--quiet"])?;
        stage.git(&["add", "--all"])?;
        stage.git(&[
            "-c",
            "user.name=segue",
            "-c",
            "user.email=segue@localhost",
            "commit",
            "--quiet",
            "-m",
            "the job",
        ])?;
        Ok(stage)
    }

    fn configuration(&self, job: Job) -> Result<String, Failure> {
        let program = std::env::current_exe()?;
        let word = |path: &Path| toml::Value::String(path.display().to_string()).to_string();
        let gate = toml::Value::String(job.gate().to_owned());
        Ok(format!(
            "agents = [\"scripted\"]\n\n[agent.scripted]\nkind = \"acp\"\n\
             command = [{}, \"scripted-agent\", \"--script\", {}]\n\n[[gate]]\nname = \"check\"\nrun = {gate}\n",
            word(&program),
            word(&self.script),
        ))
    }

    fn git(&self, args: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let run = command.args(args).current_dir(&self.repository).output();
        let output = run.map_err(|error| Failure::usage(format!("git could not be run: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "git {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        )))
    }

    fn steps(&self) -> StepLog {
        StepLog::parse(&std::fs::read_to_string(&self.log).unwrap_or_default())
    }
}

/// What the steps themselves say, which nobody can talk them out of.
fn account(at: &Place, stage: &Stage, job: Job) {
    let log = stage.steps();
    if at.json {
        return;
    }
    let installed = open::find_program("segue", &stage.repository).is_ok();
    let own = std::env::current_exe().ok().filter(|_| !installed);
    let program = own.map_or_else(|| "segue".to_owned(), |path| path.display().to_string());
    out::lines([
        String::new(),
        format!(
            "step log: {} of {} steps done, {} repeated, {} lost · {}, {}",
            log.distinct_done().len(),
            job.steps,
            log.repeated().len(),
            log.lost(job.steps).len(),
            counted(log.sessions().len(), "session"),
            counted(log.overflows().len(), "overflow"),
        ),
        "look at the result:".to_owned(),
        format!("  cd {}", stage.repository.display()),
        format!("  {program} status   (log, show, replay)"),
        "  git log --oneline $(git for-each-ref --format='%(refname)' refs/segue)".to_owned(),
        format!("  steps  {}", stage.log.display()),
    ]);
}

/// The same job and agent with nobody to look after the window.
fn bare(at: &Place, stage: &Stage, script: &Script, job: Job) -> Result<u8, Failure> {
    let answer = super::bare::ask(&stage.script, &stage.repository, &job.task_text())?;
    let log = stage.steps();
    let done = log.distinct_done().len();
    if at.json {
        let doc = serde_json::json!({
            "bare": true, "window": script.window, "steps": job.steps, "done": done, "answer": answer,
            "overflows": log.overflows().len(),
        });
        out::line(&doc.to_string());
    } else {
        out::lines([
            format!(
                "without segue: one conversation, a window of {} tokens, {} steps",
                short(script.window),
                job.steps
            ),
            format!("the agent's last message: {answer}"),
            format!("{done} of {} steps done; the rest is lost with the conversation", job.steps),
        ]);
    }
    let finished = done == usize::try_from(job.steps).unwrap_or(usize::MAX);
    Ok(u8::from(!finished))
}

fn counted(number: usize, noun: &str) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX), noun)
}
