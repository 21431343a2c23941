//! Things drawn without any regard for what is going on: specs, and events that nobody would expect.

use segue_machine::claims::{Change, Claim, ClaimKind, Finding, Judged};
use segue_machine::policy::{Action, At, Percent, Stage, preset};
use segue_machine::{
    Activity, AgentBudget, AgentEvent, AgentFailure, AgentSpec, BudgetSpec, Capabilities, CheckpointBy,
    CheckpointRef, Circuit, Claims, CommitMode, DayLimits, DaySpent, Depth, Event, GateResult, GateSpec,
    GateWhen, GitSpec, LastWords, Limits, LongPrompt, NextSpec, OnRateLimit, Opening, Price, Rates, Reading,
    Retry, RunSpec, Scope, Spent, StopHow, Subject, Task, Timer, TurnEnd, WaitRules, WorkState,
};

use crate::dice::Dice;

pub(crate) fn spec(dice: &mut Dice, started_at: u64) -> RunSpec {
    let Some(preset) = preset::find(dice.pick(&preset::NAMES)) else { panic!("a preset has no policy") };
    let mut policy = preset.policy;
    if dice.chance(25) {
        policy.stages.insert(0, Stage { at: At::Percent(Percent::whole(50)), actions: vec![Action::Tell] });
    }
    if dice.chance(15) {
        let action = dice.pick(&[Action::Split, Action::Stop, Action::Handoff]);
        policy.stages.push(Stage { at: At::Left(u64::from(dice.roll(30_000))), actions: vec![action] });
    }
    policy.replacing_off = dice.chance(5);
    policy.handoff_file |= dice.chance(10);
    let gate = |n: u32, dice: &mut Dice| GateSpec {
        manual: dice.chance(8),
        ..GateSpec::new(format!("g{n}"), "x", 1_000)
    };
    let verifiers = [agent(1, dice), agent(9, dice)];
    RunSpec {
        task: Task {
            text: dice.pick(&["do it", "- [ ] a\n- [ ] b\n- [ ] c"]).to_owned(),
            source: None,
            open_items: dice.roll(3),
            ..Task::default()
        },
        agents: (0..=dice.roll(2)).map(|n| agent(n, dice)).collect(),
        policy,
        limits: limits(dice),
        gates: (0..dice.roll(3)).map(|n| gate(n, dice)).collect(),
        git: GitSpec {
            enabled: true,
            commit: dice.pick(&[CommitMode::Snapshot, CommitMode::Branch, CommitMode::Never]),
            commit_on_failure: dice.chance(50),
            message: String::new(),
            base: None,
            base_tree: Some("t0".to_owned()),
            base_secrets: None,
            users: None,
        },
        workdir: "/w".to_owned(),
        require_verified: dice.chance(20),
        strict_claims: dice.chance(20),
        started_at,
        from: dice.maybe(10, checkpoint_ref("far")),
        role: None,
        memory: Default::default(),
        wait: wait(dice),
        circuits: Vec::new(),
        next: NextSpec {
            verifiers: verifiers.into_iter().take(dice.roll(8) as usize / 3).collect(),
            ..NextSpec::default()
        },
        budget: budget(dice),
        growth: None,
        rereads: std::collections::BTreeMap::new(),
        last_words: LastWords { report: dice.chance(20), word: dice.maybe(15, "LOOP_COMPLETE".to_owned()) },
    }
}

pub(crate) fn checkpoint_ref(id: &str) -> CheckpointRef {
    let by = CheckpointBy::Agent;
    CheckpointRef { id: id.to_owned(), path: String::new(), session: 1, by, ledger: None }
}

fn agent(n: u32, dice: &mut Dice) -> AgentSpec {
    AgentSpec {
        name: format!("agent{n}"),
        model: None,
        window: dice.maybe(90, 100_000),
        budget: dice.maybe(10, 80_000),
        allow: dice.maybe(20, "web".to_owned()).into_iter().collect(),
        edits: dice.chance(10),
        account: dice.maybe(20, "team".to_owned()),
    }
}

fn wait(dice: &mut Dice) -> WaitRules {
    WaitRules {
        enabled: dice.chance(75),
        on_rate_limit: dice.pick(&[OnRateLimit::Fallback, OnRateLimit::Wait]),
        first_ms: 1_000,
        most_ms: 20_000,
        longest_ms: dice.maybe(90, 600_000),
        failures: 1 + dice.roll(2),
        shared: dice.chance(80),
        utc_offset_s: 3_600,
    }
}

