//! `segue rehearse`: the user's own agent and configuration against a scripted model, in a throw-away repository, and a
//! verdict on the set-up. Nothing is sent to any model, and the user's own files stay as they are.

mod account;
mod apply;
mod fault;
mod judge;
mod stage;

use std::time::Duration;

use segue_machine::amounts::short;
use segue_machine::gauge::parse_tokens;
use segue_plans::read_task;
use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use segue_rehearsal::model_server::{ModelServer, ServerScript};
use segue_rehearsal::{recipe, script as stand_in};

use super::args::{Rehearse, Resume};
use super::failure::Failure;
use super::open::{self, Place};
use super::{known, out, resume, run, trust, version};
use crate::config::{AgentSettings, Flags, Settings};
use crate::driver::Look;
use crate::history;
use crate::process::{RUN_MARK, sweep_marked, tree};

use account::{Account, Truth};
use fault::Trouble;
use judge::{Case, judge};
use stage::Stage;

/// How long the scripted model takes before it answers.
const LATENCY_MS: u64 = 150;

/// The window of a rehearsal, unless another one is asked for.
const WINDOW: &str = "60k";
/// Less than this and an agent's own instructions fill the window.
const LEAST_WINDOW: u64 = 20_000;
/// Tools cut longer outputs; the model says the rest itself.
const MOST_OUTPUT: u64 = 8_000;

/// How long an agent may take to say its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(20);

/// What was asked for, checked.
struct Plan {
    window: u64,
    job: Job,
    trouble: Option<Trouble>,
    stand_in: bool,
}

/// Runs a rehearsal and returns its exit code.
pub(super) fn rehearse(at: &Place, args: &Rehearse) -> Result<u8, Failure> {
    let plan = plan(args)?;
    let mine = settings(at, args, &plan)?;
    if !plan.stand_in {
        check(at, &mine)?;
    }
    let mut stage = Stage::build(plan.job)?;
    let server = ModelServer::start(plan.server(&stage))?;
    let mut settings = mine.clone();
    apply::settle(&mut settings, plan.job.gate(), &at.dir);
    let mut allowed = false;
    if plan.stand_in {
        settings.agents = vec![plan.stand_in(&stage)?];
    } else {
        for agent in &mut settings.agents {
            let recipe = apply::recipe_for(agent, &server.url(), plan.window)?;
            for (name, contents) in &recipe.files {
                stage.write(name, contents)?;
            }
            apply::lead(agent, &recipe, plan.window, &stage.repository);
            allowed |= !apply::may_run_commands(&agent.permissions) && args.permissions.is_none();
            if args.permissions.is_none() {
                apply::allow_commands(agent);
            }
        }
    }
    stage.commit()?;
    let version = version_of(settings.agents.first(), &stage);
    announce(at, &plan, &settings, &stage);
    let there = Place { dir: stage.repository.clone(), json: at.json };
    let (id, code) = play(&there, &plan, &settings, &server)?;
    if code == 130 {
        return Ok(code);
    }
    let truth = if plan.stand_in { Truth::of_stand_in(&stage.steps()) } else { Truth::of(&server.truth()) };
    let past = history::read(&there.reader()?, &id, 0)?;
    let account = Account::of(&id, &past, &truth);
    let mark = format!("{RUN_MARK}={id}");
    let left = tree::marked(&mark).len();
    sweep_marked(&mark, Duration::from_secs(1));
    let log = stage.steps();
    let case = Case {
        agent: settings.agents.first().map(|agent| agent.spec.name.clone()).unwrap_or_default(),
        version,
        settings: &mine,
        trouble: plan.trouble.as_ref(),
        window: plan.window,
        steps: plan.job.steps,
        left,
        allowed,
        account: &account,
        truth: &truth,
        log: &log,
    };
    let judgement = judge(&case);
    let works = judgement.problems.is_empty();
    if at.json {
        out::line(&judgement.json(&case).to_string());
    } else {
        out::lines(judgement.words(&case));
    }
    if args.keep || !works {
        stage.keep();
        if !at.json {
            out::line(&format!("kept: {}", stage.repository.display()));
        }
    }
    Ok(u8::from(!works))
}

fn plan(args: &Rehearse) -> Result<Plan, Failure> {
    let wanted = args.window.as_deref().unwrap_or(WINDOW);
    let window = parse_tokens(wanted).filter(|window| *window >= LEAST_WINDOW).ok_or_else(|| {
        Failure::usage(format!(
            "--window {wanted:?}: must be at least {LEAST_WINDOW} tokens, such as 60k; agents' own instructions fill most of a smaller window"
        ))
    })?;
    if !(2..=500).contains(&args.steps) {
        return Err(Failure::usage("--steps must be between 2 and 500"));
    }
    let trouble = args.fault.as_deref().map(|name| Trouble::read(name, &args.when, args.times.as_deref()));
    let trouble = trouble.transpose()?;
    let stand_in = args.agent.as_deref() == Some(apply::STAND_IN);
    if stand_in && trouble.is_some() {
        return Err(Failure::usage("the scripted agent has no model server; --fault needs a real agent"));
    }
    Ok(Plan { window, job: Job { steps: args.steps }, trouble, stand_in })
}

