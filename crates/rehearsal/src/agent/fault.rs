//! What goes wrong when a step is about to run, as the script says.

use std::io;

use super::inbox::Event;
use super::turn::Stop;
use super::{Agent, update};
use crate::script::FaultKind;

const FLOOD_LINES: usize = 5_000;
const FLOOD_LINE: usize = 10_000;
const HUGE_LINE: usize = 3_000_000;

impl Agent {
    /// Lets the step's fault happen, if it has one. Gives the command to run instead of the step's own, an empty one
    /// when the step is to count as done; `None` when the step is to run as usual.
    pub(super) fn fault(&mut self, id: &str, n: u32) -> Result<Option<Vec<String>>, Stop> {
        let ordinal = self.sessions.get(id).map(|s| s.ordinal);
        let meant =
            |f: &&crate::script::Fault| f.at_step == n && (f.session.is_none() || f.session == ordinal);
        let Some(fault) = self.script.faults.iter().find(meant) else { return Ok(None) };
        match fault.kind {
            FaultKind::Hang => return Ok(Some(vec!["sleep".to_owned(), "100000".to_owned()])),
            FaultKind::Crash => return Err(Stop::Exit(101)),
            FaultKind::Silent => return Err(self.fall_silent()),
            FaultKind::HalfLineExit => {
                self.wire.raw(br#"{"jsonrpc":"2.0","method":"session/update","params":{"sess"#)?;
                return Err(Stop::Exit(1));
            }
            FaultKind::Lie => {
                self.say(id, &format!("step {n} done\nCreated src/ghost.rs"))?;
                self.show_plan(id)?;
                return Ok(Some(Vec::new()));
            }
            FaultKind::Flood => {
                for _ in 0..FLOOD_LINES {
                    self.babble(id, FLOOD_LINE)?;
                }
            }
            FaultKind::HugeLine => self.babble(id, HUGE_LINE)?,
            FaultKind::BrokenJson => self.break_json(id)?,
        }
        Ok(None)
    }

    // Text that is sent and not kept: the window is not what these faults are about.
    fn babble(&mut self, id: &str, chars: usize) -> io::Result<()> {
        let text: String = "the same words again and ".chars().cycle().take(chars).collect();
        self.wire.update(id, update::message(&text))
    }

    fn break_json(&mut self, id: &str) -> io::Result<()> {
        self.wire.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"session/upd\n")?;
        self.wire.raw(b"\xff\xfe not text \xc3\x28\n")?;
        let whole = serde_json::json!({
            "jsonrpc": "2.0", "method": "session/update",
            "params": { "sessionId": id, "update": update::message("one of several") },
        });
        self.wire.raw(format!("{whole}{whole}\n").as_bytes())?;
        self.wire.raw(format!("[{whole},{whole}]\n").as_bytes())
    }

    fn fall_silent(&self) -> Stop {
        loop {
            match self.inbox.recv() {
                Ok(Event::Eof) if !self.script.ignore_eof => return Stop::Exit(0),
                Ok(_) => {}
                Err(_) => return Stop::Exit(0),
            }
        }
    }
}
