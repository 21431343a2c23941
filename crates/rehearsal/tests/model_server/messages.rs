//! The Messages API.

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::answer::{Kind, Thread};
use serde_json::{Value, json};

use crate::client::{INSTRUCTIONS, messages, server, tokens};

fn whole_input(usage: &Value) -> u64 {
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .iter()
        .map(|name| usage[name].as_u64().unwrap())
        .sum()
}

#[test]
fn an_answer_at_once_calls_the_shell_tool_and_counts_as_an_independent_count_does() {
    let (server, mut client) = server(ServerScript::default());
    let request = messages(false);
    let reply = client.post("/v1/messages?beta=true", &request);
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let message = reply.json();
    assert_eq!((&message["type"], &message["stop_reason"]), (&json!("message"), &json!("tool_use")));
    let call = &message["content"][1];
    assert_eq!((&call["type"], &call["name"]), (&json!("tool_use"), &json!("Bash")));
    assert_eq!(call["input"]["command"], "sh step.sh 1");

    let input = tokens(&[
        &request["tools"].to_string(),
        INSTRUCTIONS,
        "<system-reminder>\nToday is a day.\n</system-reminder>",
        &Job { steps: 3 }.task_text(),
    ]);
    let output =
        tokens(&[message["content"][0]["text"].as_str().unwrap(), "Bash", &call["input"].to_string()]);
    assert_eq!((whole_input(&message["usage"]), &message["usage"]["output_tokens"]), (input, &json!(output)));
    let counted = client.post("/v1/messages/count_tokens?beta=true", &request).json();
    assert_eq!(counted, json!({ "input_tokens": input }));

    let truth = server.truth();
    assert_eq!(
        (truth[0].input_tokens, truth[0].output_tokens, truth[0].occupancy),
        (input, output, input + output)
    );
    assert_eq!(
        (truth[0].thread, truth[0].kind, truth[0].steps.as_slice()),
        (Thread::Main, Kind::Work, &[1][..])
    );
    assert_eq!(truth[0].tools, Some(vec!["Bash".to_owned()]));
    assert_eq!((truth[1].thread, truth[1].kind, truth[1].is_reading()), (Thread::Side, Kind::Count, false));
    server.stop();
}

#[test]
fn a_stream_says_the_same_as_an_answer_at_once() {
    let (server, mut client) = server(ServerScript::default());
    let whole = client.post("/v1/messages", &messages(false)).json();
    let reply = client.post("/v1/messages", &messages(true));
    assert_eq!((reply.status, reply.cut), (200, false));
    let events = reply.events();
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[1]), ("message_start", "ping"));
    assert_eq!(names[names.len() - 2..], ["message_delta", "message_stop"]);
    let joined = |kind: &str, field: &str| -> String {
        let deltas = events.iter().map(|event| &event["delta"]).filter(|delta| delta["type"] == kind);
        deltas.map(|delta| delta[field].as_str().unwrap()).collect()
    };
    assert_eq!(joined("text_delta", "text"), whole["content"][0]["text"].as_str().unwrap());
    assert_eq!(joined("input_json_delta", "partial_json"), whole["content"][1]["input"].to_string());
    assert_eq!(events[0]["message"]["usage"]["output_tokens"], 1);
    let last = &events[events.len() - 2];
    assert_eq!(last["delta"]["stop_reason"], "tool_use");
    assert_eq!(last["usage"]["output_tokens"], whole["usage"]["output_tokens"]);
    // The same prompt came before, so all of it but the rounding is cached.
    assert_eq!(whole_input(&last["usage"]), whole_input(&whole["usage"]));
    assert_eq!(last["usage"]["cache_read_input_tokens"], server.truth()[1].cached);
    assert!(server.truth()[1].cached + 1 >= server.truth()[1].input_tokens);
}

#[test]
fn a_request_longer_than_the_window_is_refused_in_the_apis_words() {
    let (server, mut client) = server(ServerScript { window: 100, ..ServerScript::default() });
    let reply = client.post("/v1/messages", &messages(true));
    let n = server.truth()[0].input_tokens;
    assert_eq!(reply.status, 400);
    assert_eq!(
        reply.json()["error"],
        json!({ "type": "invalid_request_error", "message": format!("prompt is too long: {n} tokens > 100 maximum") })
    );
    assert!(server.truth()[0].is_overflow() && !server.truth()[0].is_reading());
}

#[test]
fn models_are_listed_and_nothing_else_is_here() {
    let (server, mut client) = server(ServerScript::default());
    assert_eq!(client.get("/v1/models", "anthropic-version: 2023-06-01").json()["has_more"], false);
    let missing = client.get("/v1/elsewhere", "x-api-key: dummy");
    assert_eq!((missing.status, &missing.json()["error"]["type"]), (404, &json!("not_found_error")));
    let broken = client.post("/v1/messages", &json!([1]));
    assert_eq!((broken.status, &broken.json()["type"]), (400, &json!("error")));
    let kinds: Vec<Kind> = server.truth().iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [Kind::Models, Kind::Unknown, Kind::Unknown]);
}

#[test]
fn a_probe_and_a_title_get_a_short_answer() {
    let (server, mut client) = server(ServerScript::default());
    let ask = |max_tokens: u64, text: &str| json!({ "model": "m", "max_tokens": max_tokens, "messages": [{ "role": "user", "content": text }] });
    assert_eq!(client.post("/v1/messages", &ask(1, "quota")).json()["content"][0]["text"], "#");
    assert_eq!(
        client.post("/v1/messages", &ask(512, "Write a short title for this")).json()["content"][0]["text"],
        "Write the parts"
    );
    assert!(server.truth().iter().all(|line| line.thread == Thread::Side && line.cached == 0));
}
