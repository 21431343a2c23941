//! One text that comes in parts, each on a line of its own: what of it is still needed to see a secret that goes over
//! several parts, and which bytes of which lines such a secret is made of.

use crate::{json::decoded, redactor::Redactor};

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

/// Bytes of a line that must not be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The kind, where its marker is to stand; nothing where a secret goes on from an earlier line.
    pub(crate) kind: Option<u16>,
}

#[derive(Clone)]
struct Part {
    line: u64,
    from: usize,
    /// Raw positions in the line, one for each byte and one for the end.
    map: Vec<u32>,
}

/// The end of a text so far.
#[derive(Clone, Default)]
pub(crate) struct Stream {
    text: Vec<u8>,
    parts: Vec<Part>,
    /// Secrets in `text` whose marker has been given to a line.
    shown: Vec<(usize, usize)>,
    /// The first line that a secret which is not complete yet may have begun in.
    pin: Option<u64>,
    /// Where in `text` the last thing starts that a rule looks at.
    noticed: Option<usize>,
    pub(crate) last: u64,
    /// What all parts have in common that tells them from other texts at the same path.
    pub(crate) only: Option<u64>,
}

impl Stream {
    /// Adds a part and reports what is to be taken out of which lines, those before `first` being gone already.
    pub(crate) fn add(
        &mut self,
        redactor: &Redactor,
        line: u64,
        raw: &Raw<'_>,
        first: u64,
        mut edit: impl FnMut(u64, Edit),
    ) {
        let (said, map) = raw.read();
        self.parts.push(Part { line, from: self.text.len(), map });
        self.text.extend_from_slice(&said);
        self.last = line;
        let known = self.text.len() - said.len();
        self.noticed = redactor.noticed(&self.text, known).or(self.noticed);
        let hits = if self.noticed.is_some() { redactor.hits(&self.text) } else { Vec::new() };
        for hit in &hits {
            let shown = self.shown.iter_mut().find(|(start, end)| *start < hit.end && hit.start < *end);
            let mut kind = if shown.is_none() { Some(hit.kind) } else { None };
            match shown {
                Some(range) => *range = (range.0.min(hit.start), range.1.max(hit.end)),
                None => self.shown.push((hit.start, hit.end)),
            }
            for part in self.parts.iter().filter(|part| part.line >= first) {
                let size = part.map.len() - 1;
                let (start, end) = (hit.start.max(part.from), hit.end.min(part.from + size));
                if start < end {
                    let at = |offset: usize| part.map[offset - part.from] as usize;
                    edit(part.line, Edit { start: at(start), end: at(end), kind: kind.take() });
                }
            }
        }
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
        (self.noticed, self.pin) = (None, None);
    }

    /// The first line that a secret which is not complete yet may have begun in.
    pub(crate) fn pinned(&self) -> Option<u64> {
        self.pin
    }

    fn first_open(&self) -> Option<u64> {
        let from = self.last_token();
        if from == self.text.len() {
            return None;
        }
        self.parts.iter().rev().find(|part| part.from <= from).map(|part| part.line)
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
        self.noticed = self.noticed.and_then(|at| at.checked_sub(cut));
        self.shown.retain(|(_, end)| *end > cut);
        for (start, end) in &mut self.shown {
            (*start, *end) = (start.saturating_sub(cut), *end - cut);
        }
        self.parts.retain_mut(|part| {
            let size = part.map.len() - 1;
            let gone = cut.saturating_sub(part.from).min(size);
            part.map.drain(..gone);
            part.from = part.from.saturating_sub(cut);
            part.map.len() > 1
        });
    }
}

/// A part as it stands in its line.
pub(crate) enum Raw<'a> {
    /// Inside a JSON string that starts at this position of the line.
    Json(&'a [u8], usize),
    /// A line of its own.
    Plain(&'a [u8]),
}

impl Raw<'_> {
    fn read(&self) -> (Vec<u8>, Vec<u32>) {
        match self {
            Self::Json(raw, start) => {
                let (said, mut map) = decoded(raw);
                let start = u32::try_from(*start).unwrap_or(u32::MAX);
                map.iter_mut().for_each(|at| *at = at.saturating_add(start));
                (said, map)
            }
            Self::Plain(raw) => (raw.to_vec(), (0..=u32::try_from(raw.len()).unwrap_or(u32::MAX)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_word_again_and_again_is_not_kept_for_ever() {
        let redactor = Redactor::new(crate::Options::default()).unwrap();
        let mut stream = Stream::default();
        for line in 0..5_000 {
            stream.add(&redactor, line, &Raw::Plain(b"completed"), line, |_, _| {});
        }
        assert!(stream.text.len() <= 3 * LONGEST_TOKEN, "{}", stream.text.len());
        assert!(stream.parts.len() <= 3 * LONGEST_TOKEN / 9 + 1, "{}", stream.parts.len());
    }
}
