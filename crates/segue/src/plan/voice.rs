//! What a plan says while it runs: lines of the public contract, or words for a person.

use std::io::Write;

use segue_plans::{Estimate, PhaseCost};
use segue_redact::Redactor;
use segue_report::{Line, Outer, Time, Warning, plain, to_json_line};

use super::screen::Screen;
use crate::clock;

/// How a plan speaks.
#[derive(Debug)]
pub(super) struct Voice {
    pub(super) json: bool,
    pub(super) plan: String,
    /// What takes secrets out of it.
    pub(super) redactor: Redactor,
    /// What is shown of phases side by side.
    pub(super) screen: Option<Screen>,
}

impl Voice {
    /// A line of the contract, in JSON.
    pub(super) fn line(&self, seq: u64, event: Outer) {
        if self.json {
            let line = to_json_line(&Line { run: self.plan.clone(), seq, at: Time(clock::now()), event });
            put(&self.redactor.text(&line).text);
        }
    }

    /// Words for a person.
    pub(super) fn say(&mut self, words: &str) {
        if let Some(screen) = &mut self.screen {
            screen.say(words);
        } else if !self.json {
            if words.starts_with('\n') {
                put("");
            }
            put(&plain(&self.redactor.text(words).text));
        }
    }

    /// What a phase says beside its lines: for a person in either form.
    pub(super) fn aside(&mut self, id: &str, words: &str) {
        let words = words.trim_end();
        let text = format!("[{id}] {}", words.strip_prefix("segue: ").unwrap_or(words));
        match &mut self.screen {
            Some(screen) => screen.say(&text),
            None => {
                let text = plain(&self.redactor.text(&text).text);
                let _ = writeln!(std::io::stderr().lock(), "segue: {text}");
            }
        }
    }

    /// Lines that are laid out already.
    pub(super) fn show(&mut self, lines: &[String]) {
        if let Some(screen) = &mut self.screen {
            screen.show(lines);
        } else if !self.json {
            lines.iter().for_each(|line| put(&self.redactor.text(line).text));
        }
    }

    /// Something that a person should know, as a line of the contract.
    pub(super) fn warning(code: &str, text: &str) -> Outer {
        Outer::Warning(Warning { code: code.to_owned(), text: text.to_owned() })
    }
}

fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// An estimate in words, a line for each phase.
pub(crate) fn estimate_words(estimate: &Estimate) -> Vec<String> {
    let mut lines: Vec<String> = estimate.phases.iter().flat_map(phase).collect();
    let share = estimate.percent.map_or_else(String::new, |percent| format!(" ({percent} % of a session)"));
    lines.push(format!("remaining: {} tokens{share}", thousands(estimate.tokens)));
    match estimate.budget {
        Some(budget) => lines.push(format!("a session can use {} tokens", thousands(budget))),
        None => lines.push(
            "the size of a session is unknown: give --window, or set window in [agent.NAME]".to_owned(),
        ),
    }
    lines.extend(estimate.warnings.iter().map(|warning| format!("warning: {}", plain(warning))));
    lines
}

fn phase(cost: &PhaseCost) -> Vec<String> {
    let share = match (cost.over, cost.percent) {
        (true, _) => "done".to_owned(),
        (false, Some(percent)) => format!("{percent} %"),
        (false, None) => String::new(),
    };
    let title = plain(&cost.title);
    let mut lines = vec![
        format!("{:>9}  {share:>6}  {}  {title}", thousands(cost.tokens), cost.id).trim_end().to_owned(),
    ];
    if cost.quality > 0 {
        lines.push(format!("{:>9}  {:>6}    one more round over it", thousands(cost.quality), ""));
    }
    for part in &cost.split {
        let percent = cost.percent.map(|percent| percent * part.tokens / cost.tokens.max(1));
        let share = percent.map_or_else(String::new, |percent| format!("{percent} %"));
        let tasks = part.tasks.join(", ");
        lines.push(format!("{:>9}  {share:>6}    {}: tasks {tasks}", thousands(part.tokens), part.id));
    }
    lines
}

fn thousands(tokens: u64) -> String {
    if tokens < 1_000 { tokens.to_string() } else { format!("{}k", tokens / 1_000) }
}