fn budget(dice: &mut Dice) -> BudgetSpec {
    let of_agent = |n: u32, dice: &mut Dice| {
        let usual = dice.maybe(20, Opening { tokens: 90_000, cost_musd: Some(100_000) });
        let budget = AgentBudget { cost_musd: dice.maybe(8, 200_000), tells_cost: dice.chance(20), usual };
        (format!("agent{n}"), budget)
    };
    let today = day(dice);
    let today = dice.maybe(70, today);
    BudgetSpec {
        strict: dice.chance(12),
        day: DayLimits {
            cost_musd: dice.maybe(7, 400_000),
            tokens: dice.maybe(12, 500_000),
            sessions: dice.maybe(6, 4),
            wall_ms: dice.maybe(6, 200_000),
        },
        agents: (0..3).map(|n| of_agent(n, dice)).collect(),
        today,
    }
}

pub(crate) fn day(dice: &mut Dice) -> DaySpent {
    let others = Spent {
        cost_musd: u64::from(dice.roll(200_000)),
        unpriced: 0,
        tokens: u64::from(dice.roll(200_000)),
        sessions: dice.roll(3),
        wall_ms: u64::from(dice.roll(100_000)),
    };
    DaySpent { day: format!("2026-01-0{}", 1 + dice.roll(2)), others, before: Spent::default(), since: 1_000 }
}

pub(crate) fn priced(session: u32, dice: &mut Dice) -> Event {
    let rates = Rates {
        input: 1_000_000,
        cache_read: 100_000,
        cache_write: 1_250_000,
        cache_write_1h: 2_000_000,
        output: 5_000_000,
    };
    let long = dice.maybe(30, LongPrompt { over: 60_000, rates });
    let price = Price { rates, long, date: "2026-01-01".to_owned(), source: "x".to_owned() };
    Event::ModelPriced {
        session,
        model: dice.maybe(70, "m".to_owned()),
        price: dice.maybe(70, price),
        quality: dice.maybe(30, 150_000),
    }
}

fn limits(dice: &mut Dice) -> Limits {
    Limits {
        deadline_ms: Some(60_000 + u64::from(dice.roll(600_000))).filter(|_| dice.chance(25)),
        max_restarts: Some(dice.roll(3)).filter(|_| dice.chance(60)),
        max_handoffs_without_progress: dice.roll(4),
        gate_rounds: dice.roll(4),
        cost_musd: dice.maybe(20, 500_000),
        tokens: dice.maybe(15, 400_000),
        idle_ms: 60_000,
        tool_ms: 120_000,
        ask_timeout_ms: 30_000,
        same_denials: 2 + dice.roll(3),
        tool_idle_ms: 90_000,
        retry_ms: 60_000,
        sessions: Some(1 + dice.roll(4)).filter(|_| dice.chance(10)),
        ..Limits::default()
    }
}

pub(crate) fn work(dice: &mut Dice, stubborn: bool) -> WorkState {
    let tree = if stubborn { "t0".to_owned() } else { format!("t{}", dice.roll(30)) };
    WorkState {
        tree: dice.maybe(95, tree),
        head: dice.maybe(10, "h".to_owned()),
        snapshot: dice.maybe(50, "refs/segue/x".to_owned()),
        commit: None,
        changed: dice.roll(5),
        trouble: dice.maybe(3, "git hangs".to_owned()),
        secrets: dice.maybe(5, "s1".to_owned()),
        branches: dice.maybe(3, "main was moved".to_owned()).into_iter().collect(),
    }
}

pub(crate) fn gate(gate: String, when: GateWhen, passed: bool, dice: &mut Dice) -> GateResult {
    let exit = dice.maybe(90, i32::from(!passed));
    let output = dice.maybe(50, ".segue/gate".to_owned());
    GateResult {
        gate, when, passed, exit, ms: 5, output, tail: "äöü \"{}\"\n".to_owned(), timed_out: false
    }
}

pub(crate) fn checkpoint(session: u32, by: CheckpointBy, depth: Depth, work: WorkState, n: u64) -> Event {
    let claims = Claims { confirmed: 1, contradicted: 0, unknown: 2 };
    let (checkpoint, path) = (format!("c{n}"), ".segue/c".to_owned());
    Event::CheckpointTaken {
        checkpoint,
        session,
        by,
        depth,
        path,
        claims,
        work,
        ms: 3,
        judged: vec![claim(Finding::Confirmed)],
        source: None,
    }
}

/// A checkpoint as it is asked for.
pub(crate) const BLOCK: &str = "<checkpoint>\n## Goal\nx\n## Remaining Tasks\n- y\n</checkpoint>";

