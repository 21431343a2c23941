//! The bridge between lines and a server: the built program in front of a server that the test plays.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A request as it reached the server: its first line and its body, with the connection to answer on.
struct Call {
    what: String,
    body: String,
    authorised: bool,
    stream: TcpStream,
}

impl Call {
    fn answer(mut self, status: &str, body: &str) {
        let length = body.len();
        let _ = write!(self.stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
    }

    fn events(mut self, pieces: &[&str]) -> TcpStream {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        self.stream.write_all(head.as_bytes()).unwrap();
        for piece in pieces {
            write!(self.stream, "{:x}\r\n{piece}\r\n", piece.len()).unwrap();
        }
        self.stream
    }
}

/// A bridge that runs, and the calls that reach the server behind it.
struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    calls: Receiver<Call>,
}

impl Bridge {
    /// The server's process only says where it listens and then does what `then` says; the test answers.
    fn start(then: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, calls) = channel();
        std::thread::spawn(move || serve(&listener, &sender));
        let script = format!("echo starting; echo listening on http://127.0.0.1:{port}; {then}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(["bridge", "opencode", "--", "sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take(), child, lines, calls }
    }

    fn call(&self, what: &str) -> Call {
        let call = self.calls.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!((call.what.as_str(), call.authorised), (what, true));
        call
    }

    fn ask(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn line(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    fn exit(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

fn serve(listener: &TcpListener, to: &Sender<Call>) {
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = Vec::new();
        for line in reader.by_ref().lines() {
            let line = line.unwrap();
            if line.is_empty() {
                break;
            }
            head.push(line.to_lowercase());
        }
        let length = head.iter().find_map(|l| l.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let what = head[0].replace(" http/1.1", "");
        let authorised = head.iter().any(|l| l.starts_with("authorization: basic "));
        let body = String::from_utf8(body).unwrap();
        if to.send(Call { what, body, authorised, stream }).is_err() {
            return;
        }
    }
}

#[test]
fn requests_become_answers_and_events_become_lines() {
    let mut bridge = Bridge::start("exec sleep 600");
    let stream =
        bridge.call("get /event").events(&["data: {\"type\":\"one\"}\n\nda", "ta: {\"type\":\"two\"}\n\n"]);
    assert_eq!(bridge.line(), json!({ "event": { "type": "one" } }));
    assert_eq!(bridge.line(), json!({ "event": { "type": "two" } }));
    bridge.ask(r#"{"id":7,"method":"POST","path":"/session","body":{"a":"ö"}}"#);
    bridge.ask(r#"{"id":8,"method":"GET","path":"/config"}"#);
    bridge.ask("no request");
    let call = bridge.call("post /session");
    assert_eq!(call.body, "{\"a\":\"ö\"}");
    call.answer("200 OK", "{\n \"id\": \"ses_1\"\n}");
    assert_eq!(bridge.line(), json!({ "id": 7, "status": 200, "body": { "id": "ses_1" } }));
    bridge.call("get /config").answer("404 Not Found", "no such thing");
    assert_eq!(bridge.line(), json!({ "id": 8, "status": 404, "body": "no such thing" }));
    assert!(bridge.line()["bridge"]["refused"].is_string());
    drop(stream);
    assert_eq!(bridge.exit(), Some(0));
}

#[test]
fn a_large_answer_does_not_hold_events_back() {
    let mut bridge = Bridge::start("exec sleep 600");
    let mut stream = bridge.call("get /event").events(&[]);
    bridge.ask(r#"{"id":1,"method":"GET","path":"/slow"}"#);
    let slow = bridge.call("get /slow");
    let event = "data: {\"type\":\"meanwhile\"}\n\n";
    write!(stream, "{:x}\r\n{event}\r\n", event.len()).unwrap();
    assert_eq!(bridge.line(), json!({ "event": { "type": "meanwhile" } }));
    let large = format!("\"{}\"", "x".repeat(5 << 20));
    std::thread::spawn(move || slow.answer("200 OK", &large));
    assert_eq!(bridge.line()["body"].as_str().unwrap().len(), 5 << 20);
}

#[test]
fn a_broken_stream_of_events_is_told_and_made_again() {
    let mut bridge = Bridge::start("exec sleep 600");
    drop(bridge.call("get /event").events(&["data: {\"n\":1}\n\n"]));
    assert_eq!(bridge.line(), json!({ "event": { "n": 1 } }));
    assert!(bridge.line()["bridge"]["broken"].is_string());
    let _stream = bridge.call("get /event").events(&["data: {\"n\":2}\n\n"]);
    assert_eq!(bridge.line(), json!({ "event": { "n": 2 } }));
    assert_eq!(bridge.exit(), Some(0));
}

#[test]
fn a_stream_that_cannot_be_had_is_given_up_after_a_few_tries() {
    let mut bridge = Bridge::start("exec sleep 600");
    let mut said = Vec::new();
    for _ in 0..6 {
        bridge.call("get /event").answer("500 Oh", "");
        said.push(bridge.line()["bridge"].as_object().unwrap().keys().any(|k| k == "lost"));
    }
    assert_eq!(said, [false, false, false, false, false, true]);
    assert_eq!(bridge.child.wait().unwrap().code(), Some(1));
}

#[test]
fn the_end_of_the_input_is_the_end_of_the_server_after_what_was_asked_before() {
    let pid = tempfile::NamedTempFile::new().unwrap();
    let mut bridge = Bridge::start(&format!("echo $$ > {}; exec sleep 600", pid.path().display()));
    let _stream = bridge.call("get /event").events(&["data: {}\n\n"]);
    bridge.line();
    bridge.ask(r#"{"id":1,"method":"POST","path":"/abort"}"#);
    drop(bridge.input.take());
    bridge.call("post /abort").answer("200 OK", "true");
    assert_eq!(bridge.line(), json!({ "id": 1, "status": 200, "body": true }));
    assert_eq!(bridge.exit(), Some(0));
    let pid = std::fs::read_to_string(pid.path()).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "the server is still there");
}

#[test]
fn a_server_that_will_not_end_is_ended_by_force() {
    let bridge = Bridge::start("trap '' TERM; while :; do sleep 0.05; done");
    let _stream = bridge.call("get /event").events(&[]);
    assert_eq!(bridge.exit(), Some(0));
}

#[test]
fn the_servers_own_end_is_the_bridges() {
    let mut bridge = Bridge::start("sleep 0.3; exit 7");
    assert_eq!(bridge.child.wait().unwrap().code(), Some(7), "its input is still open");
    let silent = Command::new(env!("CARGO_BIN_EXE_segue"))
        .args(["bridge", "opencode", "--", "sh", "-c", "echo no address here; exit 3"])
        .stdin(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&silent.stderr).into_owned();
    assert_eq!(silent.status.code(), Some(1));
    assert!(said.contains("no address here") && said.contains("did not say where it listens"), "{said}");
}
