//! The verdict on a set-up: what does not work, what to change, and the report in words and as JSON.

use segue_machine::amounts::short;
use segue_machine::{Source, Verdict};
use segue_rehearsal::step_log::StepLog;
use serde_json::{Value, json};

use super::account::{Account, Truth, word};
use super::fault::{Trouble, When};
use crate::config::{Permissions, Settings};

/// The largest error that an exact gauge may have.
const TRUE_ENOUGH: f64 = 0.01;

/// What the rehearsal was about.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) agent: String,
    pub(super) version: Result<String, String>,
    /// The user's own settings, before they were changed for the rehearsal.
    pub(super) settings: &'a Settings,
    pub(super) trouble: Option<&'a Trouble>,
    pub(super) window: u64,
    pub(super) steps: u32,
    /// Processes that were still there after the end.
    pub(super) left: usize,
    /// The agent was allowed to run commands, which the user's settings do not.
    pub(super) allowed: bool,
    pub(super) account: &'a Account,
    pub(super) truth: &'a Truth,
    pub(super) log: &'a StepLog,
}

/// The verdict.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// What is wrong; empty when the set-up works.
    pub(super) problems: Vec<String>,
    /// What to change or to know.
    pub(super) advice: Vec<String>,
}

/// Judges a rehearsal.
pub(super) fn judge(case: &Case<'_>) -> Judgement {
    let mut judgement = Judgement::default();
    judgement.ends(case);
    judgement.steps(case);
    judgement.gauge(case);
    judgement.fault(case);
    judgement.advise(case);
    judgement
}

