//! One text that comes in parts, each on a line of its own: what of it is still needed to see a secret that goes over
//! several parts, and which bytes of which lines such a secret is made of.

use crate::{json::decode, redactor::Redactor};

/// A secret that has no white space in it is seen as a whole if it is no longer than this.
const LONGEST_TOKEN: usize = 1024;
/// Lines of base64 are held back as far as this.
const LONGEST_BLOCK: usize = 8 * 1024;
/// A secret that has begun is followed this far.
const LONGEST_OPEN: usize = 32 * 1024;
/// A line of a block with what a listing puts before it is no longer than this.
const LONGEST_PREFIXED: usize = 160;
/// What stands before a value and tells that it is secret.
const BEFORE: usize = 160;

/// Bytes that must not be written, counted from the first of all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The kind, where its marker is to stand; nothing where a secret goes on from an earlier part.
    pub(crate) kind: Option<u16>,
}

/// What one line said, or several that are not JSON.
#[derive(Clone)]
struct Part {
    /// Where in the text it starts and ends.
    from: usize,
    to: usize,
    /// How many bytes at its start the text has forgotten.
    gone: usize,
    /// Where it stands.
    base: u64,
    /// What it says from an offset on stands at this distance from its start; nothing if it says what stands there.
    shifts: Vec<(usize, usize)>,
}

impl Part {
    /// Where a byte of the text stands.
    fn place(&self, at: usize) -> u64 {
        let offset = at - self.from + self.gone;
        let shifts = self.shifts.partition_point(|(from, _)| *from <= offset);
        let (from, raw) = shifts.checked_sub(1).and_then(|i| self.shifts.get(i)).copied().unwrap_or((0, 0));
        self.base + (raw + offset - from) as u64
    }
}

/// The end of a text so far.
#[derive(Clone, Default)]
pub(crate) struct Stream {
    text: Vec<u8>,
    parts: Vec<Part>,
    /// Secrets in `text` whose marker is given already, in order.
    shown: Vec<(usize, usize)>,
    /// The first place that a secret may stand in which is not complete yet, or was not searched for.
    pin: Option<u64>,
    /// Whether something came since the last search.
    fresh: bool,
    pub(crate) last: u64,
    /// What all parts have in common that tells them from other texts at the same path.
    pub(crate) only: Option<u64>,
    /// Whether all parts are in the stream of their path as well.
    pub(crate) own: bool,
}

impl Stream {
    /// Adds a part that stands at a place.
    pub(crate) fn add(&mut self, line: u64, raw: &Raw<'_>, base: u64) {
        let from = self.text.len();
        let mut shifts = Vec::new();
        match raw {
            Raw::Json(raw) => decode(raw, &mut self.text, &mut shifts),
            Raw::Plain(raw) => self.text.extend_from_slice(raw),
        }
        let to = self.text.len();
        (self.fresh, self.last) = (true, line);
        self.pin = self.pin.or(Some(base));
        match self.parts.last_mut() {
            Some(part) if part.place(from) == base && part.shifts.is_empty() && shifts.is_empty() => {
                part.to = to;
            }
            _ => self.parts.push(Part { from, to, gone: 0, base, shifts }),
        }
    }

    /// Finds what is to be taken out where, all before `first` being written already.
    pub(crate) fn search(&mut self, redactor: &Redactor, first: u64, edits: &mut Vec<Edit>) {
        if !std::mem::take(&mut self.fresh) {
            return;
        }
        // A single part was searched as part of its line and of its path.
        let alone = self.own && self.parts.len() == 1;
        let hits = if alone { Vec::new() } else { redactor.hits(&self.text) };
        let known = self.shown.len();
        for hit in &hits {
            let old = self.shown[..known].partition_point(|(_, end)| *end <= hit.start);
            let shown = self.shown[..known].get_mut(old).filter(|(start, _)| *start < hit.end);
            let mut kind = if shown.is_none() { Some(hit.kind) } else { None };
            match shown {
                Some(range) => *range = (range.0.min(hit.start), range.1.max(hit.end)),
                None => self.shown.push((hit.start, hit.end)),
            }
            let parts = &self.parts[self.parts.partition_point(|part| part.to <= hit.start)..];
            for part in parts.iter().take_while(|part| part.from < hit.end) {
                let (start, end) = (hit.start.max(part.from), hit.end.min(part.to));
                let (start, end) = (part.place(start).max(first), part.place(end));
                if start < end {
                    edits.push(Edit { start, end, kind: kind.take() });
                }
            }
        }
        self.shown.sort_unstable();
        let open = hits
            .last()
            .filter(|hit| self.text[hit.end..].iter().all(|b| b.is_ascii_whitespace() || *b == b'\\'));
        self.forget(open.map(|hit| hit.start));
        self.pin = self.first_open();
    }

