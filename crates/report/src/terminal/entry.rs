//! The lines that stay of one run: which outer events a person gets to read, and what stands below them. The words
//! are those of `sentence.rs`.

use segue_machine::{Choice, Considered, Verdict, View};

use crate::fields::{AgentSaid, GateFinished, GateTime, HandoffDecided, RunFinished};
use crate::terminal::{
    Entry, Style, Tint, clock, columns, cost_words, count, duration, opening, plain, sentence, short,
    wait_rules,
};
use crate::{Line, Outer};

const ROOM_FOR_A_CLOCK: usize = 60;
const KEYS_OF_A_WAIT: &str = "; press Enter to retry now, Ctrl-C to stop (resumable)";
const TAIL_LINES: usize = 3;

/// The entries of one outer line; none for what only the status line shows.
pub(crate) fn entries(line: &Line, view: &View, style: Style) -> Vec<Entry> {
    let head = head(line, view, style);
    let mut entries: Vec<Entry> = sentence(&line.event, line.at.0, &wait_rules(view))
        .map(|(text, tint)| Entry::new(head.as_str(), text, tint))
        .into_iter()
        .collect();
    match &line.event {
        Outer::RunStarted(started) => return opening::entries(&line.run, started, view, style),
        Outer::RunFinished(finished) => return run_finished(&line.run, finished, entries),
        Outer::HandoffDecided(decided) => entries.extend(passed_over(decided, &head)),
        Outer::GateFinished(gate) => entries.extend(gate_tail(gate, &head, view, style)),
        Outer::WaitStarted(_) if style.live => {
            entries.iter_mut().for_each(|entry| entry.text.push_str(KEYS_OF_A_WAIT));
        }
        Outer::AgentSaid(said) => return agent_said(said, head, style).into_iter().collect(),
        Outer::ItemsSeen(items) => {
            let text = format!(
                "{} to-do list: {} of {} done",
                items.session,
                items.closed,
                items.open + items.closed
            );
            return vec![Entry::new(head, text, Tint::Dim)];
        }
        Outer::SessionStarted(_)
        | Outer::GaugeRead(_)
        | Outer::StageReached(_)
        | Outer::CheckpointRequested(_)
        | Outer::CheckpointTaken(_)
        | Outer::CheckpointFailed(_)
        | Outer::PromptFailed(_)
        | Outer::SessionContinued(_)
        | Outer::SessionEnded(_)
        | Outer::GateChanged(_)
        | Outer::PhaseStarted(_)
        | Outer::PhaseFinished(_)
        | Outer::WaitStarted(_)
        | Outer::WaitEnded(_)
        | Outer::LimitReached(_)
        | Outer::Warning(_) => {}
    }
    entries
}

// The first line of a message, so that a log reads as a story; `segue show --transcript` has all of it.
fn agent_said(said: &AgentSaid, head: String, style: Style) -> Option<Entry> {
    if is_checkpoint(&said.text) {
        return None;
    }
    let first = said.text.lines().map(plain).find(|line| !line.is_empty())?;
    let text = format!("{}: {first}", said.session);
    let width = style.columns().saturating_sub(columns(&head)).max(1);
    Some(Entry::new(head, style.cut(&text, width), Tint::Dim))
}

/// Whether a message is the answer to a request, which has a line of its own.
pub(crate) fn is_checkpoint(text: &str) -> bool {
    text.trim_start_matches(['`', '\n', ' ']).starts_with("<checkpoint>")
}

fn head(line: &Line, view: &View, style: Style) -> String {
    if style.columns() < ROOM_FOR_A_CLOCK {
        return String::new();
    }
    format!("{:>7}  ", clock(line.at.0.saturating_sub(view.started_at)))
}

// Who was passed over is the reason why it is not them.
fn passed_over(decided: &HandoffDecided, head: &str) -> Vec<Entry> {
    let skipped = decided.considered.iter().filter(|one| one.verdict == Choice::Skipped);
    let text = |one: &Considered| format!("not {}: {}", one.agent, one.why);
    skipped.map(|one| Entry::new(" ".repeat(columns(head) + 2), text(one), Tint::Dim)).collect()
}

// The end of what a gate wrote that failed after the work.
fn gate_tail(gate: &GateFinished, head: &str, view: &View, style: Style) -> Vec<Entry> {
    let failed = !gate.passed && gate.when != GateTime::Before;
    let Some(result) = view.gates.get(&gate.gate).filter(|_| failed) else { return Vec::new() };
    let tail: Vec<String> = result.tail.lines().map(plain).filter(|line| !line.is_empty()).collect();
    let width = style.columns().saturating_sub(columns(head) + 2);
    let shown = tail.iter().skip(tail.len().saturating_sub(TAIL_LINES));
    shown.map(|line| Entry::new(" ".repeat(columns(head) + 2), style.cut(line, width), Tint::Dim)).collect()
}

fn run_finished(run: &str, finished: &RunFinished, said: Vec<Entry>) -> Vec<Entry> {
    let mut counts = vec![count(finished.sessions, "session")];
    let more = [(finished.handoffs, "handoff"), (finished.overflows, "overflow")];
    counts.extend(more.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| count(*n, noun)));
    let tokens =
        tokens_words(finished.tokens_in, finished.tokens_out).map(|words| format!("tokens: {words}"));
    let cost = finished.cost_usd.map(|usd| cost_words(Some(usd)));
    let spent: Vec<String> = tokens.into_iter().chain(cost).chain([duration(finished.ms)]).collect();
    let mut entries = vec![Entry::new("", "", Tint::Plain)];
    entries.extend(said.into_iter().map(|entry| Entry { head: String::new(), ..entry }));
    let changes = finished.gate_changes.iter().map(|change| plain(&change.sentence()));
    entries.extend(changes.map(|change| Entry::new("  ", change, Tint::Careful)));
    entries.extend(last_message(finished.last_message.as_deref()));
    entries.push(Entry::new("  ", counts.join(" · "), Tint::Plain));
    entries.push(Entry::new("  ", spent.join(" · "), Tint::Plain));
    entries
        .extend(next_step(run, finished).map(|next| Entry::new("  ", format!("next: {next}"), Tint::Bold)));
    entries
}

/// `1.43M in, 12k out`: what is known of it.
fn tokens_words(sent: Option<u64>, got: Option<u64>) -> Option<String> {
    let known = [sent.map(|n| format!("{} in", short(n))), got.map(|n| format!("{} out", short(n)))];
    let known: Vec<String> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// The agent's last message, quoted as its own.
fn last_message(text: Option<&str>) -> Vec<Entry> {
    let Some(text) = text else { return Vec::new() };
    let mut entries = vec![Entry::new("  ", "the agent's last message:", Tint::Plain)];
    entries.extend(text.lines().map(|line| Entry::new("  │ ", plain(line), Tint::Dim)));
    entries
}

fn next_step(run: &str, finished: &RunFinished) -> Option<String> {
    let usual = match finished.verdict {
        Verdict::Verified => None,
        Verdict::Unverified => Some("there is no gate: review the work yourself".to_owned()),
        Verdict::Failed | Verdict::Stopped | Verdict::NeedsInput => Some(format!("segue resume {run}")),
    };
    finished.advice.clone().or(usual)
}
