//! What can be typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::config::Flags;
use crate::plan::{Options, Splitting, Trouble};

/// Keeps coding agents working past their context window.
#[derive(Debug, Parser)]
#[command(name = "segue", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Try `segue demo`: it needs no key, no network and no agent.\n\
Exit codes: 0 verified or claimed, 1 failed, 2 usage, 3 needs a person, 4 stopped by a limit, \
75 not waiting for a provider, 130 interrupted.")]
pub(super) struct Args {
    /// JSON instead of words, one object a line
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Work in this folder instead of the current one
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a task or a plan until its gates are green, over as many sessions as it takes
    Run(Box<Run>),
    /// Work on a prompt until its gates are green and the agent says that it is done, round after round
    Loop(Box<Loop>),
    /// Take up a run or a plan that was stopped or whose process died
    Resume(Resume),
    /// Where the latest run stands, and how full its window is
    Status {
        /// A run, by id or the beginning of it
        run: Option<String>,
        /// Every run of this work tree
        #[arg(long)]
        all: bool,
    },
    /// What happened, event by event
    Log {
        /// A run, by id or the beginning of it
        run: Option<String>,
        /// Go on as more happens
        #[arg(short, long)]
        follow: bool,
    },
    /// A run's checkpoints, gates and agent output
    Show(Show),
    /// Stop the run that works here, with a checkpoint
    Stop {
        /// The run that is meant, by id or the beginning of it; nothing is stopped when another one works here
        run: Option<String>,
        /// At once, without a checkpoint
        #[arg(long)]
        now: bool,
    },
    /// The stored checkpoints: list, show, compare, check, make, take elsewhere, clear up
    Checkpoint {
        #[command(subcommand)]
        verb: super::checkpoint::Verb,
    },
    /// The work as it was at every snapshot: list, show, bring back, clear up
    #[command(
        after_help = "Nothing here changes your index, your branch or your files. docs/work.md says more."
    )]
    Work {
        #[command(subcommand)]
        verb: super::work::Verb,
    },
    /// Plans: check them, draw them, estimate what they cost, see how far they are
    Plan {
        #[command(subcommand)]
        verb: super::plan::Verb,
    },
    /// Drive the machine from the journal again and compare every decision
    Replay {
        /// A run, by id or the beginning of it
        run: Option<String>,
        /// Show what this policy would have decided instead: auto, seamless, observe, loop, staged, phased or native
        #[arg(long, value_name = "NAME")]
        policy: Option<String>,
        /// With its threshold here, in percent of the ceiling
        #[arg(long, value_name = "PERCENT", requires = "policy")]
        context_threshold: Option<f64>,
    },
    /// The agents that segue knows, and which of them are here
    Agents {
        /// The windows that segue knows by the model's name, and since when
        #[arg(long)]
        windows: bool,
    },
    /// What was spent today and in the latest run, and what is left
    Budget {
        /// A run, by id or the beginning of it
        run: Option<String>,
        /// The prices that segue knows by the model's name, and since when
        #[arg(long)]
        prices: bool,
    },
    /// Look for what would go wrong
    Doctor,
    /// Look at the configuration
    Config {
        #[command(subcommand)]
        what: Config,
    },
    /// See a task go over four windows, with a scripted agent in a throw-away repository
    Demo(Demo),
    /// Try your set-up: your real agent and configuration against a scripted model, without a token spent
    Rehearse(Box<Rehearse>),
    /// From inside a run: leave a note that reaches the next checkpoint
    Progress {
        /// What was done
        #[arg(required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// From inside a run: say that everything is done
    Done {
        /// What was done
        #[arg(trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// What agents' own hooks call
    #[command(hide = true)]
    Hook {
        #[command(subcommand)]
        which: Hook,
    },
    /// What segue puts between itself and an agent that is a server
    #[command(hide = true)]
    Bridge {
        #[command(subcommand)]
        which: Bridge,
    },
    /// The run of one phase, for the process of its plan
    #[command(hide = true)]
    Phase(Box<Phase>),
    /// Whether what a command says is as expected
    #[command(hide = true)]
    Judge {
        /// What is expected of it
        #[arg(long)]
        expect: String,
        /// The command
        command: String,
    },
    /// The model server of rehearsals and the tests
    #[command(hide = true)]
    ScriptedModel {
        /// Its script, as JSON
        #[arg(long)]
        script: PathBuf,
    },
    /// The agent of the demo and the tests
    #[command(hide = true)]
    ScriptedAgent {
        /// Its script, as JSON
        #[arg(long)]
        script: PathBuf,
    },
}

/// `segue hook …`
#[derive(Debug, Subcommand)]
pub(super) enum Hook {
    /// A tool has ended
    AfterTool,
    /// The agent is about to call its model
    BeforeModel,
    /// The agent is about to compact its context and must not
    BeforeCompaction,
    /// The agent is about to compact its context: keep what it forgets
    Archive,
}

/// `segue bridge …`
#[derive(Debug, Subcommand)]
pub(super) enum Bridge {
    /// `opencode serve`
    Opencode {
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

/// `segue config …`
#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Say what is wrong with the configuration, if anything
    Check,
    /// Every value in force, and where it comes from
    Show,
    /// Every key there is: what it means, what it takes, and its environment variables
    Keys,
}

/// `segue run …`
#[derive(Debug, ClapArgs)]
pub(super) struct Run {
    /// The task in words, a file that holds it (PROMPT.md), a plan (PLAN.md, a folder of them), or - for standard input
    #[arg(value_name = "TASK|FILE", required_unless_present = "from_checkpoint")]
    pub(super) task: Option<String>,
    /// Go on from this checkpoint in a new run: a file, exported or stored, or an id; the task is its own unless given
    #[arg(long, value_name = "FILE|ID")]
    pub(super) from_checkpoint: Option<String>,
    #[command(flatten)]
    pub(super) settings: RunFlags,
    #[command(flatten)]
    pub(super) plan: PlanFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// The flags that say how a plan is run.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Plans")]
pub(super) struct PlanFlags {
    /// Only this phase of the plan
    #[arg(long, value_name = "ID")]
    pub(super) phase: Option<String>,
    /// Go on with the plan where it stopped
    #[arg(long, conflicts_with = "restart")]
    pub(super) resume: bool,
    /// Begin the plan again
    #[arg(long)]
    pub(super) restart: bool,
    /// Run phases again that are completed
    #[arg(long)]
    pub(super) force: bool,
    /// One more round over each phase after its gates are green
    #[arg(long)]
    pub(super) quality: bool,
    /// What to do about a phase that is too large; auto under the policy observe, else propose
    #[arg(long, value_name = "HOW")]
    pub(super) split: Option<Splitting>,
    #[command(flatten)]
    pub(super) beside: BesideFlags,
}

/// The flags for phases side by side.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Plans")]
pub(super) struct BesideFlags {
    /// How many phases are at work at a time, each in a git work tree of its own, merged in the order of the plan
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) parallel: Option<u16>,
    /// When a phase fails, go on with everything that does not need it
    #[arg(long, conflicts_with = "fail_fast")]
    pub(super) keep_going: bool,
    /// When a phase fails, stop the others too; else they go on to their end and nothing new begins
    #[arg(long)]
    pub(super) fail_fast: bool,
}

impl BesideFlags {
    /// Whether anything was said.
    pub(super) fn any(&self) -> bool {
        self.parallel.is_some() || self.keep_going || self.fail_fast
    }

    /// Puts what was said into what is known.
    pub(super) fn put(&self, options: &mut Options) {
        options.parallel = self.parallel.map(usize::from).or(options.parallel);
        if self.keep_going {
            options.trouble = Trouble::KeepGoing;
        }
        if self.fail_fast {
            options.trouble = Trouble::FailFast;
        }
    }
}

/// Where the results of gates go beside the screen.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Results")]
pub(super) struct ResultFlags {
    /// Write the results of gates and criteria as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Add the results of gates and criteria to this Markdown file; GITHUB_STEP_SUMMARY when that is set
    #[arg(long, value_name = "FILE")]
    pub(super) step_summary: Option<PathBuf>,
}

/// `segue loop …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The same as `segue run --policy loop`, but the agent must also say the completion word: gates that are \
green without it, and the word while gates are red, both lead to another round."
)]
pub(super) struct Loop {
    /// The prompt: a file, words, or - for standard input
    #[arg(value_name = "PROMPT")]
    pub(super) prompt: String,
    /// How many rounds there may be, over all sessions
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(super) max_iterations: u32,
    /// What the agent says when everything is done
    #[arg(long, value_name = "WORD", default_value = "LOOP_COMPLETE")]
    pub(super) completion_word: String,
    #[command(flatten)]
    pub(super) settings: RunFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
}