// The project's file counts as well: a rehearsal is called where the work is to be done.
fn settings(at: &Place, args: &Rehearse, plan: &Plan) -> Result<Settings, Failure> {
    let agent = if plan.stand_in { Some("claude".to_owned()) } else { args.agent.clone() };
    let flags = Flags {
        agent,
        policy: args.policy.clone(),
        permissions: args.permissions.clone(),
        ..Flags::default()
    };
    if !plan.stand_in {
        trust::require(at, &Flags { trust: args.trust, ..Flags::default() }, None)?;
    }
    at.settings(&flags)
}

impl Plan {
    /// Tokens of one step: all together fill the window once.
    fn step_tokens(&self) -> u64 {
        self.window / u64::from(self.job.steps)
    }

    fn server(&self, stage: &Stage) -> ServerScript {
        let chars = self.step_tokens() * 4;
        let output_chars = chars.min(MOST_OUTPUT);
        let every = StepHabit { output_chars, say_chars: chars - output_chars, ..StepHabit::default() };
        ServerScript {
            window: self.window,
            persona: PersonaOptions { step_log: Some(stage.log()), every, ..PersonaOptions::default() },
            faults: self.trouble.iter().map(|trouble| trouble.fault(self.job.steps)).collect(),
            truth_log: Some(stage.beside("truth.jsonl")),
            key: Some(recipe::KEY.to_owned()),
            // A model that answers at once would make races with the agent's next tool that no real one makes.
            latency_ms: LATENCY_MS,
            ..ServerScript::default()
        }
    }

    fn stand_in(&self, stage: &Stage) -> Result<AgentSettings, Failure> {
        let script = stand_in::Script {
            window: self.window,
            system_tokens: self.window / 8,
            step_output_chars: self.step_tokens() * 4,
            step_log: Some(stage.log()),
            ..stand_in::Script::default()
        };
        let path = stage.beside("script.json");
        std::fs::write(&path, serde_json::to_string_pretty(&script).unwrap_or_default())?;
        apply::stand_in(&path, self.window)
    }
}

/// The run, and once more without the fault if that was too much for it.
fn play(at: &Place, plan: &Plan, settings: &Settings, server: &ModelServer) -> Result<(String, u8), Failure> {
    let look = || if at.json { Look::Json } else { Look::Human };
    let repo = open::repo(&at.dir, settings)?;
    let task = read_task(plan.job.task_text().as_bytes(), Some("TASK.md"))?;
    let (id, code) = run::start(at, settings, task, None, repo, look())?;
    if code == 0 || code == 130 || plan.trouble.is_none() {
        return Ok((id, code));
    }
    server.clear_faults();
    if !at.json {
        out::lines(["", "the fault is over, resuming the run", ""]);
    }
    let again = Resume { run: Some(id.clone()), ..Resume::default() };
    let code = resume::resume_with(at, &again, |_, _| Ok(settings.clone()))?;
    Ok((id, code))
}

fn version_of(agent: Option<&AgentSettings>, stage: &Stage) -> Result<String, String> {
    let agent = agent.ok_or("there is no agent")?;
    if agent.spec.name == apply::STAND_IN {
        return Ok(env!("CARGO_PKG_VERSION").to_owned());
    }
    let command = known::version_command(agent.kind, &agent.command).ok_or("not asked")?;
    let text = version::ask_within(VERSION_PATIENCE, &command, &agent.env, &stage.repository)?;
    version::find(&text).ok_or_else(|| "it did not say".to_owned())
}

// Before anything is made: each agent is here and can be led to another server.
fn check(at: &Place, settings: &Settings) -> Result<(), Failure> {
    for agent in &settings.agents {
        if let Err(why) = open::check_agents(std::slice::from_ref(agent), &at.dir) {
            let get = known::facts(&agent.spec.name, agent.kind).get;
            let how = get.map_or_else(String::new, |get| format!("\nto get it: {get}"));
            return Err(Failure::usage(format!("{why}{how}")));
        }
        apply::recipe_for(agent, "", LEAST_WINDOW)?;
    }
    Ok(())
}

fn announce(at: &Place, plan: &Plan, settings: &Settings, stage: &Stage) {
    if at.json {
        return;
    }
    let agents: Vec<&str> = settings.agents.iter().map(|agent| agent.spec.name.as_str()).collect();
    let fault = plan.trouble.as_ref().map_or_else(String::new, |trouble| format!(", {}", trouble.words()));
    out::lines([
        format!(
            "a job of {} steps for {}, a scripted model with a window of {} tokens{fault}",
            plan.job.steps,
            agents.join(", "),
            short(plan.window)
        ),
        format!("repository  {}", stage.repository.display()),
        String::new(),
    ]);
}
