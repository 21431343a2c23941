//! Each fault, in each API's own words, once; then the same request is answered.

use segue_rehearsal::model_server::script::FaultKind;
use serde_json::{Value, json};

use crate::client::{Client, Reply, completions, contents, messages, responses, server, with_fault};

type Api = (&'static str, fn(bool) -> Value);

const GEMINI: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

const APIS: [Api; 4] = [
    ("/v1/messages", messages),
    ("/v1/responses", responses),
    ("/v1/chat/completions", completions),
    (GEMINI, contents),
];

/// The replies of all APIs to a streaming request that meets this fault.
fn meet(kind: FaultKind) -> [Reply; 4] {
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

/// The type on Messages, the code on both APIs of OpenAI, the status on Gemini.
fn refused(
    kind: FaultKind,
    claude: (u16, &str),
    openai: (u16, Option<&str>),
    gemini: (u16, &str),
) -> [Reply; 4] {
    let replies = meet(kind);
    let [a, b, c, d] = &replies;
    assert_eq!((a.status, &a.json()["error"]["type"]), (claude.0, &json!(claude.1)));
    for reply in [b, c] {
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (openai.0, &json!(openai.1)));
    }
    let error = &d.json()["error"];
    assert_eq!((d.status, &error["code"], &error["status"]), (gemini.0, &json!(gemini.0), &json!(gemini.1)));
    replies
}

#[test]
fn refusals_have_the_status_and_the_body_of_the_real_api() {
    refused(
        FaultKind::Overloaded,
        (529, "overloaded_error"),
        (503, Some("server_is_overloaded")),
        (503, "UNAVAILABLE"),
    );
    refused(
        FaultKind::Unauthorized,
        (401, "authentication_error"),
        (401, Some("invalid_api_key")),
        (401, "UNAUTHENTICATED"),
    );
    refused(
        FaultKind::Forbidden,
        (403, "permission_error"),
        (403, Some("unsupported_country_region_territory")),
        (403, "PERMISSION_DENIED"),
    );
    refused(FaultKind::ServerError, (500, "api_error"), (500, None), (500, "INTERNAL"));
    let [a, _, _, d] = refused(
        FaultKind::Quota,
        (400, "invalid_request_error"),
        (429, Some("insufficient_quota")),
        (429, "RESOURCE_EXHAUSTED"),
    );
    assert!(a.json()["error"]["message"].as_str().unwrap().contains("credit balance is too low"));
    let limit = &d.json()["error"]["details"][0]["violations"][0];
    assert!(limit["quotaId"].as_str().unwrap().contains("PerDay"));
}

#[test]
fn a_rate_limit_tells_when_to_come_back_if_it_should() {
    let refuse = |retry_after, headers| {
        refused(
            FaultKind::RateLimit { retry_after, headers },
            (429, "rate_limit_error"),
            (429, Some("rate_limit_exceeded")),
            (429, "RESOURCE_EXHAUSTED"),
        )
    };
    let [a, b, c, d] = refuse(Some(7), true);
    for reply in [&a, &b, &c] {
        assert_eq!(reply.header("retry-after"), Some("7"));
    }
    assert_eq!(a.header("anthropic-ratelimit-requests-remaining"), Some("0"));
    assert!(a.header("anthropic-ratelimit-requests-reset").unwrap().ends_with('Z'));
    assert_eq!(
        (b.header("x-ratelimit-reset-tokens"), c.header("x-ratelimit-reset-tokens")),
        (Some("7s"), Some("7s"))
    );
    let details = &d.json()["error"]["details"];
    assert!(details[0]["violations"][0]["quotaId"].as_str().unwrap().contains("PerMinute"));
    let retry = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s" });
    assert_eq!((&details[1], d.header("retry-after")), (&retry, None));
    let [a, b, c, d] = refuse(None, false);
    for reply in [&a, &b, &c] {
        assert_eq!(reply.header("retry-after"), None);
    }
    assert_eq!(a.header("anthropic-ratelimit-requests-remaining"), None);
    assert!(d.json()["error"].get("details").is_none());
}

#[test]
fn a_cut_stream_ends_in_the_middle() {
    let [a, b, c, d] = meet(FaultKind::CutStream);
    assert!(a.cut && a.status == 200 && a.body.contains("message_start") && !a.body.contains("message_stop"));
    assert!(
        b.cut
            && b.status == 200
            && b.body.contains("response.created")
            && !b.body.contains("response.completed")
    );
    assert!(c.cut && c.status == 200 && c.body.contains("Next is") && !c.body.contains("[DONE]"));
    // One whole event, and half of the one that would end it.
    assert!(d.cut && d.status == 200 && d.body.contains("Next is"));
    assert!(d.body.matches("\r\n\r\n").count() == 1 && !d.body.ends_with("\r\n\r\n"));
}

#[test]
fn an_answer_at_once_can_be_cut_too() {
    for (path, request) in APIS {
        let (server, mut client) = server(with_fault(FaultKind::CutStream));
        let reply =
            client.post(&path.replace("streamGenerateContent?alt=sse", "generateContent"), &request(false));
        assert!(reply.cut && reply.status == 200 && !reply.body.is_empty());
        assert!(!server.truth()[0].is_reading());
    }
}

#[test]
fn a_stalled_stream_comes_whole_in_the_end() {
    let [a, b, c, d] = meet(FaultKind::Stall { ms: 30 });
    assert_eq!(a.events().pop().unwrap()["type"], "message_stop");
    assert_eq!(b.events().pop().unwrap()["type"], "response.completed");
    assert_eq!(c.data().pop().as_deref(), Some("[DONE]"));
    assert_eq!(d.chunks().pop().unwrap()["candidates"][0]["finishReason"], "STOP");
}

#[test]
fn a_hanging_request_gets_no_byte_and_is_in_the_truth_log() {
    for (path, request) in APIS {
        let (server, mut client) = server(with_fault(FaultKind::Hang));
        let body = request(true).to_string();
        client
            .send(format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        while server.truth().is_empty() {
            std::thread::yield_now();
        }
        let line = server.truth().pop().unwrap();
        assert_eq!((line.status, line.fault.as_deref(), line.is_reading()), (0, Some("hang"), false));
        assert_eq!(Client::new(&server).post(path, &request(true)).status, 200);
        drop(server);
        assert!(client.read().cut);
    }
}

#[test]
fn an_overflow_that_was_wanted_looks_like_a_real_one_in_each_api() {
    for (path, request) in APIS {
        let (server, mut client) = server(with_fault(FaultKind::Overflow));
        let reply = client.post(path, &request(true));
        assert_eq!(reply.status, 400, "{path}");
        let text = reply.json()["error"].to_string();
        let said = ["prompt is too long: 200001", "context_length_exceeded", "input token count (200001)"];
        assert!(said.iter().any(|said| text.contains(said)), "{path}: {text}");
        assert!(server.truth()[0].is_overflow());
        assert_eq!(client.post(path, &request(true)).status, 200);
    }
}

#[test]
fn faults_that_last_for_ever_end_when_they_are_cleared() {
    let mut script = with_fault(FaultKind::ServerError);
    script.faults[0].times = u32::MAX;
    let (server, mut client) = server(script);
    for _ in 0..5 {
        assert_eq!(client.post("/v1/messages", &messages(true)).status, 500);
    }
    server.clear_faults();
    assert_eq!(client.post("/v1/messages", &messages(true)).status, 200);
}