/// `segue phase …`
#[derive(Debug, ClapArgs)]
pub(super) struct Phase {
    /// A run to be taken up; else the job is read from standard input
    #[arg(long, value_name = "RUN")]
    pub(super) take_up: Option<String>,
    /// Only the gates of the job, in the work tree as it is
    #[arg(long, conflicts_with = "take_up")]
    pub(super) check: bool,
    #[command(flatten)]
    pub(super) settings: RunFlags,
}

/// The flags that say how a task is run.
#[derive(Debug, Default, ClapArgs)]
pub(super) struct RunFlags {
    /// Agents in order of preference
    #[arg(long, value_name = "NAME[,NAME]")]
    agent: Option<String>,
    /// Who the run works as: a role of the configuration, with its agents, checkpoint sections and files
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// The model of the first agent
    #[arg(long)]
    model: Option<String>,
    /// When to hand over: auto, seamless, observe, loop, staged, phased or native
    #[arg(long)]
    policy: Option<String>,
    /// Replace the session at this percentage of its ceiling; 100 or more never does
    #[arg(long, value_name = "PERCENT")]
    context_threshold: Option<String>,
    /// Replace the session after this many tool calls
    #[arg(long, value_name = "N")]
    tool_call_threshold: Option<String>,
    /// The window of the first agent, when it does not say so itself: 200k, 1M
    #[arg(long, value_name = "TOKENS")]
    window: Option<String>,
    /// How often a full window may be answered with a fresh session
    #[arg(long, value_name = "N")]
    max_restarts: Option<String>,
    /// Stop when this much money is spent
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<String>,
    /// Stop after this time, over all sessions: 90m, 8h
    #[arg(long, value_name = "TIME")]
    deadline: Option<String>,
    /// How long there may be no sign of life of the agent: 10m
    #[arg(long, value_name = "TIME")]
    idle_timeout: Option<String>,
    /// What agents may do without asking: deny, bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    permissions: Option<String>,
    /// A command whose exit code decides whether the work is done; may be repeated
    #[arg(long, value_name = "COMMAND")]
    gate: Vec<String>,
    /// A claim without a gate is not enough: exit 3
    #[arg(long)]
    require_verified: bool,
    /// Save the work in a snapshot ref where the policy would commit on the branch
    #[arg(long)]
    no_auto_commit: bool,
    /// Do without git
    #[arg(long)]
    no_git: bool,
    /// Start although there are changes that are not committed
    #[arg(long)]
    allow_dirty: bool,
    /// Do not wait for a provider that is limited or overloaded: stop, resumable, with exit 75
    #[arg(long)]
    no_wait: bool,
    /// Stop when this many tokens were sent and received, over all sessions: 500k, 5M
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<String>,
    /// Start no more sessions than this
    #[arg(long, value_name = "N")]
    max_sessions: Option<String>,
    /// Run although a cost limit cannot be enforced, because the model's price is not known
    #[arg(long)]
    allow_unknown_cost: bool,
    /// Tell the agent nothing about its window
    #[arg(long)]
    no_tell: bool,
}

