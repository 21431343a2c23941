//! Where a value came from, or where a problem lies.

use std::fmt;

/// The layer that a value came from, with the exact place. Later variants beat earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// The policy's preset.
    Preset(String),
    /// The user's file.
    User(Spot),
    /// The project's file.
    Project(Spot),
    /// An environment variable.
    Env(String),
    /// A flag on the command line.
    Flag(&'static str),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The file as it was named.
    pub(crate) file: String,
    /// Counted from 1.
    pub(crate) line: usize,
    /// Counted from 1, in characters.
    pub(crate) column: usize,
}

impl Origin {
    /// Which layer it is; a higher one beats a lower one.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Preset(_) => 1,
            Self::User(_) => 2,
            Self::Project(_) => 3,
            Self::Env(_) => 4,
            Self::Flag(_) => 5,
        }
    }

    /// Whether a person set it.
    pub(crate) fn is_set(&self) -> bool {
        self.rank() > 1
    }

    /// The place in a file, if it is in one.
    pub(crate) fn spot(&self) -> Option<&Spot> {
        match self {
            Self::User(spot) | Self::Project(spot) => Some(spot),
            Self::Default | Self::Preset(_) | Self::Env(_) | Self::Flag(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::User(spot) | Self::Project(spot) => write!(f, "{}:{}", spot.file, spot.line),
            Self::Env(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Turns bytes of one file into places.
#[derive(Debug)]
pub(crate) struct Spots<'a> {
    file: &'a str,
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Spots<'a> {
    /// The places of this file.
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Self { file, text, line_starts: [0].into_iter().chain(starts).collect() }
    }

    /// The place at this byte; past the end is the end.
    pub(crate) fn at(&self, byte: usize) -> Spot {
        let line = self.line_starts.partition_point(|start| *start <= byte).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let chars = self.text.get(start..).unwrap_or("").char_indices();
        let column = 1 + chars.take_while(|(i, _)| start + i < byte).count();
        Spot { file: self.file.to_owned(), line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let spots = Spots::new("f", "a\r\nü = 1\n");
        let at = |byte| (spots.at(byte).line, spots.at(byte).column);
        assert_eq!([at(0), at(3), at(6), at(11), at(99)], [(1, 1), (2, 1), (2, 3), (3, 1), (3, 1)]);
    }
}
