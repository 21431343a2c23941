//! An agent's output as it comes in. The unit is the line, so it does not matter how the bytes are cut. Lines of JSON
//! carry text in small parts: lines are held back until what follows shows that no secret goes over their end.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use crate::{
    json,
    redactor::Redactor,
    stream::{Edit, Raw, Stream},
};

/// No more lines than this are held back.
const MOST_LINES: usize = 256;
/// No more bytes than this are held back, one line apart.
const MOST_BYTES: usize = 1 << 20;
/// A longer line is cleaned in pieces of this size.
const LONGEST_LINE: usize = 4 << 20;
/// What of such a piece is kept for the next one.
const KEPT: usize = 64 << 10;
const CONTEXT: usize = 1024;
/// A text of which nothing came for this many lines does not hold lines back.
const QUIET: u64 = 64;
const MOST_STREAMS: usize = 64;
const PLAIN: u64 = 0;
/// The size of the two ends of a string that is looked at for secrets over several lines.
const END: usize = 1024;

/// Cleans kept output line by line: [`Lines::push`] bytes as they come, [`Lines::finish`] at the end.
///
/// What is written to `out` depends only on the bytes pushed, not on how they were cut. A caller that waits for more
/// may use [`Lines::flush_ready`] so that little is lost if it dies.
pub struct Lines {
    redactor: Redactor,
    partial: Vec<u8>,
    /// Bytes at the start of `partial` that are written already: the line is a very long one.
    written: usize,
    long: bool,
    held: VecDeque<Held>,
    held_bytes: usize,
    next: u64,
    streams: BTreeMap<u64, Stream>,
    count: u64,
}

struct Held {
    bytes: Vec<u8>,
    edits: Vec<Edit>,
}

