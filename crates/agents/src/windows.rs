//! How large the window of a model is, for agents that do not say so themselves.
//!
//! A table kept as data, with its date. It comes last: an agent's own report and the configuration beat it, and a model
//! that is not in it is unknown. It never guesses from a name that merely looks alike.

use segue_machine::AgentEvent;

/// The day on which the table was last held against the agents.
pub const AS_OF: &str = "2026-11-15";

/// What is known of one model, or of several whose names begin alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Who makes it.
    pub vendor: &'static str,
    /// The model's name; a `*` at the end stands for any more letters.
    pub model: &'static str,
    /// Its window in tokens.
    pub window: u64,
    /// Where the number comes from.
    pub note: &'static str,
}

/// The table.
pub const TABLE: &[Entry] = &[
    claude("claude-opus-5*", 1_000_000, BELIEVED),
    claude("claude-sonnet-5*", 1_000_000, BELIEVED),
    claude("claude-haiku-5*", 1_000_000, BELIEVED),
    claude("claude-fable-5*", 1_000_000, BELIEVED),
    claude("claude-opus-4-8", 1_000_000, BELIEVED),
    claude("claude-sonnet-4-5", 200_000, BELIEVED),
    claude("opus", 1_000_000, SHORT),
    claude("sonnet", 1_000_000, SHORT),
    claude("haiku", 1_000_000, SHORT),
    claude("fable", 1_000_000, SHORT),
    gpt("gpt-6*", 272_000),
    gpt("gpt-6.1-terra", 500_000),
    gpt("gpt-5.6*", 272_000),
    gpt("gpt-5.5", 272_000),
    gemini("gemini-2.5-pro"),
    gemini("gemini-2.5-flash"),
];

const BELIEVED: &str = "Claude Code 2.1.325 by its own account";
const SHORT: &str = "Claude Code's short name, as 2.1.325 resolves it";
const LISTED: &str = "Codex 0.166.0 in its own list of models";
const ASSUMED: &str = "Gemini CLI 0.61.0 assumes it";

const fn claude(model: &'static str, window: u64, note: &'static str) -> Entry {
    Entry { vendor: "anthropic", model, window, note }
}

const fn gpt(model: &'static str, window: u64) -> Entry {
    Entry { vendor: "openai", model, window, note: LISTED }
}

const fn gemini(model: &'static str) -> Entry {
    Entry { vendor: "google", model, window: 1_048_576, note: ASSUMED }
}

impl Entry {
    // How much of the name it names, if the name is meant.
    fn fits(&self, name: &str) -> Option<usize> {
        match self.model.strip_suffix('*') {
            // `gpt-6` begins `gpt-6.1`, and not `gpt-60`.
            Some(head) => name
                .strip_prefix(head)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
                .then_some(head.len()),
            None => (name == self.model).then_some(self.model.len() + 1),
        }
    }
}

/// The window of a model by its name, which may carry a provider before it and a date after it.
pub fn window(model: &str) -> Option<u64> {
    let name = plain_name(model);
    let fitting = TABLE.iter().filter_map(|entry| Some((entry.fits(&name)?, entry.window)));
    fitting.max_by_key(|(length, _)| *length).map(|(_, window)| window)
}

/// Fills in the window of an agent that is ready and did not say how large it is: from the table, when nothing is
/// configured and the model is known. `chosen` is the model that the configuration names.
pub fn fill(event: &mut AgentEvent, configured: Option<u64>, chosen: Option<&str>) {
    if let AgentEvent::Ready { window: unknown @ None, model, .. } = event
        && configured.is_none()
    {
        *unknown = model.as_deref().or(chosen).and_then(window);
    }
}

/// A model's name without the provider before it and the date after it.
pub(crate) fn plain_name(model: &str) -> String {
    let lower = model.trim().to_ascii_lowercase();
    undated(lower.rsplit('/').next().unwrap_or(&lower)).to_owned()
}

