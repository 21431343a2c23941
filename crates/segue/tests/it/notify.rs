//! Who is told when a run needs somebody: real receivers on loopback, one that fails, and one that never answers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use segue_rehearsal::script::{Fault, FaultKind, Refusal, Script};
use serde_json::Value;

use crate::support::{World, small, until};

/// A request as it came in.
struct Request {
    head: String,
    body: String,
    /// Where no answer was given, the connection that waits for one.
    open: Option<TcpStream>,
}

/// A receiver that answers with these statuses, the last one again and again; 0 is no answer at all.
fn receiver(statuses: &'static [u16]) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/topic?auth=s3", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let status = statuses[n.min(statuses.len() - 1)];
            if sender.send(take(stream.unwrap(), status)).is_err() {
                return;
            }
        }
    });
    (url, requests)
}

fn take(mut stream: TcpStream, status: u16) -> Request {
    let mut bytes = Vec::new();
    let mut some = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            if body.len() == length.unwrap().parse::<usize>().unwrap() {
                let (head, body) = (head.to_owned(), body.to_owned());
                if status == 0 {
                    return Request { head, body, open: Some(stream) };
                }
                write!(stream, "HTTP/1.1 {status} So\r\nContent-Length: 0\r\n\r\n").unwrap();
                return Request { head, body, open: None };
            }
        }
        let read = stream.read(&mut some).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&some[..read]);
    }
}

fn next(requests: &Receiver<Request>) -> Request {
    requests.recv_timeout(Duration::from_secs(60)).expect("a notification")
}

fn world(notify: &str) -> World {
    let world = World::new(1, Script::default());
    world.configure(&format!("[notify]\n{notify}\n"));
    world
}

#[test]
fn a_webhook_is_told_of_the_end_with_a_signed_body() {
    let (url, requests) = receiver(&[200]);
    let world = world(&format!("webhook = {url:?}\nsecret = \"k3y\""));
    let done = world.segue(&["run", "TASK.md", "--json"]);
    done.exits(0);
    let request = next(&requests);
    assert!(request.head.starts_with("POST /topic?auth=s3 HTTP/1.1\r\n"), "{}", request.head);
    let signature = request.head.lines().find_map(|line| line.strip_prefix("X-Segue-Signature: sha256="));
    assert!(signature.is_some_and(|code| code.len() == 64), "{}", request.head);
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        (&body["event"], &body["verdict"], &body["schema"]),
        (&"done".into(), &"verified".into(), &1.into())
    );
    assert_eq!(body["run"], done.run());
    assert!(body["workdir"].as_str().unwrap().ends_with("/repo"), "{body}");
    assert!(requests.recv_timeout(Duration::from_millis(200)).is_err(), "once");
}

#[test]
fn a_receiver_that_fails_is_tried_again_and_one_that_refuses_is_not() {
    let (url, requests) = receiver(&[500, 200]);
    let world = world(&format!("webhook = {url:?}\nformat = \"slack\""));
    world.segue(&["run", "TASK.md"]).exits(0);
    let (first, second) = (next(&requests), next(&requests));
    assert_eq!(first.body, second.body);
    let text = serde_json::from_str::<Value>(&second.body).unwrap()["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("*segue: done in repo*\n"), "{text}");
    let (url, requests) = receiver(&[404]);
    world.configure(&format!("[notify]\nwebhook = {url:?}\n"));
    let tested = world.segue(&["notify"]);
    tested.exits(1);
    assert!(tested.out.contains("webhook: failed: 127.0.0.1 answered 404"), "{}", tested.all());
    assert_eq!(next(&requests).head.lines().count(), 6);
    assert!(requests.recv_timeout(Duration::from_millis(200)).is_err(), "a refusal is an answer");
    let doctor = world.segue(&["doctor"]);
    assert!(doctor.out.contains("127.0.0.1 answered 404"), "{}", doctor.all());
}

#[test]
fn a_receiver_that_hangs_costs_the_run_nothing() {
    let (url, requests) = receiver(&[0]);
    let world = world(&format!("webhook = {url:?}"));
    world.segue(&["run", "TASK.md"]).exits(0);
    // The run is over and somebody still waits for an answer.
    let mut open = next(&requests).open.unwrap();
    open.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let waits = open.read(&mut [0]).unwrap_err();
    assert_eq!(waits.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_command_gets_the_notification_on_its_standard_input_and_no_providers_key() {
    let mut world = World::new(1, Script::default());
    world.set_env("OPENAI_API_KEY", "sk-1234567890abcdef1234567890abcdef");
    let told = world.root().join("told.json");
    world.configure(&format!(
        "[notify]\ncommand = [\"sh\", \"-c\", \"cat > $0.new; echo key=$OPENAI_API_KEY >> $0.new; mv $0.new $0\", {told:?}]\n"
    ));
    world.git(&["commit", "--quiet", "--all", "--allow-empty", "-m", "x"].map(|word| word));
    world.segue(&["run", "TASK.md", "--gate", "false", "--gate-rounds", "0"]).exits(1);
    until("the command", || told.exists());
    let text = std::fs::read_to_string(&told).unwrap();
    let (json, key) = text.split_once('\n').unwrap();
    let body: Value = serde_json::from_str(json).unwrap();
    assert_eq!((&body["event"], &body["verdict"]), (&"failed".into(), &"failed".into()));
    assert_eq!(body["next"], format!("segue resume {}", body["run"].as_str().unwrap()));
    assert_eq!(key, "key=\n");
}

#[test]
fn what_a_repository_would_notify_is_asked_for_first() {
    let mut world = world("command = \"./tell --all\"\nwebhook = \"https://hooks.example/T0/s3cret\"");
    world.set_env("SEGUE_TRUST", "0");
    let refused = world.segue(&["run", "TASK.md"]);
    refused.exits(2);
    assert!(refused.err.contains("command: ./tell --all"), "{}", refused.err);
    assert!(refused.err.contains("notifications are sent to hooks.example ["), "{}", refused.err);
    assert!(!refused.all().contains("s3cret"), "{}", refused.err);
    let shown = world.segue(&["config", "get", "notify.webhook"]);
    assert!(!shown.all().contains("s3cret"), "{}", shown.all());
}

#[test]
fn a_wait_that_comes_again_is_told_once() {
    let (url, requests) = receiver(&[200]);
    let says = Refusal::RateLimited;
    let kind = FaultKind::Provider { says, resets_in_ms: Some(120_000), times: None };
    let world = World::new(2, small());
    world.script(Script { faults: vec![Fault { at_step: 1, session: None, kind }], ..small() });
    world.configure(&format!("[notify]\nwebhook = {url:?}\nformat = \"ntfy\"\n"));
    let running = world.launch(&["run", "TASK.md", "--json"], "first");
    let request = next(&requests);
    assert!(
        request.head.contains("\r\nTitle: segue: waiting in repo\r\nPriority: 2\r\n"),
        "{}",
        request.head
    );
    running.signal("INT");
    running.wait().exits(130);
    let again = world.launch(&["resume", "--json", "--now"], "second");
    until("the second wait", || again.so_far().contains("\"wait.started\""));
    assert!(requests.recv_timeout(Duration::from_millis(500)).is_err(), "held back");
    again.signal("INT");
    again.wait();
    assert!(requests.recv_timeout(Duration::from_millis(200)).is_err(), "whoever stops a run knows it");
}
