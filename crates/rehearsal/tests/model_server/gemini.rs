//! The Gemini API.

use segue_rehearsal::job::Job;
use segue_rehearsal::model_server::ServerScript;
use segue_rehearsal::model_server::answer::{Kind, Thread};
use segue_rehearsal::model_server::script::{PersonaOptions, StepHabit};
use segue_rehearsal::model_server::truth::Api;
use serde_json::{Value, json};

use crate::client::{INSTRUCTIONS, contents, server, tokens};

const AT_ONCE: &str = "/v1beta/models/gemini-2.5-pro:generateContent";
const STREAM: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
const COUNT: &str = "/v1beta/models/gemini-2.5-pro:countTokens";

fn habits(every: StepHabit) -> ServerScript {
    ServerScript { persona: PersonaOptions { every, ..PersonaOptions::default() }, ..ServerScript::default() }
}

fn parts(response: &Value) -> &Vec<Value> {
    response["candidates"][0]["content"]["parts"].as_array().unwrap()
}

#[test]
fn an_answer_at_once_calls_the_shell_tool_and_counts_as_an_independent_count_does() {
    let (server, mut client) = server(habits(StepHabit { think_tokens: 90, ..StepHabit::default() }));
    let request = contents(false);
    let response = client.post(AT_ONCE, &request).json();
    assert_eq!(response["candidates"][0]["finishReason"], "STOP");
    let call = &parts(&response)[1]["functionCall"];
    let args = json!({ "command": "sh step.sh 1", "description": "Write part 1" });
    assert_eq!((&call["name"], &call["args"]), (&json!("run_shell_command"), &args));

    let input = tokens(&[
        INSTRUCTIONS,
        &request["tools"].to_string(),
        "<session_context>\nToday is a day.\n</session_context>",
        &Job { steps: 3 }.task_text(),
    ]);
    let words = parts(&response)[0]["text"].as_str().unwrap();
    let said = tokens(&[words, "run_shell_command", &args.to_string()]);
    let usage = json!({
        "promptTokenCount": input, "candidatesTokenCount": said, "cachedContentTokenCount": 0,
        "thoughtsTokenCount": 90, "totalTokenCount": input + said + 90,
        "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": input }],
    });
    assert_eq!(response["usageMetadata"], usage);
    let counted = client.post(COUNT, &json!({ "generateContentRequest": request })).json();
    assert_eq!(counted["totalTokens"], input);
    let truth = server.truth();
    assert_eq!((truth[0].api, truth[0].input_tokens), (Api::Gemini, input));
    assert_eq!((truth[0].output_tokens, truth[0].occupancy), (said + 90, input + said + 90));
    assert_eq!(
        (truth[0].thread, truth[0].kind, truth[0].steps.as_slice()),
        (Thread::Main, Kind::Work, &[1][..])
    );
    assert_eq!((truth[0].model.as_str(), truth[0].stream), ("gemini-2.5-pro", false));
    assert_eq!((truth[1].thread, truth[1].kind, truth[1].is_reading()), (Thread::Side, Kind::Count, false));
}

#[test]
fn a_stream_says_the_same_and_every_piece_has_figures_the_last_the_true_ones() {
    let (_server, mut client) =
        server(habits(StepHabit { say_chars: 1_000, think_tokens: 9, ..StepHabit::default() }));
    let whole = client.post(AT_ONCE, &contents(false)).json();
    let reply = client.post(STREAM, &contents(true));
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/event-stream; charset=utf-8")));
    let pieces = reply.chunks();
    let text: String = pieces.iter().filter_map(|piece| parts(piece)[0]["text"].as_str()).collect();
    assert_eq!(text, parts(&whole)[0]["text"].as_str().unwrap());
    let (last, before) = pieces.split_last().unwrap();
    assert_eq!(parts(last)[0], parts(&whole)[1]);
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert!(
        before.len() == 3 && before.iter().all(|piece| piece["candidates"][0].get("finishReason").is_none())
    );
    let total = |piece: &Value| piece["usageMetadata"]["totalTokenCount"].as_u64().unwrap();
    assert!(pieces.windows(2).all(|pair| total(&pair[0]) < total(&pair[1])));
    assert_eq!(total(last), total(&whole));
    assert!(last["usageMetadata"]["cachedContentTokenCount"].as_u64().unwrap() > 0);
    let list = client.post(STREAM.trim_end_matches("?alt=sse"), &contents(true)).json();
    assert_eq!(list.as_array().unwrap().len(), pieces.len());
}

#[test]
fn a_request_longer_than_the_window_is_refused_in_the_apis_words() {
    for path in [AT_ONCE, STREAM] {
        let (server, mut client) = server(ServerScript { window: 100, ..ServerScript::default() });
        let reply = client.post(path, &contents(true));
        let n = server.truth()[0].input_tokens;
        let message =
            format!("The input token count ({n}) exceeds the maximum number of tokens allowed (100).");
        let error = json!({ "code": 400, "message": message, "status": "INVALID_ARGUMENT" });
        assert_eq!((reply.status, reply.json()), (400, json!({ "error": error })));
        assert!(server.truth()[0].is_overflow() && !server.truth()[0].is_reading());
    }
}

#[test]
fn who_speaks_next_is_answered_as_json_and_on_the_side() {
    let (server, mut client) = server(ServerScript::default());
    let mut request = contents(false);
    request["tools"] = Value::Null;
    request["generationConfig"] = json!({ "responseMimeType": "application/json", "responseJsonSchema": {
        "type": "object", "properties": { "reasoning": { "type": "string" },
            "next_speaker": { "type": "string", "enum": ["user", "model"] } } } });
    let response = client.post(AT_ONCE, &request).json();
    let told: Value = serde_json::from_str(parts(&response)[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(told["next_speaker"], "user");
    let line = &server.truth()[0];
    assert_eq!((line.thread, line.kind), (Thread::Side, Kind::Check));
}

#[test]
fn models_are_listed_and_nothing_else_is_here() {
    let (server, mut client) = server(ServerScript { window: 5_000, ..ServerScript::default() });
    let models = client.get("/v1beta/models", "x-goog-api-key: x").json();
    assert_eq!(models["models"][0]["inputTokenLimit"], 5_000);
    let missing = client.post("/v1beta/models/m:embedContent", &json!({}));
    assert_eq!((missing.status, &missing.json()["error"]["status"]), (404, &json!("NOT_FOUND")));
    let broken = client.post(AT_ONCE, &json!([1]));
    assert_eq!((broken.status, &broken.json()["error"]["status"]), (400, &json!("INVALID_ARGUMENT")));
    // Parts of a strange shape are counted and do no harm.
    let odd = json!({ "contents": [{ "parts": [{ "inlineData": {} }, { "functionCall": 7 },
        { "functionResponse": { "response": { "a": 1 } } }, 5] }, "x"], "tools": [{}], "systemInstruction": 3 });
    assert_eq!(client.post(STREAM, &odd).status, 200);
    assert!(server.truth()[3].input_tokens > 0);
}
