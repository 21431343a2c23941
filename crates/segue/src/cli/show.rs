//! `segue show`: what a run left behind: checkpoints, gate results, the agent's own output.

use segue_machine::{Choice, Effect, Event, Notice, View};

use super::args::Show;
use super::failure::Failure;
use super::open::Place;
use super::{out, transcript};
use crate::checkpoint::Document;
use crate::history::{self, Past};
use crate::store::safely;

/// Shows parts of a run.
pub(super) fn show(at: &Place, args: &Show) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let row = at.run(&reader, args.run.as_deref())?;
    if args.raw && args.output.is_none() && args.transcript.is_none() {
        return Err(Failure::usage("--raw needs --output or --transcript"));
    }
    if let Some(session) = args.transcript.filter(|_| !args.raw) {
        let only = Some(session).filter(|session| *session > 0);
        return transcript::transcript(at, &row.id, only, args.follow);
    }
    let past = history::read(&reader, &row.id, 0)?;
    let mut decisions = Vec::new();
    let machine = history::replay(&past, |_, effects, _| decisions.extend(decided(effects)));
    if let Some(id) = &args.checkpoint {
        return checkpoint(at, &past, id);
    }
    if let Some(session) = args.output.or(args.transcript) {
        return output(at, &row.id, session, args.raw, machine.view());
    }
    if args.gates {
        return gates(at, machine.view());
    }
    overview(at, &row.id, &past, &decisions, machine.view())
}

// What was decided about who goes on.
fn decided(effects: &[Effect]) -> impl Iterator<Item = Notice> {
    effects.iter().filter_map(|effect| {
        let Effect::Announce(notice @ Notice::HandoffDecided { .. }) = effect else { return None };
        Some(notice.clone())
    })
}

fn show_decisions(decisions: &[Notice]) {
    if !decisions.is_empty() {
        out::line("decisions");
    }
    for notice in decisions {
        let Notice::HandoffDecided { from, from_agent, to_agent, kind, reason, considered, .. } = notice
        else {
            continue;
        };
        let kind = serde_json::to_value(kind).ok().and_then(|k| k.as_str().map(str::to_owned));
        let to = to_agent.as_ref().map_or_else(String::new, |to| format!(" → {to}"));
        let kind = kind.unwrap_or_default();
        out::line(&segue_report::plain(&format!("  session {from} {from_agent}{to}, {kind}: {reason}")));
        for one in considered {
            let mark = match one.verdict {
                Choice::Chosen => "chosen",
                Choice::Possible => "possible",
                Choice::Skipped => "skipped",
            };
            out::line(&segue_report::plain(&format!("    {mark}  {}: {}", one.agent, one.why)));
        }
    }
}

fn overview(at: &Place, run: &str, past: &[Past], decisions: &[Notice], view: &View) -> Result<u8, Failure> {
    let checkpoints = checkpoints(past);
    if at.json {
        let list: Vec<_> = checkpoints
            .iter()
            .map(|(id, path, session)| serde_json::json!({ "checkpoint": id, "path": path, "session": session }))
            .collect();
        let doc = serde_json::json!({ "run": run, "task": view.spec.as_ref().map(|s| &s.task.text), "verdict": view.outcome, "last_message": view.last_message, "gate_changes": view.gate_changes, "checkpoints": list, "decisions": decisions });
        out::line(&doc.to_string());
        return Ok(0);
    }
    let store = at.store();
    out::line(&format!("run {run}"));
    if let Some(spec) = &view.spec {
        out::lines(spec.task.text.lines().take(10).map(|l| format!("  {}", segue_report::plain(l))));
    }
    if let Some(outcome) = &view.outcome {
        out::line(&segue_report::plain(&format!("{}: {}", outcome.verdict.word(), outcome.reason)));
    }
    out::lines(
        view.gate_changes.iter().map(|change| segue_report::plain(&format!("  {}", change.sentence()))),
    );
    if let Some(message) = &view.last_message {
        out::line("the agent's last message");
        out::lines(message.lines().map(|l| format!("  {}", segue_report::plain(l))));
    }
    out::line("checkpoints");
    for (id, path, session) in &checkpoints {
        let readable = path
            .strip_suffix(".gz")
            .unwrap_or(path)
            .strip_suffix(".json")
            .map_or_else(|| path.clone(), |p| format!("{p}.md"));
        out::line(&format!("  {id}  session {session}  {readable}"));
    }
    show_decisions(decisions);
    out::line("agent output");
    for n in 1..=view.sessions {
        out::line(&format!("  session {n}  {}", store.shown(&store.output(run, n))));
    }
    out::line("snapshots");
    out::line(&format!("  segue snapshot list {run}"));
    Ok(0)
}

fn checkpoints(past: &[Past]) -> Vec<(String, String, u32)> {
    let of = |step: &Past| {
        let Event::CheckpointTaken { checkpoint, path, session, .. } = &step.record.event else {
            return None;
        };
        Some((checkpoint.clone(), path.clone(), *session))
    };
    past.iter().filter_map(of).collect()
}

fn checkpoint(at: &Place, past: &[Past], id: &str) -> Result<u8, Failure> {
    let known = checkpoints(past);
    let found = known.iter().find(|(known, ..)| known == id || known.ends_with(&format!("-{id}")));
    let Some((_, path, _)) = found else {
        let ids: Vec<&str> = known.iter().map(|(id, ..)| id.as_str()).collect();
        return Err(Failure::usage(format!(
            "there is no checkpoint {id:?} in this run; it has: {}",
            ids.join(", ")
        )));
    };
    let document = Document::read(&at.store().find(path))?;
    if at.json {
        out::json(&document)?;
    } else {
        out::lines(document.summary.lines().map(segue_report::plain));
    }
    Ok(0)
}

fn output(at: &Place, run: &str, session: u32, raw: bool, view: &View) -> Result<u8, Failure> {
    let n = if session == 0 { view.sessions } else { session };
    let store = at.store();
    for path in [store.output(run, n), store.errors(run, n)] {
        match safely::read(&path) {
            Ok(bytes) if raw => out::bytes(&bytes),
            Ok(bytes) => {
                out::lines(String::from_utf8_lossy(&bytes).lines());
            }
            Err(error) => return Err(Failure::usage(format!("{}: {error}", store.shown(&path)))),
        }
    }
    Ok(0)
}

fn gates(at: &Place, view: &View) -> Result<u8, Failure> {
    for gate in view.gates.values() {
        if at.json {
            out::line(&serde_json::to_string(gate).unwrap_or_default());
            continue;
        }
        let exit = gate.ended();
        out::line(&format!(
            "{}  {}  {exit}  {} ms",
            gate.gate,
            if gate.passed { "passes" } else { "fails" },
            gate.ms
        ));
        out::lines(gate.tail.lines().map(|l| format!("  {}", segue_report::plain(l))));
    }
    Ok(0)
}
