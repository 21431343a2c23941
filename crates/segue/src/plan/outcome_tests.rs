use super::*;

fn facts(outcome: Outcome, words: &str) -> Facts {
    Facts { outcome: Some(outcome), words: words.to_owned(), decided: true, ..Facts::default() }
}

const DONE: &str = r#"{"status": "completed", "tasks": [{"id": "1", "status": "completed"}], "recommendation": "proceed", "summary": "s"}"#;
const SPLIT: &str = r#"{"status": "split_request", "summary": "s", "recommendation": "halt", "split_details": {"reason": "r", "recommended_sub_phases": [{"id": "a", "tasks": ["1"]}]}}"#;

fn ended(outcome: Outcome, words: &str) -> Settled {
    settle(Some(1), Some(&facts(outcome, words)))
}

#[test]
fn the_verdict_of_the_run_decides_and_the_report_is_kept() {
    let done = ended(Outcome::new(Verdict::Verified, "green"), DONE);
    assert_eq!(
        (done.end, done.by_agent, done.report.tasks.len()),
        (End::Completed { unverified: false }, true, 1)
    );
    let silent = ended(Outcome::new(Verdict::Unverified, "says so"), "Done.");
    assert_eq!((silent.end, silent.by_agent), (End::Completed { unverified: true }, false));
    assert_eq!(silent.report.status, ReportStatus::Completed);
    let strict = Facts { must_verify: true, ..facts(Outcome::new(Verdict::Unverified, "says so"), DONE) };
    assert_eq!(settle(Some(3), Some(&strict)).end, End::NeedsInput);
    let liar = ended(Outcome::new(Verdict::Failed, "still red"), DONE);
    assert_eq!((liar.end, liar.report.status, liar.by_agent), (End::Failed, ReportStatus::Failed, false));
    assert_eq!(liar.report.tasks.len(), 1, "what it says about its tasks is not lost");
}

#[test]
fn a_full_window_is_failed_and_halt_with_what_was_done() {
    for outcome in [
        Outcome::new(Verdict::Stopped, "again").because_of(Limit::MaxRestarts),
        Outcome::new(Verdict::Stopped, "futile").because_of(Limit::Futile),
        Outcome::new(Verdict::Failed, "the context overflowed, and so on"),
    ] {
        let settled = ended(outcome, DONE);
        assert_eq!(settled.end, End::TooLarge);
        assert_eq!(
            (settled.report.status, settled.report.recommendation),
            (ReportStatus::Failed, Recommendation::Halt)
        );
        assert_eq!(settled.report.failure, Some(FailureCategory::ContextExhaustion));
        assert_eq!(settled.report.tasks.len(), 1);
    }
}

#[test]
fn p1_a_split_is_what_the_agent_asks_for_and_nothing_else() {
    let asked = ended(Outcome::new(Verdict::Stopped, "asks for a split"), SPLIT);
    assert_eq!((asked.end, asked.report.split_details.is_some()), (End::Split, true));
    let deadline = ended(Outcome::new(Verdict::Stopped, "late").because_of(Limit::Deadline), SPLIT);
    assert_eq!(deadline.end, End::Stopped);
}

#[test]
fn without_a_verdict_the_process_tells() {
    assert_eq!(settle(None, None).end, End::Lost);
    assert_eq!(settle(Some(2), None).end, End::Refused);
    assert_eq!(settle(Some(130), Some(&Facts::default())).end, End::Stopped);
    let stopped = Outcome { interrupted: true, ..Outcome::new(Verdict::Stopped, "interrupted") };
    assert_eq!(ended(stopped, "").end, End::Stopped);
}
