//! Where one phase stands, in words and with its gauge, as wide as there is room.

use segue_machine::Millis;

use super::order::Placed;
use super::progress::{Progress, Session, Spent, Step};
use super::{PhaseNow, PhaseTree, Standing};
use crate::Style;
use crate::stream::dollars;
use crate::terminal::{
    Tint, columns, count, duration, left, money, outlook_words, plain, short, verdict_words,
};

/// Longer than most tools take: somebody should look.
const QUIET_MS: Millis = 5 * 60_000;

const ROOM_FOR_AN_AGENT: usize = 30;
const ROOM_FOR_A_BAR: usize = 44;
const ROOM_FOR_A_LONG_BAR: usize = 64;

/// What a line has left for a phase's state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) style: Style,
    pub(super) columns: usize,
    /// Columns of the agents' names, the same for all lines of a frame.
    pub(super) agent: usize,
}

type Pieces = Vec<(String, Tint)>;

/// What stands behind a phase's title.
pub(super) fn pieces(tree: &PhaseTree, placed: &Placed, now: Millis, room: Room) -> Pieces {
    let Some(phase) = tree.phase(&placed.row) else { return Vec::new() };
    if !placed.parts.is_empty() {
        return of_parts(tree, &placed.parts);
    }
    let progress = &phase.progress;
    let one = |words: String, tint| vec![(words, tint)];
    match &phase.standing {
        Standing::Waiting => one(reason(phase, || needs(tree, placed, "needs")), Tint::Dim),
        Standing::Held { by } => one(format!("waiting for the paths of {}", names(by)), Tint::Dim),
        Standing::Working => at_work(tree, phase, "", now, room),
        Standing::Done => one(with_why("done, waiting to be merged", phase), Tint::Plain),
        Standing::Merging => one(with_why("being merged", phase), Tint::Plain),
        Standing::Mending => at_work(tree, phase, &with_why("resolving the merge", phase), now, room),
        Standing::Completed => one(format!("completed{}", took(progress.spent())), Tint::Dim),
        Standing::Failed => one(with_why("failed", phase), Tint::Bad),
        Standing::NeedsInput => one(with_why("needs input", phase), Tint::Careful),
        Standing::Blocked => {
            let why = reason(phase, || needs(tree, placed, "it needs"));
            one(format!("blocked: {why}"), Tint::Careful)
        }
        Standing::Stopped => one(with_why("stopped", phase), Tint::Careful),
    }
}

fn with_why(words: &str, phase: &PhaseNow) -> String {
    if phase.why.is_empty() { words.to_owned() } else { format!("{words}: {}", plain(&phase.why)) }
}

fn reason(phase: &PhaseNow, otherwise: impl Fn() -> String) -> String {
    if phase.why.is_empty() { otherwise() } else { plain(&phase.why) }
}

fn needs(tree: &PhaseTree, placed: &Placed, lead: &str) -> String {
    let open: Vec<String> = placed.row.needs.iter().filter(|id| !tree.is_completed(id)).cloned().collect();
    if open.is_empty() { "queued".to_owned() } else { format!("{lead} {}", names(&open)) }
}

fn names(ids: &[String]) -> String {
    ids.iter().map(|id| plain(id)).collect::<Vec<_>>().join(", ")
}

fn of_parts(tree: &PhaseTree, parts: &[String]) -> Pieces {
    let completed = parts.iter().filter(|id| tree.is_completed(id)).count();
    vec![(format!("in {} parts, {completed} completed", parts.len()), Tint::Dim)]
}

fn at_work(tree: &PhaseTree, phase: &PhaseNow, lead: &str, now: Millis, room: Room) -> Pieces {
    let progress = &phase.progress;
    let took = (took(progress.spent()), Tint::Dim);
    if let Some(wait) = &progress.wait {
        // The time comes first: it is what must not be cut off.
        let until = |at| format!(" until {}{}", tree.rules.clock(at, now), left(at, now));
        let words = wait.until.map(until).unwrap_or_default();
        return vec![(format!("waits{words} for {}", plain(&wait.why)), Tint::Careful), took];
    }
    let doing = [lead.to_owned(), doing(progress, now)];
    let doing = doing.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
    match &progress.session {
        Some(session) => session_pieces(session, doing, took, room),
        None => vec![(doing, Tint::Plain), took],
    }
}

