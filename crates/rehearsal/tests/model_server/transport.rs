//! What lies below the APIs: bodies in chunks, several requests over one connection, several connections, the end.

use segue_rehearsal::model_server::script::FaultKind;
use segue_rehearsal::model_server::{ModelServer, ServerScript, TruthLine};

use crate::client::{Client, messages, server, with_fault};

#[test]
fn a_body_in_chunks_after_a_continue_is_read_and_the_connection_goes_on() {
    let (_server, mut client) = server(ServerScript::default());
    let body = messages(false).to_string();
    client.send(
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!((client.line().as_str(), client.line().as_str()), ("HTTP/1.1 100 Continue", ""));
    for part in body.as_bytes().chunks(100) {
        client.send(format!("{:x}\r\n", part.len()).as_bytes());
        client.send(part);
        client.send(b"\r\n");
    }
    client.send(b"0\r\n\r\n");
    assert_eq!(client.read().status, 200);
    assert_eq!(client.post("/v1/messages", &messages(true)).status, 200);
}

#[test]
fn rubbish_is_refused_and_harms_nobody_else() {
    let (server, mut client) = server(ServerScript::default());
    let mut other = Client::new(&server);
    client.send(b"\xff\xfe\r\n\r\n");
    assert_eq!(client.read().status, 400);
    assert_eq!(other.post("/v1/messages", &messages(false)).status, 200);
}

#[test]
fn the_truth_log_holds_what_the_server_tells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outside/truth.jsonl");
    let (server, mut client) =
        server(ServerScript { truth_log: Some(path.clone()), ..ServerScript::default() });
    client.post("/v1/messages", &messages(true));
    client.post("/v1/messages", &messages(true));
    let truth = server.truth();
    server.stop();
    assert_eq!(TruthLine::parse(&std::fs::read_to_string(path).unwrap()), truth);
    assert_eq!((truth[0].n, truth[1].n), (1, 2));
    assert!(truth[0].tools.is_some() && truth[1].tools.is_none());
}

#[test]
fn stopping_ends_open_connections_and_frees_the_port() {
    let (server, mut idle) = server(with_fault(FaultKind::Hang));
    let mut hanging = Client::new(&server);
    let body = messages(true).to_string();
    hanging.send(
        format!("POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes(),
    );
    while server.truth().is_empty() {
        std::thread::yield_now();
    }
    let port = server.url().rsplit(':').next().unwrap().parse().unwrap();
    server.stop();
    assert!(idle.read().cut && hanging.read().cut);
    assert!(ModelServer::start(ServerScript { port, ..ServerScript::default() }).is_ok());
}
