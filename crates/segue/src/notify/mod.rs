//! Telling somebody that a run needs them: a command, a webhook, the terminal's bell.
//!
//! The run only starts a process of this program for each notification and goes on; that process ([`deliver`]) holds
//! back what was told a moment ago, waits for whoever is slow, and tries again. So a receiver that hangs costs the run
//! nothing, not even at its end.

mod body;
mod deliver;
mod settings;
mod sha256;
mod webhook;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use segue_machine::Verdict;
use segue_report::{Line, Outer, RunFinished, Time};
use serde::{Deserialize, Serialize};

use crate::process::own::{self, Own};

pub(crate) use deliver::{Attempt, deliver, last_failure};
pub(crate) use settings::{BodyFormat, Kind, NotifySettings, Url};
pub(crate) use webhook::host_of;

/// The version of what a command and a webhook are sent.
pub(crate) const SCHEMA: u32 = 1;

/// A wait that is shorter needs nobody.
const LONG_WAIT_MS: u64 = 60_000;

/// How long a run waits at its end until it may leave.
pub(crate) const LAST_OF_ALL: Duration = Duration::from_secs(20);

/// One notification, as a command gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notification {
    /// The version of these fields.
    pub(crate) schema: u32,
    /// What about.
    pub(crate) event: Kind,
    /// The run or the plan.
    pub(crate) run: String,
    /// When it happened.
    pub(crate) at: Time,
    /// What the run is to do, in one line.
    pub(crate) task: String,
    /// The work tree.
    pub(crate) workdir: String,
    /// What happened, in one sentence.
    pub(crate) text: String,
    /// The verdict, where the run is over.
    pub(crate) verdict: Option<Verdict>,
    /// What to do next, ready to be pasted.
    pub(crate) next: Option<String>,
    /// How many of this kind were held back since the last one.
    pub(crate) held_back: u32,
}

/// What the process that delivers is given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Who is told.
    pub(crate) to: NotifySettings,
    /// What.
    pub(crate) notification: Notification,
}

/// Starts a delivery for each thing that somebody wants to know of one run.
#[derive(Debug)]
pub(crate) struct Notifier {
    to: NotifySettings,
    task: String,
    workdir: PathBuf,
    /// What the processes do not get of this one's environment.
    without: Vec<OsString>,
    /// The run is a phase: its end is its plan's to tell.
    of_plan: bool,
    /// A limit was told of, so that the end it leads to needs no second notification.
    limit_told: bool,
    counts: Arc<Counts>,
}

/// How many deliveries have no process yet, and how many have not ended.
#[derive(Debug, Default)]
struct Counts {
    starting: AtomicU32,
    waiting: AtomicU32,
}

impl Notifier {
    /// For a run with this task in this work tree.
    pub(crate) fn new(to: NotifySettings, task: &str, workdir: PathBuf, without: Vec<OsString>) -> Self {
        Self {
            to,
            task: task.to_owned(),
            workdir,
            without,
            of_plan: false,
            limit_told: false,
            counts: Arc::default(),
        }
    }

    /// The same for a phase of a plan.
    pub(crate) fn of_plan(mut self, of_plan: bool) -> Self {
        self.of_plan = of_plan;
        self
    }