// What the run does stands before what is always there, and what is always there is shown whole or not at all.
fn session_pieces(session: &Session, doing: String, took: (String, Tint), room: Room) -> Pieces {
    let fill = &session.fill;
    let mut pieces = vec![(format!("s{} ", session.n), Tint::Bold)];
    if room.columns >= ROOM_FOR_AN_AGENT {
        let agent = room.style.cut(&plain(&session.agent), room.agent);
        let gap = " ".repeat(room.agent.saturating_sub(columns(&agent)));
        pieces.push((format!("{agent}{gap}  "), Tint::Plain));
    }
    if let Some(percent) = fill.percent_words() {
        let cells = if room.columns >= ROOM_FOR_A_LONG_BAR { 12 } else { 8 };
        let bar = fill.bar(cells).filter(|_| room.columns >= ROOM_FOR_A_BAR);
        pieces.extend(bar.map(|bar| (format!("{bar}  "), fill.tint())));
        pieces.push((format!("{percent:>5}"), fill.tint()));
    }
    let lead = if fill.percent.is_some() { "  " } else { "" };
    let gap = if doing.is_empty() { lead } else { " · " };
    if !doing.is_empty() {
        pieces.push((format!("{lead}{doing}"), Tint::Plain));
    }
    let forecast = session.forecast.map(|forecast| format!(" · {}", outlook_words(&forecast, false)));
    let tokens = format!("{gap}{}", fill.short_words());
    let always = [Some((tokens, Tint::Plain)), forecast.map(|words| (words, Tint::Plain)), Some(took)];
    let mut used: usize = pieces.iter().map(|(text, _)| columns(text)).sum();
    for piece in always.into_iter().flatten() {
        let width = columns(&piece.0);
        if used + width < room.columns {
            used += width;
            pieces.push(piece);
        }
    }
    pieces
}

/// What the run does, as far as its lines tell; empty while it just works.
fn doing(progress: &Progress, now: Millis) -> String {
    let (passed, failed) = progress.gates();
    match progress.step {
        Step::Starting => "starting".to_owned(),
        Step::GatesBefore => "running the gates before the work".to_owned(),
        Step::AskedForCheckpoint => "writing a checkpoint".to_owned(),
        Step::HandingOff => "handing off".to_owned(),
        Step::BetweenSessions => "between sessions".to_owned(),
        Step::Gating => match failed {
            0 => format!("running the gates, {passed} passed"),
            _ => format!("running the gates, {failed} failed"),
        },
        Step::Over(verdict) => verdict_words(verdict).0.to_owned(),
        Step::Working => {
            let quiet = progress.heard_at.map_or(0, |at| now.saturating_sub(at));
            if quiet >= QUIET_MS {
                return format!("quiet for {}", duration(quiet));
            }
            let gates = u32::try_from(failed).unwrap_or(u32::MAX);
            if gates == 0 { String::new() } else { failing(gates) }
        }
    }
}

fn failing(gates: u32) -> String {
    if gates == 1 { "gate fails".to_owned() } else { format!("{} fail", count(gates, "gate")) }
}

/// ` · 2 handoffs · $1.20`, whatever there is of it.
fn took(spent: Spent) -> String {
    let handoffs = Some(spent.handoffs).filter(|n| *n > 0).map(|n| count(n, "handoff"));
    let words = [handoffs, spent_words(spent)];
    words.into_iter().flatten().map(|words| format!(" · {words}")).collect()
}

/// Money, as far as it is known; tokens where it is not known at all.
pub(super) fn spent_words(spent: Spent) -> Option<String> {
    let totals = spent.totals;
    match (totals.cost_musd.map(dollars), totals.unpriced) {
        (Some(cost), 0) => Some(money(cost)),
        (Some(cost), _) => Some(format!("at least {}", money(cost))),
        (None, _) => Some(totals.tokens()).filter(|n| *n > 0).map(|n| format!("{} tokens", short(n))),
    }
}
