//! One step of the list: permission, the real command, its result, and the plan.

use super::inbox::Signal;
use super::tool::{Ended, Tool};
use super::turn::Stop;
use super::{Agent, update};
use crate::context::Role;

impl Agent {
    /// Runs a step; whether it went well.
    pub(super) fn step(&mut self, id: &str, n: u32) -> Result<bool, Stop> {
        let command = match self.fault(id, n)? {
            None => vec!["sh".to_owned(), "step.sh".to_owned(), n.to_string()],
            Some(command) if command.is_empty() => return Ok(true),
            Some(command) => command,
        };
        let title = self.script.tool_title.clone().unwrap_or_else(|| format!("sh step.sh {n}"));
        let tool = format!("call-{}", self.next_serial());
        if self.script.permissions {
            self.wire.update(id, update::tool_call(&tool, &title, "pending"))?;
            match self.may_run(id, &tool, &title) {
                Ok(true) => {}
                Ok(false) => return self.failed(id, &tool, "The user did not allow this command."),
                Err(stop) => {
                    self.failed(id, &tool, "The command was not run.")?;
                    return Err(stop);
                }
            }
            self.wire.update(id, update::tool_status(&tool, "in_progress"))?;
        } else {
            self.wire.update(id, update::tool_call(&tool, &title, "in_progress"))?;
        }
        let ended = match self.run_tool(id, &command) {
            Ok(ended) => ended,
            Err(Stop::Cancelled) => {
                self.failed(id, &tool, "The command was cancelled before its end.")?;
                return Err(Stop::Cancelled);
            }
            Err(Stop::Io(error)) => {
                return self.failed(id, &tool, &format!("The command could not start: {error}"));
            }
            Err(stop) => return Err(stop),
        };
        let extra = self.script.step_output.as_ref().map_or_else(String::new, |extra| format!("\n{extra}"));
        let text = padded(&format!("{}{extra}", ended.output.trim_end()), self.script.step_output_chars);
        let status = if ended.success { "completed" } else { "failed" };
        self.remember(id, Role::Tool, &text)?;
        self.wire.update(id, update::tool_result(&tool, status, &text, ended.exit))?;
        self.show_plan(id)?;
        Ok(ended.success)
    }

    /// Sends the list as it is believed to be.
    pub(super) fn show_plan(&mut self, id: &str) -> Result<(), Stop> {
        let plan = update::plan(&self.belief(id));
        Ok(self.wire.update(id, plan)?)
    }

    fn failed(&mut self, id: &str, tool: &str, why: &str) -> Result<bool, Stop> {
        self.remember(id, Role::Tool, why)?;
        self.wire.update(id, update::tool_result(tool, "failed", why, None))?;
        Ok(false)
    }

    // A newer prompt does not end a running tool: its result is part of the work.
    fn run_tool(&mut self, id: &str, command: &[String]) -> Result<Ended, Stop> {
        let cwd = self.sessions.get(id).map_or_else(|| self.cwd.clone(), |s| s.cwd.clone());
        let serial = self.next_serial();
        let mut tool =
            Tool::start(serial, command, &cwd, self.log.as_deref(), &self.script, self.events.clone())?;
        loop {
            let signal = self.next(None)?;
            match self.in_turn(id, signal) {
                Ok(Some(Signal::ToolEnded { tool: ended, output })) if ended == serial => {
                    return Ok(tool.finish(output)?);
                }
                Ok(_) => {}
                Err(stop) => {
                    // A cancel reaches a detached tool too; the end of the agent does not.
                    if matches!(stop, Stop::Cancelled) {
                        tool.stop();
                    }
                    return Err(stop);
                }
            }
        }
    }

    fn may_run(&mut self, id: &str, tool: &str, title: &str) -> Result<bool, Stop> {
        let request = format!("ask-{}", self.next_serial());
        self.wire.request(&request, "session/request_permission", update::permission(id, tool, title))?;
        loop {
            let signal = self.next(None)?;
            if let Some(Signal::Answer { id: answered, result }) = self.in_turn(id, signal)?
                && answered == request.as_str()
            {
                return Ok(result["outcome"]["optionId"] == "allow");
            }
            if !self.queue.is_empty() {
                return Err(Stop::Superseded);
            }
        }
    }
}

/// The output with readable filler behind it, up to `chars` characters.
fn padded(output: &str, chars: u64) -> String {
    let mut text = output.trim_end().to_owned();
    let mut length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let mut line = 0_u64;
    while length < chars {
        line += 1;
        let filler = format!("\nnote {line}: looked at this part of the output and found nothing to change");
        let room = usize::try_from(chars - length).unwrap_or(usize::MAX);
        let taken = room.min(filler.len());
        text.push_str(&filler[..taken]);
        length += taken as u64;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_padded_to_the_exact_size_and_never_cut() {
        for chars in [0, 11, 12, 13, 100, 5_000] {
            let text = padded("step 1 done\n", chars);
            assert_eq!(text.len() as u64, chars.max(11));
            assert!(text.starts_with("step 1 done"));
        }
    }
}
