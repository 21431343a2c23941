//! Posting to an address. `http` is spoken here; for `https` the system's `curl` is called, which knows its certificates.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::body::Body;
use super::settings::Url;

/// How much of an answer is read: its first line is enough.
const MOST: usize = 4 * 1024;

/// Whether it is worth trying again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It may work in a moment.
    Later(String),
    /// It never will.
    Never(String),
}

impl Url {
    /// Posts a body; everything together takes at most `patience`.
    pub(super) fn post(&self, body: &Body, patience: Duration) -> Result<(), Refusal> {
        let status = if self.secure { self.by_curl(body, patience)? } else { self.by_hand(body, patience)? };
        match status {
            200..300 => Ok(()),
            408 | 425 | 429 | 500.. => Err(Refusal::Later(format!("{} answered {status}", self.host))),
            _ => Err(Refusal::Never(format!("{} answered {status}", self.host))),
        }
    }

    fn by_hand(&self, body: &Body, patience: Duration) -> Result<u16, Refusal> {
        let until = Instant::now() + patience;
        self.talk(body, until).map_err(|error| {
            let late = matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock);
            let why =
                if late { format!("no answer within {} s", patience.as_secs()) } else { error.to_string() };
            Refusal::Later(format!("{}: {why}", self.host))
        })
    }

    fn talk(&self, body: &Body, until: Instant) -> io::Result<u16> {
        let mut refused = io::Error::from(ErrorKind::NotFound);
        let mut stream = None;
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, left(until)?) {
                Ok(open) => {
                    stream = Some(open);
                    break;
                }
                Err(error) => refused = error,
            }
        }
        let mut stream = stream.ok_or(refused)?;
        let v6 = self.host.contains(':');
        let host = if v6 { format!("[{}]", self.host) } else { self.host.clone() };
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {host}:{}\r\nUser-Agent: segue\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.path,
            self.port,
            body.bytes.len()
        );
        for (name, value) in &body.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let whole = [head.as_bytes(), b"\r\n", &body.bytes].concat();
        stream.set_write_timeout(Some(left(until)?))?;
        stream.write_all(&whole)?;
        let mut answer = Vec::new();
        let mut some = [0; 512];
        // One that sends a byte now and then is no better than one that sends none.
        while !answer.contains(&b'\n') && answer.len() < MOST {
            stream.set_read_timeout(Some(left(until)?))?;
            match stream.read(&mut some)? {
                0 => break,
                read => answer.extend_from_slice(&some[..read]),
            }
        }
        let line = String::from_utf8_lossy(&answer);
        let status =
            line.strip_prefix("HTTP/1.").and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        status.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "its answer is not HTTP"))
    }

    // The address may hold a secret: it goes in by standard input, where no list of processes shows it.
    fn by_curl(&self, body: &Body, patience: Duration) -> Result<u16, Refusal> {
        let never = |error: io::Error| {
            if error.kind() == ErrorKind::NotFound {
                let why = "an https address needs `curl`, which is not on PATH: install it";
                return Refusal::Never(why.to_owned());
            }
            Refusal::Later(format!("curl: {error}"))
        };
        let text = String::from_utf8_lossy(&body.bytes);
        let mut config = format!("url = {}\ndata-binary = {}\n", quoted(&self.whole), quoted(&text));
        for (name, value) in &body.headers {
            config.push_str(&format!("header = {}\n", quoted(&format!("{name}: {value}"))));
        }
        let seconds = patience.as_secs().max(1).to_string();
        let mut curl = Command::new("curl");
        curl.args(["--disable", "--silent", "--show-error", "--proto", "=https", "--max-time", &seconds]);
        curl.args(["--output", "/dev/null", "--write-out", "%{http_code}", "--config", "-"]);
        curl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = curl.spawn().map_err(never)?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(config.as_bytes());
        }
        let output = child.wait_with_output().map_err(never)?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Refusal::Later(format!("{}: {why}", self.host)));
        }
        let status = String::from_utf8_lossy(&output.stdout).trim().parse();
        status.map_err(|_| Refusal::Later(format!("{}: curl did not say what it answered", self.host)))
    }
}

/// The host of an address, for people: the rest of it may be secret.
pub(crate) fn host_of(url: &str) -> String {
    Url::parse(url).map_or_else(|_| "(no address)".to_owned(), |url| url.host)
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

// As curl's own configuration has it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => {}
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let parts = |text: &str| {
            let url = Url::parse(text).unwrap();
            (url.secure, url.host, url.port, url.path)
        };
        assert_eq!(
            parts("http://127.0.0.1:8080/a?b=c#d"),
            (false, "127.0.0.1".into(), 8080, "/a?b=c".into())
        );
        assert_eq!(parts("https://ntfy.sh/topic"), (true, "ntfy.sh".into(), 443, "/topic".into()));
        assert_eq!(parts("http://[::1]:9"), (false, "::1".into(), 9, "/".into()));
        assert_eq!(parts("http://host?x=1"), (false, "host".into(), 80, "/?x=1".into()));
    }

    #[test]
    fn what_curl_reads_cannot_be_more_than_one_value() {
        assert_eq!(quoted("a\"b\\c\nurl = \"x\""), r#""a\"b\\c\nurl = \"x\"""#);
    }
}