impl RunFlags {
    /// The flags as a layer of the configuration.
    pub(super) fn flags(&self) -> Flags {
        Flags {
            agent: self.agent.clone(),
            role: self.role.clone(),
            model: self.model.clone(),
            policy: self.policy.clone(),
            context_threshold: self.context_threshold.clone(),
            tool_call_threshold: self.tool_call_threshold.clone(),
            window: self.window.clone(),
            max_restarts: self.max_restarts.clone(),
            max_cost: self.max_cost.clone(),
            deadline: self.deadline.clone(),
            idle_timeout: self.idle_timeout.clone(),
            permissions: self.permissions.clone(),
            gates: self.gate.clone(),
            require_verified: self.require_verified,
            no_auto_commit: self.no_auto_commit,
            no_git: self.no_git,
            allow_dirty: self.allow_dirty,
            no_wait: self.no_wait,
            max_tokens: self.max_tokens.clone(),
            max_sessions: self.max_sessions.clone(),
            allow_unknown_cost: self.allow_unknown_cost,
            no_tell: self.no_tell,
        }
    }
}

impl RunFlags {
    /// The flags as they would be typed again.
    pub(super) fn words(&self) -> Vec<String> {
        let pairs = [
            ("--agent", &self.agent),
            ("--role", &self.role),
            ("--model", &self.model),
            ("--policy", &self.policy),
            ("--context-threshold", &self.context_threshold),
            ("--tool-call-threshold", &self.tool_call_threshold),
            ("--window", &self.window),
            ("--max-restarts", &self.max_restarts),
            ("--max-cost", &self.max_cost),
            ("--max-tokens", &self.max_tokens),
            ("--max-sessions", &self.max_sessions),
            ("--deadline", &self.deadline),
            ("--idle-timeout", &self.idle_timeout),
            ("--permissions", &self.permissions),
        ];
        let given = pairs.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value.as_ref()?)));
        let switches = [
            ("--require-verified", self.require_verified),
            ("--no-auto-commit", self.no_auto_commit),
            ("--no-git", self.no_git),
            ("--allow-dirty", self.allow_dirty),
            ("--no-wait", self.no_wait),
            ("--no-tell", self.no_tell),
            ("--allow-unknown-cost", self.allow_unknown_cost),
        ];
        let on = switches.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag.to_owned());
        given.chain(self.gate.iter().map(|gate| format!("--gate={gate}"))).chain(on).collect()
    }

    /// What of them a run that is taken up can be given.
    pub(super) fn resume(&self, run: Option<String>) -> Resume {
        Resume {
            run,
            agent: self.agent.clone(),
            deadline: self.deadline.clone(),
            max_restarts: self.max_restarts.clone(),
            max_cost: self.max_cost.clone(),
            max_tokens: self.max_tokens.clone(),
            max_sessions: self.max_sessions.clone(),
            allow_unknown_cost: self.allow_unknown_cost,
            no_wait: self.no_wait,
            permissions: self.permissions.clone(),
            ..Resume::default()
        }
    }
}

