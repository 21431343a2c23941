//! What goes wrong when a step is about to run, as the script says.

use std::io;

use super::inbox::Event;
use super::turn::Stop;
use super::{Agent, update};
use crate::script::{Fault, FaultKind};

const FLOOD_LINES: usize = 5_000;
const FLOOD_LINE: usize = 10_000;
const HUGE_LINE: usize = 3_000_000;

impl Agent {
    /// Lets the step's fault happen, if it has one. Gives the command to run instead of the step's own, an empty one
    /// when the step is to count as done; `None` when the step is to run as usual.
    pub(super) fn fault(&mut self, id: &str, n: u32) -> Result<Option<Vec<String>>, Stop> {
        let Some(fault) = self.fault_at(id, n) else { return Ok(None) };
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
            FaultKind::Provider { .. } => {}
        }
        Ok(None)
    }

    fn fault_at(&self, id: &str, n: u32) -> Option<Fault> {
        let ordinal = self.sessions.get(id).map(|s| s.ordinal);
        let meant = |f: &&Fault| f.at_step == n && (f.session.is_none() || f.session == ordinal);
        self.script.faults.iter().find(meant).copied()
    }

    /// Refuses the call that would lead to a step, if the script says so. The first refusal is noted in the log, so that
    /// one with a reset time ends then, whichever session calls.
    pub(super) fn refuse(&mut self, id: &str, n: u32) -> Result<(), Stop> {
        let Some(Fault { kind: FaultKind::Provider { says, resets_in_ms, times }, .. }) =
            self.fault_at(id, n)
        else {
            return Ok(());
        };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let log = self.log.as_deref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let head = format!("limited {n} until ");
        let noted = log.lines().find_map(|line| line.strip_prefix(&head)?.parse::<u64>().ok());
        let until = noted.or(resets_in_ms.map(|ms| now + ms));
        if noted.is_none()
            && let Some(until) = until
        {
            self.note(&format!("{head}{until}"))?;
        }
        let refused = format!("refused {n} at ");
        let enough =
            |most: u32| log.lines().filter(|line| line.starts_with(&refused)).count() >= most as usize;
        if until.is_some_and(|until| until <= now) || times.is_some_and(enough) {
            return Ok(());
        }
        self.note(&format!("{refused}{now}"))?;
        Err(Stop::Provider(says, until.map(|until| until - now)))
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