// `-20250929`, `@20250929`, `-2026-03-01`
fn undated(name: &str) -> &str {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if let Some((head, date)) = name.rsplit_once(['-', '@'])
        && date.len() == 8
        && digits(date)
    {
        return head;
    }
    let dated = name.len().checked_sub(11).and_then(|at| name.split_at_checked(at));
    let Some((head, [b'-', y @ .., b'-', m1, m2, b'-', d1, d2])) = dated.map(|(h, t)| (h, t.as_bytes()))
    else {
        return name;
    };
    let date = y.iter().chain([m1, m2, d1, d2]);
    if y.len() == 4 && date.into_iter().all(u8::is_ascii_digit) { head } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_machine::Capabilities;

    #[test]
    fn a_model_is_found_with_its_provider_before_it_and_its_date_after_it() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5@20250929",
            "anthropic/claude-sonnet-4-5",
            "openrouter/anthropic/Claude-Sonnet-4-5 ",
        ] {
            assert_eq!(window(name), Some(200_000), "{name}");
        }
        assert_eq!(window("gpt-5.5-2026-03-01"), Some(272_000));
        assert_eq!(window("google/gemini-2.5-pro"), Some(1_048_576));
    }

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(window("gpt-6.1-sol"), Some(272_000));
        assert_eq!(window("gpt-6.1-terra"), Some(500_000));
        assert_eq!(window("gpt-6"), Some(272_000));
        assert_eq!(window("gpt-5.6-terra"), Some(272_000));
        assert_eq!(window("claude-opus-5-5"), Some(1_000_000));
    }

    #[test]
    fn a_name_that_merely_looks_alike_is_unknown() {
        for name in [
            "",
            "/",
            "*",
            "-",
            "gpt",
            "gpt-60",
            "gpt-5.5-mini",
            "gpt-5",
            "scripted",
            "claude-sonnet-4-5[1m]",
            "claude-opus-4-1",
            "gemini-2.5-flash-lite",
            "opus-mine",
            "2026-03-01",
            "-2026-03-01",
            "ö-20250929",
            "€€€€€",
        ] {
            assert_eq!(window(name), None, "{name}");
        }
    }

    #[test]
    fn every_entry_finds_itself_and_no_two_are_alike() {
        for (at, entry) in TABLE.iter().enumerate() {
            assert_eq!(window(entry.model.trim_end_matches('*')), Some(entry.window), "{}", entry.model);
            assert!(TABLE.iter().skip(at + 1).all(|other| other.model != entry.model), "{}", entry.model);
        }
    }

    fn ready(model: Option<&str>, window: Option<u64>) -> AgentEvent {
        AgentEvent::Ready {
            conversation: "c".to_owned(),
            model: model.map(str::to_owned),
            window,
            ceiling: None,
            can: Capabilities {
                ask: true,
                follow_up: true,
                usage: true,
                brake: false,
                tell: true,
                side: false,
                resume: false,
            },
        }
    }

    #[test]
    fn the_agents_report_comes_first_then_the_configuration_then_the_table() {
        let filled = |model, window, configured, chosen| {
            let mut event = ready(model, window);
            fill(&mut event, configured, chosen);
            let AgentEvent::Ready { window, .. } = event else { panic!("{event:?}") };
            window
        };
        assert_eq!(filled(Some("gpt-5.5"), Some(90_000), None, None), Some(90_000));
        assert_eq!(
            filled(Some("gpt-5.5"), None, Some(50_000), None),
            None,
            "the machine takes the configured one"
        );
        assert_eq!(filled(Some("gpt-5.5"), None, None, Some("opus")), Some(272_000));
        assert_eq!(filled(None, None, None, Some("opus")), Some(1_000_000));
        assert_eq!(filled(Some("mine"), None, None, Some("opus")), None);
        assert_eq!(filled(None, None, None, None), None);
    }

    #[test]
    fn other_events_are_left_alone() {
        let mut event = AgentEvent::TextSaid { chars: 3 };
        fill(&mut event, None, Some("opus"));
        assert_eq!(event, AgentEvent::TextSaid { chars: 3 });
    }
}
