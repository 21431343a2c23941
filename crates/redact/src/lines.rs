//! An agent's output as it comes in. The unit is the line, so it does not matter how the bytes are cut. Lines of JSON
//! carry text in small parts: lines are held back until what follows shows that no secret goes over their end. They are
//! searched many at a time, so that what is still needed of earlier ones is not searched again for each.

use std::{collections::VecDeque, fmt};

use crate::{
    json,
    redactor::Redactor,
    scan::Hit,
    stream::{Edit, Raw, Stream},
};

/// Lines are searched when there are this many, or this many bytes.
const BATCH_LINES: usize = 2048;
const BATCH_BYTES: usize = 128 << 10;
/// No more lines than this are held back.
const MOST_LINES: usize = 4096;
/// No more bytes than this are held back, one line apart.
const MOST_BYTES: u64 = 1 << 20;
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
    /// What is not written yet: lines that are held back, and the one that is not complete.
    text: Vec<u8>,
    /// How much came before `text`: positions count from the first byte of all.
    start: u64,
    /// Where in `text` the line starts that is not complete.
    line: usize,
    /// Bytes at the start of `text` that are written already: the line is a very long one.
    written: usize,
    long: bool,
    /// Where the lines end that are held back.
    ends: VecDeque<u64>,
    edits: Vec<Edit>,
    /// Lines and bytes that were not searched yet.
    fresh: (usize, usize),
    next: u64,
    /// The texts that come in parts, few enough to be looked through, and the key of each.
    streams: Vec<Stream>,
    keys: Vec<u64>,
    count: u64,
}

