//! What stands on a terminal after it was sent some text: a grid of cells that grows downwards, and the control sequences
//! that segue uses.

use std::iter::Peekable;
use std::str::Chars;

/// How a cell looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) bold: bool,
    pub(super) dim: bool,
    /// 0 to 7, as terminals count colours.
    pub(super) color: Option<u8>,
}

/// A character and how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) shown: char,
    pub(super) look: Look,
}

const EMPTY: Cell = Cell { shown: ' ', look: Look { bold: false, dim: false, color: None } };

/// The whole of what was written, scrolled out or not.
#[derive(Debug)]
pub(super) struct Screen {
    pub(super) width: usize,
    rows: Vec<Vec<Cell>>,
    row: usize,
    column: usize,
    look: Look,
}

impl Screen {
    /// What this text leaves on a terminal of that width.
    pub(super) fn of(text: &str, width: usize) -> Self {
        let mut screen = Self { width, rows: vec![Vec::new()], row: 0, column: 0, look: Look::default() };
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\u{1b}' => screen.escape(&mut chars),
                '\r' => screen.column = 0,
                '\n' => screen.down(),
                '\u{8}' => screen.column = screen.column.saturating_sub(1),
                '\t' => screen.column = (screen.column / 8 + 1) * 8,
                c if c.is_control() => {}
                c => screen.put(c),
            }
        }
        screen
    }

    /// Its rows without what is empty at their ends and below the last one.
    pub(super) fn rows(&self) -> Vec<&[Cell]> {
        let filled = |row: &[Cell]| row.iter().rposition(|cell| cell.shown != ' ').map_or(0, |last| last + 1);
        let mut rows: Vec<&[Cell]> = self.rows.iter().map(|row| &row[..filled(row)]).collect();
        while rows.last().is_some_and(|row| row.is_empty()) {
            rows.pop();
        }
        rows
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn put(&mut self, shown: char) {
        if self.column >= self.width {
            self.column = 0;
            self.down();
        }
        let (column, look) = (self.column, self.look);
        let row = &mut self.rows[self.row];
        if row.len() <= column {
            row.resize(column + 1, EMPTY);
        }
        row[column] = Cell { shown, look };
        self.column += 1;
    }

    fn escape(&mut self, chars: &mut Peekable<Chars<'_>>) {
        match chars.next() {
            Some('[') => {
                let mut numbers = String::new();
                while let Some(c) = chars.next_if(|c| !('@'..='~').contains(c)) {
                    numbers.push(c);
                }
                if let Some(end) = chars.next() {
                    self.control(end, &numbers);
                }
            }
            // The title of a window and the like, up to its end.
            Some(']') => while chars.next_if(|c| *c != '\u{7}' && *c != '\u{1b}').is_some() {},
            _ => {}
        }
    }

    fn control(&mut self, end: char, numbers: &str) {
        let list: Vec<usize> = numbers.split(';').map(|n| n.parse().unwrap_or(0)).collect();
        let first = list.first().copied().unwrap_or(0);
        let by = first.max(1);
        match end {
            'm' => list.iter().for_each(|n| self.paint(*n)),
            'K' => match first {
                0 => self.rows[self.row].truncate(self.column),
                1 => self.rows[self.row].iter_mut().take(self.column).for_each(|cell| *cell = EMPTY),
                _ => self.rows[self.row].clear(),
            },
            'J' if first == 0 => {
                self.rows[self.row].truncate(self.column);
                self.rows.truncate(self.row + 1);
            }
            'A' => self.row = self.row.saturating_sub(by),
            'B' => (0..by).for_each(|_| self.down()),
            'C' => self.column += by,
            'D' => self.column = self.column.saturating_sub(by),
            'G' => self.column = by - 1,
            _ => {}
        }
    }

    fn paint(&mut self, number: usize) {
        match number {
            0 => self.look = Look::default(),
            1 => self.look.bold = true,
            2 => self.look.dim = true,
            22 => (self.look.bold, self.look.dim) = (false, false),
            30..=37 => self.look.color = u8::try_from(number - 30).ok(),
            90..=97 => self.look.color = u8::try_from(number - 90).ok(),
            39 => self.look.color = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(written: &str, width: usize) -> Vec<String> {
        Screen::of(written, width).rows().iter().map(|row| row.iter().map(|c| c.shown).collect()).collect()
    }

    #[test]
    fn a_status_line_is_redrawn_in_place() {
        assert_eq!(text("one\r\n50 %\r\u{1b}[Ktwo\r\n60 %", 80), ["one", "two", "60 %"]);
        assert_eq!(text("a\r\nb\r\nc\u{1b}[2A\r\u{1b}[Jx\r\n", 80), ["x"]);
        assert_eq!(text("\u{1b}]0;title\u{7}plain", 80), ["plain"]);
    }

    #[test]
    fn long_lines_go_on_below_and_looks_end() {
        assert_eq!(text("abcdef", 4), ["abcd", "ef"]);
        let screen = Screen::of("\u{1b}[1;31mx\u{1b}[0my", 4);
        let looks: Vec<Look> = screen.rows()[0].iter().map(|cell| cell.look).collect();
        assert_eq!(looks, [Look { bold: true, dim: false, color: Some(1) }, Look::default()]);
    }
}
