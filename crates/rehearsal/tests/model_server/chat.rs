//! The Chat Completions API.

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::answer::{Kind, Thread};
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use segue_rehearsal::model_server::truth::Api;
use serde_json::{Value, json};

use crate::client::{INSTRUCTIONS, completions, server, tokens};

const PATH: &str = "/v1/chat/completions";

fn thinking(think_tokens: u64) -> ServerScript {
    let every = StepHabit { think_tokens, ..StepHabit::default() };
    ServerScript { persona: PersonaOptions { every, ..PersonaOptions::default() }, ..ServerScript::default() }
}

#[test]
fn an_answer_at_once_calls_the_shell_tool_and_counts_as_an_independent_count_does() {
    let (server, mut client) = server(thinking(90));
    let request = completions(false);
    let completion = client.post(PATH, &request).json();
    let choice = &completion["choices"][0];
    assert_eq!(
        (&completion["object"], &choice["finish_reason"]),
        (&json!("chat.completion"), &json!("tool_calls"))
    );
    let call = &choice["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "bash");
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "command": "sh step.sh 1", "description": "Write part 1" }));

    let input = tokens(&[&request["tools"].to_string(), INSTRUCTIONS, &Job { steps: 3 }.task_text()]);
    let words = choice["message"]["content"].as_str().unwrap();
    let output = tokens(&[words, "bash", call["arguments"].as_str().unwrap()]) + 90;
    let usage = json!({
        "prompt_tokens": input, "prompt_tokens_details": { "cached_tokens": 0 },
        "completion_tokens": output, "completion_tokens_details": { "reasoning_tokens": 90 },
        "total_tokens": input + output,
    });
    assert_eq!(completion["usage"], usage);
    let line = &server.truth()[0];
    assert_eq!((line.api, line.input_tokens, line.occupancy), (Api::Chat, input, input + output));
    assert_eq!((line.thread, line.kind, line.steps.as_slice()), (Thread::Main, Kind::Work, &[1][..]));
    assert_eq!((line.stream, line.tools.as_deref()), (false, Some(&["bash".to_owned()][..])));
}

#[test]
fn a_stream_says_the_same_and_ends_with_the_figures() {
    let (_server, mut client) = server(ServerScript::default());
    let whole = client.post(PATH, &completions(false)).json();
    let reply = client.post(PATH, &completions(true));
    assert_eq!((reply.status, reply.data().pop().as_deref()), (200, Some("[DONE]")));
    let chunks = reply.chunks();
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"));
    let joined = |pointer: &str| -> String {
        chunks.iter().filter_map(|chunk| chunk.pointer(pointer)?.as_str()).collect()
    };
    let message = &whole["choices"][0]["message"];
    assert_eq!(joined("/choices/0/delta/content"), message["content"].as_str().unwrap());
    let call = &message["tool_calls"][0]["function"];
    assert_eq!(joined("/choices/0/delta/tool_calls/0/function/name"), "bash");
    assert_eq!(
        joined("/choices/0/delta/tool_calls/0/function/arguments"),
        call["arguments"].as_str().unwrap()
    );
    assert_eq!(joined("/choices/0/finish_reason"), "tool_calls");
    let (last, before) = chunks.split_last().unwrap();
    assert!(before.iter().all(|chunk| chunk["usage"].is_null()));
    assert_eq!(
        (&last["choices"], &last["usage"]["total_tokens"]),
        (&json!([]), &whole["usage"]["total_tokens"])
    );
    let cached = last["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
    assert!(cached.is_multiple_of(128) && cached > 0);
}

#[test]
fn a_stream_tells_no_figures_to_a_client_that_does_not_ask_for_them() {
    let (_server, mut client) = server(ServerScript::default());
    let mut request = completions(true);
    request["stream_options"] = Value::Null;
    let reply = client.post(PATH, &request);
    assert!(reply.chunks().iter().all(|chunk| chunk.get("usage").is_none()));
    assert_eq!(reply.data().pop().as_deref(), Some("[DONE]"));
}

#[test]
fn a_request_longer_than_the_window_is_refused_in_the_apis_words() {
    let (server, mut client) = server(ServerScript { window: 100, ..ServerScript::default() });
    let reply = client.post(PATH, &completions(true));
    let n = server.truth()[0].input_tokens;
    let message = format!(
        "This model's maximum context length is 100 tokens. However, your messages resulted in {n} tokens. Please reduce the length of the messages."
    );
    let error = json!({ "message": message, "type": "invalid_request_error", "param": "messages",
                        "code": "context_length_exceeded" });
    assert_eq!((reply.status, &reply.json()["error"]), (400, &error));
    assert!(server.truth()[0].is_overflow() && !server.truth()[0].is_reading());
}

#[test]
fn a_title_request_with_the_task_in_it_is_on_the_side() {
    let (server, mut client) = server(ServerScript::default());
    let request = json!({ "model": "scripted", "messages": [
        { "role": "system", "content": "You are a title generator. You output ONLY a thread title." },
        { "role": "user", "content": "Generate a title for this conversation:\n" },
        { "role": "user", "content": Job { steps: 3 }.task_text() },
    ] });
    let title = client.post(PATH, &request).json();
    assert_eq!(title["choices"][0]["message"]["content"], "Write the parts");
    assert_eq!(title["choices"][0]["finish_reason"], "stop");
    let line = &server.truth()[0];
    assert_eq!((line.thread, line.kind), (Thread::Side, Kind::Title));
    let broken = client.post(PATH, &json!([1]));
    assert_eq!((broken.status, &broken.json()["error"]["type"]), (400, &json!("invalid_request_error")));
}
