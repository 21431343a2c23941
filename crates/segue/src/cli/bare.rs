//! One prompt to the scripted agent and nothing else: what happens without segue.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use segue_agents::acp::Acp;
use segue_agents::{Act, Adapter, Io};
use segue_machine::{AgentEvent, TurnEnd};

use super::failure::Failure;

/// Gives the agent its task in one conversation and returns how that ended.
pub(super) fn ask(script: &Path, repository: &Path, task: &str) -> Result<String, Failure> {
    let mut agent = Command::new(std::env::current_exe()?)
        .args(["scripted-agent", "--script"])
        .arg(script)
        .current_dir(repository)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(mut input), Some(output)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(Failure::failed("the agent's input and output could not be connected"));
    };
    let mut acp = Acp::new(repository.display().to_string(), None);
    let mut io = Io::default();
    acp.open(&mut io);
    let mut answer = "nothing".to_owned();
    input.write_all(&std::mem::take(&mut io.write))?;
    'talk: for line in BufReader::new(output).split(b'\n') {
        acp.line(&line?, &mut io);
        for event in std::mem::take(&mut io.events) {
            if let AgentEvent::Ready { .. } = event {
                acp.act(Act::Prompt(task.to_owned()), &mut io);
            } else if let AgentEvent::TurnEnded(end) = event {
                answer = words(&end);
                break 'talk;
            }
        }
        input.write_all(&std::mem::take(&mut io.write))?;
    }
    drop(input);
    agent.wait()?;
    Ok(answer)
}

fn words(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Finished { text } => text.clone(),
        TurnEnd::Cancelled => "cancelled".to_owned(),
        TurnEnd::Overflow { message } | TurnEnd::Failed { message, .. } => message.clone(),
    }
}
