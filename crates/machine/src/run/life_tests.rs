use super::*;
use crate::TurnEnd;

const START: Millis = 1_000_000;
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60_000;

fn cpu(ms: u64) -> Activity {
    Activity { cpu_ms: Some(ms), io_bytes: Some(0), procs: Some(3), ..Activity::default() }
}

fn words(life: &Life, now: Millis) -> String {
    life.working(&Limits::default(), now, |tool| format!("cargo {tool}")).to_string()
}

fn tool(life: &mut Life, now: Millis) {
    life.hears(&AgentEvent::ToolStarted { tool: "test".into(), title: String::new() }, now);
}

#[test]
fn an_agent_that_thinks_says_for_how_long() {
    let mut life = Life::new(START);
    life.prompted(START);
    assert_eq!(words(&life, START), "thinking");
    assert_eq!(words(&life, START + 3 * MINUTE), "thinking for 3 m");
}

#[test]
fn a_tool_is_busy_by_the_cpu_of_its_processes() {
    let mut life = Life::new(START);
    tool(&mut life, START);
    let now = START + 12 * MINUTE;
    life.looked(12 * MINUTE - 30 * SECOND, Some(&cpu(100)), now - 30 * SECOND);
    life.looked(12 * MINUTE, Some(&cpu(100 + 54_000)), now);
    assert_eq!(words(&life, now), "running `cargo test` for 12 m, busy (1.8 cores)");
    assert_eq!((life.still_ms(now), life.quiet_ms(now)), (0, 12 * MINUTE));
}

#[test]
fn a_runtime_that_only_keeps_its_timers_is_not_busy() {
    let mut life = Life::new(START);
    for minute in 1..=6 {
        life.looked(minute * MINUTE, Some(&cpu(2_000 * minute)), START + minute * MINUTE);
    }
    assert_eq!(words(&life, START + 6 * MINUTE), "silent for 6 m: no bytes, no CPU");
}

#[test]
fn bytes_that_are_read_and_written_are_life() {
    let mut life = Life::new(START);
    let moved = |bytes| Activity { io_bytes: Some(bytes), ..cpu(0) };
    life.looked(MINUTE, Some(&moved(0)), START + MINUTE);
    life.looked(2 * MINUTE, Some(&moved(90_000_000)), START + 2 * MINUTE);
    assert_eq!(life.still_ms(START + 2 * MINUTE), 0);
}

#[test]
fn a_file_that_changed_is_life_from_then_on() {
    let mut life = Life::new(START);
    tool(&mut life, START);
    let now = START + 20 * MINUTE;
    let files = |ms| Activity { files_ms: Some(ms), ..cpu(0) };
    life.looked(20 * MINUTE, Some(&files(2 * MINUTE)), now);
    assert_eq!(life.still_ms(now), 2 * MINUTE);
    life.looked(34 * MINUTE, Some(&files(16 * MINUTE)), now + 14 * MINUTE);
    let said = words(&life, now + 14 * MINUTE);
    assert_eq!(
        said,
        "running `cargo test` for 34 m, no sign of life for 16 m: no output, no CPU, no file changes"
    );
}

#[test]
fn an_old_change_whose_age_is_told_late_is_no_news() {
    let mut life = Life::new(START);
    let files = |ms| Activity { files_ms: Some(ms), ..cpu(0) };
    life.looked(MINUTE, Some(&files(MINUTE)), START + MINUTE);
    assert!(life.tell("silent"));
    life.looked(2 * MINUTE, Some(&files(2 * MINUTE - 300)), START + 2 * MINUTE);
    assert!(!life.tell("silent"), "the same change, 300 ms later by the look of it");
    life.looked(3 * MINUTE, Some(&files(1_000)), START + 3 * MINUTE);
    assert!(life.tell("silent"), "a new one");
}

#[test]
fn where_nothing_is_told_of_cpu_only_bytes_are_named() {
    let mut life = Life::new(START);
    life.looked(6 * MINUTE, Some(&Activity::default()), START + 6 * MINUTE);
    assert_eq!(words(&life, START + 6 * MINUTE), "silent for 6 m: no bytes");
}

