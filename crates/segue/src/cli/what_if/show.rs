//! The comparison as a diff that people read, and as JSON.

use segue_machine::Millis;
use segue_report::plain;
use serde_json::{Value, json};

use super::Session;
use super::contender::Contender;
use super::decision::{Decision, What};

/// What is true of everything that is shown.
const NOTE: &str = "Each recorded session is replayed by itself, with its events as they were. After the first different \
decision nobody knows what the agent would have done: from there on the other policy sees the recorded readings and tools \
and nothing else, and its own requests count as granted at once.";

/// Narrower screens see percentages only.
const ROOM_FOR_TOKENS: u16 = 90;

/// A comparison and whose it is.
pub(super) struct Shown<'a> {
    pub(super) run: &'a str,
    /// When the run began.
    pub(super) began: Millis,
    /// The policy of the run.
    pub(super) recorded: &'a str,
    pub(super) contender: &'a Contender,
    pub(super) sessions: &'a [Session],
}

impl Shown<'_> {
    /// As lines.
    pub(super) fn words(&self, width: u16) -> Vec<String> {
        let mut lines = vec![format!(
            "run {}: recorded under {} (-), replayed under {} (+)",
            self.run,
            plain(self.recorded),
            self.name()
        )];
        lines.extend(wrap(NOTE, usize::from(width).clamp(20, 100)));
        for session in self.sessions {
            lines.push(String::new());
            let head = format!("session {} ({}): {}", session.n, plain(&session.agent), self.says(session));
            lines.extend(wrap(&head, usize::from(width).clamp(20, 160)));
            lines.extend(diff(session).into_iter().map(|(mark, decision)| self.line(mark, decision, width)));
        }
        lines
    }

    /// As one JSON object.
    pub(super) fn json(&self) -> Value {
        let sessions: Vec<Value> = self
            .sessions
            .iter()
            .map(|session| {
                json!({
                    "session": session.n,
                    "agent": session.agent,
                    "calls": session.calls,
                    "percent": session.percent.map(percent),
                    "same": !session.parted,
                    "says": self.says(session),
                    "recorded": session.recorded.iter().map(doc).collect::<Vec<_>>(),
                    "decided": session.other.iter().map(doc).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "run": self.run,
            "recorded": self.recorded,
            "policy": self.contender.name,
            "context_threshold": self.contender.threshold,
            "note": NOTE,
            "sessions": sessions,
        })
    }

    fn name(&self) -> String {
        let at = self.contender.threshold.map_or_else(String::new, |at| format!(" at {at} %"));
        format!("{}{at}", self.contender.name)
    }

    // The whole session in a sentence.
    fn says(&self, session: &Session) -> String {
        let name = self.name();
        let would = |decision: &Decision| {
            let what = if decision.what == What::Stop { "ended the run" } else { "handed over" };
            format!("{name} would have {what} at {}", place(decision))
        };
        match (cause(&session.recorded), cause(&session.other)) {
            (Some(was), Some(_)) if !session.parted => format!("the same, at {}", place(was)),
            (Some(was), Some(other)) if (was.call, was.percent) == (other.call, other.percent) => {
                format!("{}, the same decision in another form", would(other))
            }
            (Some(was), Some(other)) => format!("{} instead of {}", would(other), place(was)),
            (Some(was), None) => format!(
                "{name} would not have handed over at {}; the recording ends {}",
                place(was),
                session.percent.map_or_else(|| "there".to_owned(), |p| format!("at {:.1} %", percent(p)))
            ),
            (None, Some(other)) => format!("{}; it was not handed over", would(other)),
            (None, None) if session.parted => {
                "not handed over under either, but decided otherwise".to_owned()
            }
            (None, None) => "the same: not handed over".to_owned(),
        }
    }

    fn line(&self, mark: char, decision: &Decision, width: u16) -> String {
        let s = decision.at.saturating_sub(self.began) / 1_000;
        let time = format!("{:02}:{:02}", s / 60, s % 60);
        let fill = decision.percent.map_or_else(|| "–".to_owned(), |p| format!("{:.1} %", percent(p)));
        let tokens = decision.tokens.filter(|_| width >= ROOM_FOR_TOKENS);
        let tokens = tokens.map_or_else(String::new, |tokens| format!("{tokens:>9} tokens  "));
        format!(
            "  {mark} {time}  call {:<4} {fill:>7}  {tokens:<14}  {}",
            decision.call,
            plain(&decision.text)
        )
    }
}

fn doc(decision: &Decision) -> Value {
    let mut doc = json!(decision);
    doc["percent"] = json!(decision.percent.map(percent));
    doc
}

fn percent(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

fn place(decision: &Decision) -> String {
    let fill = decision.percent.map_or_else(String::new, |p| format!(" ({:.1} %)", percent(p)));
    format!("call {}{fill}", decision.call)
}

// Why the session ended, and where: the stage or the brake that led to it, not the checkpoint that came after.
fn cause(decisions: &[Decision]) -> Option<&Decision> {
    let end = decisions.iter().position(Decision::ends)?;
    let mut before = decisions[..end].iter().rev();
    let leads = |decision: &&Decision| matches!(decision.what, What::Stage | What::Braked);
    Some(before.find(leads).filter(|_| decisions[end].what == What::Handoff).unwrap_or(&decisions[end]))
}

/// Both lists in the order of time, each line marked with whose it is.
fn diff(session: &Session) -> Vec<(char, &Decision)> {
    let theirs = |decision: &Decision| session.other.iter().any(|other| other.same(decision));
    let ours = |decision: &Decision| session.recorded.iter().any(|own| own.same(decision));
    let mut lines: Vec<(char, &Decision)> = session
        .recorded
        .iter()
        .map(|decision| (if theirs(decision) { ' ' } else { '-' }, decision))
        .collect();
    lines.extend(session.other.iter().filter(|decision| !ours(decision)).map(|decision| ('+', decision)));
    lines.sort_by_key(|(_, decision)| decision.at);
    lines
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
