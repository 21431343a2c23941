//! One connection: requests are read from it and replies sent, with the faults of the transport.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::exchange::{Body, Reply};
use super::script::FaultKind;
use super::{Shared, http, now_ms};

/// How often a wait looks whether the server is to stop.
const LOOK: Duration = Duration::from_millis(10);

/// Serves one connection until either side ends it.
pub(super) fn serve(shared: &Shared, stream: TcpStream) {
    // A connection that breaks is the client's affair: it will ask again, or not.
    let _ = talk(shared, stream);
}

fn talk(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let request = match http::read(&mut reader, &mut writer) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return refuse(&mut writer, 400, &error);
            }
            Err(error) => return Err(error),
        };
        let at_ms = now_ms();
        let reply = shared.desk.lock().unwrap_or_else(PoisonError::into_inner).reply(&request, at_ms);
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return refuse(&mut writer, 500, &error),
        };
        if reply.thinks {
            shared.wait(Duration::from_millis(shared.latency_ms));
        }
        if !send(shared, &mut writer, &reply)? || !request.keeps_alive() || shared.stops() {
            return Ok(());
        }
    }
}

/// Sends a reply; whether the connection can be used again.
fn send(shared: &Shared, writer: &mut TcpStream, reply: &Reply) -> io::Result<bool> {
    let parts = parts(reply);
    let middle = parts.len() / 2;
    match reply.fault {
        Some(FaultKind::Hang) => {
            shared.wait_for_close(writer)?;
            return Ok(false);
        }
        Some(FaultKind::CutStream) => {
            writer.write_all(&parts[..middle].concat())?;
            writer.write_all(&parts[middle][..parts[middle].len() / 2])?;
            writer.flush()?;
            return Ok(false);
        }
        Some(FaultKind::Stall { ms }) => {
            writer.write_all(&parts[..middle].concat())?;
            writer.flush()?;
            shared.wait(Duration::from_millis(ms));
            writer.write_all(&parts[middle..].concat())?;
        }
        None
        | Some(
            FaultKind::RateLimit { .. }
            | FaultKind::Overloaded
            | FaultKind::Unauthorized
            | FaultKind::Forbidden
            | FaultKind::ServerError
            | FaultKind::Quota
            | FaultKind::Overflow,
        ) => writer.write_all(&parts.concat())?,
    }
    writer.flush()?;
    Ok(true)
}

/// The bytes of a reply: at least three parts, so that the middle lies behind the head.
pub(super) fn parts(reply: &Reply) -> Vec<Vec<u8>> {
    match &reply.body {
        Body::Json(value) => {
            let bytes = value.to_string().into_bytes();
            let (first, second) = bytes.split_at(bytes.len() / 2);
            let head = http::head(reply.status, &reply.headers, bytes.len());
            vec![[head.as_slice(), first].concat(), second.to_vec(), Vec::new()]
        }
        Body::Events(events) => {
            let head = http::stream_head(&reply.headers);
            let chunks = events.iter().map(|event| http::chunk(event.as_bytes()));
            [head].into_iter().chain(chunks).chain([http::LAST_CHUNK.to_vec()]).collect()
        }
    }
}

fn refuse(writer: &mut TcpStream, status: u16, error: &io::Error) -> io::Result<()> {
    let body = serde_json::json!({
        "type": "error", "error": { "type": "invalid_request_error", "message": error.to_string() },
    });
    let body = body.to_string();
    writer.write_all(&http::head(status, &[("connection".to_owned(), "close".to_owned())], body.len()))?;
    writer.write_all(body.as_bytes())
}

impl Shared {
    /// Waits so long, or until the server is to stop.
    fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stops() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Says nothing until the client goes away or the server is to stop.
    fn wait_for_close(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(LOOK))?;
        while !self.stops() {
            match stream.peek(&mut [0]) {
                Ok(0) => return Ok(()),
                Ok(_) => std::thread::sleep(LOOK),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
