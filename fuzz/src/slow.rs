//! Searches for text that is slow to redact. What stands in the input is repeated, so that work that is done again for each
//! place shows, and its time is held against that of plain words of the same size.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use segue_redact::{Lines, Options, Redactor};

const SIZE: usize = 16 * 1024;
/// How many times as long as plain words a text may take: far more than what is known, far less than work that grows with
/// the square of the size.
const MOST: u32 = 2_000;
/// A busy machine makes one look slow, but not as often as this.
const TRIES: usize = 5;

static REDACTOR: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::new(Options::default()).ok());
static PLAIN: LazyLock<Duration> = LazyLock::new(|| {
    let words = repeated(b"some words without any meaning, as they come in a text\n");
    (0..20).map(|_| time(&words)).min().unwrap_or_default()
});

pub(crate) const SEEDS: &[&str] = &[
    "PASSWORD=",
    "eyJPASSWORD=",
    "\"kty\" kind: secret ",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "{\"key\":\"token\",\"password\":17,\"name\":\"a\"}\n",
    "token\nkey\nname\n",
    "QVdTX1NFQ1JFVF9BQ0NFU1NfS0VZPXdhYUVzc0drdDBZNXdOVnJqZkRGRjRXakdvQUxo\n",
    "key://user:'\\\"`authorization: bearer sig=a&",
    "2026-03-04T10:11:12Z INFO request_id=0123456789abcdef token=17 status=200\n",
];

/// No text takes much longer than plain words.
pub(crate) fn redact(data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let text = repeated(data);
    let most = (*PLAIN * MOST).max(Duration::from_millis(100));
    let fast = (0..TRIES).any(|_| time(&text) <= most);
    assert!(fast, "{SIZE} bytes take more than {most:?}, plain words {:?}", *PLAIN);
}

fn repeated(data: &[u8]) -> Vec<u8> {
    data.iter().copied().cycle().take(SIZE).collect()
}

fn time(text: &[u8]) -> Duration {
    let Some(redactor) = &*REDACTOR else { return Duration::ZERO };
    let start = Instant::now();
    black_box(redactor.bytes(text).counts.total());
    let (mut lines, mut out) = (Lines::new(redactor.clone()), Vec::new());
    lines.push(text, &mut out);
    lines.finish(&mut out);
    black_box(out);
    start.elapsed()
}
