//! The words that users of a preset already know. They go into an extra field of an event, never into its type.

use segue_machine::policy::Percent;

/// What the words need to know about a stage.
pub(crate) struct StageWords<'a> {
    pub(crate) run: &'a str,
    pub(crate) stage: &'a str,
    pub(crate) actions: &'a [String],
    pub(crate) left: Option<u64>,
}

/// The line for a stage, where the preset has one.
pub(crate) fn stage(policy: &str, at: &StageWords<'_>) -> Option<String> {
    if policy != "staged" {
        return None;
    }
    let does = |action: &str| at.actions.iter().any(|a| a == action);
    let (head, tail) = if does("handoff") || does("checkpoint:emergency") {
        ("EMERGENCY", " FORCE HANDOFF")
    } else if does("checkpoint:full") {
        ("CRITICAL", "")
    } else if does("checkpoint:brief") {
        ("TOKEN ALERT", "")
    } else {
        return None;
    };
    let left = at.left.map_or_else(|| "unknown".to_owned(), |tokens| format!("{}K tokens", tokens / 1_000));
    Some(format!("[{head}] Task {} at {} capacity. Remaining: {left}.{tail}", at.run, at.stage))
}

/// The line for a handoff because of a full window, where the preset has one. `n` counts them from 1.
pub(crate) fn context_restart(policy: &str, n: u32, percent: Option<Percent>) -> Option<String> {
    let at = percent.map(|p| format!(" at {p}")).unwrap_or_default();
    (policy == "seamless").then(|| format!("context restart #{n}{at}"))
}

#[cfg(test)]
mod tests {
    use segue_machine::policy::preset;

    use super::*;

    #[test]
    fn t9_the_staged_preset_speaks_of_alert_critical_and_emergency() {
        let policy = preset::find("staged").unwrap().policy;
        let said: Vec<Option<String>> = policy
            .stages
            .iter()
            .map(|s| {
                let actions: Vec<String> = s.actions.iter().map(ToString::to_string).collect();
                let at =
                    StageWords { run: "42", stage: &s.at.to_string(), actions: &actions, left: Some(17_700) };
                stage("staged", &at)
            })
            .collect();
        assert_eq!(
            said,
            [
                None,
                Some("[TOKEN ALERT] Task 42 at 90% capacity. Remaining: 17K tokens.".into()),
                Some("[CRITICAL] Task 42 at 95% capacity. Remaining: 17K tokens.".into()),
                Some("[EMERGENCY] Task 42 at 98% capacity. Remaining: 17K tokens. FORCE HANDOFF".into()),
            ]
        );
    }

    #[test]
    fn the_seamless_preset_counts_its_context_restarts() {
        let said = context_restart("seamless", 2, Some(Percent::from_f64(91.5)));
        assert_eq!(said.as_deref(), Some("context restart #2 at 91.5%"));
        assert_eq!(context_restart("seamless", 1, None).as_deref(), Some("context restart #1"));
        assert_eq!(context_restart("auto", 1, None), None);
    }
}