    /// What somebody wants to know of what these lines say.
    pub(crate) fn pick(&mut self, lines: &[Line]) -> Vec<Notification> {
        lines.iter().filter_map(|line| self.of_line(line)).collect()
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "everything else needs nobody")]
    fn of_line(&mut self, line: &Line) -> Option<Notification> {
        let (kind, text, end) = match &line.event {
            Outer::RunFinished(finished) => (self.of_end(finished)?, sentence(finished), Some(finished)),
            Outer::LimitReached(reached) => {
                self.limit_told = true;
                let limit = segue_report::limit_words(reached.limit);
                (Kind::Limit, format!("limit reached: {limit} ({})", reached.value), None)
            }
            Outer::WaitStarted(wait) => {
                let until = wait.until.map(|until| until.0.saturating_sub(line.at.0));
                if until.is_some_and(|ms| ms < LONG_WAIT_MS) {
                    return None;
                }
                let left = until.map(|ms| format!(", for {}", segue_report::duration(ms)));
                (Kind::Waiting, format!("waiting for {}{}", wait.why, left.unwrap_or_default()), None)
            }
            _ => return None,
        };
        let next = end.filter(|end| end.verdict != Verdict::Verified && end.verdict != Verdict::Unverified);
        self.to.on.contains(&kind).then(|| Notification {
            schema: SCHEMA,
            event: kind,
            run: line.run.clone(),
            at: line.at,
            task: self.task.clone(),
            workdir: self.workdir.display().to_string(),
            text,
            verdict: end.map(|end| end.verdict),
            next: next.map(|_| format!("segue resume {}", line.run)),
            held_back: 0,
        })
    }

    // Whoever stopped a run by hand knows it.
    fn of_end(&self, finished: &RunFinished) -> Option<Kind> {
        match finished.verdict {
            Verdict::NeedsInput => Some(Kind::NeedsInput),
            Verdict::Stopped if finished.limit.is_some() && !self.limit_told => Some(Kind::Limit),
            Verdict::Stopped => None,
            Verdict::Failed => Some(Kind::Failed).filter(|_| !self.of_plan),
            Verdict::Verified | Verdict::Unverified => Some(Kind::Done).filter(|_| !self.of_plan),
        }
    }

    /// Whether the terminal's bell is rung.
    pub(crate) fn rings(&self) -> bool {
        self.to.bell
    }

    /// Has it delivered, and does not wait; `trouble` hears why that was not possible, if somebody is still there.
    pub(crate) fn send(&self, notification: Notification, trouble: impl FnOnce(String) + Send + 'static) {
        if self.to.command.is_none() && self.to.webhook.is_none() {
            return;
        }
        let order = Order { to: self.to.clone(), notification };
        let (without, counts) = (self.without.clone(), self.counts.clone());
        counts.starting.fetch_add(1, Ordering::AcqRel);
        counts.waiting.fetch_add(1, Ordering::AcqRel);
        let deliver = move || {
            let child = start(&order, &without);
            counts.starting.fetch_sub(1, Ordering::AcqRel);
            let why = child.and_then(|(child, own)| {
                let output = child.wait_with_output();
                drop(own);
                output.map(|output| (!output.status.success()).then_some(output.stderr))
            });
            counts.waiting.fetch_sub(1, Ordering::AcqRel);
            match why {
                Ok(None) => {}
                Ok(Some(why)) => trouble(String::from_utf8_lossy(&why).trim().to_owned()),
                Err(error) => trouble(error.to_string()),
            }
        };
        let started = std::thread::Builder::new().name("segue-notify".to_owned()).spawn(deliver);
        if started.is_err() {
            // A machine without room for a thread has nobody to tell.
            self.counts.starting.fetch_sub(1, Ordering::AcqRel);
            self.counts.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Whether this process may end: each delivery has a process of its own. Those of the first process of a container end
    /// with it, so there it waits for them.
    pub(crate) fn may_leave(&self) -> bool {
        let last_of_all = std::process::id() == 1;
        let count = if last_of_all { &self.counts.waiting } else { &self.counts.starting };
        count.load(Ordering::Acquire) == 0
    }
}

// The process that delivers, with its order in hand. A group of its own: Ctrl-C is meant for the run.
fn start(order: &Order, without: &[OsString]) -> std::io::Result<(Child, Own)> {
    let mut command = Command::new(std::env::current_exe()?);
    for name in without {
        command.env_remove(name);
    }
    command.arg("deliver").current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let order = serde_json::to_vec(order)?;
    let (mut child, own) = own::spawn(&mut command)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&order)?;
    }
    Ok((child, own))
}

