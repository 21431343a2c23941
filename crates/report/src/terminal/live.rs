//! What is redrawn while a run is at work: who works, how full the window is, how far the job is, what runs now, and the
//! agent's own words. In few rows or columns it is one line.

use segue_machine::{Millis, Phase, SessionView, View, WaitRules};

use crate::stream::dollars;
use crate::terminal::entry::is_checkpoint;
use crate::terminal::outlook::about;
use crate::terminal::text::plain;
use crate::terminal::{Beside, Fill, Style, Tint, clock, columns, count, duration, money, outlook_words};

const ROOM_FOR_A_LONG_BAR: usize = 80;
const ROOM_FOR_A_BAR: usize = 50;
const ROOM_FOR_A_FORECAST: usize = 100;
const NARROW: usize = 40;
const A_SECOND: Millis = 1_000;
/// Fewer rows are left to the lines that stay.
const ROWS_FOR_A_FRAME: u16 = 12;

type Pieces = Vec<(String, Tint)>;

/// The lines at the foot of the screen; `None` when the run is over or has not begun.
pub(crate) fn frame(view: &View, now: Option<Millis>, style: Style, beside: &Beside) -> Option<Vec<Pieces>> {
    let line = pieces(view, now, style)?;
    let session = view.session.as_ref().filter(|_| view.waiting.is_none());
    if beside.rows < ROWS_FOR_A_FRAME || style.columns() < NARROW {
        return Some(vec![line]);
    }
    let at = now.unwrap_or(view.at);
    let head = match session {
        Some(session) => of_window(session, style),
        None => line,
    };
    let gate_runs = beside.gate.as_ref().is_some_and(|gate| gate.runs(view));
    let doing = (session.is_some() || gate_runs).then(|| vec![(doing(view, at, beside, style), Tint::Plain)]);
    let job = of_job(view, at, beside);
    let said = said(view, style).map(|words| vec![(words, Tint::Dim)]);
    let keys = (!beside.keys.is_empty()).then(|| vec![(beside.keys.clone(), Tint::Dim)]);
    let lines = [Some(head), Some(job).filter(|job| !job.is_empty()), doing, said, keys];
    Some(lines.into_iter().flatten().collect())
}

// How far the job is, by the agent's own list, and what it took so far.
fn of_job(view: &View, now: Millis, beside: &Beside) -> Pieces {
    let took = now.saturating_sub(view.started_at);
    let mut words = Vec::new();
    if let Some((open, closed)) = view.items.filter(|(open, closed)| open + closed > 0) {
        words.push((format!("{closed} of {} done", open + closed), Tint::Bold));
        if open > 0 && closed > 0 {
            let left = took.saturating_mul(u64::from(open)) / u64::from(closed);
            let left =
                if left < 60_000 { "less than 1 m".to_owned() } else { format!("about {}", about(left)) };
            words.push((format!("{left} left"), Tint::Plain));
        }
    }
    words.push((clock(took), Tint::Plain));
    words.extend(beside.changes.as_ref().map(|changes| (changes.to_string(), Tint::Plain)));
    words.extend(spent(view).map(|money| (money.trim_start_matches(" · ").to_owned(), Tint::Plain)));
    if let Some(session) = &view.session {
        let counts = [count(session.gauge.calls(), "call"), count(session.gauge.tools(), "tool")];
        words.push((counts.join(", "), Tint::Dim));
    }
    let mut pieces = Pieces::new();
    for (text, tint) in words {
        if !pieces.is_empty() {
            pieces.push((" · ".to_owned(), Tint::Dim));
        }
        pieces.push((text, tint));
    }
    pieces
}

