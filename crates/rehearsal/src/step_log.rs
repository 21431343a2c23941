//! What really happened, as the step script and the agent wrote it down: the judge of every test that says
//! "none lost, none twice".

use std::collections::BTreeSet;

/// The lines of a step log, in order. Lines that cannot be read are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepLog {
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Start { step: u32, pid: u32 },
    End { step: u32, pid: u32 },
    Session(String),
    Call(u64),
    Overflow(u64),
    Told(String),
}

impl StepLog {
    /// Reads a log.
    pub fn parse(text: &str) -> Self {
        Self { lines: text.lines().filter_map(line).collect() }
    }

    /// Steps that ended at least once.
    pub fn distinct_done(&self) -> BTreeSet<u32> {
        self.ends().collect()
    }

    /// Steps that ended more than once.
    pub fn repeated(&self) -> BTreeSet<u32> {
        more_than_once(self.ends())
    }

    /// Steps that were started more than once.
    pub fn started_twice(&self) -> BTreeSet<u32> {
        more_than_once(
            self.lines
                .iter()
                .filter_map(|l| if let Line::Start { step, .. } = l { Some(*step) } else { None }),
        )
    }

    /// Steps with a start that has no end, and that did not end later either.
    pub fn half_done(&self) -> BTreeSet<u32> {
        let half = |(i, line): (usize, &Line)| {
            let Line::Start { step, .. } = line else { return None };
            let ended = self.lines[i..].iter().any(|l| matches!(l, Line::End { step: s, .. } if s == step));
            (!ended).then_some(*step)
        };
        self.lines.iter().enumerate().filter_map(half).collect()
    }

    /// Steps out of 1 to `steps` that never ended.
    pub fn lost(&self, steps: u32) -> BTreeSet<u32> {
        let done = self.distinct_done();
        (1..=steps).filter(|n| !done.contains(n)).collect()
    }

    /// Processes of steps that were started and never ended.
    pub fn open_pids(&self) -> BTreeSet<u32> {
        let ended: BTreeSet<u32> = self
            .lines
            .iter()
            .filter_map(|l| if let Line::End { pid, .. } = l { Some(*pid) } else { None })
            .collect();
        let started =
            self.lines.iter().filter_map(|l| if let Line::Start { pid, .. } = l { Some(*pid) } else { None });
        started.filter(|pid| !ended.contains(pid)).collect()
    }

    /// The sessions that were opened, in order.
    pub fn sessions(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|l| if let Line::Session(id) = l { Some(id.as_str()) } else { None })
            .collect()
    }

    /// The tokens of every model call, in order.
    pub fn calls(&self) -> Vec<u64> {
        self.lines
            .iter()
            .filter_map(|l| if let Line::Call(tokens) = l { Some(*tokens) } else { None })
            .collect()
    }

    /// The tokens of every call that was too long, in order.
    pub fn overflows(&self) -> Vec<u64> {
        self.lines
            .iter()
            .filter_map(|l| if let Line::Overflow(tokens) = l { Some(*tokens) } else { None })
            .collect()
    }

    /// What the agent was told while it worked, in order.
    pub fn told(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|l| if let Line::Told(text) = l { Some(text.as_str()) } else { None })
            .collect()
    }

    fn ends(&self) -> impl Iterator<Item = u32> {
        self.lines.iter().filter_map(|l| if let Line::End { step, .. } = l { Some(*step) } else { None })
    }
}

fn line(text: &str) -> Option<Line> {
    let mut words = text.split_whitespace();
    let kind = words.next()?;
    let first = words.next()?;
    match kind {
        "start" => Some(Line::Start { step: first.parse().ok()?, pid: words.next()?.parse().ok()? }),
        "end" => Some(Line::End { step: first.parse().ok()?, pid: words.next()?.parse().ok()? }),
        "session" => Some(Line::Session(first.to_owned())),
        "call" => Some(Line::Call(first.parse().ok()?)),
        "told" => Some(Line::Told(text.trim_start().strip_prefix("told ")?.to_owned())),
        "overflow" => Some(Line::Overflow(first.parse().ok()?)),
        _ => None,
    }
}

fn more_than_once(steps: impl Iterator<Item = u32>) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    steps.filter(|n| !seen.insert(*n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_done_repeated_half_done_and_lost_apart() {
        let log = StepLog::parse(
            "session a\ncall 120\nstart 1 10 5\nend 1 10 6\nstart 2 11 7\nstart 2 12 8\nend 2 12 9\n\
             start 3 13 9\nend 3 13 9\nstart 3 14 9\nend 3 14 9\nend 4 15 1\nstart 4 16 1\n\
             start 5\nrubbish\n\noverflow 9000\nsession b",
        );
        assert_eq!(log.distinct_done(), BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(log.repeated(), BTreeSet::from([3]));
        assert_eq!(log.started_twice(), BTreeSet::from([2, 3]));
        assert_eq!(log.half_done(), BTreeSet::from([4]));
        assert_eq!(log.lost(6), BTreeSet::from([5, 6]));
        assert_eq!(log.open_pids(), BTreeSet::from([11, 16]));
        assert_eq!((log.sessions(), log.calls(), log.overflows()), (vec!["a", "b"], vec![120], vec![9000]));
    }
}
