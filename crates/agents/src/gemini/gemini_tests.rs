use super::*;
use segue_machine::TurnEnd;
use serde_json::json;

fn options() -> Options {
    Options {
        cwd: "/w".to_owned(),
        model: Some("gemini-2.5-pro".to_owned()),
        bypass: true,
        brake: Some(Braked { home: "/w/.segue/h".to_owned(), settings: "{}".to_owned() }),
    }
}

/// A conversation that works on a prompt.
fn working() -> (Gemini, Io) {
    let (mut gemini, mut io) = (Gemini::new(options()), Io::default());
    gemini.open(&mut io);
    gemini.line(br#"{"id":1,"result":{"protocolVersion":1}}"#, &mut io);
    gemini.line(br#"{"id":2,"result":{"sessionId":"abcdef12-3456"}}"#, &mut io);
    assert!(matches!(&io.events[..], [AgentEvent::Ready { model: Some(m), .. }] if m == "gemini-2.5-pro"));
    gemini.act(Act::Prompt("do it".to_owned()), &mut io);
    (gemini, Io::default())
}

#[test]
fn each_answers_usage_stands_in_the_chat_file_and_counts_once() {
    let (mut gemini, mut io) = working();
    let line = br#"{"type":"gemini","id":"m1","tokens":{"input":13896,"output":70,"cached":11648,"thoughts":150,"total":14116}}"#;
    gemini.tailed(line, &mut io);
    gemini.tailed(br#"{"type":"user","id":"u"}"#, &mut io);
    gemini.tailed(br#"{"$set":{}}"#, &mut io);
    let [AgentEvent::UsageRead(reading)] = &io.events[..] else { panic!("{:?}", io.events) };
    assert_eq!(
        (reading.fill(), reading.prompt(), reading.call.as_deref()),
        (14_116, Some(13_896), Some("m1"))
    );
}

#[test]
fn the_chat_file_is_known_by_the_first_part_of_the_conversations_id() {
    assert_eq!(working().0.tail().map(|tail| tail.ends_with), Some("-abcdef12.jsonl".to_owned()));
}

#[test]
fn t2_a_request_waits_for_the_brake_and_the_end_that_it_causes_is_no_completion() {
    let (mut gemini, mut io) = working();
    gemini.act(Act::Ask("write it down".to_owned()), &mut io);
    assert!(io.write.is_empty(), "nothing is cancelled: the hook stops it before its next call");
    gemini.act(Act::Braked, &mut io);
    gemini.line(br#"{"id":3,"result":{"stopReason":"end_turn"}}"#, &mut io);
    assert_eq!(io.events, [AgentEvent::TurnEnded(TurnEnd::Cancelled)]);
    assert!(String::from_utf8_lossy(&io.write).contains("write it down"));
}

#[test]
fn t3_an_end_without_the_brake_is_a_completion() {
    let (mut gemini, mut io) = working();
    gemini.act(Act::Ask("write it down".to_owned()), &mut io);
    gemini.line(br#"{"id":3,"result":{"stopReason":"end_turn"}}"#, &mut io);
    assert!(matches!(&io.events[..], [AgentEvent::TurnEnded(TurnEnd::Finished { .. })]));
    assert!(io.write.is_empty());
}

#[test]
fn e6_segues_settings_are_a_file_of_its_own() {
    let extras = Gemini::new(options()).extras();
    assert_eq!(extras.args, ["--acp", "-m", "gemini-2.5-pro", "--yolo"]);
    assert_eq!(extras.files, [("/w/.segue/h/.gemini/settings.json".to_owned(), "{}".to_owned())]);
    assert!(extras.env.contains(&(HOME.to_owned(), "/w/.segue/h".to_owned())));
    let plain = Gemini::new(Options { brake: None, bypass: false, ..options() }).extras();
    assert!(plain.files.is_empty() && !plain.args.contains(&"--yolo".to_owned()));
}

fn ended(tool: &str) -> Vec<u8> {
    let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": tool, "title": "ls", "status": "completed" });
    json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } })
        .to_string()
        .into_bytes()
}

fn sizes(events: &[AgentEvent]) -> Vec<u64> {
    let size = |e: &AgentEvent| if let AgentEvent::ToolEnded { chars, .. } = e { Some(*chars) } else { None };
    events.iter().filter_map(size).collect()
}

#[test]
fn m8_a_tool_ends_with_the_result_that_the_chat_file_shows() {
    let (mut gemini, mut io) = working();
    let call = |id: &str| json!({ "id": id, "result": [{ "functionResponse": { "response": { "output": "x".repeat(500) } } }] });
    for (tool, calls) in [("a", json!([call("a")])), ("b", json!([call("a"), call("b")]))] {
        gemini.line(&ended(tool), &mut io);
        gemini.tailed(
            json!({ "type": "gemini", "id": "m", "toolCalls": calls }).to_string().as_bytes(),
            &mut io,
        );
    }
    assert_eq!(sizes(&io.events), [772, 772]);
}

#[test]
fn m8_an_edit_counts_for_what_the_model_is_sent_and_not_for_the_file() {
    let (mut gemini, mut io) = working();
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "a", "title": "edit", "status": "completed",
        "content": [{ "type": "diff", "path": "a.txt", "oldText": "old\n", "newText": "word ".repeat(9_000) }],
    });
    let line = json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } });
    gemini.line(line.to_string().as_bytes(), &mut io);
    let call = json!({ "id": "a", "result": [{ "functionResponse": { "response": { "output": "x".repeat(500) } } }] });
    gemini
        .tailed(json!({ "type": "gemini", "id": "m", "toolCalls": [call] }).to_string().as_bytes(), &mut io);
    assert_eq!(sizes(&io.events), [772]);
}

#[test]
fn a_tool_whose_result_never_shows_up_ends_with_the_next_answer_or_the_turn() {
    let (mut gemini, mut io) = working();
    gemini.line(&ended("a"), &mut io);
    assert!(sizes(&io.events).is_empty());
    gemini.tailed(br#"{"type":"gemini","id":"m1","tokens":{"input":9,"total":10}}"#, &mut io);
    gemini.line(&ended("b"), &mut io);
    gemini.line(br#"{"id":3,"result":{"stopReason":"end_turn"}}"#, &mut io);
    assert_eq!(sizes(&io.events), [0, 0]);
}

#[test]
fn m8_a_result_that_the_chat_file_shows_first_is_remembered() {
    let (mut gemini, mut io) = working();
    let call = json!({ "id": "a", "result": [{ "functionResponse": { "response": { "output": "x".repeat(500) } } }] });
    gemini
        .tailed(json!({ "type": "gemini", "id": "m", "toolCalls": [call] }).to_string().as_bytes(), &mut io);
    assert!(sizes(&io.events).is_empty());
    gemini.line(&ended("a"), &mut io);
    assert_eq!(sizes(&io.events), [772]);
}
