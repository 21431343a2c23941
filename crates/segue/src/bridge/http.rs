//! As much of HTTP/1.1 as a server on loopback needs: one request on one connection, and a body that may come in
//! chunks. It follows no redirect and keeps no connection.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The longest head, the longest line in it, and the longest body that are read.
const MOST_HEAD: usize = 64 << 10;
const MOST_BODY: usize = 64 << 20;

/// Whom to ask, and as whom.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    address: String,
    credentials: String,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) body: Option<&'a str>,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
    ToTheEnd,
}

/// A body that is read piece by piece.
#[derive(Debug)]
pub(super) struct Body<R> {
    from: BufReader<R>,
    length: Length,
    /// Bytes left of the known length or of the chunk at hand.
    left: usize,
    over: bool,
}

impl Peer {
    /// A server at an address, with the name and password it wants.
    pub(super) fn new(address: String, user: &str, password: &str) -> Self {
        Self { address, credentials: base64(format!("{user}:{password}").as_bytes()) }
    }

    /// Asks and reads the whole answer: status and body.
    pub(super) async fn ask(&self, request: &Request<'_>) -> io::Result<(u16, Vec<u8>)> {
        let (status, mut body) = self.open(request).await?;
        let mut whole = Vec::new();
        while body.more(&mut whole).await? {
            if whole.len() > MOST_BODY {
                return Err(wrong("the answer is too long"));
            }
        }
        Ok((status, whole))
    }

    /// Asks and leaves the answer's body to be read.
    pub(super) async fn open(&self, request: &Request<'_>) -> io::Result<(u16, Body<TcpStream>)> {
        let Request { method, path, body } = request;
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if !plain(method) || !plain(path) {
            return Err(wrong("a request with a method or path that cannot be sent"));
        }
        let mut stream = TcpStream::connect(&self.address).await?;
        let body = body.unwrap_or_default();
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Basic {}\r\naccept: */*\r\n\
             connection: close\r\n{kind}content-length: {}\r\n\r\n",
            self.address,
            self.credentials,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
        answer(stream).await
    }
}

async fn answer<R: AsyncRead + Unpin>(stream: R) -> io::Result<(u16, Body<R>)> {
    let mut from = BufReader::new(stream);
    loop {
        let (status, length) = head(&mut from).await?;
        // An interim answer is followed by the real one.
        if !(100..200).contains(&status) {
            let empty = matches!(status, 204 | 304);
            let left = if let Length::Known(left) = length { left } else { 0 };
            return Ok((status, Body { from, length, left, over: empty }));
        }
    }
}

async fn head<R: AsyncRead + Unpin>(from: &mut BufReader<R>) -> io::Result<(u16, Length)> {
    let first = line(from).await?;
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    let status = status.and_then(|s| s.parse().ok()).ok_or_else(|| wrong("an answer that is not HTTP"))?;
    let (mut length, mut read) = (Length::ToTheEnd, first.len());
    loop {
        let field = line(from).await?;
        read += field.len();
        if field.is_empty() {
            return Ok((status, length));
        }
        if read > MOST_HEAD {
            return Err(wrong("the head of the answer is too long"));
        }
        let Some((name, value)) = field.split_once(':') else { continue };
        let value = value.trim();
        if name.eq_ignore_ascii_case("transfer-encoding") && value.to_ascii_lowercase().ends_with("chunked") {
            length = Length::Chunked;
        } else if name.eq_ignore_ascii_case("content-length") && length != Length::Chunked {
            length = Length::Known(value.parse().map_err(|_| wrong("a length that is no number"))?);
        }
    }
}

impl<R: AsyncRead + Unpin> Body<R> {
    /// Appends what has come; `false` at the end.
    pub(super) async fn more(&mut self, to: &mut Vec<u8>) -> io::Result<bool> {
        if !self.over && self.left == 0 {
            match self.length {
                Length::Known(_) => self.over = true,
                Length::Chunked => self.next_chunk().await?,
                Length::ToTheEnd => self.left = usize::MAX,
            }
        }
        if self.over {
            return Ok(false);
        }
        let piece = self.from.fill_buf().await?;
        let taken = piece.len().min(self.left);
        to.extend_from_slice(&piece[..taken]);
        self.from.consume(taken);
        if taken == 0 {
            self.over = true;
            return if self.length == Length::ToTheEnd {
                Ok(false)
            } else {
                Err(wrong("the answer was cut"))
            };
        }
        if self.length == Length::ToTheEnd {
            return Ok(true);
        }
        self.left -= taken;
        if self.left == 0 && self.length == Length::Chunked {
            line(&mut self.from).await?;
        }
        Ok(true)
    }

    async fn next_chunk(&mut self) -> io::Result<()> {
        let size = line(&mut self.from).await?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        self.left = usize::from_str_radix(digits, 16).map_err(|_| wrong("a chunk without a size"))?;
        self.over = self.left == 0;
        Ok(())
    }
}

async fn line<R: AsyncRead + Unpin>(from: &mut BufReader<R>) -> io::Result<String> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MOST_HEAD).unwrap_or(u64::MAX);
    (&mut *from).take(most).read_until(b'\n', &mut bytes).await?;
    if bytes.pop() != Some(b'\n') {
        return Err(wrong("the answer was cut"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| wrong("a head that is not text"))
}

fn wrong(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let byte = |at: usize| u32::from(piece.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= piece.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