impl Lines {
    /// Nothing has come yet.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            text: Vec::new(),
            start: 0,
            line: 0,
            written: 0,
            long: false,
            ends: VecDeque::new(),
            edits: Vec::new(),
            fresh: (0, 0),
            next: 0,
            streams: Vec::new(),
            keys: Vec::new(),
            count: 0,
        }
    }

    /// Takes bytes and writes the lines that no secret can reach into any more.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let room = LONGEST_LINE.saturating_sub(self.text.len() - self.line).max(1);
            let near = &bytes[..bytes.len().min(room)];
            let end = near.iter().position(|b| *b == b'\n').map(|i| i + 1);
            let (now, rest) = bytes.split_at(end.unwrap_or(near.len()));
            self.text.extend_from_slice(now);
            bytes = rest;
            if end.is_some() {
                self.line(out);
            } else if self.text.len() - self.line >= LONGEST_LINE {
                self.piece(out);
            }
        }
    }

    /// Writes whatever is left; afterwards more may be pushed, as a new text.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.text.len() > self.line {
            self.line(out);
        }
        self.search();
        self.release(usize::MAX, out);
        self.streams.clear();
        self.keys.clear();
    }

    /// Writes the lines that are only held back because a text that came long ago may go on, or because there are too few
    /// to be searched; the last parts stay.
    pub fn flush_ready(&mut self, out: &mut Vec<u8>) {
        self.search();
        let ready = self.ready(self.next.saturating_sub(4));
        self.release(ready, out);
    }

    /// Searches what was not searched yet because there is too little of it, and writes the lines that no secret can reach
    /// into: for a caller that was given all there is.
    pub fn catch_up(&mut self, out: &mut Vec<u8>) {
        self.search();
        let ready = self.ready(self.next.saturating_sub(QUIET));
        self.release(ready, out);
    }

    /// Whether anything was pushed that is not written yet.
    #[must_use]
    pub fn pending(&self) -> bool {
        self.text.len() > self.written
    }

    /// How many secrets were taken out of what is written.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last line in `text` is complete.
    fn line(&mut self, out: &mut Vec<u8>) {
        let text = std::mem::take(&mut self.text);
        if self.long {
            let hits = self.redactor.hits(&text);
            self.clean(&text, &hits, self.written, text.len(), out);
            self.start += text.len() as u64;
            (self.written, self.long) = (0, false);
            return;
        }
        let number = self.next;
        self.next += 1;
        let base = self.start + self.line as u64;
        let line = &text[self.line..];
        match json::strings(line) {
            Some(strings) => {
                self.edits.extend(self.redactor.hits(line).iter().map(|hit| Edit {
                    start: base + hit.start as u64,
                    end: base + hit.end as u64,
                    kind: Some(hit.kind),
                }));
                for text in &strings.texts {
                    for (start, end) in ends(line, text.start, text.end).into_iter().flatten() {
                        let raw = Raw::Json(&line[start..end]);
                        self.part(
                            text.path,
                            strings.which,
                            number,
                            &raw,
                            base + start as u64,
                            start > text.start,
                        );
                    }
                }
            }
            None => {
                let index = self.place(PLAIN).0;
                self.track(index, number, &Raw::Plain(line), base, false);
            }
        }
        self.ends.push_back(self.start + text.len() as u64);
        self.fresh = (self.fresh.0 + 1, self.fresh.1 + line.len());
        self.line = text.len();
        self.text = text;
        if self.fresh.0 >= BATCH_LINES || self.fresh.1 >= BATCH_BYTES {
            self.catch_up(out);
        }
    }

    /// A part of the text at a path. As long as all parts there belong together there is one stream; once they do not,
    /// there is one for the path and one for each text.
    fn part(&mut self, path: u64, which: u64, line: u64, raw: &Raw<'_>, base: u64, fresh: bool) {
        let own = |which: u64| path ^ json::hash(which, b"which");
        let (mut index, new) = self.place(path);
        if new {
            self.streams[index].only = Some(which);
        }
        let together = self.streams[index].only;
        if let Some(only) = together.filter(|only| *only != which) {
            self.streams[index].only = None;
            let mut copy = self.streams[index].clone();
            copy.own = true;
            let place = self.place(own(only)).0;
            self.streams[place] = copy;
            index = self.place(path).0;
        }
        self.track(index, line, raw, base, fresh);
        if together != Some(which) {
            let index = self.place(own(which)).0;
            self.track(index, line, raw, base, fresh);
            self.streams[index].own = true;
        }
    }

    fn track(&mut self, index: usize, line: u64, raw: &Raw<'_>, base: u64, fresh: bool) {
        let stream = &mut self.streams[index];
        if fresh {
            stream.search(&self.redactor, self.start, &mut self.edits);
            stream.restart();
        }
        stream.add(line, raw, base);
    }

    /// The stream of a key, and whether it is new; a new one takes the place of the one that was quiet for longest, if there are too many.
    fn place(&mut self, key: u64) -> (usize, bool) {
        if let Some(index) = self.keys.iter().position(|known| *known == key) {
            return (index, false);
        }
        if self.keys.len() < MOST_STREAMS {
            self.keys.push(key);
            self.streams.push(Stream::default());
            return (self.keys.len() - 1, true);
        }
        let index = (0..MOST_STREAMS).min_by_key(|index| self.streams[*index].last).unwrap_or_default();
        let stream = &mut self.streams[index];
        stream.search(&self.redactor, self.start, &mut self.edits);
        stream.restart();
        (stream.only, stream.own) = (None, false);
        self.keys[index] = key;
        (index, true)
    }

    /// Finds the secrets in all that came since this was last done.
    fn search(&mut self) {
        for stream in &mut self.streams {
            stream.search(&self.redactor, self.start, &mut self.edits);
        }
        self.fresh = (0, 0);
    }

    /// How many held lines may go, texts of which nothing came since a line not counting.
    fn ready(&self, since: u64) -> usize {
        let live = self.streams.iter().filter(|stream| stream.last >= since);
        let pin = live.filter_map(Stream::pinned).min().unwrap_or(u64::MAX);
        self.ends.partition_point(|end| *end <= pin)
    }

    fn release(&mut self, ready: usize, out: &mut Vec<u8>) {
        let last = self.ends.back().copied().unwrap_or(self.start);
        let heavy = self.ends.partition_point(|end| *end + MOST_BYTES < last);
        let ready = ready.max(self.ends.len().saturating_sub(MOST_LINES)).max(heavy).min(self.ends.len());
        let Some(to) = self.ends.drain(..ready).next_back() else { return };
        self.write(to, out);
        let gone = usize::try_from(to - self.start).unwrap_or(usize::MAX).min(self.text.len());
        self.text.drain(..gone);
        self.line -= gone;
        self.start = to;
    }

    /// Writes lines up to a position; what is taken out leaves its line ends behind.
    fn write(&mut self, to: u64, out: &mut Vec<u8>) {
        self.edits.sort_unstable();
        let index = |at: u64| usize::try_from(at.min(to).saturating_sub(self.start)).unwrap_or(usize::MAX);
        let (mut at, mut n) = (self.start, 0);
        while let Some(Edit { start, mut end, mut kind }) =
            self.edits.get(n).copied().filter(|edit| edit.start < to)
        {
            n += 1;
            while let Some(next) = self.edits.get(n).filter(|next| next.start < end.min(to)) {
                (end, kind) = (end.max(next.end), kind.max(next.kind));
                n += 1;
            }
            out.extend_from_slice(&self.text[index(at)..index(start.max(at))]);
            if let Some(kind) = kind {
                out.extend_from_slice(self.redactor.marker(kind).as_bytes());
                self.count += 1;
            }
            let inside = &self.text[index(start.max(at))..index(end.max(at))];
            out.extend(inside.iter().filter(|b| **b == b'\n'));
            at = end.max(at);
        }
        out.extend_from_slice(&self.text[index(at)..index(to)]);
        self.edits.drain(..n);
        if at > to {
            self.edits.insert(0, Edit { start: to, end: at, kind: None });
        }
    }

    /// A very long line is cleaned in pieces; the end of each is kept and looked at again with what follows.
    fn piece(&mut self, out: &mut Vec<u8>) {
        self.search();
        self.release(usize::MAX, out);
        let bytes = std::mem::take(&mut self.text);
        let mut cut = bytes.len() - KEPT;
        let hits = self.redactor.hits(&bytes);
        if let Some(hit) = hits.iter().find(|hit| hit.start < cut && cut < hit.end) {
            cut = if hit.start > self.written { hit.start } else { hit.end };
        }
        self.clean(&bytes, &hits, self.written, cut, out);
        let from = cut.saturating_sub(CONTEXT);
        self.text.extend_from_slice(&bytes[from..]);
        self.start += from as u64;
        (self.written, self.long) = (cut - from, true);
    }

    fn clean(&mut self, bytes: &[u8], hits: &[Hit], from: usize, to: usize, out: &mut Vec<u8>) {
        let mut at = from;
        for hit in hits.iter().filter(|hit| hit.end > from && hit.start < to) {
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
fn ends(line: &[u8], start: usize, end: usize) -> [Option<(usize, usize)>; 2] {
    let text = &line[start..end];
    let space =
        |from: usize| text[from..].iter().take(END / 2).position(|b| *b == b' ').map(|i| start + from + i);
    if text.len() < 4 * END || text.windows(2).any(|w| w == b"\\u") {
        return [Some((start, end)), None];
    }
    match (space(END), space(text.len() - END)) {
        (Some(head), Some(tail)) => [Some((start, head)), Some((tail, end))],
        _ => [Some((start, end)), None],
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("held", &self.ends.len())
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}
