//! The status document for people.

use segue_machine::{CheckpointBy, Phase};

use crate::status::{CrashDoc, GateDoc, LimitsDoc, SessionDoc, StatusDoc, Use};
use crate::terminal::{
    Entry, Fill, Style, Tint, columns, cost_words, count, duration, money, outlook_words, plain, short,
    thousands, verdict_words,
};

const LABEL: usize = 12;

/// The document in lines of at most `width` columns.
pub fn render(doc: &StatusDoc, width: u16, color: bool) -> Vec<String> {
    let style = Style { color, width, live: false, ascii: false };
    let task = doc.task.as_deref().unwrap_or("(nothing has happened yet)");
    let mut page =
        Page { style, entries: vec![Entry::new("", style.cut(&plain(task), style.columns()), Tint::Bold)] };
    let policy = doc.policy.as_ref().map(|policy| format!(" · policy {policy}")).unwrap_or_default();
    page.row("run", format!("{}{policy}", doc.run), Tint::Plain);
    state(&mut page, doc);
    for (i, line) in doc.last_message.iter().flat_map(|text| text.lines()).enumerate() {
        page.row(if i == 0 { "agent said" } else { "" }, plain(line), Tint::Dim);
    }
    for (i, change) in doc.gate_changes.iter().enumerate() {
        page.row(if i == 0 { "gates" } else { "" }, plain(&change.sentence()), Tint::Careful);
    }
    if let Some(wait) = &doc.waiting {
        page.row("waiting", format!("for {} until {} ({})", wait.why, wait.clock, wait.left), Tint::Careful);
    }
    for (i, circuit) in doc.circuits.iter().enumerate() {
        let again = if circuit.open { "" } else { "; may be tried again" };
        let words = format!("{}: {}{again}", circuit.account, circuit.words);
        page.row(if i == 0 { "accounts" } else { "" }, words, Tint::Careful);
    }
    if let Some(session) = &doc.session {
        of_session(&mut page, session);
    }
    let more =
        [(doc.handoffs, "handoff"), (doc.restarts, "restart"), (doc.overflows, "overflow")].into_iter();
    let more = more.filter(|(n, _)| *n > 0).map(|(n, noun)| count(n, noun));
    let counts: Vec<String> = std::iter::once(count(doc.sessions, "session")).chain(more).collect();
    page.row("so far", counts.join(" · "), Tint::Plain);
    page.row("spent", spent(doc), Tint::Plain);
    for change in &doc.branch_changes {
        page.row("branch", plain(change), Tint::Bad);
    }
    for (i, gate) in doc.gates.iter().enumerate() {
        let (words, tint) = gate_words(gate);
        page.row(if i == 0 { "gates" } else { "" }, words, tint);
    }
    if let Some(checkpoint) = &doc.checkpoint {
        let by = match checkpoint.by {
            CheckpointBy::Agent => "the agent",
            CheckpointBy::Segue => "segue",
        };
        let words =
            format!("{} of {} by {by} · {}", checkpoint.checkpoint, checkpoint.session, checkpoint.path);
        page.row("checkpoint", words, Tint::Plain);
    }
    if let Some(limits) = &doc.limits {
        page.row("limits", limit_words(limits), Tint::Plain);
    }
    for (i, note) in doc.notes.iter().enumerate() {
        page.row(if i == 0 { "notes" } else { "" }, format!("{}: {}", note.session, note.text), Tint::Plain);
    }
    page.entries.iter().flat_map(|entry| style.lay_out(entry)).collect()
}

struct Page {
    style: Style,
    entries: Vec<Entry>,
}

impl Page {
    fn row(&mut self, label: &str, text: String, tint: Tint) {
        let narrow = self.style.columns() < 3 * LABEL;
        let head = match (narrow, label) {
            (true, "") => "  ".to_owned(),
            (true, label) => format!("{label}: "),
            (false, label) => format!("  {label:<LABEL$}"),
        };
        self.entries.push(Entry::new(head, text, tint));
    }
}

fn crashed(page: &mut Page, run: &str, crash: &CrashDoc) {
    page.row("state", format!("crashed, last sign of life {} ago", crash.ago), Tint::Bad);
    if !crash.alive.is_empty() {
        let pids: Vec<String> = crash.alive.iter().map(ToString::to_string).collect();
        let what = if pids.len() == 1 { "process" } else { "processes" };
        page.row("still alive", format!("{what} {}; `segue stop` ends it", pids.join(", ")), Tint::Careful);
    }
    page.row("next", format!("segue resume {run}"), Tint::Bold);
}

