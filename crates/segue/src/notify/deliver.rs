//! The delivery of one notification, in a process of its own: what was told a moment ago is held back, a receiver that is
//! down is tried again, and one that hangs is given up.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use segue_report::Time;
use serde::{Deserialize, Serialize};

use super::settings::Url;
use super::webhook::Refusal;
use super::{Notification, NotifySettings, Order, body, sha256};
use crate::clock;
use crate::process;
use crate::state::State;

/// Where it is kept what was told when.
const FILE: &str = "notify.json";

/// Older notes about what was told go, when there are so many.
const MOST: usize = 500;

/// How long a receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before each further attempt.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// How long a command that does not end is looked at between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// What is remembered of the notifications.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Told {
    /// By work tree and kind.
    #[serde(default)]
    by_kind: BTreeMap<String, Last>,
    /// The last one that could not be delivered.
    #[serde(default)]
    failed: Option<Failed>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Last {
    at: u64,
    held_back: u32,
}

/// A notification that did not arrive.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// When.
    pub(crate) at: Time,
    /// Of which run.
    pub(crate) run: String,
    /// Why.
    pub(crate) why: String,
}

/// One way to tell somebody, and how that went.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// Who was told.
    pub(crate) to: String,
    /// Why not, where it failed.
    pub(crate) trouble: Option<String>,
}

/// Delivers in every way that is configured; what is held back is not delivered, and that is fine.
pub(crate) fn deliver(mut order: Order) -> Vec<Attempt> {
    let Some(held_back) = due(&order) else { return Vec::new() };
    order.notification.held_back = held_back;
    let attempts: Vec<Attempt> = std::thread::scope(|scope| {
        let Order { to, notification } = &order;
        let command =
            to.command.as_deref().map(|command| scope.spawn(move || by_command(command, notification)));
        let webhook = to.webhook.as_deref().map(|url| scope.spawn(move || by_webhook(url, to, notification)));
        [command, webhook].into_iter().flatten().filter_map(|thread| thread.join().ok()).collect()
    });
    let troubles: Vec<String> = attempts
        .iter()
        .filter_map(|attempt| Some(format!("{}: {}", attempt.to, attempt.trouble.as_ref()?)))
        .collect();
    remember(&order, (!troubles.is_empty()).then(|| troubles.join("; ")));
    attempts
}

/// The last notification that did not arrive, if none has arrived since.
pub(crate) fn last_failure() -> Option<Failed> {
    State::of_user()?.read::<Told>(FILE).failed
}

// How many were held back before this one; none where it has to wait itself. Without a state folder nothing is held back.
fn due(order: &Order) -> Option<u32> {
    let notification = &order.notification;
    let Some(state) = State::of_user().filter(|_| notification.event.repeats()) else { return Some(0) };
    let key = format!("{} {}", notification.event.word(), notification.workdir);
    let told = state.update(FILE, |told: &mut Told| {
        if told.by_kind.len() >= MOST {
            told.by_kind.clear();
        }
        let last = told.by_kind.entry(key).or_default();
        let now = notification.at.0;
        if last.at > 0 && now.saturating_sub(last.at) < order.to.every_ms {
            last.held_back += 1;
            return None;
        }
        last.at = now;
        Some(std::mem::take(&mut last.held_back))
    });
    told.unwrap_or(Some(0))
}

fn remember(order: &Order, trouble: Option<String>) {
    let run = order.notification.run.clone();
    let failed = trouble.map(|why| Failed { at: Time(clock::now()), run, why });
    if let Some(state) = State::of_user()
        && (failed.is_some() || state.read::<Told>(FILE).failed.is_some())
    {
        let _ = state.update(FILE, |told: &mut Told| told.failed = failed);
    }
}

fn by_webhook(url: &str, to: &NotifySettings, notification: &Notification) -> Attempt {
    let url = match Url::parse(url) {
        Ok(url) => url,
        Err(why) => return Attempt { to: "webhook".to_owned(), trouble: Some(why) },
    };
    let mut body = body::of(notification, to.format);
    if let Some(secret) = &to.secret {
        let code = sha256::hmac_hex(secret.as_bytes(), &body.bytes);
        body.headers.push(("X-Segue-Signature", format!("sha256={code}")));
    }
    let mut pauses = PAUSES.iter();
    let trouble = loop {
        match url.post(&body, PATIENCE) {
            Ok(()) => break None,
            Err(Refusal::Never(why)) => break Some(why),
            Err(Refusal::Later(why)) => match pauses.next() {
                Some(pause) => std::thread::sleep(*pause),
                None => break Some(why),
            },
        }
    };
    Attempt { to: "webhook".to_owned(), trouble }
}

fn by_command(command: &[String], notification: &Notification) -> Attempt {
    let to = format!("command {}", command.first().map_or("", String::as_str));
    let trouble = run_command(command, notification).unwrap_or_else(|error| Some(error.to_string()));
    Attempt { to, trouble }
}

fn run_command(command: &[String], notification: &Notification) -> std::io::Result<Option<String>> {
    let Some((program, args)) = command.split_first() else { return Ok(Some("it is empty".to_owned())) };
    let mut line = Command::new(program);
    line.args(args).current_dir(&notification.workdir).process_group(0);
    line.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = line.spawn()?;
    let text = serde_json::to_vec(notification)?;
    // Less than a pipe holds, so a program that does not read it holds up nobody.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(&text).and_then(|()| stdin.write_all(b"\n"));
    }
    match ended(&mut child)? {
        Some(status) if status.success() => Ok(None),
        Some(status) => Ok(Some(format!("it ended with {status}"))),
        None => {
            process::signal_group(child.id(), Signal::KILL);
            child.wait()?;
            Ok(Some(format!("it did not end within {} s and was stopped", PATIENCE.as_secs())))
        }
    }
}

fn ended(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait()? {
            None if Instant::now() < until => std::thread::sleep(LOOK),
            ended => return Ok(ended),
        }
    }
}