/// `segue resume …`
#[derive(Debug, Default, ClapArgs)]
pub(super) struct Resume {
    /// A run or a plan, by id or the beginning of it; the latest that can go on when left out
    pub(super) run: Option<String>,
    /// Go on in the old conversation, where the agent can; else in a fresh one
    #[arg(long)]
    pub(super) same_session: bool,
    /// Go on from this checkpoint instead of the last: an id, its name in the run (c36), or a file
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "same_session")]
    pub(super) at: Option<String>,
    /// Other agents than before
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(super) agent: Option<String>,
    /// A new deadline, counted from the start of the run
    #[arg(long, value_name = "TIME")]
    pub(super) deadline: Option<String>,
    /// A new limit of restarts
    #[arg(long, value_name = "N")]
    pub(super) max_restarts: Option<String>,
    /// A new limit of money
    #[arg(long, value_name = "DOLLARS")]
    pub(super) max_cost: Option<String>,
    /// A new limit of tokens
    #[arg(long, value_name = "TOKENS")]
    pub(super) max_tokens: Option<String>,
    /// A new limit of sessions
    #[arg(long, value_name = "N")]
    pub(super) max_sessions: Option<String>,
    /// Run although a cost limit cannot be enforced, because the model's price is not known
    #[arg(long)]
    pub(super) allow_unknown_cost: bool,
    /// What agents may do without asking: deny, bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    pub(super) permissions: Option<String>,
    /// Try at once what the run was waiting for
    #[arg(long, conflicts_with = "no_wait")]
    pub(super) now: bool,
    /// Do not wait for a provider that is limited or overloaded: stop, resumable, with exit 75
    #[arg(long)]
    pub(super) no_wait: bool,
    /// Of a plan: what to do about a phase that is too large
    #[arg(long, value_name = "HOW")]
    pub(super) split: Option<Splitting>,
    #[command(flatten)]
    pub(super) beside: BesideFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
}

