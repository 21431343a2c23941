//! Keeps what a program writes in a file, without its secrets.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use segue_redact::{Lines, Redactor};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Silence after which most of what is held back is written, and silence after which all of it is.
const QUIET: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

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
    /// Output that goes to the end of a file.
    pub(crate) fn new(file: File, redactor: &Redactor, found: &Found) -> Self {
        let lines = Lines::new(redactor.clone());
        let open = Open { file, lines, clean: Vec::new(), found: found.clone(), counted: 0 };
        Self(Arc::new(Mutex::new(open)))
    }

    /// More output. What cannot be kept is no reason to stop listening.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut open = self.open();
        let Open { lines, clean, .. } = &mut *open;
        lines.push(bytes, clean);
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
        let _ = self.file.write_all(&self.clean);
        self.clean.clear();
        let count = self.lines.count();
        self.found.0.fetch_add(count - self.counted, Ordering::Relaxed);
        self.counted = count;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.finish();
    }
}