impl Judgement {
    fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }

    fn advice(&mut self, text: impl Into<String>) {
        self.advice.push(text.into());
    }

    fn ends(&mut self, case: &Case<'_>) {
        match case.account.ends.as_slice() {
            [] => self.problem("the run did not end"),
            [end] if end.verdict != Verdict::Verified => {
                self.problem(format!("the run did not finish the job: {}", end.reason));
            }
            [first, .., last] if last.verdict != Verdict::Verified => self.problem(format!(
                "the run stopped ({}) and could not be resumed: {}",
                first.reason, last.reason
            )),
            _ => {}
        }
        if case.left > 0 {
            self.problem(format!("{} processes were left behind", case.left));
        }
        if case.truth.other_keys > 0 {
            self.problem(format!(
                "{} requests carried a key of your own; it did not leave this machine",
                case.truth.other_keys
            ));
        }
    }

    fn steps(&mut self, case: &Case<'_>) {
        let list = |steps: std::collections::BTreeSet<u32>| {
            steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let lost = case.log.lost(case.steps);
        let verified = case.account.ends.last().is_some_and(|end| end.verdict == Verdict::Verified);
        if verified && !lost.is_empty() {
            self.problem(format!("a false \"done\": steps {} were never done", list(lost)));
        } else if !lost.is_empty() {
            self.problem(format!("steps {} were not done", list(lost)));
        }
        if !case.log.started_twice().is_empty() {
            self.problem(format!("steps {} were done twice", list(case.log.started_twice())));
        }
    }

    fn gauge(&mut self, case: &Case<'_>) {
        let gauge = &case.account.gauge;
        let worst = gauge.worst.map_or_else(String::new, |worst| format!(" by {:.1} %", worst * 100.0));
        match gauge.source {
            Some(Source::Exact) if gauge.worst.is_some_and(|worst| worst > TRUE_ENOUGH) => {
                self.problem(format!("the gauge is wrong{worst}"));
            }
            Some(Source::Estimated) => self.advice(format!(
                "this agent reports no usage: the gauge is an estimate, here off{worst} at worst; a lower --context-threshold leaves room for that"
            )),
            None | Some(Source::None) => self.advice("the gauge never had a reading"),
            Some(Source::Exact | Source::Reported) => {}
        }
        if case.truth.overflows > 0 && case.settings.policy.replaces() {
            self.problem(format!(
                "the context overflowed {} times before segue replaced the session",
                case.truth.overflows
            ));
        }
    }

    fn fault(&mut self, case: &Case<'_>) {
        let Some(trouble) = case.trouble else {
            if case.account.ends.len() > 1 {
                self.problem("the run had to be resumed although no fault was injected");
            }
            return;
        };
        if case.truth.faults == 0 && case.agent != super::apply::STAND_IN {
            let why = match trouble.when {
                When::Checkpoint => ": the agent was never asked for a checkpoint",
                When::Start | When::Middle => "",
            };
            return self.advice(format!("the fault never occurred{why}"));
        }
        let Some(meant) = trouble.meaning().map(word) else { return };
        let stopped = case.account.ends.len() > 1;
        if !stopped || case.account.failures.contains(&meant) {
            return;
        }
        if case.account.failures.is_empty() {
            // An agent that tries again and again without a word shows nothing but its silence.
            return self.advice(format!(
                "the agent never reported that it was {}: segue saw only its silence",
                meant.replace('_', " ")
            ));
        }
        // What the agent itself calls a rate limit cannot be told from one.
        let as_told =
            meant == "quota" && case.account.failures.iter().all(|failure| failure == "rate_limited");
        if as_told {
            return self.advice("the agent reports an empty account as a rate limit");
        }
        self.problem(format!(
            "segue classified the fault as {}, not as {meant}",
            case.account.failures.join(", ")
        ));
    }

    fn advise(&mut self, case: &Case<'_>) {
        let (settings, account) = (case.settings, case.account);
        if settings.policy.native {
            self.advice("your policy leaves compaction to the agent: sessions are not replaced");
        } else if !settings.policy.replaces() {
            self.advice("your policy never replaces a session: a full window ends the run");
        } else if account.handoffs.is_empty() && case.trouble.is_none() {
            self.advice("no handoff was needed; more --steps or a smaller --window would show one");
        }
        if account.compactions > 0 && settings.policy.replaces() {
            self.advice(format!("the agent compacted its own context {} times", account.compactions));
        }
        if case.allowed {
            self.advice(
                "your settings deny what agents ask for; commands were allowed for the rehearsal only; for a real run set permissions = \"allow=execute,edit\" or \"bypass\"",
            );
        }
        let mine = settings.agents.first();
        let unknown = mine.is_some_and(|agent| {
            let known = agent.spec.model.as_deref().and_then(segue_agents::windows::window);
            let silent = !matches!(agent.permissions, Permissions::Bypass) || account.gauge.window.is_some();
            agent.spec.window.is_none() && known.is_none() && silent && must_be_told(&case.agent)
        });
        if unknown {
            self.advice(format!(
                "{} does not report its window, and your settings name neither a window nor a model that segue knows: \
                 set `window` in [agent.{}]",
                case.agent, case.agent
            ));
        }
    }

    /// One object, for machines.
    pub(super) fn json(&self, case: &Case<'_>) -> Value {
        let set = |steps: std::collections::BTreeSet<u32>| steps.into_iter().collect::<Vec<_>>();
        let fault = case.trouble.map(|trouble| {
            json!({ "name": trouble.name, "when": trouble.when.name(), "times": trouble.times,
                    "met": case.truth.faults, "taken_for": case.account.failures })
        });
        let mut doc = json!({
            "type": "rehearsal.finished", "works": self.problems.is_empty(), "agent": case.agent,
            "version": case.version.as_ref().ok(), "policy": case.settings.policy.name, "window": case.window,
            "fault": fault,
            "steps": { "total": case.steps, "done": case.log.distinct_done().len(),
                       "lost": set(case.log.lost(case.steps)), "repeated": set(case.log.started_twice()) },
            "overflows": case.truth.overflows, "processes_left": case.left,
            "other_keys": case.truth.other_keys,
            "problems": self.problems, "advice": self.advice,
        });
        if let (Some(doc), Ok(Value::Object(account))) =
            (doc.as_object_mut(), serde_json::to_value(case.account))
        {
            doc.extend(account);
        }
        doc
    }

    /// The same for people.
    pub(super) fn words(&self, case: &Case<'_>) -> Vec<String> {
        let (account, gauge) = (case.account, &case.account.gauge);
        let version =
            case.version.as_ref().map_or_else(|why| format!("version unknown: {why}"), Clone::clone);
        let known = |tokens: Option<u64>| tokens.map_or_else(|| "unknown".to_owned(), short);
        let worst = gauge.worst.map_or_else(
            || "nothing to compare".to_owned(),
            |worst| format!("worst error {:.2} % over {} readings", worst * 100.0, gauge.readings),
        );
        let source = gauge.source.and_then(|source| serde_json::to_value(source).ok());
        let source = source.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_else(|| "none".to_owned());
        let mut lines = vec![
            String::new(),
            format!("rehearsal of {} ({version}), policy {}", case.agent, case.settings.policy.name),
            format!("  window       {} tokens, ceiling {}", known(gauge.window), known(gauge.ceiling)),
            format!("  gauge        {source}; {worst}"),
            format!("  sessions     {}, {}", account.sessions, handoffs(account)),
            format!(
                "  checkpoints  {} by the agent, {} by segue",
                account.checkpoints_by_agent, account.checkpoints_by_segue
            ),
            format!("  overflows    {}", case.truth.overflows),
            format!(
                "  steps        {} of {} done, {} lost, {} repeated, by the step log",
                case.log.distinct_done().len(),
                case.steps,
                case.log.lost(case.steps).len(),
                case.log.started_twice().len()
            ),
            format!("  processes    {} left", case.left),
        ];
        if let Some(trouble) = case.trouble {
            lines.push(format!(
                "  fault        {}; it occurred {} times",
                trouble.words(),
                case.truth.faults
            ));
        }
        for (n, end) in account.ends.iter().enumerate() {
            let part = if n == 0 { "run" } else { "resumed" };
            let verdict = serde_json::to_value(end.verdict).ok().and_then(|v| v.as_str().map(str::to_owned));
            lines.push(format!("  {part:<12} {}: {}", verdict.unwrap_or_default(), end.reason));
        }
        lines.push(String::new());
        lines.extend(self.problems.iter().map(|text| format!("  wrong: {text}")));
        lines.extend(self.advice.iter().map(|text| format!("  note: {text}")));
        lines.push(if self.problems.is_empty() {
            "this setup works".to_owned()
        } else {
            "this setup does not work".to_owned()
        });
        lines
    }
}

fn handoffs(account: &Account) -> String {
    let at: Vec<String> = account
        .handoffs
        .iter()
        .map(|handoff| handoff.percent.map_or_else(|| "?".to_owned(), |percent| format!("{percent:.0} %")))
        .collect();
    if at.is_empty() { "no handoff".to_owned() } else { format!("handed over at {}", at.join(", ")) }
}

// Claude Code and Codex say how large their window is.
fn must_be_told(agent: &str) -> bool {
    !["claude", "codex", "codex-exec", "claude-acp", "codex-acp", super::apply::STAND_IN].contains(&agent)
}