impl Resume {
    /// The flags that runs of a plan are taken up with.
    pub(super) fn words(&self) -> Vec<String> {
        let pairs = [
            ("--agent", &self.agent),
            ("--deadline", &self.deadline),
            ("--max-restarts", &self.max_restarts),
            ("--max-cost", &self.max_cost),
            ("--max-tokens", &self.max_tokens),
            ("--max-sessions", &self.max_sessions),
            ("--permissions", &self.permissions),
        ];
        let given = pairs.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value.as_ref()?)));
        let switches = [
            ("--now", self.now),
            ("--no-wait", self.no_wait),
            ("--allow-unknown-cost", self.allow_unknown_cost),
        ];
        given.chain(switches.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag.to_owned())).collect()
    }
}

/// `segue show …`
#[derive(Debug, ClapArgs)]
pub(super) struct Show {
    /// A run, by id or the beginning of it
    pub(super) run: Option<String>,
    /// A checkpoint, by id
    #[arg(long, value_name = "ID")]
    pub(super) checkpoint: Option<String>,
    /// What the gates said last
    #[arg(long)]
    pub(super) gates: bool,
    /// What the agent wrote, of the last session or of this one
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "0")]
    pub(super) output: Option<u32>,
}

/// `segue demo …`
#[derive(Debug, ClapArgs)]
pub(super) struct Demo {
    /// The policy to show: auto, seamless, observe, loop, staged, phased or native
    #[arg(long, default_value = "auto")]
    pub(super) policy: String,
    /// The same job without segue: it overflows and fails
    #[arg(long)]
    pub(super) bare: bool,
    /// Without pauses for the eye
    #[arg(long)]
    pub(super) fast: bool,
    /// Make the repository here instead of in a temporary folder
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
}

/// `segue rehearse …`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The agent's own program and your segue.toml are used as they are; only the model is a stand-in \
on this machine.\nExit codes: 0 the set-up works, 1 it does not, 2 usage, 130 interrupted. docs/rehearse.md says more."
)]
pub(super) struct Rehearse {
    /// The agent; the configured one when left out, `scripted` for a stand-in that needs no CLI
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(super) agent: Option<String>,
    /// The window of the scripted model, 60k when left out; of the simulated one, 200k
    #[arg(long, value_name = "TOKENS")]
    pub(super) window: Option<String>,
    /// When to hand over, instead of your policy: auto, seamless, observe, loop, staged, phased or native; several
    /// with --simulate
    #[arg(long, value_name = "NAME")]
    pub(super) policy: Option<String>,
    /// What goes wrong: 429, 429-no-reset, 529, 401, 500, quota, cut, stall, hang or overflow
    #[arg(long, value_name = "NAME")]
    pub(super) fault: Option<String>,
    /// When it goes wrong: start, middle or checkpoint
    #[arg(long, value_name = "WHEN", default_value = "middle", requires = "fault")]
    pub(super) when: String,
    /// How often it goes wrong, or `always`: until the run has stopped; then the run is resumed without it
    #[arg(long, value_name = "N|always", requires = "fault")]
    pub(super) times: Option<String>,
    /// How many steps the job has; together they fill one window
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) steps: u32,
    /// What the agent may do without asking, instead of your setting: deny, bypass, or allow=execute,edit
    #[arg(long, value_name = "WHAT")]
    pub(super) permissions: Option<String>,
    /// Keep the repository of the rehearsal; it is also kept when something is wrong
    #[arg(long)]
    pub(super) keep: bool,
    #[command(flatten)]
    pub(super) simulate: Simulate,
}

/// `segue rehearse --simulate …`
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Simulation")]
pub(super) struct Simulate {
    /// Compare the policies in thousands of simulated runs instead; no agent is started
    #[arg(long, conflicts_with_all = ["agent", "fault", "permissions", "keep"])]
    pub(super) simulate: bool,
    /// How many runs of each policy
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "simulate")]
    pub(super) runs: u64,
    /// Only agents that cannot be stopped between a tool's result and the next call
    #[arg(long, requires = "simulate")]
    pub(super) no_brake: bool,
    /// How windows grow: claude, codex, or recordings (segue's own, of a scripted model)
    #[arg(long, value_name = "NAME", default_value = "claude", requires = "simulate")]
    pub(super) growth: String,
    /// Where the draws begin; the same seed gives the same table
    #[arg(long, value_name = "N", default_value_t = 2_026, requires = "simulate")]
    pub(super) seed: u64,
}
