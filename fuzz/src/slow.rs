//! Searches for text that is slow to redact. What stands in the input is repeated, so that work that is done again for each
//! place shows: its time is held against that of plain words of the same size, and of text that is slow, four times as
//! much must not take much more than four times as long.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use segue_redact::{Lines, Options, Redactor};

const SIZE: usize = 16 * 1024;
/// How many times as long as plain words a text may take: far more than what is known, far less than work that grows with
/// the square of the size.
const MOST: u32 = 2_000;
/// Text that takes this many times as long as plain words is tried in the larger size, too.
const SLOW: u32 = 100;
const LARGER: usize = 4;
/// How many times the work of a text may grow beside its size: work that grows with the square of it grows four times.
const GROWTH: u32 = 2;
/// A busy machine makes one look slow, but not as often as this.
const TRIES: usize = 5;

static REDACTOR: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::new(Options::default()).ok());
static PLAIN: LazyLock<Duration> = LazyLock::new(|| {
    let words = repeated(b"some words without any meaning, as they come in a text\n", SIZE);
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
    "response=",
    "response=a1B2c3D4",
    "bearer%20a1B2",
    "&code=a1B2",
    "authorization:a1B2",
    "basic%20a1B2",
    "cookie: a=a1B2c3;",
    "QVdTX1NFQ1JFVF9BQ0NFU1NfS0VZPXdhYUVzc0drdDBZNXdOVnJqZkRGRjRXakdvQUxo\n",
    "key://user:'\\\"`authorization: bearer sig=a&",
    "2026-03-04T10:11:12Z INFO request_id=0123456789abcdef token=17 status=200\n",
];

/// No text takes much longer than plain words, and none more than its share when there is more of it.
pub(crate) fn redact(data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let text = repeated(data, SIZE);
    let most = (*PLAIN * MOST).max(Duration::from_millis(100));
    let taken = least(&text, *PLAIN * SLOW);
    assert!(taken <= most, "{SIZE} bytes take {taken:?}, plain words {:?}", *PLAIN);
    if taken > *PLAIN * SLOW {
        let share = taken * u32::try_from(LARGER).unwrap_or(u32::MAX);
        let all = least(&repeated(data, SIZE * LARGER), share * GROWTH);
        assert!(all <= share * GROWTH, "{SIZE} bytes take {taken:?}, {LARGER} times as many {all:?}");
    }
}

fn repeated(data: &[u8], size: usize) -> Vec<u8> {
    data.iter().copied().cycle().take(size).collect()
}

/// The least time of a few tries; the first that is good enough.
fn least(text: &[u8], enough: Duration) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        best = best.min(time(text));
        if best <= enough {
            break;
        }
    }
    best
}

fn time(text: &[u8]) -> Duration {
    let Some(redactor) = &*REDACTOR else { return Duration::ZERO };
    let start = busy();
    black_box(redactor.bytes(text).counts.total());
    let (mut lines, mut out) = (Lines::new(redactor.clone()), Vec::new());
    lines.push(text, &mut out);
    lines.finish(&mut out);
    black_box(out);
    busy().saturating_sub(start)
}

/// How long this thread has had the processor: what a busy machine takes away is no property of the code.
fn busy() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