// What runs: the session's tool, or the gate with its clock and the last line it wrote.
fn doing(view: &View, now: Millis, beside: &Beside, style: Style) -> String {
    let Some(gate) = beside.gate.as_ref().filter(|gate| gate.runs(view)) else {
        let state = view.state(now).map(|state| state.to_string()).unwrap_or_default();
        return style.cut(&plain(&phase_words(view).map_or(state, str::to_owned)), style.columns());
    };
    let number = if gate.of > 1 { format!(" ({} of {})", gate.n, gate.of) } else { String::new() };
    let last = plain(&gate.last_line);
    let last = if last.is_empty() { String::new() } else { format!(" · {last}") };
    let clock = clock(now.saturating_sub(gate.since));
    style.cut(&format!("gate {}{number} {clock}{last}", plain(&gate.name)), style.columns())
}

fn phase_words(view: &View) -> Option<&'static str> {
    match view.phase {
        Phase::GatesBefore => Some("running the gates before the work"),
        Phase::Gating => Some("running the gates"),
        Phase::Saving => Some("saving a snapshot"),
        Phase::New | Phase::Working | Phase::Waiting | Phase::Finished => None,
    }
}

// The last line of the last thing that the agent at work said.
fn said(view: &View, style: Style) -> Option<String> {
    let session = view.session.as_ref()?.n;
    let message =
        view.prose.back().filter(|message| message.session == session && !is_checkpoint(&message.text))?;
    let line = message.text.lines().rev().map(plain).find(|line| !line.trim().is_empty())?;
    Some(style.cut(&format!("“{}”", line.trim()), style.columns().saturating_sub(1)))
}

/// The pieces of the status line, most important first; `None` when the run is over or has not begun.
fn pieces(view: &View, now: Option<Millis>, style: Style) -> Option<Vec<(String, Tint)>> {
    if matches!(view.phase, Phase::New | Phase::Finished) {
        return None;
    }
    if let Some(wait) = &view.waiting {
        let why = plain(&wait.why);
        // In 80 columns there is no room for the time of day as well; it stands in the line above.
        let words = match now {
            Some(now) => format!("waiting for {why}, {} left", duration(wait.until.saturating_sub(now))),
            None => waiting(&why, wait.until, wait.since, &wait_rules(view)),
        };
        let words = format!("{words} · press Enter to retry now");
        return Some(vec![(words, Tint::Careful)]);
    }
    let busy = phase_words(view);
    let mut pieces = match (&view.session, busy) {
        (Some(session), None) => {
            let state = view.state(view.at).map(|state| plain(&state.to_string())).unwrap_or_default();
            of_session(session, state, view.items, style)
        }
        (Some(session), Some(busy)) => of_session(session, busy.to_owned(), view.items, style),
        (None, busy) => vec![(busy.unwrap_or("between sessions").to_owned(), Tint::Plain)],
    };
    let took = now.unwrap_or(view.at).saturating_sub(view.started_at);
    if style.columns() >= ROOM_FOR_A_LONG_BAR && took >= A_SECOND {
        pieces.push((format!(" · {}", clock(took)), Tint::Dim));
    }
    pieces.extend(spent(view).filter(|_| style.columns() >= NARROW).map(|words| (words, Tint::Dim)));
    Some(pieces)
}

// Money against its limit, where there is either.
fn spent(view: &View) -> Option<String> {
    let limit = view.spec.as_ref()?.limits.cost_musd.map(dollars);
    let spent = view.spent();
    match (spent.cost().map(dollars), limit) {
        (Some(cost), Some(limit)) => Some(format!(" · {} of {}", money(cost), money(limit))),
        (Some(cost), None) => Some(format!(" · {}", money(cost))),
        (None, Some(_)) if spent.unpriced > 0 => Some(" · unknown cost".to_owned()),
        (None, _) => None,
    }
}

/// What is waited for and until when, by the user's clock.
pub(crate) fn waiting(why: &str, until: Millis, now: Millis, rules: &WaitRules) -> String {
    format!("waiting for {why} until {}", rules.clock(until, now))
}

/// ` (18 min 00 s)`: how long it is until then.
pub(crate) fn left(until: Millis, now: Millis) -> String {
    format!(" ({})", duration(until.saturating_sub(now)))
}

