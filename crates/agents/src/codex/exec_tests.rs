use super::*;
use segue_machine::AgentFailure;
use serde_json::json;

fn events(lines: &[Value], tailed: &[Value]) -> Vec<AgentEvent> {
    let (mut codex, mut io) = (CodexExec::default(), Io::default());
    lines.iter().for_each(|line| codex.line(line.to_string().as_bytes(), &mut io));
    tailed.iter().for_each(|line| codex.tailed(line.to_string().as_bytes(), &mut io));
    codex.exited(Some(1), &mut io);
    crate::without_words(&mut io)
}

#[test]
fn m2_the_usage_of_a_turn_is_a_sum_and_no_reading() {
    let usage = json!({"input_tokens": 69_536, "cached_input_tokens": 50_944, "output_tokens": 286});
    let events = events(&[json!({"type": "turn.completed", "usage": usage})], &[]);
    assert_eq!(events, [AgentEvent::TurnEnded(TurnEnd::Finished { text: String::new() })]);
}

#[test]
fn the_gauge_comes_from_the_rollout_one_record_for_each_response() {
    let usage = json!({"input_tokens": 9_436, "cached_input_tokens": 9_000, "output_tokens": 69, "total_tokens": 9_505});
    let record = json!({"type": "token_usage_record", "payload": {"response_id": "r1", "usage": usage}});
    let events = events(&[json!({"type": "turn.completed"})], &[record]);
    let AgentEvent::UsageRead(reading) = &events[1] else { panic!("{events:?}") };
    assert_eq!((reading.fill(), reading.call.as_deref()), (9_505, Some("r1")));
}

#[test]
fn the_window_is_more_than_codex_says_and_the_ceiling_less() {
    let info = json!({"info": {"model_context_window": 38_000}});
    let events =
        events(&[json!({"type": "turn.completed"})], &[json!({"type": "event_msg", "payload": info})]);
    let AgentEvent::UsageRead(reading) = &events[1] else { panic!("{events:?}") };
    assert_eq!((reading.window, reading.ceiling), (Some(40_000), Some(36_000)));
}

#[test]
fn an_end_without_a_word_is_a_failure_and_an_overflow_is_known_by_its_code() {
    let silent = events(&[json!({"type": "thread.started", "thread_id": "t"})], &[]);
    assert!(matches!(
        &silent[..],
        [AgentEvent::TurnEnded(TurnEnd::Failed { failure: AgentFailure::Other, .. })]
    ));
    let message = "{\"error\":{\"code\":\"context_length_exceeded\"},\"status\":400}";
    let full = events(&[json!({"type": "turn.failed", "error": {"message": message}})], &[]);
    assert!(matches!(&full[..], [AgentEvent::TurnEnded(TurnEnd::Overflow { .. })]));
}

#[test]
fn absurd_windows_and_endless_texts_stay_within_bounds() {
    let info = json!({"info": {"model_context_window": u64::MAX}});
    let text = json!({"type": "agent_message", "text": "ä€".repeat(200_000)});
    let said = vec![json!({"type": "item.completed", "item": text}); 4];
    let ended = [said, vec![json!({"type": "turn.completed"})]].concat();
    let events = events(&ended, &[json!({"type": "event_msg", "payload": info})]);
    let AgentEvent::TurnEnded(TurnEnd::Finished { text }) = &events[4] else { panic!("{:?}", events.len()) };
    assert!(text.len() <= 2 << 20 && text.ends_with("ä€"));
    let AgentEvent::UsageRead(reading) = &events[5] else { panic!("no reading") };
    assert!(reading.ceiling <= reading.window);
}