/// What comes of a side question, if anything.
pub(crate) fn side_answer(id: String, dice: &mut Dice) -> Option<AgentEvent> {
    match dice.roll(10) {
        0 => None,
        1 => Some(AgentEvent::SideFailed { id, why: "no".to_owned() }),
        2 => Some(AgentEvent::SideAnswered { id, text: "not now".to_owned() }),
        _ => Some(AgentEvent::SideAnswered { id, text: BLOCK.to_owned() }),
    }
}

pub(crate) fn claim(finding: Finding) -> Judged {
    let kind = ClaimKind::File { path: "src/a.rs".to_owned(), change: Change::Created };
    let claim = Claim { kind, text: "Created src/ä.rs".to_owned(), section: None };
    Judged { claim, finding, evidence: "git says so".to_owned() }
}

pub(crate) fn judged(dice: &mut Dice) -> Vec<Judged> {
    let findings = [Finding::Confirmed, Finding::Unknown, Finding::Confirmed, Finding::Contradicted];
    (0..dice.roll(3)).map(|_| claim(dice.pick(&findings))).collect()
}

pub(crate) fn ready(session: u32, dice: &mut Dice) -> AgentEvent {
    AgentEvent::Ready {
        conversation: format!("conversation-{session}"),
        model: dice.maybe(50, "m".to_owned()),
        window: dice.maybe(30, 100_000),
        ceiling: dice.maybe(20, 90_000),
        can: Capabilities {
            ask: dice.chance(85),
            follow_up: dice.chance(80),
            usage: true,
            brake: dice.chance(50),
            tell: dice.chance(50),
            side: dice.chance(50),
            resume: dice.chance(50),
        },
    }
}

pub(crate) fn turn_end(dice: &mut Dice) -> TurnEnd {
    let message = "it said no".to_owned();
    let failures = [
        AgentFailure::Overloaded,
        AgentFailure::RateLimited,
        AgentFailure::Quota,
        AgentFailure::Unauthorised,
        AgentFailure::BadModel,
        AgentFailure::Network,
        AgentFailure::Refused,
        AgentFailure::Other,
    ];
    match dice.roll(5) {
        0 | 1 => TurnEnd::Overflow { message },
        2 => TurnEnd::Cancelled,
        3 => TurnEnd::Finished { text: message },
        _ => {
            let retries = [Retry::After(30_000), Retry::At(90_000), Retry::After(9_000_000)];
            let retry = Some(dice.pick(&retries)).filter(|_| dice.chance(50));
            TurnEnd::Failed { failure: dice.pick(&failures), message, retry }
        }
    }
}

/// A provider that does not want any more for now.
pub(crate) fn refusal(dice: &mut Dice) -> TurnEnd {
    let failures = [AgentFailure::Overloaded, AgentFailure::RateLimited, AgentFailure::Network];
    let retry = dice.maybe(30, Retry::After(5_000));
    TurnEnd::Failed { failure: dice.pick(&failures), message: "later".to_owned(), retry }
}

/// What other runs know.
pub(crate) fn circuits(dice: &mut Dice) -> Vec<Circuit> {
    let circuit = Circuit {
        account: "agent0".to_owned(),
        agent: None,
        failure: AgentFailure::RateLimited,
        failures: 1,
        until: Some(u64::from(dice.roll(400_000))),
        said: String::new(),
    };
    dice.maybe(10, circuit).into_iter().collect()
}

pub(crate) fn agent_event(dice: &mut Dice) -> AgentEvent {
    let (tool, title, text) = (format!("t{}", dice.roll(3)), "works".to_owned(), "x".to_owned());
    match dice.roll(13) {
        0 => ready(dice.roll(4), dice),
        1 => AgentEvent::UsageRead(reading(dice)),
        2 => AgentEvent::TextSaid { chars: u64::from(dice.roll(50_000)) },
        3 => AgentEvent::ToolStarted { tool, title },
        4 => AgentEvent::ToolEnded { tool, title, ok: false, chars: u64::from(dice.roll(300_000)) },
        5 => AgentEvent::ItemsSeen { open: dice.roll(4), closed: dice.roll(4), items: Vec::new() },
        6 => AgentEvent::Compacted,
        7 => AgentEvent::PermissionAsked {
            request: tool,
            kind: "web".to_owned(),
            title,
            subject: Subject::default(),
        },
        8 => AgentEvent::Answered { text },
        9 if dice.chance(10) => {
            let resets_at = dice.maybe(50, 1_000_000);
            AgentEvent::AllowanceSeen { name: text, used_percent: dice.roll(120), resets_at }
        }
        9 if dice.chance(20) => AgentEvent::CrossChecked { reading: 9, agent: u64::from(dice.roll(20)) },
        9 if dice.chance(30) => AgentEvent::SideAnswered { id: "1".to_owned(), text },
        9 if dice.chance(30) => AgentEvent::SideFailed { id: "1".to_owned(), why: text },
        9 => AgentEvent::NotAnswered { why: text },
        10 => AgentEvent::TurnEnded(turn_end(dice)),
        11 => AgentEvent::Retrying {
            attempt: dice.roll(9),
            of: dice.maybe(50, 9),
            why: text,
            failure: dice.pick(&[AgentFailure::Overloaded, AgentFailure::Quota, AgentFailure::Other]),
            delay_ms: dice.maybe(50, 500),
            next_at: dice.maybe(20, 9_000),
        },
        _ => AgentEvent::Unrecognised { text, bytes: 9 },
    }
}

