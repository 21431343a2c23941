//! A whole job through each API: the test plays the CLI, runs the commands that are called for, and sends the results.

use std::path::Path;
use std::process::Command;

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use segue_rehearsal::step_log::StepLog;
use serde_json::{Value, json};

use crate::client::{Client, completions, contents, messages, responses, server};

fn run(folder: &Path, command: &str) -> String {
    let out = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

struct Turn {
    said: String,
    finished: bool,
    fill: u64,
}

/// One turn of Claude Code's loop.
fn claude_turn(client: &mut Client, request: &mut Value, folder: &Path) -> Turn {
    let message = client.post("/v1/messages", request).json();
    let usage = &message["usage"];
    let fill = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
        .iter()
        .map(|name| usage[name].as_u64().unwrap())
        .sum();
    let blocks = message["content"].as_array().unwrap();
    let result = |call: &Value| {
        let output = run(folder, call["input"]["command"].as_str().unwrap());
        json!({ "type": "tool_result", "tool_use_id": call["id"], "content": output })
    };
    let results: Vec<Value> = blocks.iter().filter(|block| block["type"] == "tool_use").map(result).collect();
    let finished = results.is_empty();
    let conversation = request["messages"].as_array_mut().unwrap();
    conversation.push(json!({ "role": "assistant", "content": blocks }));
    if !finished {
        conversation.push(json!({ "role": "user", "content": results }));
    }
    Turn { said: blocks[0]["text"].as_str().unwrap().to_owned(), finished, fill }
}

/// One turn of Codex's loop, with its way to wrap outputs.
fn codex_turn(client: &mut Client, request: &mut Value, folder: &Path) -> Turn {
    let response = client.post("/v1/responses", request).events().pop().unwrap()["response"].clone();
    let items = response["output"].as_array().unwrap();
    let result = |call: &Value| {
        let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
        let output = run(folder, arguments["cmd"].as_str().unwrap());
        let output = format!("Wall time: 0.01 seconds\nProcess exited with code 0\nOutput:\n{output}");
        json!({ "type": "function_call_output", "call_id": call["call_id"], "output": output })
    };
    let results: Vec<Value> =
        items.iter().filter(|item| item["type"] == "function_call").map(result).collect();
    let finished = results.is_empty();
    let input = request["input"].as_array_mut().unwrap();
    input.extend(items.iter().cloned());
    input.extend(results);
    let said = items[0]["content"][0]["text"].as_str().unwrap().to_owned();
    Turn { said, finished, fill: response["usage"]["total_tokens"].as_u64().unwrap() }
}

/// One turn of OpenCode's loop.
fn opencode_turn(client: &mut Client, request: &mut Value, folder: &Path) -> Turn {
    let completion = client.post("/v1/chat/completions", request).json();
    let message = completion["choices"][0]["message"].clone();
    let result = |call: &Value| {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        let output = run(folder, arguments["command"].as_str().unwrap());
        json!({ "role": "tool", "tool_call_id": call["id"], "content": output })
    };
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let said = message["content"].as_str().unwrap().to_owned();
    let conversation = request["messages"].as_array_mut().unwrap();
    conversation.push(message);
    conversation.extend(calls.iter().map(result));
    let fill = completion["usage"]["total_tokens"].as_u64().unwrap();
    Turn { said, finished: calls.is_empty(), fill }
}

/// One turn of Gemini CLI's loop, with its way to wrap outputs.
fn gemini_turn(client: &mut Client, request: &mut Value, folder: &Path) -> Turn {
    let path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    let pieces = client.post(path, request).chunks();
    let parts: Vec<Value> =
        pieces.iter().map(|piece| piece["candidates"][0]["content"]["parts"][0].clone()).collect();
    let result = |call: &Value| {
        let output = run(folder, call["args"]["command"].as_str().unwrap());
        let output = format!("Output: {output}\nProcess Group PGID: 7");
        json!({ "functionResponse": { "name": call["name"], "response": { "output": output } } })
    };
    let results: Vec<Value> = parts.iter().filter_map(|part| part.get("functionCall")).map(result).collect();
    let said = parts[0]["text"].as_str().unwrap().to_owned();
    let finished = results.is_empty();
    let conversation = request["contents"].as_array_mut().unwrap();
    conversation.push(json!({ "role": "model", "parts": parts }));
    conversation.push(json!({ "role": "user", "parts": results }));
    let usage = &pieces.last().unwrap()["usageMetadata"];
    Turn { said, finished, fill: usage["totalTokenCount"].as_u64().unwrap() }
}

fn whole_job(mut request: Value, turn: fn(&mut Client, &mut Value, &Path) -> Turn) {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let log = outside.path().join("steps.log");
    let job = Job { steps: 7 };
    for (path, text) in job.files() {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    request = serde_json::from_str(
        &request
            .to_string()
            .replace(&json!(Job { steps: 3 }.task_text()).to_string(), &json!(job.task_text()).to_string()),
    )
    .unwrap();
    let persona = PersonaOptions {
        step_log: Some(log.clone()),
        parallel: 2,
        every: StepHabit { output_chars: 2_000, ..StepHabit::default() },
        ..PersonaOptions::default()
    };
    let (server, mut client) = server(ServerScript { persona, ..ServerScript::default() });
    let mut fills = Vec::new();
    let last = loop {
        let turn = turn(&mut client, &mut request, folder.path());
        fills.push(turn.fill);
        if turn.finished {
            break turn.said;
        }
    };
    assert_eq!(last, "All 7 steps are done. LOOP_COMPLETE\n\nSTATUS: done");
    let steps = StepLog::parse(&std::fs::read_to_string(log).unwrap());
    assert_eq!(steps.distinct_done(), (1..=7).collect());
    assert!(steps.repeated().is_empty() && steps.half_done().is_empty());
    assert!(run(folder.path(), job.gate()).contains("all 7 parts are there"));

    let truth = server.truth();
    let told: Vec<u64> = truth.iter().map(|line| line.occupancy).collect();
    assert_eq!(told, fills);
    assert!(truth.iter().all(|line| line.is_reading()));
    // 2 steps a call with 2,000 characters each, and most of each prompt is what came before.
    assert!(fills.windows(2).take(3).all(|pair| pair[1] > pair[0] + 1_000));
    assert!(truth[1..].iter().all(|line| line.cached > 0));
}

#[test]
fn a_job_is_done_over_the_messages_api() {
    whole_job(messages(false), claude_turn);
}

#[test]
fn a_job_is_done_over_the_responses_api() {
    whole_job(responses(true), codex_turn);
}

#[test]
fn a_job_is_done_over_the_chat_completions_api() {
    whole_job(completions(false), opencode_turn);
}

#[test]
fn a_job_is_done_over_the_gemini_api() {
    whole_job(contents(true), gemini_turn);
}
