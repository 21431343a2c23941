//! `segue show --transcript`: what the agents said and did, session after session, whichever CLI it was. A tool is one line,
//! with the time it took and, where it failed, its exit code and last line; below an edit stands what it changed.

use std::collections::BTreeMap;
use std::time::Duration;

use segue_agents::{Edit, edits};
use segue_machine::{AgentEvent, Effect, Event, Millis, Phase, Run, TurnEnd};
use segue_report::plain;

use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::driver::screen_colors;
use crate::history::{self, Past};
use crate::store::{Store, safely};

const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// So many lines of an edit are shown.
const EDIT_LINES: usize = 20;

const RED: &str = "31";
const GREEN: &str = "32";
const BOLD: &str = "1";

/// Writes the transcript of a run, and goes on with it while the run does.
pub(super) fn transcript(at: &Place, run: &str, session: Option<u32>, follow: bool) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let (mut machine, mut last) = (Run::default(), 0);
    let color = screen_colors();
    let mut pages =
        Transcript { only: session, color, wire: Wire::of(at.store(), run), ..Transcript::default() };
    loop {
        for step in history::read(&reader, run, last)? {
            last = step.record.seq;
            machine.handle(&step.record);
            out::painted(pages.lines(&step));
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
    color: bool,
    /// The edits, as the agents' own output tells of them.
    wire: Wire,
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
                    lines.push(self.paint(BOLD, format!("session {session} · {}", plain(agent))));
                }
            }
        }
        lines
    }

    fn paint(&self, tint: &str, text: String) -> String {
        if self.color { format!("\u{1b}[{tint}m{text}\u{1b}[0m") } else { text }
    }

    fn edit(&self, edit: &Edit, lines: &mut Vec<String>) {
        for line in edit.lines.iter().take(EDIT_LINES) {
            let text = format!("      {}", segue_report::printable(line).replace('\n', " "));
            lines.push(match line.as_bytes().first() {
                Some(b'-') => self.paint(RED, text),
                Some(b'+') => self.paint(GREEN, text),
                _ => text,
            });
        }
        if edit.lines.len() > EDIT_LINES {
            lines.push(format!("      … {} more lines", edit.lines.len() - EDIT_LINES));
        }
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
                lines.push(self.paint(BOLD, format!("{}:", plain(name))));
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
                let (mark, tint) = if *ok { ("✓", GREEN) } else { ("✗", RED) };
                let end = self.ends.remove(&key(tool)).unwrap_or_default();
                let mark = self.paint(tint, mark.to_owned());
                lines.push(format!("  {mark} {}{}{end}", plain(title), took.unwrap_or_default()));
                for edit in self.wire.take(session, tool).iter().filter(|_| *ok) {
                    self.edit(edit, lines);
                }
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

/// The edits that agents' kept output tells of, read on as it grows.
#[derive(Debug, Default)]
struct Wire {
    place: Option<(Store, String)>,
    /// How much of each session's output was read.
    read: BTreeMap<u32, usize>,
    edits: BTreeMap<(u32, String), BTreeMap<String, Edit>>,
}

impl Wire {
    fn of(store: Store, run: &str) -> Self {
        Self { place: Some((store, run.to_owned())), ..Self::default() }
    }

    // What a tool call changed, file by file: a wire may tell of it more than once.
    fn take(&mut self, session: u32, tool: &str) -> Vec<Edit> {
        let key = (session, tool.to_owned());
        if !self.edits.contains_key(&key) {
            self.read_on(session);
        }
        self.edits.remove(&key).map(|edits| edits.into_values().collect()).unwrap_or_default()
    }

    fn read_on(&mut self, session: u32) {
        let Some((store, run)) = &self.place else { return };
        let bytes = safely::read(&store.output(run, session)).unwrap_or_default();
        let from = self.read.entry(session).or_default();
        let new = bytes.get(*from..).unwrap_or_default();
        let whole = new.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        *from += whole;
        for edit in new[..whole].split(|byte| *byte == b'\n').flat_map(edits) {
            let of_tool = self.edits.entry((session, edit.tool.clone())).or_default();
            of_tool.insert(edit.path.clone(), edit);
        }
    }
}
