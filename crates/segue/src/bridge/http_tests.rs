//! The HTTP client against bytes, whole and in pieces.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::*;

/// Gives its bytes in pieces of a size.
struct Pieces(Vec<u8>, usize);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let size = self.1.min(self.0.len()).min(to.remaining());
        to.put_slice(&self.0.drain(..size).collect::<Vec<_>>());
        Poll::Ready(Ok(()))
    }
}

fn read(bytes: &str, piece: usize) -> io::Result<(u16, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (status, mut body) = answer(Pieces(bytes.as_bytes().to_vec(), piece)).await?;
        let mut whole = Vec::new();
        while body.more(&mut whole).await? {}
        Ok((status, String::from_utf8(whole).unwrap()))
    })
}

#[test]
fn a_body_is_read_whole_however_its_end_is_told_and_however_it_arrives() {
    let known = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nVary: Origin\r\n\r\nhellomore";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n";
    let to_the_end = "HTTP/1.1 200 OK\r\n\r\nhello";
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    for text in [known, chunked, to_the_end, interim] {
        for piece in 1..text.len() {
            assert_eq!(read(text, piece).unwrap(), (200, "hello".to_owned()), "{text} by {piece}");
        }
    }
    assert_eq!(read("HTTP/1.1 204 No Content\r\n\r\n", 9).unwrap(), (204, String::new()));
}

#[test]
fn an_answer_that_is_cut_or_no_http_is_an_error_and_never_a_shorter_body() {
    for text in [
        "",
        "HTTP/1.1",
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n",
    ] {
        assert!(read(text, 4).is_err(), "{text:?}");
    }
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(20_000));
    assert!(read(&endless, 4_096).is_err());
}

#[test]
fn a_password_is_written_as_the_standard_has_it() {
    for (plain, text) in
        [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("opencode:pw", "b3BlbmNvZGU6cHc=")]
    {
        assert_eq!(base64(plain.as_bytes()), text);
    }
}
