//! `segue show --transcript`: what the agents said and did, session after session, whichever CLI it was. A tool is one line,
//! with the time it took and, where it failed, its exit code and last line.

use std::collections::BTreeMap;
use std::time::Duration;

use segue_machine::{AgentEvent, Effect, Event, Millis, Phase, Run, TurnEnd};
use segue_report::plain;

use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::history::{self, Past};

const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Writes the transcript of a run, and goes on with it while the run does.
pub(super) fn transcript(at: &Place, run: &str, session: Option<u32>, follow: bool) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let (mut machine, mut last) = (Run::default(), 0);
    let mut pages = Transcript { only: session, ..Transcript::default() };
    loop {
        for step in history::read(&reader, run, last)? {
            last = step.record.seq;
            machine.handle(&step.record);
            out::lines(pages.lines(&step));
        }
        let alive = open::owner(at, run, machine.view()).is_some();
        let over = machine.view().phase == Phase::Finished || (!alive && last == reader.last_seq(run)?);
        if !follow || over {
            return Ok(0);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// What is known of the conversation so far.
#[derive(Debug, Default)]
struct Transcript {
    /// Only this session.
    only: Option<u32>,
    /// The agents, by session.
    agents: BTreeMap<u32, String>,
    /// Since when tools run, by session and call.
    running: BTreeMap<(u32, String), Millis>,
    /// How calls end that are about to end.
    ends: BTreeMap<(u32, String), String>,
}

impl Transcript {
    fn lines(&mut self, step: &Past) -> Vec<String> {
        let mut lines = Vec::new();
        let at = step.record.at;
        if let Event::Agent { session, event } = &step.record.event
            && self.shows(*session)
        {
            self.agent(*session, event, at, &mut lines);
        }
        if let Event::PromptSent { session, chars } = &step.record.event
            && self.shows(*session)
        {
            lines.push(format!("segue: a prompt of {chars} characters"));
        }
        for effect in &step.decided {
            if let Effect::StartSession { session, agent, .. } = effect {
                self.agents.insert(*session, agent.clone());
                if self.shows(*session) {
                    lines.push(String::new());
                    lines.push(format!("session {session} · {}", plain(agent)));
                }
            }
        }
        lines
    }

    fn shows(&self, session: u32) -> bool {
        self.only.is_none_or(|only| only == session)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not said or done by the agent is no part of it"
    )]
    fn agent(&mut self, session: u32, event: &AgentEvent, at: Millis, lines: &mut Vec<String>) {
        let key = |tool: &str| (session, tool.to_owned());
        match event {
            AgentEvent::Said { text } => {
                let name = self.agents.get(&session).map_or("agent", String::as_str);
                lines.push(format!("{}:", plain(name)));
                lines.extend(text.lines().map(|line| format!("  {}", plain(line))));
            }
            AgentEvent::ToolStarted { tool, .. } => {
                self.running.insert(key(tool), at);
            }
            AgentEvent::ToolDescribed { tool, exit, last_line, .. } => {
                let exit = exit.filter(|exit| *exit != 0).map(|exit| format!(" · exit {exit}"));
                let words = last_line.as_ref().map(|line| format!(" · {}", plain(line)));
                self.ends.insert(key(tool), exit.unwrap_or_default() + &words.unwrap_or_default());
            }
            AgentEvent::ToolEnded { tool, title, ok, .. } => {
                let took = self.running.remove(&key(tool)).map(|since| at.saturating_sub(since));
                let took = took.filter(|ms| *ms >= 1_000).map(|ms| format!(" · {} s", ms / 1_000));
                let mark = if *ok { "✓" } else { "✗" };
                let end = self.ends.remove(&key(tool)).unwrap_or_default();
                lines.push(format!("  {mark} {}{}{end}", plain(title), took.unwrap_or_default()));
            }
            AgentEvent::PermissionAsked { kind, title, .. } => {
                lines.push(format!("  ? asks for a permission: {} ({kind})", plain(title)));
            }
            AgentEvent::Compacted => lines.push("  the agent compacted its context".to_owned()),
            AgentEvent::TurnEnded(TurnEnd::Failed { message, .. } | TurnEnd::Overflow { message }) => {
                lines.push(format!("  the turn failed: {}", plain(message)));
            }
            _ => {}
        }
    }
}
