//! The agent's last words, where they must hold something: a report that may give up, or a word that says it is done.
//!
//! Only the status of a report is looked at here; what else it says is for whoever asked for it.

use super::Run;
use crate::{Effect, GateResult, GateWhen, Limit, Outcome, Prompt, Verdict};

/// What a report says came of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Completed,
    Failed,
    NeedsInput,
    Split,
}

impl Run {
    /// The end of the run, when the agent reports that it cannot go on.
    pub(super) fn gave_up(&self) -> Option<Outcome> {
        match self.reported()? {
            Status::Split => Some(
                Outcome::new(
                    Verdict::Stopped,
                    "the agent reports that the task is too large and asks for a split",
                )
                .advise("split the task, or `segue resume` continues with it as it is"),
            ),
            Status::Failed => Some(
                Outcome::new(Verdict::Failed, "the agent reports that it failed")
                    .advise("its report says why; `segue resume` tries again"),
            ),
            Status::Completed | Status::NeedsInput => None,
        }
    }

    /// The verdict, when the agent reports that a person must look.
    pub(super) fn wants_input(&self) -> Option<Outcome> {
        (self.reported()? == Status::NeedsInput)
            .then(|| Outcome::new(Verdict::NeedsInput, "the agent reports that the work needs your review"))
    }

    /// Sends the agent back when its last words lack what they must hold; whether that was so.
    pub(super) fn words_lack_something(&mut self, out: &mut Vec<Effect>) -> bool {
        let Some(spec) = &self.view.spec else { return false };
        if let Some(word) = spec.last_words.word.clone().filter(|word| !says(&self.last_words, word)) {
            // Without a gate nothing has counted this round.
            self.view.round += u32::from(spec.gates.is_empty());
            let tail =
                format!("every check passes, but you did not say {word}: say it when everything is done");
            self.gates_red(vec![lacking("completion word", tail)], out);
            return true;
        }
        let missing = spec.last_words.report && self.reported().is_none();
        if !missing || self.report_asked || !self.can_follow_up() || self.must_replace() {
            return false;
        }
        self.report_asked = true;
        let tail = "every check passes, but there is no report in your answer that can be read: \
                    answer with the JSON object that was asked for and nothing else";
        let (round, of) = (self.view.round.max(1), self.limits().gate_rounds.max(self.view.round.max(1)));
        self.follow_up(
            Prompt::GatesFailed { round, of, failed: vec![lacking("report", tail.to_owned())] },
            out,
        );
        true
    }

    /// A round of a loop begins to be judged: was anything done in it?
    pub(super) fn count_idle_round(&mut self) {
        let first = self.view.round == 0;
        self.idle_rounds = if first || self.view.gates_stale { 0 } else { self.idle_rounds + 1 };
    }

    /// The end of a loop whose agent does nothing, round after round.
    pub(super) fn stuck(&mut self, out: &mut Vec<Effect>) -> Option<Outcome> {
        let loops = self.view.spec.as_ref().is_some_and(|spec| spec.last_words.word.is_some());
        let most = self.limits().max_handoffs_without_progress;
        if !loops || most == 0 || self.idle_rounds < most {
            return None;
        }
        self.limit_reached(Limit::NoProgress, &most.to_string(), out);
        let outcome = Outcome::new(Verdict::Stopped, format!("{most} rounds in a row without any work"));
        Some(outcome.because_of(Limit::NoProgress).advise(
            "look at the gates' output with `segue show --gates`, fix what blocks the agent, then `segue resume`",
        ))
    }

    pub(super) fn reported(&self) -> Option<Status> {
        let wanted = self.view.spec.as_ref().is_some_and(|spec| spec.last_words.report);
        if wanted { status(&self.last_words) } else { None }
    }
}

// Whether a text says a word as a sentence of its own: "I cannot say LOOP_COMPLETE yet" does not.
fn says(text: &str, word: &str) -> bool {
    const NOT: [&str; 10] =
        ["not", "no", "never", "until", "when", "before", "once", "say", "print", "cannot"];
    let is_mark = |c: char| c.is_whitespace() || "*_`\"'#>-–—".contains(c);
    let denies = |before: &str| {
        let bare = |said: &str| said.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        before.split_whitespace().map(bare).any(|said| NOT.contains(&said.as_str()) || said.ends_with("n't"))
    };
    text.lines().any(|line| {
        let Some((before, after)) = line.rsplit_once(word) else { return false };
        let tag = before.trim_end().ends_with('>') && after.starts_with("</");
        let before = before.trim_end_matches(is_mark);
        let begins = before.is_empty()
            || before.ends_with(['.', '!'])
            || (before.ends_with(['?', ':', ';', ',']) && !denies(before));
        let after = after.trim_start_matches(is_mark);
        tag || (begins && (after.is_empty() || after.starts_with(['.', '!', ':', ',', ';', '(', '✅'])))
    })
}