fn sentence(finished: &RunFinished) -> String {
    format!("{}: {}", finished.verdict.word().replace('_', " "), finished.reason)
}

#[cfg(test)]
mod tests {
    use segue_machine::Limit;
    use segue_report::{LimitReached, WaitFields};

    use super::*;

    fn line(event: Outer) -> Line {
        Line { run: "r1".to_owned(), seq: 1, at: Time(1_000_000), event }
    }

    fn end(verdict: Verdict, limit: Option<Limit>) -> Line {
        line(Outer::RunFinished(RunFinished {
            verdict,
            reason: "so it is".to_owned(),
            sessions: 1,
            handoffs: 0,
            overflows: 0,
            redacted: 0,
            tokens_in: None,
            tokens_out: None,
            cost_usd: None,
            ms: 1,
            advice: None,
            limit,
            exit_code: 0,
            until: None,
            gate_changes: Vec::new(),
            branch_changes: Vec::new(),
            last_message: None,
        }))
    }

    fn notifier() -> Notifier {
        let to = NotifySettings { on: Kind::ALL.to_vec(), bell: true, ..NotifySettings::default() };
        Notifier::new(to, "the task", PathBuf::from("/work"), Vec::new())
    }

    fn kinds(notifier: &mut Notifier, lines: &[Line]) -> Vec<Kind> {
        notifier.pick(lines).into_iter().map(|notification| notification.event).collect()
    }

    #[test]
    fn every_end_but_the_users_own_is_told() {
        let told = |verdict, limit| kinds(&mut notifier(), &[end(verdict, limit)]);
        assert_eq!(told(Verdict::Verified, None), [Kind::Done]);
        assert_eq!(told(Verdict::Unverified, None), [Kind::Done]);
        assert_eq!(told(Verdict::Failed, None), [Kind::Failed]);
        assert_eq!(told(Verdict::NeedsInput, None), [Kind::NeedsInput]);
        assert_eq!(told(Verdict::Stopped, Some(Limit::Cost)), [Kind::Limit]);
        assert_eq!(told(Verdict::Stopped, None), []);
    }

    #[test]
    fn a_limit_is_told_once_and_a_phase_leaves_its_end_to_its_plan() {
        let limit = line(Outer::LimitReached(LimitReached { limit: Limit::Cost, value: "$5".to_owned() }));
        let mut own = notifier();
        assert_eq!(kinds(&mut own, &[limit, end(Verdict::Stopped, Some(Limit::Cost))]), [Kind::Limit]);
        let mut phase = notifier().of_plan(true);
        assert_eq!(kinds(&mut phase, &[end(Verdict::Verified, None), end(Verdict::Failed, None)]), []);
        assert_eq!(kinds(&mut phase, &[end(Verdict::NeedsInput, None)]), [Kind::NeedsInput]);
    }

    #[test]
    fn a_short_wait_needs_nobody_and_what_is_not_wanted_is_not_told() {
        let wait = |ms: u64| {
            let until = Some(Time(1_000_000 + ms));
            line(Outer::WaitStarted(WaitFields {
                why: "the limit".to_owned(),
                until,
                agent: None,
                failure: None,
            }))
        };
        assert_eq!(kinds(&mut notifier(), &[wait(59_999)]), []);
        let told = notifier().pick(&[wait(120_000)]);
        assert_eq!((told[0].event, told[0].text.as_str()), (Kind::Waiting, "waiting for the limit, for 2 m"));
        let to = NotifySettings { on: vec![Kind::Failed], bell: true, ..NotifySettings::default() };
        let mut only = Notifier::new(to, "t", PathBuf::from("/w"), Vec::new());
        assert_eq!(kinds(&mut only, &[wait(120_000), end(Verdict::Verified, None)]), []);
        let failed = only.pick(&[end(Verdict::Failed, None)]).remove(0);
        assert_eq!(failed.next.as_deref(), Some("segue resume r1"));
    }
}
