//! The server's stream of events, one line each. A connection that breaks is made again a few times, and the other side
//! is told, because events may have been missed in between.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::Sender;

use super::http::{Peer, Request};
use super::one_line;

/// How often a broken connection is made again, over the whole session.
const MOST_BREAKS: u32 = 20;
/// How often in a row without an event in between.
const MOST_IN_A_ROW: u32 = 5;
/// How long to wait before the first new try; twice as long before each further one.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest event that is passed on.
const MOST_EVENT: usize = 64 << 20;

/// Passes events on until the server is gone or nobody listens.
pub(super) async fn follow(peer: Peer, lines: Sender<Vec<u8>>) {
    let (mut breaks, mut in_a_row) = (0, 0);
    loop {
        let mut parser = Parser::default();
        let why = match listen(&peer, &lines, &mut parser).await {
            Ok(Gone::Listener) => return,
            Ok(Gone::Server) => "the stream of events ended".to_owned(),
            Err(error) => error.to_string(),
        };
        in_a_row = if parser.found > 0 { 1 } else { in_a_row + 1 };
        breaks += 1;
        let last = breaks > MOST_BREAKS || in_a_row > MOST_IN_A_ROW;
        let news = if last { "lost" } else { "broken" };
        let line = json!({ "bridge": { news: why, "breaks": breaks } }).to_string();
        if lines.send(line.into_bytes()).await.is_err() || last {
            return;
        }
        tokio::time::sleep(PAUSE * (1 << (in_a_row - 1).min(8))).await;
    }
}

/// Who went away.
enum Gone {
    Server,
    Listener,
}

async fn listen(peer: &Peer, lines: &Sender<Vec<u8>>, parser: &mut Parser) -> std::io::Result<Gone> {
    let request = Request { method: "GET", path: "/event", body: None };
    let (status, mut body) = peer.open(&request).await?;
    if status != 200 {
        return Err(std::io::Error::other(format!(
            "the server answered {status} to the request for its events"
        )));
    }
    let mut piece = Vec::new();
    loop {
        piece.clear();
        if !body.more(&mut piece).await? {
            return Ok(Gone::Server);
        }
        let mut found = Vec::new();
        parser.push(&piece, |event| found.push(event.to_vec()));
        for event in found {
            let line = [b"{\"event\":", &one_line(&event)[..], b"}"].concat();
            if lines.send(line).await.is_err() {
                return Ok(Gone::Listener);
            }
        }
    }
}

/// Cuts a stream of server-sent events into the data of each.
#[derive(Debug, Default)]
struct Parser {
    line: Vec<u8>,
    data: Vec<u8>,
    found: u64,
}

impl Parser {
    fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() > MOST_EVENT {
                self.line.clear();
            }
            if self.line.last() != Some(&b'\n') {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            self.take(line.strip_suffix(b"\r").unwrap_or(line), &mut each);
        }
    }

    fn take(&mut self, line: &[u8], each: &mut impl FnMut(&[u8])) {
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        } else if line.is_empty() && !self.data.is_empty() {
            self.found += 1;
            each(&std::mem::take(&mut self.data));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(bytes: &[u8], size: usize) -> Vec<String> {
        let (mut parser, mut found) = (Parser::default(), Vec::new());
        for piece in bytes.chunks(size) {
            parser.push(piece, |event| found.push(String::from_utf8(event.to_vec()).unwrap()));
        }
        found
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        let stream = ": hello\r\nid: 1\ndata: {\"a\":1}\r\n\r\ndata:{\"b\":\ndata: \"ö\"}\n\n\n\nevent: x\n\ndata: {\"cut";
        for size in 1..stream.len() {
            assert_eq!(events(stream.as_bytes(), size), ["{\"a\":1}", "{\"b\":\n\"ö\"}"], "{size}");
        }
    }
}