fn lacking(what: &str, tail: String) -> GateResult {
    let (gate, when, passed) = (what.to_owned(), GateWhen::After, false);
    GateResult { gate, when, passed, exit: None, ms: 0, output: None, tail, timed_out: false }
}

/// The status of the last report in a text: a key of an object that is in no other.
fn status(text: &str) -> Option<Status> {
    let (mut depth, mut quoted, mut escaped, mut from) = (0_u32, false, false, 0);
    let (mut key, mut last, mut found) = (false, "", None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' if quoted => {
                quoted = false;
                last = &text[from..at];
                if key && depth == 1 {
                    found = word(last).or(found);
                    key = false;
                }
            }
            // Outside of an object a quotation mark is only that, and may well be alone.
            b'"' if depth > 0 => (quoted, from) = (true, at + 1),
            b'\n' if quoted => quoted = false,
            b'{' | b'[' if !quoted && (depth > 0 || byte == b'{') => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            b':' if !quoted => key = depth == 1 && last == "status",
            b',' if !quoted => key = false,
            _ => {}
        }
    }
    found
}

fn word(text: &str) -> Option<Status> {
    match text.trim().to_lowercase().replace([' ', '-'], "_").as_str() {
        "completed" | "complete" | "done" | "success" | "succeeded" | "passed" => Some(Status::Completed),
        "failed" | "failure" | "fail" | "error" | "blocked" | "partial" | "incomplete" => {
            Some(Status::Failed)
        }
        "needs_human_verification"
        | "needs_human"
        | "human_verification"
        | "needs_person"
        | "needs_input"
        | "needs_review" => Some(Status::NeedsInput),
        "split_request" | "split" | "split_requested" | "too_large" => Some(Status::Split),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_that_of_the_last_report_and_not_of_its_tasks() {
        let report = |status: &str| {
            format!("{{\"status\": \"{status}\", \"tasks\": [{{\"id\": \"1\", \"status\": \"failed\"}}]}}")
        };
        assert_eq!(status(&report("completed")), Some(Status::Completed));
        assert_eq!(
            status(&format!("Done:\n```json\n{}\n```\n", report("split_request"))),
            Some(Status::Split)
        );
        assert_eq!(
            status(&format!("{} then {}", report("failed"), report("completed"))),
            Some(Status::Completed)
        );
        assert_eq!(
            status("{\"tasks\": [{\"status\": \"failed\"}], \"status\": \"needs_human_verification\"}"),
            Some(Status::NeedsInput)
        );
    }

    #[test]
    fn truth1_a_completion_word_counts_where_it_is_said_and_not_where_it_is_spoken_of() {
        for text in [
            "LOOP_COMPLETE",
            "All is done.\n\n**LOOP_COMPLETE**\n",
            "All 5 steps are done. LOOP_COMPLETE",
            "<promise>LOOP_COMPLETE</promise>",
            "`LOOP_COMPLETE`.",
            "Result: LOOP_COMPLETE",
        ] {
            assert!(says(text, "LOOP_COMPLETE"), "{text}");
        }
        for text in [
            "I cannot say LOOP_COMPLETE yet.",
            "I will not print LOOP_COMPLETE",
            "Not yet: LOOP_COMPLETE",
            "LOOP_COMPLETE is not reached.",
            "LOOP_COMPLETE? No.",
            "MY_LOOP_COMPLETE",
            "When all is done, I'll say LOOP_COMPLETE and stop.",
        ] {
            assert!(!says(text, "LOOP_COMPLETE"), "{text}");
        }
    }

    #[test]
    fn words_without_a_report_have_no_status() {
        for text in [
            "",
            "status: failed",
            "\"status\": \"failed\"",
            "fn f() { \"x\" }",
            "{\"status\": 3}",
            "{\"state\": \"failed\"}",
        ] {
            assert_eq!(status(text), None, "{text}");
        }
        assert_eq!(status("he said \" and {\"status\": \"failed\"}"), Some(Status::Failed));
    }
}