fn reading(dice: &mut Dice) -> Reading {
    let tokens = dice.pick(&[0, 1, 50_000, 99_000, 1_500_000, u64::MAX]);
    let mut reading =
        if dice.chance(50) { Reading::exact(tokens, 0, 0, 7) } else { Reading::reported(tokens, None) };
    reading.scope = dice.pick(&[Scope::Main, Scope::Side]);
    reading.session_cost_musd = dice.maybe(20, u64::from(dice.0 as u32));
    reading.window = dice.maybe(10, 0);
    reading
}

pub(crate) fn activity(dice: &mut Dice) -> Option<Activity> {
    let figures = [0, 1, 900, 100_000, u64::MAX];
    let activity = Activity {
        cpu_ms: Some(dice.pick(&figures)).filter(|_| dice.chance(80)),
        io_bytes: Some(dice.pick(&figures)).filter(|_| dice.chance(80)),
        procs: Some(dice.roll(5)),
        gone: dice.chance(3),
        files_ms: Some(dice.pick(&figures)).filter(|_| dice.chance(30)),
    };
    dice.maybe(30, activity)
}

/// Any event at all, about any session; all but the two that begin a life.
pub(crate) fn event(dice: &mut Dice, sessions: u32) -> Event {
    let session = dice.roll(sessions + 2);
    let timers = [Timer::Ask, Timer::Idle, Timer::End, Timer::Wait, Timer::End, Timer::Deadline];
    match dice.roll(23) {
        0 => Event::SessionSpawned { session, pid: 7, pid_start: 8 },
        1 => Event::SessionNotStarted { session, why: "x".to_owned() },
        2 => Event::PromptSent { session, chars: u64::from(dice.roll(1_000)) },
        3 => Event::SessionExited { session, exit: dice.maybe(50, 1), orphans: dice.roll(2) },
        4 => {
            let (when, passed) =
                (dice.pick(&[GateWhen::Before, GateWhen::After, GateWhen::Checkpoint]), dice.chance(50));
            Event::GateFinished(gate(format!("g{}", dice.roll(3)), when, passed, dice))
        }
        5 => checkpoint(session, CheckpointBy::Segue, Depth::Brief, work(dice, false), u64::from(session)),
        19 => Event::CheckpointFailed {
            checkpoint: "c".to_owned(),
            session,
            by: CheckpointBy::Agent,
            depth: Depth::Full,
            why: "x".to_owned(),
            work: work(dice, false),
        },
        21 => Event::GatesBegan { when: GateWhen::After, tree: dice.maybe(50, "t1".to_owned()) },
        20 => Event::PromptFailed { session, why: "x".to_owned() },
        6 => Event::WorkSaved { work: work(dice, false) },
        7 => Event::NoteLeft { text: "n".to_owned() },
        8 => Event::DoneClaimed { text: "d".to_owned() },
        9 => {
            let (timer, quiet_ms) = (dice.pick(&timers), u64::from(dice.roll(200_000)));
            Event::TimerFired { timer, quiet_ms, activity: activity(dice) }
        }
        10 => Event::StopAsked { how: dice.pick(&[StopHow::Gently, StopHow::AtOnce]) },
        12 => {
            let (request, tool) = ("w".to_owned(), "x".to_owned());
            Event::BrakeAsked { session, request, tool, chars: u64::from(dice.roll(1_000_000)) }
        }
        15 => Event::TryAsked,
        13 => Event::WordsJudged {
            session,
            judged: judged(dice),
            tree: dice.maybe(30, "t1".to_owned()),
            trouble: dice.maybe(10, "t".to_owned()),
        },
        14 => Event::SecretsRedacted { count: dice.roll(3), kinds: vec!["jwt".to_owned()] },
        17 => Event::DaySpent(day(dice)),
        18 => priced(session, dice),
        11 => Event::RunStarted { spec: Box::new(spec(dice, 5)) },
        16 => Event::BaseMoved { session, text: "m".to_owned() },
        _ => Event::Agent { session, event: agent_event(dice) },
    }
}
