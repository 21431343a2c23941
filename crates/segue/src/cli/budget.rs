//! `segue budget`: what was spent today and in a run, against what may be. Reads only.

use segue_machine::amounts::{count, duration, short};
use segue_machine::{DayLimits, Price, Spent, View};
use segue_report::StatusDoc;
use serde_json::{Value, json};

use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::config::{Flags, day_limits};
use crate::{budget, clock, history};

/// Shows today's book and the latest run, or the list of prices.
pub(super) fn budget(at: &Place, run: Option<&str>, prices: bool) -> Result<u8, Failure> {
    if prices {
        return list_prices(at);
    }
    let limits = day_limits(&at.layers(&Flags::default())?);
    let now = clock::now();
    let (day, book) = budget::today(now);
    let run = latest(at, run)?;
    if at.json {
        let accounts: Value =
            book.accounts().iter().map(|(name, spent)| (name.clone(), amounts(*spent))).collect();
        let lines = book.runs.iter();
        let runs: Value = lines
            .map(|(id, line)| {
                let mut spent = amounts(line.total());
                spent["workdir"] = json!(line.workdir);
                (id.clone(), spent)
            })
            .collect();
        let doc = json!({
            "day": day, "today": amounts(book.total()), "limits": limit_amounts(&limits),
            "left": left(&limits, book.total()), "accounts": accounts, "runs": runs,
            "run": run.as_ref().map(|(id, view)| of_run(id, view, now)),
        });
        out::line(&doc.to_string());
        return Ok(0);
    }
    out::line(&format!("today       {day}: {}", words(book.total())));
    for (account, spent) in book.accounts() {
        out::line(&format!("            {account}: {}", words(spent)));
    }
    out::lines(limit_lines(&limits, book.total()));
    if let Some((id, view)) = &run {
        let spent = Spent { wall_ms: elapsed(view, now), ..Spent::of(view.spent(), view.sessions) };
        out::line(&format!("run         {id}: {}", words(spent)));
        let limits = view.spec.as_ref().map(|spec| &spec.limits);
        let of_run = limits.map(|l| DayLimits {
            cost_musd: l.cost_musd,
            tokens: l.tokens,
            sessions: l.sessions,
            wall_ms: l.deadline_ms,
        });
        out::lines(limit_lines(&of_run.unwrap_or_default(), spent));
    }
    Ok(0)
}