#[test]
fn processes_that_went_with_their_cpu_time_are_no_life_and_no_panic() {
    let mut life = Life::new(START);
    life.looked(MINUTE, Some(&cpu(90_000)), START + MINUTE);
    life.looked(2 * MINUTE, Some(&cpu(10)), START + 2 * MINUTE);
    assert_eq!((life.cores, life.still_ms(START + 2 * MINUTE)), (Some(0), 2 * MINUTE));
}

#[test]
fn retries_last_from_the_first_to_an_answer() {
    let mut life = Life::new(START);
    let retry = |attempt| AgentEvent::Retrying {
        attempt,
        of: Some(10),
        why: "529".into(),
        failure: AgentFailure::Overloaded,
        delay_ms: Some(500),
        next_at: None,
    };
    life.hears(&retry(1), START);
    life.hears(&AgentEvent::Unrecognised { text: String::new(), bytes: 0 }, START + 1);
    life.hears(&retry(4), START + MINUTE);
    assert_eq!(words(&life, START + MINUTE), "retrying: attempt 4 of 10, overloaded");
    let now = life.retry.clone().unwrap();
    assert_eq!((now.since, now.next_at), (START, Some(START + MINUTE + 500)));
    life.hears(&AgentEvent::TextSaid { chars: 1 }, START + 2 * MINUTE);
    assert_eq!(life.retry, None);
}

#[test]
fn a_permission_is_waited_for_until_a_byte_comes() {
    let mut life = Life::new(START);
    life.permission = Some(("rm -rf".into(), START));
    life.looked(MINUTE, None, START + MINUTE);
    assert_eq!(words(&life, START + 3 * MINUTE), "waiting for a permission it did not get for 3 m: rm -rf");
    life.looked(SECOND, None, START + 4 * MINUTE);
    assert_eq!(life.permission, None);
}

#[test]
fn what_was_told_is_told_again_only_after_a_byte() {
    let mut life = Life::new(START);
    life.looked(10 * SECOND, None, START + 10 * SECOND);
    assert!(life.tell("silent"));
    // The two clocks never agree to the millisecond.
    for (quiet, now) in [(39_990, 40_000), (69_996, 70_000), (100_003, 100_000)] {
        life.looked(quiet, None, START + now);
        assert!(!life.tell("silent"), "{now}");
    }
    life.looked(5 * SECOND, None, START + 130 * SECOND);
    assert!(life.tell("silent"));
    assert_eq!(life.heard_at, START + 125 * SECOND);
}

#[test]
fn a_process_is_gone_when_it_is_missed_twice() {
    let mut life = Life::new(START);
    let gone = Activity { gone: true, ..cpu(0) };
    life.looked(0, Some(&gone), START);
    assert!(!life.is_gone());
    life.looked(0, Some(&gone), START);
    assert_eq!(words(&life, START), "the agent's process has ended");
}

#[test]
fn a_turn_that_ends_leaves_no_tool_behind() {
    let mut life = Life::new(START);
    tool(&mut life, START);
    life.hears(&AgentEvent::TurnEnded(TurnEnd::Cancelled), START);
    assert_eq!(life.oldest_tool(START), None);
}

#[test]
fn every_state_has_a_name_of_its_own() {
    let still = Some((1, String::new()));
    let tool = |still| State::Tool { title: String::new(), others: 0, ms: 0, cores: None, still };
    let retry = OwnRetry {
        attempt: 1,
        of: None,
        why: "it broke".into(),
        failure: AgentFailure::Other,
        since: 0,
        next_at: None,
    };
    assert_eq!(retry.to_string(), "retrying: attempt 1, it broke");
    let all = [
        State::Starting { ms: 0 },
        State::Waiting,
        State::Asked,
        State::Ending,
        State::Thinking { ms: 0, cores: None },
        tool(None),
        tool(still),
        State::Permission { title: String::new(), ms: 0 },
        State::Retrying(retry),
        State::Silent { ms: 0, nothing: String::new() },
        State::Gone,
    ];
    assert_eq!(all.iter().map(State::name).collect::<BTreeSet<_>>().len(), all.len());
}
