//! The matrix of continuity: which agent, with which window, works how, with results of which size. Data only; the cells are
//! run with the real CLIs by the tests of the program.

use std::fmt;
use std::str::FromStr;

use crate::model_server::script::Manner;

/// Every agent with its two windows.
pub const AGENTS: [(&str, u64); 8] = [
    ("claude", 200_000),
    ("claude", 1_000_000),
    ("codex", 272_000),
    ("codex", 40_000),
    ("gemini", 1_000_000),
    ("gemini", 50_000),
    ("opencode", 200_000),
    ("opencode", 128_000),
];

/// Tokens of one result.
pub const SIZES: [&str; 4] = ["2.5k", "7k", "15k", "mixed"];

/// Every sort of worker. The last two need an agent that can be asked beside its work.
pub const PERSONAS: [&str; 8] = [
    "no-list",
    "list",
    "eager",
    "silent",
    "lying",
    "paraphrasing",
    "believes-interruption",
    "tool-answering",
];

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The agent.
    pub agent: String,
    /// Its window in tokens.
    pub window: u64,
    /// The size of results, one of [`SIZES`].
    pub size: String,
    /// The sort of worker, one of [`PERSONAS`].
    pub persona: String,
    /// The policy.
    pub policy: String,
}

impl Cell {
    fn new((agent, window): (&str, u64), size: &str, persona: &str) -> Self {
        let (size, persona) = (size.to_owned(), persona.to_owned());
        Self { agent: agent.to_owned(), window, size, persona, policy: "auto".to_owned() }
    }

    /// How its worker answers a request for a checkpoint.
    pub fn manner(&self) -> Manner {
        match self.persona.as_str() {
            "eager" => Manner::Eager,
            "silent" => Manner::Silent,
            "lying" => Manner::Lying,
            "paraphrasing" => Manner::Paraphrasing,
            "believes-interruption" => Manner::BelievesInterruption,
            "tool-answering" => Manner::ToolAnswering,
            _ => Manner::Plain,
        }
    }

    /// Tokens of each of the results that it reads in turn.
    pub fn sizes(&self) -> &'static [u64] {
        match self.size.as_str() {
            "2.5k" => &[2_500],
            "7k" => &[7_000],
            "15k" => &[15_000],
            _ => &[2_500, 15_000, 400, 7_000, 1_200],
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}k/{}/{}/{}", self.agent, self.window / 1_000, self.size, self.persona, self.policy)
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("{text}: a cell is AGENT/WINDOW/SIZE/PERSONA/POLICY, as in claude/200k/7k/no-list/auto")
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [agent, window, size, persona, policy] = parts[..] else { return Err(wrong()) };
        let window: u64 = window.trim_end_matches('k').parse().map_err(|_| wrong())?;
        if !SIZES.contains(&size) || !PERSONAS.contains(&persona) {
            return Err(wrong());
        }
        Ok(Self { policy: policy.to_owned(), ..Self::new((agent, window * 1_000), size, persona) })
    }
}

/// All cells. Gemini CLI cannot be asked beside its work, so two personas mean nothing there.
pub fn all() -> Vec<Cell> {
    let mut cells = Vec::new();
    for agent in AGENTS {
        let personas = if agent.0 == "gemini" { &PERSONAS[..6] } else { &PERSONAS[..] };
        for persona in personas {
            cells.extend(SIZES.iter().map(|size| Cell::new(agent, size, persona)));
        }
    }
    cells
}

/// A part of them in which each agent meets every persona, every size and both of its windows.
pub fn pairwise() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (place, pair) in AGENTS.chunks(2).enumerate() {
        let personas = if pair[0].0 == "gemini" { &PERSONAS[..6] } else { &PERSONAS[..] };
        let of = |(n, persona): (usize, &&str)| {
            Cell::new(pair[(n / 2 + place) % 2], SIZES[(n + place) % 4], persona)
        };
        cells.extend(personas.iter().enumerate().map(of));
    }
    cells
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn all_cells_are_240_and_each_is_read_as_it_is_written() {
        let cells = all();
        let names: BTreeSet<String> = cells.iter().map(Cell::to_string).collect();
        assert_eq!((cells.len(), names.len()), (240, 240));
        assert!(cells.iter().all(|cell| cell.to_string().parse() == Ok(cell.clone())));
        assert!("claude/200k/7k/nobody/auto".parse::<Cell>().is_err() && "claude".parse::<Cell>().is_err());
    }

    #[test]
    fn the_part_meets_every_persona_size_and_window_of_each_agent() {
        let cells = pairwise();
        assert!(cells.iter().all(|cell| all().contains(cell)));
        for agent in ["claude", "codex", "gemini", "opencode"] {
            let of: Vec<&Cell> = cells.iter().filter(|cell| cell.agent == agent).collect();
            let count =
                |by: fn(&Cell) -> String| of.iter().map(|cell| by(cell)).collect::<BTreeSet<_>>().len();
            assert_eq!(count(|cell| cell.persona.clone()), if agent == "gemini" { 6 } else { 8 });
            assert_eq!((count(|cell| cell.size.clone()), count(|cell| cell.window.to_string())), (4, 2));
        }
    }
}