// No run here is no reason to say nothing about the day.
fn latest(at: &Place, run: Option<&str>) -> Result<Option<(String, View)>, Failure> {
    let reader = match at.reader() {
        Ok(reader) => reader,
        Err(_) if run.is_none() => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if run.is_none() && reader.runs()?.is_empty() {
        return Ok(None);
    }
    let row = at.run(&reader, run)?;
    let found = history::folded(&reader, &row.id)?;
    Ok(Some((row.id, found.state.machine.view().clone())))
}

fn of_run(id: &str, view: &View, now: u64) -> Value {
    let doc = StatusDoc::new(id, view, now);
    json!({
        "run": id, "cost_usd": doc.cost_usd, "tokens_in": doc.tokens_in, "tokens_out": doc.tokens_out,
        "sessions": doc.sessions, "elapsed_ms": doc.elapsed_ms, "limits": doc.limits,
    })
}

fn elapsed(view: &View, now: u64) -> u64 {
    view.finished_at.unwrap_or(now).saturating_sub(view.started_at)
}

fn amounts(spent: Spent) -> Value {
    json!({
        "cost_usd": (spent.unpriced == 0).then(|| dollars(spent.cost_musd)), "known_cost_usd": dollars(spent.cost_musd),
        "unpriced_tokens": spent.unpriced, "tokens": spent.tokens, "sessions": spent.sessions, "wall_ms": spent.wall_ms,
    })
}

fn limit_amounts(limits: &DayLimits) -> Value {
    json!({
        "cost_usd": limits.cost_musd.map(dollars), "tokens": limits.tokens, "sessions": limits.sessions,
        "wall_ms": limits.wall_ms,
    })
}

fn left(limits: &DayLimits, spent: Spent) -> Value {
    limit_amounts(&DayLimits {
        cost_musd: limits
            .cost_musd
            .filter(|_| spent.unpriced == 0)
            .map(|m| m.saturating_sub(spent.cost_musd)),
        tokens: limits.tokens.map(|m| m.saturating_sub(spent.tokens)),
        sessions: limits.sessions.map(|m| m.saturating_sub(spent.sessions)),
        wall_ms: limits.wall_ms.map(|m| m.saturating_sub(spent.wall_ms)),
    })
}

fn limit_lines(limits: &DayLimits, spent: Spent) -> Vec<String> {
    let line = |what: &str, left: String, of: String| format!("  left      {what} {left} of {of}");
    let mut lines = Vec::new();
    if let Some(most) = limits.cost_musd {
        let left = money(most.saturating_sub(spent.cost_musd));
        let left = if spent.unpriced == 0 { left } else { format!("at most {left}") };
        lines.push(line("cost", left, money(most)));
    }
    lines.extend(limits.tokens.map(|m| line("tokens", short(m.saturating_sub(spent.tokens)), short(m))));
    lines.extend(
        limits
            .sessions
            .map(|m| line("sessions", m.saturating_sub(spent.sessions).to_string(), m.to_string())),
    );
    lines
        .extend(limits.wall_ms.map(|m| line("time", duration(m.saturating_sub(spent.wall_ms)), duration(m))));
    lines
}

fn words(spent: Spent) -> String {
    let Spent { tokens, sessions, wall_ms, unpriced, cost_musd } = spent;
    if tokens == 0 && sessions == 0 {
        return "nothing spent".to_owned();
    }
    let mut words = Vec::new();
    if cost_musd > 0 || unpriced == 0 && tokens > 0 {
        words.push(money(cost_musd));
    }
    if unpriced > 0 {
        words.push(format!("{} tokens without a known price", short(unpriced)));
    }
    words.extend([
        format!("{} tokens", short(tokens)),
        count(u64::from(sessions), "session"),
        duration(wall_ms),
    ]);
    words.join(" · ")
}

fn list_prices(at: &Place) -> Result<u8, Failure> {
    let configured = crate::config::prices(&at.layers(&Flags::default())?)?;
    let mut table = segue_agents::prices::table().clone();
    table.extend(configured);
    for (model, price) in &table {
        out::line(&if at.json { price_doc(model, price).to_string() } else { price_line(model, price) });
    }
    Ok(0)
}

fn price_doc(model: &str, price: &Price) -> Value {
    let rates = |r: &segue_machine::Rates| {
        json!({
            "input": dollars(r.input), "cache_read": dollars(r.cache_read), "cache_write": dollars(r.cache_write),
            "cache_write_1h": dollars(r.cache_write_1h), "output": dollars(r.output),
        })
    };
    let long = price.long.as_ref().map(|long| json!({ "over": long.over, "rates": rates(&long.rates) }));
    let Price { date, source, .. } = price;
    json!({ "model": model, "usd_per_million": rates(&price.rates), "long": long, "date": date, "source": source })
}

fn price_line(model: &str, price: &Price) -> String {
    let r = &price.rates;
    let long = price.long.as_ref().map_or_else(String::new, |long| {
        format!(
            ", above {} tokens {} and {}",
            short(long.over),
            money(long.rates.input),
            money(long.rates.output)
        )
    });
    let (input, read, output) = (money(r.input), money(r.cache_read), money(r.output));
    format!("{model:<24}  in {input}, cached {read}, out {output}{long}  ({}, {})", price.date, price.source)
}

fn money(musd: u64) -> String {
    let (whole, rest) = (musd / 1_000_000, musd % 1_000_000);
    let digits = format!("{rest:06}");
    let short = if musd < 1_000_000 { digits.trim_end_matches('0') } else { &digits[..2] };
    format!("${whole}.{short:0<2}")
}

#[expect(clippy::cast_precision_loss, reason = "far below the precision of an f64")]
fn dollars(musd: u64) -> f64 {
    musd as f64 / 1_000_000.0
}
