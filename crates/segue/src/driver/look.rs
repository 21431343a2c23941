//! A look at the session from outside: what its processes do, and whether files change.
//!
//! Made when the machine's timer for it runs out, elsewhere, and only while the agent is quiet.

use std::time::{Duration, Instant};

use segue_machine::{Activity, Event, Timer};

use super::session::Live;
use super::{Driver, Input};
use crate::process::{self, activity};

/// An agent that wrote a byte within this time needs no look.
const QUIET_MS: u64 = 200;

/// Asking git takes longer than the rest: it rests for this many times as long as it took.
const REST: u32 = 100;

/// What the last looks found that decides whether git is asked again.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// CPU time at the last look, and when that was.
    cpu: Option<(u64, Instant)>,
    files_after: Option<Instant>,
}

/// What one look found.
#[derive(Debug)]
pub(super) struct Found {
    session: u32,
    activity: Activity,
    files_after: Option<Instant>,
}

impl Driver {
    pub(super) fn timer_fired(&mut self, timer: Timer) {
        let quiet_ms = self.live.as_ref().map_or(0, Live::quiet_ms);
        let process = self.live.as_ref().and_then(Live::process);
        match process.filter(|_| timer == Timer::Idle && quiet_ms >= QUIET_MS) {
            Some((session, pid, start)) => self.look(session, pid, start),
            None => self.queue.push_back(Event::TimerFired { timer, quiet_ms, activity: None }),
        }
    }

    fn look(&mut self, session: u32, pid: u32, start: u64) {
        let mark = format!("{}={}.{session}", process::SESSION_MARK, self.place.run);
        let (place, sender) = (self.place.clone(), self.sender.clone());
        let (before, after) = (self.looks.cpu, self.looks.files_after);
        tokio::task::spawn_blocking(move || {
            let mut activity = activity::look(pid, start, &mark);
            let still = stands_still(activity.cpu_ms, before);
            let mut files_after = None;
            if let Some(repo) = place.repo.as_ref().filter(|_| still && after.is_none_or(is_past)) {
                let began = Instant::now();
                let untouched = repo.untouched_for().ok().map(|since| since.unwrap_or(Duration::MAX));
                activity.files_ms =
                    untouched.map(|since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
                files_after = Some(Instant::now() + began.elapsed() * REST);
            }
            let _ = sender.blocking_send(Input::Looked(Found { session, activity, files_after }));
        });
    }

    /// Takes in what a look found; that of a session that is over is of no use, and has no timer to be answered.
    pub(super) fn looked(&mut self, found: &Found) {
        let Some(live) = self.live.as_ref().filter(|live| live.n() == found.session) else { return };
        let quiet_ms = live.quiet_ms();
        self.looks.cpu = found.activity.cpu_ms.map(|ms| (ms, Instant::now()));
        self.looks.files_after = found.files_after.or(self.looks.files_after);
        let activity = Some(found.activity);
        self.queue.push_back(Event::TimerFired { timer: Timer::Idle, quiet_ms, activity });
    }
}

// Less than a tenth of a core: what a runtime uses that only waits.
fn stands_still(cpu_ms: Option<u64>, before: Option<(u64, Instant)>) -> bool {
    let (Some(now), Some((then, at))) = (cpu_ms, before) else { return cpu_ms.is_none() };
    u128::from(now.saturating_sub(then)) * 10 < at.elapsed().as_millis()
}

fn is_past(at: Instant) -> bool {
    Instant::now() >= at
}
