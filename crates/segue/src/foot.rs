//! The lines at the foot of the screen that are redrawn in place, below the lines that stay.
//!
//! No mode of the terminal is switched, not even the cursor's: whoever dies leaves the last frame and nothing else.

use segue_report::{columns, plain};

/// The frame that stands at the foot of the screen, the cursor behind its last line.
#[derive(Debug, Default)]
pub(crate) struct Foot {
    lines: Vec<String>,
}

impl Foot {
    /// The lines that stand there.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// What must be written so that these lines stay and that frame stands below them; empty when it does already.
    pub(crate) fn repaint(&mut self, stay: &[String], frame: Vec<String>, width: u16) -> String {
        if stay.is_empty() && frame == self.lines {
            return String::new();
        }
        let mut out = self.erased(width);
        for line in stay {
            out.push_str(line);
            out.push('\n');
        }
        out.push_str(&frame.join("\n"));
        self.lines = frame;
        out
    }

    // Row by row from below: some terminals keep what "erase all that follows" takes away. A terminal that became
    // narrower has broken the lines which it shows into several rows.
    fn erased(&self, width: u16) -> String {
        let rows_of = |line: &String| match usize::from(width) {
            0 => 1,
            width => columns(&plain(line)).div_ceil(width).max(1),
        };
        match self.lines.iter().map(rows_of).sum::<usize>() {
            0 => String::new(),
            rows => format!("\r\x1b[2K{}", "\x1b[A\x1b[2K".repeat(rows - 1)),
        }
    }
}
