//! Keeps what a program writes in a file, without its secrets, and no more of it than fits: the middle is left out.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use segue_redact::{Lines, Redactor};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Silence after which most of what is held back is written, and silence after which all of it is.
const QUIET: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// The most bytes that are kept of what a gate writes, and of the two streams of a session together.
pub(crate) const MOST: u64 = 64 << 20;
/// A reader that gets less at once has caught up with the program: what it wrote may be looked for.
const CAUGHT_UP: usize = 16 * 1024;
/// How far is looked for the end of a line when the middle is left out.
const LINE: u64 = 64 * 1024;

/// A stream that is kept while it is read.
#[derive(Debug)]
pub(crate) struct Keeping<R> {
    from: R,
    kept: Kept,
    buffer: Vec<u8>,
    /// How many of the silences have passed since something came.
    quiet: usize,
}

impl<R: AsyncRead + Unpin> Keeping<R> {
    /// A stream and where it is kept.
    pub(crate) fn new(from: R, kept: Kept) -> Self {
        Self { from, kept, buffer: vec![0; 64 * 1024], quiet: 0 }
    }

    /// The next bytes as they came; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<&[u8]> {
        let read = loop {
            let Some(wait) = QUIET.get(self.quiet).filter(|_| self.kept.pending()) else {
                break self.from.read(&mut self.buffer).await;
            };
            match tokio::time::timeout(*wait, self.from.read(&mut self.buffer)).await {
                Ok(read) => break read,
                Err(_) => {
                    self.quiet += 1;
                    self.kept.quiet(self.quiet == QUIET.len());
                }
            }
        };
        let bytes = &self.buffer[..read.unwrap_or(0)];
        self.quiet = 0;
        self.kept.add(bytes);
        (!bytes.is_empty()).then_some(bytes)
    }
}

// Whoever else holds the file may do so for longer than the stream lasts.
impl<R> Drop for Keeping<R> {
    fn drop(&mut self) {
        self.kept.finish();
    }
}

/// A file of a program's output; a clone is the same file.
#[derive(Debug, Clone)]
pub(crate) struct Kept(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    file: File,
    room: Room,
    lines: Lines,
    clean: Vec<u8>,
    found: Found,
    counted: u64,
}

/// How many secrets were taken out of output, whoever wrote it; counted here and told by whoever asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found(Arc<AtomicU64>);

impl Found {
    /// How many since this was last asked.
    pub(crate) fn take(&self) -> u32 {
        u32::try_from(self.0.swap(0, Ordering::Relaxed)).unwrap_or(u32::MAX)
    }
}

impl Kept {
    /// Output that goes to the end of a file, which is open for reading and appending; no more than `most` bytes are kept.
    pub(crate) fn new(file: File, most: u64, redactor: &Redactor, found: &Found) -> Self {
        let lines = Lines::new(redactor.clone());
        let size = file.metadata().map_or(0, |data| data.len());
        let room = Room { most, size, head: None, gone: 0, notice: 0 };
        let open = Open { file, room, lines, clean: Vec::new(), found: found.clone(), counted: 0 };
        Self(Arc::new(Mutex::new(open)))
    }

    /// More output. What cannot be kept is no reason to stop listening.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut open = self.open();
        let Open { lines, clean, .. } = &mut *open;
        lines.push(bytes, clean);
        if bytes.len() < CAUGHT_UP {
            lines.catch_up(clean);
        }
        open.write();
    }

    /// Nothing came for a while: what is held back in case a secret goes over several lines is written, soon but for
    /// the last lines, later whole.
    pub(crate) fn quiet(&self, for_long: bool) {
        if for_long {
            return self.finish();
        }
        let mut open = self.open();
        let Open { lines, clean, .. } = &mut *open;
        lines.flush_ready(clean);
        open.write();
    }

    /// Whether something is held back.
    pub(crate) fn pending(&self) -> bool {
        self.open().lines.pending()
    }

    /// There is no more.
    pub(crate) fn finish(&self) {
        self.open().finish();
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn finish(&mut self) {
        self.lines.finish(&mut self.clean);
        self.write();
    }

    fn write(&mut self) {
        let _ = self.room.write(&mut self.file, &self.clean);
        self.clean.clear();
        let count = self.lines.count();
        self.found.0.fetch_add(count - self.counted, Ordering::Relaxed);
        self.counted = count;
    }
}

/// How much is in the file, and what was left out.
#[derive(Debug)]
struct Room {
    most: u64,
    size: u64,
    /// Where the middle was left out.
    head: Option<u64>,
    gone: u64,
    notice: u64,
}

impl Room {
    fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        if self.size > self.most { self.leave_out(file) } else { Ok(()) }
    }

    /// Keeps the first half of what may be kept and the last quarter, so that this is rare.
    fn leave_out(&mut self, file: &mut File) -> io::Result<()> {
        let head = match self.head {
            Some(head) => head,
            None => self.line_start(file, self.most / 2)?,
        };
        let tail = self.line_start(file, self.size - self.most / 4)?;
        let mut kept = vec![0; usize::try_from(self.size - tail).map_err(io::Error::other)?];
        file.read_exact_at(&mut kept, tail)?;
        self.gone += tail - head - self.notice;
        let notice = format!(
            "segue: {:.1} MB of output were left out here (at most {:.0} MB are kept)\n",
            self.gone as f64 / 1e6,
            self.most as f64 / 1e6
        );
        file.set_len(head)?;
        file.write_all(notice.as_bytes())?;
        file.write_all(&kept)?;
        (self.head, self.notice) = (Some(head), notice.len() as u64);
        self.size = head + self.notice + kept.len() as u64;
        Ok(())
    }

    /// The start of the first line at or after a position, if it is near.
    fn line_start(&self, file: &File, at: u64) -> io::Result<u64> {
        let mut near = vec![0; usize::try_from(LINE.min(self.size - at)).map_err(io::Error::other)?];
        file.read_exact_at(&mut near, at)?;
        Ok(near.iter().position(|b| *b == b'\n').map_or(at, |line| at + line as u64 + 1))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(lines: usize, most: u64) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        let file = File::options().create(true).read(true).append(true).open(&path).unwrap();
        let redactor = Redactor::new(segue_redact::Options::default()).unwrap();
        let kept = Kept::new(file, most, &redactor, &Found::default());
        let written: String = (0..lines).map(|n| format!("line number {n}\n")).collect();
        written.as_bytes().chunks(700).for_each(|chunk| kept.add(chunk));
        kept.finish();
        (written, std::fs::read_to_string(path).unwrap())
    }

    #[test]
    fn c8_of_much_output_the_beginning_and_the_end_are_kept_and_what_is_missing_is_said() {
        let (written, kept) = kept(200_000, 1_000_000);
        assert!(kept.len() <= 1_000_000, "{} bytes", kept.len());
        let (head, rest) = kept.split_once("segue: ").unwrap();
        let (notice, tail) = rest.split_once('\n').unwrap();
        assert!(written.starts_with(head) && head.ends_with('\n') && head.len() >= 500_000);
        assert!(written.ends_with(tail) && tail.starts_with("line number ") && tail.len() >= 200_000);
        let gone = (written.len() - head.len() - tail.len()) as f64 / 1e6;
        assert_eq!(notice, format!("{gone:.1} MB of output were left out here (at most 1 MB are kept)"));
    }

    #[test]
    fn c8_output_that_fits_is_kept_as_it_is() {
        let (written, kept) = kept(1_000, 1_000_000);
        assert_eq!(written, kept);
    }
}
