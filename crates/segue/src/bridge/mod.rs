//! Lines for an agent that is a server: requests come in as lines, answers and the server's events go out as lines.
//!
//! In: `{"id":1,"method":"POST","path":"/session","body":{…}}`. Out: `{"id":1,"status":200,"body":…}` for an answer,
//! `{"event":…}` for an event, `{"bridge":{…}}` for news of the connection. The server lives as long as the input is open;
//! what the lines mean is the adapter's matter.

mod http;
mod server;
mod stream;

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use http::{Peer, Request};
use server::Server;

/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(60);
/// How long the requests that were written before the input ended may take.
const LAST_REQUESTS: Duration = Duration::from_secs(2);
/// How long the last lines may take after the server is gone.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Why there is no bridge.
#[derive(Debug, Error)]
pub(crate) enum BridgeError {
    /// There is no program to start.
    #[error("no command was given: `segue bridge opencode -- opencode serve`")]
    NoCommand,
    /// The server could not be started.
    #[error("{program} could not be started: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// In the system's words.
        source: std::io::Error,
    },
    /// It said nothing about where it listens.
    #[error("the server did not say where it listens{how}; its own words are above")]
    NoAddress {
        /// What it did instead.
        how: String,
    },
    /// The system refuses something that the bridge needs.
    #[error("the bridge cannot work: {0}")]
    System(#[from] std::io::Error),
}

/// A line that came in.
#[derive(Debug, Deserialize)]
struct Asked<'a> {
    id: u64,
    method: String,
    path: String,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

/// Runs the server and passes lines on until its input ends or the server does; the answer is the exit code.
pub(crate) async fn run(command: &[String]) -> Result<u8, BridgeError> {
    // Asked for first: from here on a signal to the group is an order to end, not the end.
    let mut terminated = signal(SignalKind::terminate())?;
    let mut server = Server::start(command)?;
    let peer = tokio::select! {
        peer = server.address() => peer,
        _ = terminated.recv() => {
            server.end().await;
            return Ok(1);
        }
    };
    let peer = match peer {
        Ok(peer) => peer,
        Err(error) => {
            server.end().await;
            return Err(error);
        }
    };
    let (lines, out) = mpsc::channel(256);
    let mut writer = tokio::spawn(write(out));
    let mut events = tokio::spawn(stream::follow(peer.clone(), lines.clone()));
    let mut requests = tokio::spawn(requests(peer, lines));
    let code = tokio::select! {
        code = server.ended() => {
            // The rest of what it said is on its way.
            requests.abort();
            let _ = tokio::time::timeout(LAST_LINES, &mut events).await;
            code
        }
        _ = &mut requests => { server.end().await; 0 }
        _ = &mut events => { server.end().await; 1 }
        _ = &mut writer => { server.end().await; 0 }
        _ = terminated.recv() => { server.end().await; 0 }
    };
    events.abort();
    requests.abort();
    let _ = tokio::time::timeout(LAST_LINES, writer).await;
    Ok(code)
}

async fn write(mut lines: mpsc::Receiver<Vec<u8>>) {
    let mut out = tokio::io::stdout();
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        if out.write_all(&line).await.is_err() || out.flush().await.is_err() {
            return;
        }
    }
}

// One after the other, because a prompt and the end of its turn must not change places.
async fn requests(peer: Peer, lines: mpsc::Sender<Vec<u8>>) {
    let (queue, mut waiting) = mpsc::unbounded_channel::<String>();
    let worker = tokio::spawn(async move {
        while let Some(line) = waiting.recv().await {
            let answer = answer(&peer, &line).await;
            if lines.send(answer).await.is_err() {
                return;
            }
        }
    });
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = input.next_line().await {
        if !line.trim().is_empty() && queue.send(line).is_err() {
            break;
        }
    }
    drop(queue);
    let stop = worker.abort_handle();
    if tokio::time::timeout(LAST_REQUESTS, worker).await.is_err() {
        stop.abort();
    }
}

async fn answer(peer: &Peer, line: &str) -> Vec<u8> {
    let asked: Asked<'_> = match serde_json::from_str(line) {
        Ok(asked) => asked,
        Err(error) => {
            let text = format!("a line that is no request: {error}");
            return json!({ "bridge": { "refused": text } }).to_string().into_bytes();
        }
    };
    let request = Request { method: &asked.method, path: &asked.path, body: asked.body.map(RawValue::get) };
    let outcome = tokio::time::timeout(REQUEST, peer.ask(&request)).await;
    let (status, body) = match outcome {
        Ok(Ok((status, body))) => (status, body),
        Ok(Err(error)) => (0, error.to_string().into_bytes()),
        Err(_) => (0, format!("no answer within {} s", REQUEST.as_secs()).into_bytes()),
    };
    let head = format!("{{\"id\":{},\"status\":{status},\"body\":", asked.id);
    [head.as_bytes(), &one_line(&body), b"}"].concat()
}

/// A JSON text as one line; anything else as a JSON string.
fn one_line(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return b"null".to_vec();
    }
    let json: Option<&RawValue> = serde_json::from_slice(text).ok();
    match json {
        Some(raw) if !raw.get().contains(['\n', '\r']) => raw.get().as_bytes().to_vec(),
        Some(raw) => serde_json::from_str::<Value>(raw.get()).unwrap_or_default().to_string().into_bytes(),
        None => Value::String(String::from_utf8_lossy(text).into_owned()).to_string().into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn whatever_was_answered_is_one_line_of_json() {
        let line = |text: &str| String::from_utf8(one_line(text.as_bytes())).unwrap();
        assert_eq!(line(""), "null");
        assert_eq!(line("{\"a\":1}"), "{\"a\":1}");
        assert_eq!(line("{\n \"a\": 1\r\n}"), "{\"a\":1}");
        assert_eq!(line("not\njson"), "\"not\\njson\"");
        assert_eq!(String::from_utf8(one_line(b"\xff{")).unwrap(), "\"\u{fffd}{\"");
    }
}
