//! HTTP/1.1 by hand, as much of it as the agent CLIs use: bodies by length or in chunks, keep-alive, and
//! `Expect: 100-continue`. Knows nothing of models.

use std::io::{self, BufRead, Read, Write};

/// The largest body that is read.
const MOST: u64 = 256 << 20;

/// One request.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    /// What stands behind the question mark.
    pub(super) query: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    keep_alive: bool,
}

impl Request {
    /// The first header of this name, which is given in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str, word: &str) -> bool {
        self.header(name).is_some_and(|value| value.to_lowercase().contains(word))
    }

    /// Whether the client wants to send more over this connection.
    pub(super) fn keeps_alive(&self) -> bool {
        self.keep_alive
    }
}

/// Reads one request; `None` when the client has closed the connection.
///
/// # Errors
/// The connection broke, or what came is no HTTP.
pub(super) fn read(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<Request>> {
    let mut first = line(input)?;
    while first.as_deref() == Some("") {
        first = line(input)?;
    }
    let Some(first) = first else { return Ok(None) };
    let mut words = first.split_whitespace();
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Err(broken("the request line has not three words"));
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        ..Request::default()
    };
    loop {
        let text = line(input)?.ok_or_else(|| broken("the headers have no end"))?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| broken("a header without a colon"))?;
        request.headers.push((name.trim().to_lowercase(), value.trim().to_owned()));
    }
    request.keep_alive = if version == "HTTP/1.0" {
        request.has("connection", "keep-alive")
    } else {
        !request.has("connection", "close")
    };
    if request.has("expect", "100-continue") {
        output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        output.flush()?;
    }
    request.body = if request.has("transfer-encoding", "chunked") {
        chunks(input)?
    } else {
        let length = request.header("content-length").unwrap_or("0");
        take(input, length.parse().map_err(|_| broken("the content length is no number"))?)?
    };
    Ok(Some(request))
}

/// The head of an answer with a body of known length.
pub(super) fn head(status: u16, headers: &[(String, String)], length: usize) -> Vec<u8> {
    let mut text = start(status, headers, "application/json");
    text.push_str(&format!("content-length: {length}\r\n\r\n"));
    text.into_bytes()
}

/// The head of an answer that comes as server-sent events, in chunks.
pub(super) fn stream_head(headers: &[(String, String)]) -> Vec<u8> {
    let mut text = start(200, headers, "text/event-stream; charset=utf-8");
    text.push_str("cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
    text.into_bytes()
}

/// One chunk.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}

/// What ends a body in chunks.
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

fn start(status: u16, headers: &[(String, String)], content_type: &str) -> String {
    let mut text = format!("HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\n", reason(status));
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Site Overloaded",
        _ => "Answer",
    }
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let text = line(input)?.ok_or_else(|| broken("the chunks have no end"))?;
        let size = text.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| broken("the size of a chunk is no number"))?;
        if size == 0 {
            while line(input)?.is_some_and(|trailer| !trailer.is_empty()) {}
            return Ok(body);
        }
        if body.len() as u64 + size > MOST {
            return Err(broken("the body is too large"));
        }
        body.extend(take(input, size)?);
        line(input)?;
    }
}

fn take(input: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MOST {
        return Err(broken("the body is too large"));
    }
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length { Err(broken("the body is shorter than told")) } else { Ok(body) }
}

fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    input.by_ref().take(1 << 20).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(broken("a line has no end"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a request that can be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (io::Result<Option<Request>>, String) {
        let mut said = Vec::new();
        let read = read(&mut text.as_bytes(), &mut said);
        (read, String::from_utf8(said).unwrap())
    }

    #[test]
    fn bodies_come_by_length_or_in_chunks() {
        let (request, said) = parse(
            "\r\nPOST /v1/x?beta=true HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        );
        let request = request.unwrap().unwrap();
        assert_eq!((request.path.as_str(), request.query.as_str()), ("/v1/x", "beta=true"));
        assert_eq!(request.body, b"hello");
        assert!(request.keeps_alive() && said.starts_with("HTTP/1.1 100 "));
        let (request, _) = parse(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nhel\r\n2;x\r\nlo\r\n0\r\n\r\n",
        );
        let request = request.unwrap().unwrap();
        assert_eq!((request.body.as_slice(), request.keeps_alive()), (b"hello".as_slice(), false));
    }

    #[test]
    fn nothing_and_rubbish_are_told_apart() {
        assert!(parse("").0.unwrap().is_none());
        for text in [
            "GET\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhi",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\nhi",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "GET / HTTP/1.1\r\nHost: a",
        ] {
            assert!(parse(text).0.is_err(), "{text}");
        }
    }
}
