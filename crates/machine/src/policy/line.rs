//! Where the two lines of a `forecast` stage lie, from what is known about the session.

use crate::forecast::Forecast;
use crate::policy::{Lines, Percent, Policy};

/// What a window has room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Where the agent itself would compact, block or fail.
    pub(crate) ceiling: u64,
    /// Tokens that asking for the checkpoint takes.
    pub(crate) ask: u64,
    /// The agent can be stopped before a result that does not fit.
    pub(crate) brake: bool,
}

/// Of 10,000 calls, how many may add more than is kept free above the hard line. A brake catches what comes beyond;
/// without one it is an overflow.
const MISSED_WITH_BRAKE: u32 = 1_500;
const MISSED_WITHOUT: u32 = 4;

/// Of 1,000 times, how often five calls may add more than is looked ahead from the soft line.
const MISSED_AHEAD: u32 = 2;

/// No line is drawn above this…
const MOST: Percent = Percent::whole(97);
/// …and none below these shares of the ceiling, nor of what was left above the first call, however small the window is
/// against what one call may add: a session must come to some work.
const LEAST_WITH_BRAKE: Least = Least { of_ceiling: (80, 88), of_room: (50, 70) };
const LEAST_WITHOUT: Least = Least { of_ceiling: (50, 60), of_room: (40, 50) };

/// Percentages for the soft and the hard line.
struct Least {
    of_ceiling: (u32, u32),
    of_room: (u32, u32),
}

impl Least {
    fn lines(&self, ceiling: u64, first: u64) -> (u64, u64) {
        let room = ceiling.saturating_sub(first);
        let at = |of_ceiling: u32, of_room: u32| {
            let by_room = first.saturating_add(Percent::whole(of_room).part_of(room));
            Percent::whole(of_ceiling).part_of(ceiling).max(by_room).min(ceiling)
        };
        (at(self.of_ceiling.0, self.of_room.0), at(self.of_ceiling.1, self.of_room.1))
    }
}

/// The lines for this session; those that somebody set stay.
pub(crate) fn forecast_lines(policy: &Policy, forecast: &Forecast, room: Room) -> Lines {
    let Some(moves) = policy.moves else { return policy.lines };
    let (missed, least) =
        if room.brake { (MISSED_WITH_BRAKE, LEAST_WITH_BRAKE) } else { (MISSED_WITHOUT, LEAST_WITHOUT) };
    let Room { ceiling, ask, .. } = room;
    let (least_soft, least_hard) = least.lines(ceiling, forecast.first().unwrap_or(0));
    let share = |tokens: u64| Percent::of(tokens, ceiling).unwrap_or(MOST).min(MOST);
    let hard = if moves.hard {
        let kept = ask.saturating_add(forecast.largest(missed));
        share(ceiling.saturating_sub(kept).max(least_hard))
    } else {
        policy.lines.hard
    };
    if !moves.soft {
        return Lines { soft: policy.lines.soft.min(hard), hard };
    }
    // From here a good moment most likely comes before the hard line does.
    let five = forecast.far(MISSED_AHEAD);
    let until_then = five.saturating_add(five / 5);
    let soft = share(hard.part_of(ceiling).saturating_sub(until_then));
    let least = if moves.hard { share(least_soft) } else { policy.lines.soft };
    Lines { soft: soft.max(least).min(hard), hard }
}