    /// What comes next does not go on from here.
    pub(crate) fn restart(&mut self) {
        self.text.clear();
        self.parts.clear();
        self.shown.clear();
        (self.pin, self.fresh) = (None, false);
    }

    /// The first place that must not be written yet.
    pub(crate) fn pinned(&self) -> Option<u64> {
        self.pin
    }

    fn first_open(&self) -> Option<u64> {
        let from = self.last_token();
        let part = self.parts.get(self.parts.partition_point(|part| part.to <= from))?;
        Some(part.place(from.max(part.from)))
    }

    /// Where the last word starts, or the lines of base64 at the end: they may turn out to be the end of a key block.
    fn last_token(&self) -> usize {
        let low = self.text.len().saturating_sub(LONGEST_TOKEN);
        let white = self.text[low..].iter().rposition(u8::is_ascii_whitespace);
        let mut from = white.map_or(low, |i| low + i + 1);
        let lowest = self.text.len().saturating_sub(LONGEST_BLOCK);
        let line_start = |end: usize| {
            let low = end.saturating_sub(LONGEST_PREFIXED).max(lowest);
            self.text[low..end].iter().rposition(|b| *b == b'\n').map(|i| low + i + 1)
        };
        // The last line may be that of the end of a block, not all of which is there yet.
        let footer = line_start(self.text.len()).filter(|start| {
            let line = &self.text[*start..];
            line.len() < 80 && line.windows(5).any(|w| w == b"-----")
        });
        from = footer.map_or(from, |start| start.min(from));
        loop {
            let end = lowest + self.text[lowest..from].trim_ascii_end().len();
            let size = self.text[lowest..end]
                .iter()
                .rev()
                .take_while(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b))
                .count();
            if !(40..=80).contains(&size) {
                return from;
            }
            from = line_start(end).unwrap_or(end - size).min(end - size);
        }
    }

    fn forget(&mut self, open: Option<usize>) {
        let open = open.filter(|start| self.text.len() - start <= LONGEST_OPEN).unwrap_or(usize::MAX);
        let mut cut = self.last_token().min(open).saturating_sub(BEFORE);
        // Half a word would look like the start of one. Parts without a space between them are a word without end.
        let least = cut.saturating_sub(LONGEST_TOKEN);
        while cut > least && cut < self.text.len() && self.text[cut - 1].is_ascii_alphanumeric() {
            cut -= 1;
        }
        if cut < 64 {
            return;
        }
        self.text.drain(..cut);
        self.shown.retain(|(_, end)| *end > cut);
        for (start, end) in &mut self.shown {
            (*start, *end) = (start.saturating_sub(cut), *end - cut);
        }
        self.parts.retain_mut(|part| {
            part.gone += cut.saturating_sub(part.from).min(part.to - part.from);
            (part.from, part.to) = (part.from.saturating_sub(cut), part.to.saturating_sub(cut));
            part.to > part.from
        });
    }
}

/// A part as it stands in its line.
pub(crate) enum Raw<'a> {
    /// Inside a JSON string.
    Json(&'a [u8]),
    /// A line of its own.
    Plain(&'a [u8]),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_word_again_and_again_is_not_kept_for_ever() {
        let redactor = Redactor::new(crate::Options::default()).unwrap();
        let mut stream = Stream::default();
        for line in 0..5_000 {
            stream.add(line, &Raw::Json(b"completed"), line * 20);
            stream.search(&redactor, 0, &mut Vec::new());
        }
        assert!(stream.text.len() <= 3 * LONGEST_TOKEN, "{}", stream.text.len());
        assert!(stream.parts.len() <= 3 * LONGEST_TOKEN / 9 + 1, "{}", stream.parts.len());
    }
}
