//! What can go wrong in a rehearsal: the names that are typed, how long each lasts, and what segue must take it for.

use segue_machine::AgentFailure;
use segue_rehearsal::model_server::script::{Fault, FaultKind};

use crate::cli::failure::Failure;

/// Longer than an agent waits for a byte in a rehearsal, shorter than segue does.
const STALL_MS: u64 = 14_000;

/// Something that goes wrong, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Its name.
    pub(super) name: &'static str,
    /// When.
    pub(super) when: When,
    /// How often; `None`: until the run has stopped.
    pub(super) times: Option<u32>,
    kind: FaultKind,
}

/// When it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// At the first step.
    Start,
    /// At the step in the middle.
    Middle,
    /// When a checkpoint is asked for.
    Checkpoint,
}

impl When {
    /// As it is typed.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// Name, kind, and how often it comes when nobody says: refusals last, accidents of the wire happen once.
const KNOWN: [(&str, FaultKind, Option<u32>); 10] = [
    ("429", FaultKind::RateLimit { retry_after: Some(2), headers: true }, None),
    ("429-no-reset", FaultKind::RateLimit { retry_after: None, headers: false }, None),
    ("529", FaultKind::Overloaded, None),
    ("401", FaultKind::Unauthorized, None),
    ("500", FaultKind::ServerError, None),
    ("quota", FaultKind::Quota, None),
    ("cut", FaultKind::CutStream, Some(1)),
    ("stall", FaultKind::Stall { ms: STALL_MS }, Some(1)),
    ("hang", FaultKind::Hang, Some(1)),
    ("overflow", FaultKind::Overflow, Some(1)),
];

impl Trouble {
    /// Reads what was typed.
    pub(super) fn read(fault: &str, when: &str, times: Option<&str>) -> Result<Self, Failure> {
        let Some((name, kind, usual)) = KNOWN.into_iter().find(|(name, ..)| *name == fault) else {
            let known = KNOWN.map(|(name, ..)| name).join(", ");
            return Err(Failure::usage(format!("unknown fault {fault:?}; known faults: {known}")));
        };
        let when = match when {
            "start" => When::Start,
            "middle" => When::Middle,
            "checkpoint" => When::Checkpoint,
            _ => {
                return Err(Failure::usage(format!(
                    "--when must be start, middle or checkpoint, not {when:?}"
                )));
            }
        };
        let times = match times {
            None => usual,
            Some("always") => None,
            Some(n) => match n.parse() {
                Ok(n) if n > 0 => Some(n),
                _ => {
                    return Err(Failure::usage(format!("--times must be 1 or more, or `always`, not {n:?}")));
                }
            },
        };
        Ok(Self { name, when, times, kind })
    }

    /// The fault for the server, in a job of so many steps.
    pub(super) fn fault(&self, steps: u32) -> Fault {
        Fault {
            at_request: None,
            at_step: match self.when {
                When::Start => Some(1),
                When::Middle => Some(steps.div_ceil(2)),
                When::Checkpoint => None,
            },
            at_checkpoint: self.when == When::Checkpoint,
            kind: self.kind,
            times: self.times.unwrap_or(u32::MAX),
        }
    }

    /// What segue must take it for when it ends a turn; `None` where anything will do.
    pub(super) fn meaning(&self) -> Option<AgentFailure> {
        match self.kind {
            FaultKind::RateLimit { .. } => Some(AgentFailure::RateLimited),
            FaultKind::Overloaded => Some(AgentFailure::Overloaded),
            FaultKind::Unauthorized | FaultKind::Forbidden => Some(AgentFailure::Unauthorised),
            FaultKind::Quota => Some(AgentFailure::Quota),
            FaultKind::ServerError
            | FaultKind::CutStream
            | FaultKind::Stall { .. }
            | FaultKind::Hang
            | FaultKind::Overflow => None,
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let often = match self.times {
            None => "until the run stops".to_owned(),
            Some(1) => "once".to_owned(),
            Some(n) => format!("{n} times"),
        };
        let when = match self.when {
            When::Start => "at the first step",
            When::Middle => "in the middle",
            When::Checkpoint => "when a checkpoint is asked for",
        };
        format!("{} {when}, {often}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_placed_where_it_was_asked_for_and_lasts_as_long() {
        let fault = |when, times| Trouble::read("401", when, times).unwrap().fault(10);
        assert_eq!((fault("start", None).at_step, fault("start", None).times), (Some(1), u32::MAX));
        assert_eq!((fault("middle", Some("3")).at_step, fault("middle", Some("3")).times), (Some(5), 3));
        let late = fault("checkpoint", Some("always"));
        assert_eq!((late.at_step, late.at_checkpoint, late.times), (None, true, u32::MAX));
        assert_eq!(Trouble::read("hang", "middle", None).unwrap().times, Some(1));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (fault, when, times) in [
            ("418", "middle", None),
            ("401", "later", None),
            ("401", "start", Some("0")),
            ("401", "start", Some("x")),
        ] {
            assert!(Trouble::read(fault, when, times).is_err(), "{fault} {when} {times:?}");
        }
    }
}
