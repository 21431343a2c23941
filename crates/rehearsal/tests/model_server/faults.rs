//! Each fault, in each API's own words, once; then the same request is answered.

use segue_rehearsal::model_server::script::FaultKind;
use serde_json::{Value, json};

use crate::client::{Client, Reply, messages, responses, server, with_fault};

type Api = (&'static str, fn(bool) -> Value);

const APIS: [Api; 2] = [("/v1/messages", messages), ("/v1/responses", responses)];

/// The replies of both APIs to a streaming request that meets this fault.
fn meet(kind: FaultKind) -> [Reply; 2] {
    APIS.map(|(path, request)| {
        let (server, mut client) = server(with_fault(kind));
        let reply = client.post(path, &request(true));
        assert_eq!(server.truth()[0].fault.as_deref(), Some(kind.name()));
        let mut client = if reply.cut { Client::new(&server) } else { client };
        let again = client.post(path, &request(true));
        assert_eq!((again.status, again.cut), (200, false));
        assert!(server.truth()[1].is_reading() && server.truth()[1].fault.is_none());
        reply
    })
}

fn refused(kind: FaultKind, claude: (u16, &str), codex: (u16, Option<&str>)) -> [Reply; 2] {
    let replies = meet(kind);
    let [a, b] = &replies;
    assert_eq!((a.status, &a.json()["error"]["type"]), (claude.0, &json!(claude.1)));
    assert_eq!((b.status, &b.json()["error"]["code"]), (codex.0, &json!(codex.1)));
    replies
}

#[test]
fn refusals_have_the_status_and_the_body_of_the_real_api() {
    refused(FaultKind::Overloaded, (529, "overloaded_error"), (503, Some("server_is_overloaded")));
    refused(FaultKind::Unauthorized, (401, "authentication_error"), (401, Some("invalid_api_key")));
    refused(FaultKind::ServerError, (500, "api_error"), (500, None));
    let [a, _] = refused(FaultKind::Quota, (400, "invalid_request_error"), (429, Some("insufficient_quota")));
    assert!(a.json()["error"]["message"].as_str().unwrap().contains("credit balance is too low"));
}

#[test]
fn a_rate_limit_tells_when_to_come_back_if_it_should() {
    let refuse = |retry_after, headers| {
        let kind = FaultKind::RateLimit { retry_after, headers };
        refused(kind, (429, "rate_limit_error"), (429, Some("rate_limit_exceeded")))
    };
    let [a, b] = refuse(Some(7), true);
    assert_eq!((a.header("retry-after"), b.header("retry-after")), (Some("7"), Some("7")));
    assert_eq!(a.header("anthropic-ratelimit-requests-remaining"), Some("0"));
    assert!(a.header("anthropic-ratelimit-requests-reset").unwrap().ends_with('Z'));
    assert_eq!(b.header("x-ratelimit-reset-tokens"), Some("7s"));
    let [a, b] = refuse(None, false);
    assert_eq!((a.header("retry-after"), b.header("retry-after")), (None, None));
    assert_eq!(a.header("anthropic-ratelimit-requests-remaining"), None);
}

#[test]
fn a_cut_stream_ends_in_the_middle() {
    let [a, b] = meet(FaultKind::CutStream);
    assert!(a.cut && a.status == 200 && a.body.contains("message_start") && !a.body.contains("message_stop"));
    assert!(
        b.cut
            && b.status == 200
            && b.body.contains("response.created")
            && !b.body.contains("response.completed")
    );
}

#[test]
fn an_answer_at_once_can_be_cut_too() {
    let (server, mut client) = server(with_fault(FaultKind::CutStream));
    let reply = client.post("/v1/messages", &messages(false));
    assert!(reply.cut && reply.status == 200 && !reply.body.is_empty());
    assert!(!server.truth()[0].is_reading());
}

#[test]
fn a_stalled_stream_comes_whole_in_the_end() {
    let [a, b] = meet(FaultKind::Stall { ms: 30 });
    assert_eq!(a.events().pop().unwrap()["type"], "message_stop");
    assert_eq!(b.events().pop().unwrap()["type"], "response.completed");
}

#[test]
fn a_hanging_request_gets_no_byte_and_is_in_the_truth_log() {
    let (server, mut client) = server(with_fault(FaultKind::Hang));
    let body = messages(true).to_string();
    client.send(
        format!("POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes(),
    );
    while server.truth().is_empty() {
        std::thread::yield_now();
    }
    let line = server.truth().pop().unwrap();
    assert_eq!((line.status, line.fault.as_deref(), line.is_reading()), (0, Some("hang"), false));
    assert_eq!(Client::new(&server).post("/v1/messages", &messages(true)).status, 200);
    drop(server);
    assert!(client.read().cut);
}
