//! Any command line program that takes a prompt and prints text. Nothing is known about its window but what can be
//! counted: the prompt and the text it prints.

use segue_machine::gauge::weigh;
use segue_machine::{AgentEvent, AgentFailure, Capabilities, TurnEnd};

use crate::{Act, Adapter, Extras, Io};

/// How much of what the program printed is kept as its last words.
const KEPT: usize = 32 * 1024;

/// Text is reported when this much has come together, so that a talkative program does not flood the journal.
const TEXT_STEP: u64 = 2_000;

/// How much of what it prints is told word by word; the rest is in its kept output.
const MOST_TOLD: usize = 256 * 1024;

/// A program that takes one prompt, prints text and ends.
#[derive(Debug, Default)]
pub struct Command {
    text: String,
    /// What was printed since it was last told.
    message: String,
    /// How much was told so far.
    told: usize,
    unsaid: u64,
}

impl Command {
    fn flush(&mut self, io: &mut Io) {
        let chars = std::mem::take(&mut self.unsaid);
        if chars > 0 {
            io.events.push(AgentEvent::TextSaid { chars });
        }
        let message = std::mem::take(&mut self.message);
        self.told += message.len();
        if self.told <= MOST_TOLD {
            crate::said(&message, io);
        }
    }
}

impl Adapter for Command {
    fn open(&mut self, io: &mut Io) {
        io.events.push(AgentEvent::Ready {
            conversation: String::new(),
            model: None,
            window: None,
            ceiling: None,
            can: Capabilities {
                ask: false,
                follow_up: false,
                usage: false,
                brake: false,
                tell: false,
                side: false,
                resume: false,
            },
        });
    }

    fn line(&mut self, line: &[u8], io: &mut Io) {
        let line = String::from_utf8_lossy(line);
        self.unsaid += weigh(&line) + 1;
        self.message.push_str(&line);
        self.message.push('\n');
        if self.unsaid >= TEXT_STEP {
            self.flush(io);
        }
        self.text.push_str(&line);
        self.text.push('\n');
        if self.text.len() > 2 * KEPT {
            let from = self.text.ceil_char_boundary(self.text.len() - KEPT);
            self.text.drain(..from);
        }
    }

    fn act(&mut self, act: Act, io: &mut Io) {
        match act {
            Act::SideQuestion { id, .. } => crate::no_side_question(id, io),
            Act::Close => io.close = true,
            Act::Prompt(_) | Act::Ask(_) | Act::Tell(_) | Act::Permission { .. } | Act::Braked => {}
        }
    }

    fn exited(&mut self, exit: Option<i32>, io: &mut Io) {
        self.flush(io);
        let text = std::mem::take(&mut self.text);
        let end = match exit {
            Some(0) => TurnEnd::Finished { text },
            Some(code) => failed(format!("the command ended with code {code}: {}", last_line(&text))),
            None => failed(format!("a signal ended the command: {}", last_line(&text))),
        };
        io.events.push(AgentEvent::TurnEnded(end));
    }

    fn extras(&self) -> Extras {
        // Its input is closed from the start: waiting for it to notice is waiting for nothing.
        Extras { grace_ms: Some(0), ..Extras::default() }
    }

    fn starts_with_prompt(&self) -> bool {
        true
    }
}

fn failed(message: String) -> TurnEnd {
    TurnEnd::failed(AgentFailure::Other, message)
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("nothing on its standard output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m9_what_a_program_prints_about_limits_is_only_text() {
        let (mut command, mut io) = (Command::default(), Io::default());
        command.line(b"error: prompt is too long: 213224 tokens > 200000 maximum, rate limit 429", &mut io);
        command.exited(Some(0), &mut io);
        assert!(matches!(io.events[0], AgentEvent::TextSaid { .. }));
        assert!(matches!(io.events.last(), Some(AgentEvent::TurnEnded(TurnEnd::Finished { .. }))));
    }

    #[test]
    fn e1_invalid_utf8_and_a_flood_are_taken_in() {
        let (mut command, mut io) = (Command::default(), Io::default());
        command.line(b"\xff\xfe\xc3(", &mut io);
        for _ in 0..10_000 {
            command.line("ä€".repeat(20).as_bytes(), &mut io);
        }
        assert!(command.text.len() <= 2 * KEPT + 200);
    }
}
