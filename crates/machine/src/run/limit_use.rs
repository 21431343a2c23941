//! One limit on spending, how much of it is used, and how that is said.

use crate::amounts::{count, duration, short};
use crate::{Limit, Outcome, Verdict};

/// From here on a limit is near, in percent.
const NEAR: u64 = 80;

/// One limit and how much of it is used.
pub(super) struct Use {
    pub(super) limit: Limit,
    /// What a person would call it.
    pub(super) name: &'static str,
    pub(super) used: u64,
    pub(super) most: u64,
    pub(super) unit: Unit,
    /// How it is raised.
    pub(super) raise: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Money,
    Tokens,
    Sessions,
    Millis,
}

impl Unit {
    pub(super) fn say(self, amount: u64) -> String {
        match self {
            Self::Money => dollars(amount),
            Self::Tokens => format!("{} tokens", short(amount)),
            Self::Sessions => count(amount, "session"),
            Self::Millis => duration(amount),
        }
    }
}

impl Use {
    pub(super) fn reached(&self) -> bool {
        self.used >= self.most
    }

    /// Whether four fifths of it are used, and not all.
    pub(super) fn near(&self) -> bool {
        self.used.saturating_mul(100) >= self.most.saturating_mul(NEAR) && !self.reached()
    }

    pub(super) fn left(&self) -> u64 {
        self.most.saturating_sub(self.used)
    }

    pub(super) fn outcome(&self) -> Outcome {
        let (most, used) = (self.unit.say(self.most), self.unit.say(self.used));
        Outcome::new(Verdict::Stopped, format!("{} of {most} is reached ({used} so far)", self.name))
            .because_of(self.limit)
            .advise(self.raise.clone())
    }
}

/// An amount of money as people write it; cents, or more digits below one.
pub(super) fn dollars(musd: u64) -> String {
    if musd > 0 && musd < 1_000_000 {
        let digits = format!("{musd:06}");
        let short = digits.trim_end_matches('0');
        return format!("$0.{short:0<2}");
    }
    format!("${}.{:02}", musd / 1_000_000, musd % 1_000_000 / 10_000)
}
