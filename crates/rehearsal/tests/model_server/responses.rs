//! The Responses API.

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::WindowError;
use segue_rehearsal::model_server::truth::Api;
use serde_json::{Value, json};

use crate::client::{INSTRUCTIONS, responses, server, tokens};

#[test]
fn an_answer_at_once_calls_the_shell_tool_and_counts_as_an_independent_count_does() {
    let (server, mut client) = server(ServerScript::default());
    let request = responses(false);
    let response = client.post("/v1/responses", &request).json();
    assert_eq!((&response["object"], &response["status"]), (&json!("response"), &json!("completed")));
    let call = &response["output"][1];
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("exec_command")));
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "cmd": "sh step.sh 1", "yield_time_ms": 30_000 }));

    let task = Job { steps: 3 }.task_text();
    let input = tokens(&[INSTRUCTIONS, &request["tools"].to_string(), "Be brief.", &task]);
    let words = response["output"][0]["content"][0]["text"].as_str().unwrap();
    let output = tokens(&[words, "exec_command", call["arguments"].as_str().unwrap()]);
    let usage = json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": output, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    });
    assert_eq!(response["usage"], usage);
    let line = &server.truth()[0];
    assert_eq!((line.api, line.input_tokens, line.occupancy), (Api::OpenAi, input, input + output));
    assert_eq!((line.session.as_deref(), line.status), (Some("s-1"), 200));
}

#[test]
fn a_stream_has_every_event_that_codex_needs() {
    let (_server, mut client) = server(ServerScript::default());
    let whole = client.post("/v1/responses", &responses(false)).json();
    let events = client.post("/v1/responses", &responses(true)).events();
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert!(events.iter().enumerate().all(|(n, event)| event["sequence_number"] == n));
    assert_eq!(events[4]["delta"], whole["output"][0]["content"][0]["text"]);
    assert_eq!(events[9]["delta"], whole["output"][1]["arguments"]);
    let done = &events[12]["response"];
    assert_eq!(done["output"][1]["arguments"], whole["output"][1]["arguments"]);
    assert_eq!(done["usage"]["total_tokens"], whole["usage"]["total_tokens"]);
    let cached = done["usage"]["input_tokens_details"]["cached_tokens"].as_u64().unwrap();
    assert!(cached.is_multiple_of(128) && cached > 0);
}

#[test]
fn a_request_longer_than_the_window_is_refused_in_either_form() {
    for (window_error, streams) in [(WindowError::Http, true), (WindowError::Stream, false)] {
        let (server, mut client) =
            server(ServerScript { window: 100, window_error, ..ServerScript::default() });
        let reply = client.post("/v1/responses", &responses(streams));
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!("context_length_exceeded")));
        assert!(server.truth()[0].is_overflow());
    }
    let script = ServerScript { window: 100, window_error: WindowError::Stream, ..ServerScript::default() };
    let (server, mut client) = server(script);
    let reply = client.post("/v1/responses", &responses(true));
    let failed = reply.events().pop().unwrap();
    assert_eq!((reply.status, &failed["type"]), (200, &json!("response.failed")));
    assert_eq!(failed["response"]["error"]["code"], "context_length_exceeded");
    assert!(server.truth()[0].is_overflow() && !server.truth()[0].is_reading());
}

#[test]
fn models_are_listed_and_nothing_else_is_here() {
    let (_server, mut client) = server(ServerScript::default());
    assert_eq!(client.get("/v1/models", "Authorization: Bearer x").json()["data"][0]["id"], "scripted");
    let missing = client.post("/v1/responses/compact", &json!({}));
    assert_eq!((missing.status, &missing.json()["error"]["type"]), (404, &json!("invalid_request_error")));
}