fn state(page: &mut Page, doc: &StatusDoc) {
    if let Some(crash) = &doc.crashed {
        return crashed(page, &doc.run, crash);
    }
    let Some(verdict) = &doc.verdict else {
        let phase = match doc.phase {
            Phase::New => "new",
            Phase::GatesBefore => "running the gates before the work",
            Phase::Working => "working",
            Phase::Waiting => "waiting",
            Phase::Gating => "running the gates",
            Phase::Saving => "saving a snapshot",
            Phase::Finished => "finished",
        };
        let since = doc.elapsed_ms.map(|ms| format!(", {}", duration(ms))).unwrap_or_default();
        return page.row("state", format!("{phase}{since}"), Tint::Plain);
    };
    let (word, tint) = verdict_words(verdict.verdict);
    page.row("verdict", format!("{word}: {}", verdict.reason), tint);
    if let Some(ms) = doc.elapsed_ms {
        page.row("time", duration(ms), Tint::Plain);
    }
    let usual = verdict.resumable.then(|| format!("segue resume {}", doc.run));
    if let Some(next) = verdict.advice.clone().or(usual) {
        page.row("next", next, Tint::Bold);
    }
}

fn of_session(page: &mut Page, session: &SessionDoc) {
    let model = session.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
    let doing = plain(session.state_text.as_deref().unwrap_or_default());
    page.row("session", format!("{} {}{model} · {doing}", session.session, session.agent), Tint::Plain);
    let fill = Fill {
        tokens: session.tokens,
        projected: session.projected,
        window: session.window,
        ceiling: session.ceiling,
        percent: session.percent,
        source: session.source,
    };
    let parts =
        [fill.bar(if page.style.columns() >= 50 { 12 } else { 0 }), fill.percent_words(), Some(fill.words())];
    let words: Vec<String> = parts.into_iter().flatten().filter(|part| columns(part) > 0).collect();
    page.row("window", words.join(" "), fill.tint());
    if let Some(forecast) = &session.forecast {
        page.row("forecast", outlook_words(forecast, true), Tint::Plain);
    }
    if let Some(handoff) = &session.handoff {
        page.row("cost", handoff.words.clone(), Tint::Plain);
    }
    page.row(
        "calls",
        format!("{} {}", count(session.calls, "call"), count(session.tools, "tool")),
        Tint::Plain,
    );
    for title in &session.running {
        page.row("running", title.clone(), Tint::Dim);
    }
}

fn spent(doc: &StatusDoc) -> String {
    let known = [("in", doc.tokens_in), ("out", doc.tokens_out)];
    let known: Vec<String> =
        known.iter().filter_map(|(way, n)| n.map(|n| format!("{} {way}", short(n)))).collect();
    let tokens = (!known.is_empty()).then(|| format!("tokens {}", known.join(", ")));
    tokens.into_iter().chain([cost_words(doc.cost_usd)]).collect::<Vec<_>>().join(" · ")
}

fn gate_words(gate: &GateDoc) -> (String, Tint) {
    let took = gate.ms.map(|ms| format!(", {}", duration(ms))).unwrap_or_default();
    let when = if gate.when == Some(crate::GateTime::Before) { " before the work" } else { "" };
    match gate.passed {
        Some(true) => (format!("✓ {} passed{when}{took}", gate.gate), Tint::Good),
        Some(false) => {
            let exit = gate.exit.map(|exit| format!(" (exit {exit})")).unwrap_or_default();
            let failed = if gate.timed_out { "timed out" } else { "failed" };
            (format!("✗ {} {failed}{when}{exit}{took}", gate.gate), Tint::Bad)
        }
        None if gate.manual => (format!("{}: manual, you decide", gate.gate), Tint::Careful),
        None => (format!("{} has not run", gate.gate), Tint::Dim),
    }
}

fn limit_words(limits: &LimitsDoc) -> String {
    let number = |n: u32| thousands(u64::from(n));
    let mut words = vec![
        of("time", limits.deadline_ms, duration),
        of("restarts", limits.restarts, number),
        of("handoffs without progress", limits.handoffs_without_progress, number),
        of("gate attempts", limits.gate_rounds, number),
        of("cost", limits.cost_usd, money),
        of("tokens", limits.tokens, short),
        of("sessions", limits.sessions, number),
    ];
    if let Some(day) = &limits.day {
        words.extend([
            of("today cost", day.cost_usd, money),
            of("today tokens", day.tokens, short),
            of("today sessions", day.sessions, number),
            of("today time", day.wall_ms, duration),
        ]);
    }
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn of<T: Copy>(name: &str, limit: Use<T>, say: impl Fn(T) -> String) -> Option<String> {
    let used = limit.used.map_or_else(|| "unknown".to_owned(), &say);
    limit.max.map(|max| format!("{name} {used} of {}", say(max)))
}