impl Lines {
    /// Nothing has come yet.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            partial: Vec::new(),
            written: 0,
            long: false,
            held: VecDeque::new(),
            held_bytes: 0,
            next: 0,
            streams: BTreeMap::new(),
            count: 0,
        }
    }

    /// Takes bytes and writes the lines that no secret can reach into any more.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let room = LONGEST_LINE.saturating_sub(self.partial.len()).max(1);
            let near = &bytes[..bytes.len().min(room)];
            let end = near.iter().position(|b| *b == b'\n').map(|i| i + 1);
            let (now, rest) = bytes.split_at(end.unwrap_or(near.len()));
            self.partial.extend_from_slice(now);
            bytes = rest;
            if end.is_some() {
                self.line(out);
            } else if self.partial.len() >= LONGEST_LINE {
                self.piece(out);
            }
        }
    }

    /// Writes whatever is left; afterwards more may be pushed, as a new text.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.partial.is_empty() {
            self.line(out);
        }
        self.release(usize::MAX, out);
        self.streams.clear();
    }

    /// Writes the lines that are only held back because a text that came long ago may go on; the last parts stay.
    pub fn flush_ready(&mut self, out: &mut Vec<u8>) {
        let since = self.next.saturating_sub(4);
        let ready = self.ready(since);
        self.release(ready, out);
    }

    /// Whether anything was pushed that is not written yet.
    #[must_use]
    pub fn pending(&self) -> bool {
        !self.held.is_empty() || self.partial.len() > self.written
    }

    /// How many secrets were taken out of what is written.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The line in `partial` is complete.
    fn line(&mut self, out: &mut Vec<u8>) {
        let bytes = std::mem::take(&mut self.partial);
        if self.long {
            let end = bytes.len();
            self.clean(&bytes, self.written, end, out);
            (self.written, self.long) = (0, false);
            return;
        }
        let number = self.next;
        self.next += 1;
        let first = number - self.held.len() as u64;
        let strings = json::strings(&bytes);
        let edits = match &strings {
            Some(_) => self
                .redactor
                .hits(&bytes)
                .iter()
                .map(|hit| Edit { start: hit.start, end: hit.end, kind: Some(hit.kind) })
                .collect(),
            None => Vec::new(),
        };
        self.held_bytes += bytes.len();
        self.held.push_back(Held { bytes: bytes.clone(), edits });
        match strings {
            Some(strings) => {
                for text in &strings.texts {
                    for (start, end) in ends(&bytes, text.start, text.end) {
                        let raw = Raw::Json(&bytes[start..end], start);
                        self.part(text.path, strings.which, number, &raw, first, start > text.start);
                    }
                }
            }
            None => self.track(PLAIN, number, &Raw::Plain(&bytes), first, false),
        }
        let ready = self.ready(self.next.saturating_sub(QUIET));
        self.release(ready, out);
    }

    /// A part of the text at a path. As long as all parts there belong together there is one stream; once they do not,
    /// there is one for the path and one for each text.
    fn part(&mut self, path: u64, which: u64, line: u64, raw: &Raw<'_>, first: u64, fresh: bool) {
        let own = |which: u64| path ^ json::hash(which, b"which");
        let mut copy = None;
        let (new, apart) = match self.streams.get_mut(&path) {
            None => (true, false),
            Some(stream) if stream.only == Some(which) => (false, false),
            Some(stream) => {
                copy = stream.only.take().map(|old| (own(old), stream.clone()));
                (false, true)
            }
        };
        self.streams.extend(copy);
        self.track(path, line, raw, first, fresh);
        if apart {
            self.track(own(which), line, raw, first, fresh);
        }
        if let Some(stream) = self.streams.get_mut(&path).filter(|_| new) {
            stream.only = Some(which);
        }
    }

    fn track(&mut self, stream: u64, line: u64, raw: &Raw<'_>, first: u64, fresh: bool) {
        if !self.streams.contains_key(&stream) && self.streams.len() >= MOST_STREAMS {
            let oldest = self.streams.iter().min_by_key(|(_, stream)| stream.last).map(|(key, _)| *key);
            oldest.map(|key| self.streams.remove(&key));
        }
        let held = &mut self.held;
        let stream = self.streams.entry(stream).or_default();
        if fresh {
            stream.restart();
        }
        stream.add(&self.redactor, line, raw, first, |line, edit| {
            let index = usize::try_from(line - first).unwrap_or(usize::MAX);
            if let Some(held) = held.get_mut(index) {
                held.edits.push(edit);
            }
        });
    }

    /// How many held lines may go, texts of which nothing came since a line not counting.
    fn ready(&self, since: u64) -> usize {
        let first = self.next - self.held.len() as u64;
        let live = self.streams.values().filter(|stream| stream.last >= since);
        let pin = live.filter_map(Stream::pinned).min().unwrap_or(self.next);
        usize::try_from(pin.saturating_sub(first)).unwrap_or(usize::MAX)
    }

    fn release(&mut self, ready: usize, out: &mut Vec<u8>) {
        let mut ready = ready.max(self.held.len().saturating_sub(MOST_LINES));
        while ready > 0 || self.held_bytes > MOST_BYTES {
            let Some(held) = self.held.pop_front() else { break };
            self.held_bytes -= held.bytes.len();
            ready = ready.saturating_sub(1);
            self.write(held, out);
        }
    }

    fn write(&mut self, mut held: Held, out: &mut Vec<u8>) {
        held.edits.sort_unstable();
        let last = held.bytes.len() - usize::from(held.bytes.ends_with(b"\n"));
        let mut at = 0;
        let mut edits = held.edits.iter().peekable();
        while let Some(edit) = edits.next() {
            let (mut end, mut kind) = (edit.end, edit.kind);
            while let Some(next) = edits.next_if(|next| next.start < end) {
                (end, kind) = (end.max(next.end), kind.max(next.kind));
            }
            out.extend_from_slice(&held.bytes[at..edit.start.max(at)]);
            if let Some(kind) = kind {
                out.extend_from_slice(self.redactor.marker(kind).as_bytes());
                self.count += 1;
            }
            at = end.min(last).max(at);
        }
        out.extend_from_slice(&held.bytes[at..]);
    }

    /// A very long line is cleaned in pieces; the end of each is kept and looked at again with what follows.
    fn piece(&mut self, out: &mut Vec<u8>) {
        self.release(usize::MAX, out);
        let bytes = std::mem::take(&mut self.partial);
        let mut cut = bytes.len() - KEPT;
        if let Some(hit) = self.redactor.hits(&bytes).iter().find(|hit| hit.start < cut && cut < hit.end) {
            cut = if hit.start > self.written { hit.start } else { hit.end };
        }
        self.clean(&bytes, self.written, cut, out);
        let from = cut.saturating_sub(CONTEXT);
        self.partial.extend_from_slice(&bytes[from..]);
        (self.written, self.long) = (cut - from, true);
    }

    fn clean(&mut self, bytes: &[u8], from: usize, to: usize, out: &mut Vec<u8>) {
        let mut at = from;
        for hit in self.redactor.hits(bytes).iter().filter(|hit| hit.end > from && hit.start < to) {
            out.extend_from_slice(&bytes[at..hit.start.max(at)]);
            out.extend_from_slice(self.redactor.marker(hit.kind).as_bytes());
            self.count += 1;
            at = hit.end.min(to);
        }
        out.extend_from_slice(&bytes[at..to]);
    }
}

/// Of a long string only the ends can belong to a secret that goes over several lines; the line as a whole is searched
/// as well. Cut at spaces, which are no part of an escape.
fn ends(line: &[u8], start: usize, end: usize) -> Vec<(usize, usize)> {
    let text = &line[start..end];
    let space =
        |from: usize| text[from..].iter().take(END / 2).position(|b| *b == b' ').map(|i| start + from + i);
    if text.len() < 4 * END || text.windows(2).any(|w| w == b"\\u") {
        return vec![(start, end)];
    }
    match (space(END), space(text.len() - END)) {
        (Some(head), Some(tail)) => vec![(start, head), (tail, end)],
        _ => vec![(start, end)],
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("held", &self.held.len())
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}
