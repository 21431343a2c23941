//! `segue replay RUN --policy NAME`: what another policy would have decided, session by session.

mod contender;
mod decision;
mod other;
mod show;

use segue_machine::{Event, Run};

use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::driver::screen_width;
use crate::history::{self, Past};

use contender::Contender;
use decision::{Decision, decisions};
use other::Other;
use show::Shown;

/// Columns of an output that is no screen.
const UNKNOWN_WIDTH: u16 = 120;

/// One recorded session with what both policies decide in it.
#[derive(Debug, Default)]
pub(super) struct Session {
    n: u32,
    agent: String,
    /// Model calls that were recorded.
    calls: u32,
    /// How full it was at the end of what was recorded, in hundredths of a percent.
    percent: Option<u32>,
    recorded: Vec<Decision>,
    other: Vec<Decision>,
    /// The two decided otherwise at some point.
    parted: bool,
}

/// Shows what another policy would have decided on a run.
pub(super) fn what_if(
    at: &Place,
    run: Option<&str>,
    policy: &str,
    threshold: Option<f64>,
) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let row = at.run(&reader, run)?;
    let contender =
        Contender::new(policy, threshold).map_err(|why| Failure::usage(format!("--policy: {why}")))?;
    let past = history::read(&reader, &row.id, 0)?;
    let sessions = compare(&past, &contender);
    let began = past.first().map_or(0, |step| step.record.at);
    let shown =
        Shown { run: &row.id, began, recorded: &row.policy, contender: &contender, sessions: &sessions };
    if at.json {
        out::line(&shown.json().to_string());
    } else {
        out::lines(shown.words(Some(screen_width()).filter(|width| *width > 0).unwrap_or(UNKNOWN_WIDTH)));
    }
    Ok(0)
}

/// Drives the machine over the records as they were, and beside it, in each session, one under the other policy that
/// starts with everything the run had learned by then.
fn compare(past: &[Past], contender: &Contender) -> Vec<Session> {
    let (mut sessions, mut other): (Vec<Session>, Option<Other>) = (Vec::new(), None);
    let mut machine = Run::default();
    for step in past {
        if let (Some(side), Some(session)) = (other.as_mut(), sessions.last_mut()) {
            session.other.extend(side.take(&step.record, &step.decided));
        }
        machine.handle(&step.record);
        if let Some(session) = sessions.last_mut() {
            note(session, &machine);
            session.recorded.extend(decisions(&step.decided, step.record.at, &machine));
        }
        let now = machine.view().session.as_ref().map(|session| (session.n, session.agent.clone()));
        let open = sessions.last().filter(|_| other.is_some()).map(|session| session.n);
        if now.as_ref().map(|(n, _)| *n) == open && !matches!(step.record.event, Event::RunResumed { .. }) {
            continue;
        }
        finish(&mut sessions, other.take());
        if let Some((n, agent)) = now {
            sessions.push(Session { n, agent, ..Session::default() });
            other = Some(Other::new(machine.under(&contender.policy, &limits(&machine, contender))));
        }
    }
    finish(&mut sessions, other);
    sessions
}

fn finish(sessions: &mut [Session], other: Option<Other>) {
    if let (Some(session), Some(other)) = (sessions.last_mut(), other) {
        session.parted = other.parted();
    }
}

fn note(session: &mut Session, machine: &Run) {
    let Some(now) = machine.view().session.as_ref().filter(|now| now.n == session.n) else { return };
    session.calls = now.gauge.calls();
    session.percent = now.gauge.percent().map(|percent| percent.hundredths());
}

// The run's own limits, with the restarts that the other policy allows.
fn limits(machine: &Run, contender: &Contender) -> segue_machine::Limits {
    let own = machine.view().spec.as_ref().map(|spec| spec.limits.clone()).unwrap_or_default();
    segue_machine::Limits { max_restarts: contender.max_restarts, ..own }
}

#[cfg(test)]
#[path = "what_if_tests.rs"]
mod tests;
