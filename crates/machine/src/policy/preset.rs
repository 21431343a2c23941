//! The named policies, as data.

use crate::policy::{Action, At, Economy, Lines, Moves, Percent, Policy, Stage};
use crate::{CommitMode, Depth};

/// A named policy with the limits and habits its users expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// The policy itself.
    pub policy: Policy,
    /// Maximum number of fresh sessions after a full context.
    pub max_restarts: Option<u32>,
    /// The most that `max_restarts` may be set to.
    pub restart_cap: Option<u32>,
    /// What saving means.
    pub commit: CommitMode,
    /// One line for `segue config show` and the documentation.
    pub about: &'static str,
}

/// The names of all presets, the default first.
pub const NAMES: [&str; 7] = ["auto", "seamless", "observe", "loop", "staged", "phased", "native"];

/// The preset of that name.
pub fn find(name: &str) -> Option<Preset> {
    let preset = match name {
        "auto" => Preset {
            policy: Policy {
                economy: Some(Economy::default()),
                ..policy(name, vec![stage(At::Forecast, &[Action::Tell, Action::Restart])])
            },
            ..plain("waits for a good moment between a soft and a hard line, then a fresh session")
        },
        "seamless" => Preset {
            policy: policy(name, vec![stage(at(90), &[Action::Checkpoint(Depth::Full), Action::Restart])]),
            ..plain("at 90 % the agent writes a checkpoint, and a fresh session continues")
        },
        "observe" => Preset {
            policy: Policy {
                handoff_file: true,
                ..policy(
                    name,
                    vec![
                        stage(at(70), &[Action::Warn, Action::Tell]),
                        stage(at(90), &[Action::Warn, Action::Tell]),
                    ],
                )
            },
            ..plain("warns at 70 % and 90 % and stops nothing; HANDOFF.md when the agent gives up")
        },
        "loop" => Preset {
            policy: Policy {
                max_chars: Some(2_000),
                ..policy(name, vec![stage(at(70), &[Action::Checkpoint(Depth::Brief), Action::Restart])])
            },
            max_restarts: Some(3),
            restart_cap: Some(5),
            ..plain("at 70 % a summary of at most 2,000 characters, then a fresh session; 3 restarts")
        },
        "staged" => Preset {
            policy: policy(
                name,
                vec![
                    stage(at(80), &[Action::Warn]),
                    stage(at(90), &[Action::Warn, Action::Checkpoint(Depth::Brief)]),
                    stage(at(95), &[Action::Warn, Action::Checkpoint(Depth::Full), Action::ChooseFallback]),
                    stage(at(98), &[Action::Warn, Action::Checkpoint(Depth::Emergency), Action::Handoff]),
                ],
            ),
            ..plain(
                "80 warn, 90 brief checkpoint, 95 complete checkpoint and fallback chosen, 98 forced handoff",
            )
        },
        "phased" => Preset {
            policy: policy(
                name,
                vec![
                    stage(at(80), &[Action::Checkpoint(Depth::Full), Action::Restart]),
                    stage(At::Tools(100), &[Action::Checkpoint(Depth::Full), Action::Restart]),
                ],
            ),
            max_restarts: Some(3),
            commit: CommitMode::Branch,
            ..plain("at 80 % or 100 tools a graceful stop, a commit and a fresh session; 3 restarts")
        },
        "native" => Preset {
            policy: Policy {
                native: true,
                ..policy(name, vec![stage(at(70), &[Action::Warn]), stage(at(90), &[Action::Warn])])
            },
            ..plain("leaves compaction to the agent, and says when it happens")
        },
        _ => return None,
    };
    Some(preset)
}

fn plain(about: &'static str) -> Preset {
    Preset {
        policy: policy("", Vec::new()),
        max_restarts: None,
        restart_cap: None,
        commit: CommitMode::Snapshot,
        about,
    }
}

fn policy(name: &str, stages: Vec<Stage>) -> Policy {
    Policy {
        name: name.to_owned(),
        stages,
        lines: Lines::default(),
        moves: Some(Moves::default()),
        tell: true,
        replacing_off: false,
        max_chars: None,
        handoff_file: false,
        economy: None,
        native: false,
    }
}

fn stage(at: At, actions: &[Action]) -> Stage {
    Stage { at, actions: actions.to_vec() }
}

fn at(percent: u32) -> At {
    At::Percent(Percent::whole(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_preset_that_carries_it() {
        for name in NAMES {
            assert_eq!(find(name).unwrap().policy.name, name);
        }
        assert!(find("Auto").is_none());
    }
}
