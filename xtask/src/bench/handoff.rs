//! From the threshold to the next session's first prompt, without the time that the agent itself takes.

use std::process::Command;

use segue_journal::Journal;
use segue_machine::policy::preset;
use segue_machine::{AgentEvent, Event};
use segue_rehearsal::sizing;

use super::program::{program, stage};
use super::{Row, median};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(super) fn rows() -> Result<Vec<Row>> {
    let seamless = preset::find("seamless").ok_or("a preset of our own is missing")?.policy;
    let (mut own, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let dir = tempfile::tempdir()?;
        let sized = sizing::for_policy(&seamless, 4);
        let repo = stage(dir.path(), sized.job.steps, &sized.script)?;
        let run = Command::new(program())
            .args(["run", "TASK.md", "--policy", "seamless"])
            .current_dir(&repo)
            .output()?;
        if !run.status.success() {
            return Err(String::from_utf8_lossy(&run.stdout).into());
        }
        let reader = Journal::read(&repo.join(".git/segue/runs"));
        let row = reader.runs()?.into_iter().next().ok_or("no run")?;
        let events: Vec<(u64, Event)> = reader
            .events(&row.id, 0, 1_000_000)?
            .iter()
            .map(|e| Ok((e.at, serde_json::from_str(&e.event)?)))
            .collect::<Result<_>>()?;
        let (o, w) = handoffs(&events);
        own.extend(o);
        whole.extend(w);
    }
    Ok(vec![Row {
        what: "threshold to the next session's prompt, segue's own part",
        figure: format!("{:.0} ms", median(own)),
        beside: format!("{:.0} ms with the agent's own part", median(whole)),
        bar: "≤ 5,000 ms",
    }])
}

// Per handoff: the time between what the agent did and what segue did about it, and the whole time.
fn handoffs(events: &[(u64, Event)]) -> (Vec<f64>, Vec<f64>) {
    let (mut own, mut whole) = (Vec::new(), Vec::new());
    let (mut answered, mut exited, mut ready) = (None, None, None);
    let mut sum = 0.0;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds between two events are few")]
    let gap = |from: u64, to: u64| to.saturating_sub(from) as f64;
    for (at, event) in events {
        #[expect(clippy::wildcard_enum_match_arm, reason = "all other events are beside the point here")]
        match event {
            Event::Agent { event: AgentEvent::Answered { .. }, .. } => (answered, sum) = (Some(*at), 0.0),
            Event::CheckpointTaken { .. } => sum += answered.map_or(0.0, |from| gap(from, *at)),
            Event::SessionExited { .. } => exited = answered.map(|_| *at),
            Event::SessionSpawned { .. } => sum += exited.take().map_or(0.0, |from| gap(from, *at)),
            Event::Agent { event: AgentEvent::Ready { .. }, .. } => ready = Some(*at),
            Event::PromptSent { .. } => {
                if let (Some(from), Some(begin)) = (ready.take(), answered.take()) {
                    own.push(sum + gap(from, *at));
                    whole.push(gap(begin, *at));
                }
            }
            _ => {}
        }
    }
    (own, whole)
}