/// The rules of the run, with its user's clock.
pub(crate) fn wait_rules(view: &View) -> WaitRules {
    view.spec.as_ref().map(|spec| spec.wait.clone()).unwrap_or_default()
}

fn of_session(
    session: &SessionView,
    doing: String,
    items: Option<(u32, u32)>,
    style: Style,
) -> Vec<(String, Tint)> {
    if style.columns() < NARROW {
        let fill = Fill::from(&session.gauge);
        let mut pieces = vec![(format!("s{}", session.n), Tint::Bold)];
        pieces.extend(fill.percent_words().map(|percent| (format!(" {percent}"), fill.tint())));
        pieces.push((format!(" {doing}"), Tint::Plain));
        return pieces;
    }
    let mut pieces = of_window(session, style);
    let counts =
        format!(" · {} {}", count(session.gauge.calls(), "call"), count(session.gauge.tools(), "tool"));
    // The agent's own list says how far the job is.
    let items = items.map(|(open, closed)| (closed, open + closed)).filter(|(_, all)| *all > 0);
    let items = items.map(|(closed, all)| format!(" · {closed} of {all}")).unwrap_or_default();
    let counts = format!("{items}{counts}");
    let used: usize = pieces.iter().map(|(text, _)| columns(text)).sum();
    // A long title must not push the counts off the line while there is room for both.
    let left = style.columns().saturating_sub(used + counts.len() + 4).max(12);
    pieces.push((format!(" · {}", style.cut(&doing, left)), Tint::Plain));
    pieces.push((counts, Tint::Dim));
    pieces
}

// Who works, and how full the window is.
fn of_window(session: &SessionView, style: Style) -> Pieces {
    let fill = Fill::from(&session.gauge);
    let columns = style.columns();
    let mut pieces = vec![(format!("s{}", session.n), Tint::Bold)];
    pieces.push((format!(" {}", style.cut(&plain(&session.agent), 16)), Tint::Plain));
    let cells = if columns >= ROOM_FOR_A_LONG_BAR { 12 } else { 8 };
    if columns >= ROOM_FOR_A_BAR
        && let Some(bar) = fill.bar(cells)
    {
        pieces.push((format!("  {bar}"), fill.tint()));
    }
    pieces.extend(fill.percent_words().map(|percent| (format!("  {percent}"), fill.tint())));
    pieces.push((format!("  {}", fill.words()), Tint::Plain));
    if let Some(outlook) = session.outlook().filter(|_| columns >= ROOM_FOR_A_FORECAST) {
        pieces.push((format!(" · {}", outlook_words(&outlook.into(), false)), Tint::Plain));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_agents_list_and_the_time_of_the_run_stand_on_the_line() {
        let mut view = sample::busy_view();
        view.items = Some((4, 15));
        let style = Style { color: false, width: 140, live: true, ascii: false };
        let line = |view: &View, now| {
            pieces(view, now, style).unwrap().into_iter().map(|(text, _)| text).collect::<String>()
        };
        assert!(line(&view, None).ends_with("running `cargo test` · 15 of 19 · 14 calls 31 tools"));
        let later = line(&view, Some(sample::START + 312_000));
        assert!(later.ends_with(" · 15 of 19 · 14 calls 31 tools · 05:12"), "{later}");
        view.items = Some((0, 0));
        assert!(!line(&view, None).contains(" of 0"), "an empty list says nothing");
    }

    #[test]
    fn money_is_shown_against_its_limit_and_an_unknown_cost_is_said_to_be_unknown() {
        let mut view = sample::busy_view();
        assert_eq!(spent(&view), None);
        view.past.cost_musd = Some(1_200_000);
        assert_eq!(spent(&view).as_deref(), Some(" · $1.20"));
        if let Some(spec) = view.spec.as_mut() {
            spec.limits.cost_musd = Some(5_000_000);
        }
        assert_eq!(spent(&view).as_deref(), Some(" · $1.20 of $5.00"));
        view.past.unpriced = 9;
        assert_eq!(spent(&view).as_deref(), Some(" · unknown cost"));
    }
}
