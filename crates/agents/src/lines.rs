//! Bytes into lines, of any length and in any pieces.

/// A line longer than this is cut: it is no message of any agent, and memory is not free.
pub const MAX_LINE: usize = 256 << 20;

/// Collects bytes and gives out whole lines.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Takes in bytes and calls `each` for every line that is complete, without its line end. Empty lines are left out.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|b| *b == b'\n') {
            let (line, after) = (&bytes[..end], &bytes[end + 1..]);
            if self.rest.is_empty() {
                give(line, &mut each);
            } else {
                self.keep(line);
                give(&std::mem::take(&mut self.rest), &mut each);
            }
            bytes = after;
        }
        self.keep(bytes);
    }

    /// What stands after the last line end, if anything, as the line that it would have been.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        let mut rest = std::mem::take(&mut self.rest);
        if rest.last() == Some(&b'\r') {
            rest.pop();
        }
        Some(rest).filter(|rest| !rest.is_empty())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn give(line: &[u8], each: &mut impl FnMut(&[u8])) {
    let line = &line[..line.len().min(MAX_LINE)];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.is_empty() {
        each(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.push(piece, |l| found.push(l.to_vec()));
        }
        (found, lines.finish())
    }

    #[test]
    fn every_split_of_the_bytes_gives_the_same_lines() {
        let bytes = b"one\r\ntwo\n\n{\"three\": \"\xff\xfe\"}\nhalf";
        let whole = split(&[bytes]);
        assert_eq!(whole.0.len(), 3);
        assert_eq!(whole.1.as_deref(), Some(&b"half"[..]));
        for cut in 0..=bytes.len() {
            assert_eq!(split(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_last_line_without_its_end_is_like_any_other() {
        assert_eq!(split(&[b"a\r"]).1.as_deref(), Some(&b"a"[..]));
        assert_eq!(split(&[b"a\n\r"]), (vec![b"a".to_vec()], None));
    }

    #[test]
    fn e1_a_line_of_many_megabytes_comes_out_whole() {
        let long = vec![b'x'; 5 << 20];
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in long.chunks(65_536).chain([&b"\n"[..]]) {
            lines.push(piece, |l| found.push(l.len()));
        }
        assert_eq!(found, [5 << 20]);
    }
}
