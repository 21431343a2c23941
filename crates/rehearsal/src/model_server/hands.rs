//! How the worker acts with the tools that a CLI offers: which one runs a command, and what it has to be given.

use std::path::Path;

use serde_json::{Value, json};

use super::answer::{Call, Input};
use super::conversation::{Conversation, Takes, Tool, Turn};
use super::script::{PersonaOptions, StepHabit};

/// Tools that run a command, the one to prefer first.
const SHELLS: [&str; 8] =
    ["Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash", "container.exec", "exec"];

/// Tools that start a sub-agent.
const SUB_AGENTS: [&str; 3] = ["Agent", "Task", "task"];

/// The longest that a call may wait for its command.
const WAIT_MS: u64 = 30_000;

/// The command line of one step.
pub(super) fn step_command(options: &PersonaOptions, step: u32) -> String {
    let habit = options.habit(step);
    let mut command = String::new();
    if let Some(log) = &options.step_log {
        command.push_str(&format!("SEGUE_STEP_LOG={} ", quoted(log)));
    }
    if habit.sleep_ms > 0 {
        command.push_str(&format!("STEP_MS={} ", habit.sleep_ms));
    }
    command.push_str(&format!("sh step.sh {step}"));
    if habit.output_chars > 0 {
        let line = "a line of output in which there is nothing to see";
        command.push_str(&format!(" && yes '{line}' | head -c {}", habit.output_chars));
    }
    command
}

/// A call that runs `command`; `None` when no tool on offer can.
pub(super) fn shell(
    conversation: &Conversation,
    command: &str,
    purpose: &str,
    habit: StepHabit,
) -> Option<Call> {
    let tool = SHELLS.iter().find_map(|name| conversation.tool(name))?;
    let input = match tool.takes {
        Takes::Text => Input::Text(code(command, habit)),
        Takes::Object(_) => Input::Object(arguments(tool, command, purpose, habit)?),
    };
    Some(Call { name: tool.name.clone(), input })
}

fn arguments(tool: &Tool, command: &str, purpose: &str, habit: StepHabit) -> Option<Value> {
    let field = ["command", "cmd"].into_iter().find(|name| tool.property(name).is_some())?;
    let is_list = tool.property(field).is_some_and(|schema| schema["type"] == "array");
    let mut arguments = json!({});
    arguments[field] = if is_list { json!(["sh", "-c", command]) } else { command.into() };
    let mut give = |name: &str, value: Value| {
        if tool.property(name).is_some() {
            arguments[name] = value;
        }
    };
    give("description", purpose.into());
    give("yield_time_ms", WAIT_MS.into());
    if habit.output_chars > 0 {
        give("max_output_tokens", (habit.output_chars / 4 + 1_000).into());
    }
    if habit.sleep_ms >= WAIT_MS {
        give("timeout", (habit.sleep_ms + WAIT_MS).into());
        give("timeout_ms", (habit.sleep_ms + WAIT_MS).into());
    }
    Some(arguments)
}

// JavaScript, for models that are offered one tool that runs code.
fn code(command: &str, habit: StepHabit) -> String {
    let most = habit.output_chars / 4 + 1_000;
    let call = json!({ "cmd": command, "yield_time_ms": WAIT_MS, "max_output_tokens": most });
    format!("const result = await tools.exec_command({call});\ntext(result.output);\n")
}

/// A call that gives `command` to a sub-agent and waits for it; `None` when there are none.
pub(super) fn sub_agent(conversation: &Conversation, mark: &str, command: &str) -> Option<Call> {
    let tool = SUB_AGENTS
        .iter()
        .filter_map(|name| conversation.tool(name))
        .find(|tool| tool.property("prompt").is_some())?;
    let prompt =
        format!("{mark}\n{command}\nRun exactly the command above, once, and answer with its output.");
    let mut input = json!({ "description": "Write one part", "prompt": prompt });
    if tool.property("subagent_type").is_some() {
        // OpenCode's tool is the one in small letters.
        let plain = tool.name == "task";
        input["subagent_type"] = if plain { "general" } else { "general-purpose" }.into();
    }
    if tool.property("run_in_background").is_some() {
        input["run_in_background"] = false.into();
    }
    Some(Call { name: tool.name.clone(), input: Input::Object(input) })
}

/// A call that waits for the command that still runs, if the last result says so.
pub(super) fn wait(conversation: &Conversation) -> Option<Call> {
    let tool = conversation.tool("write_stdin")?;
    let last = conversation.turns.iter().rev().find_map(|turn| match turn {
        Turn::Result(text) => Some(Some(text)),
        Turn::User(_) => Some(None),
        Turn::System(_) | Turn::Agent(_) | Turn::Call(..) => None,
    });
    let (_, after) = last??.split_once("Process running with session ID ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let session: u64 = digits.parse().ok()?;
    let input = json!({ "session_id": session, "chars": "", "yield_time_ms": WAIT_MS });
    Some(Call { name: tool.name.clone(), input: Input::Object(input) })
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offering(name: &str, takes: Takes) -> Conversation {
        let tools = vec![Tool { name: name.to_owned(), takes }];
        Conversation { tools, ..Conversation::default() }
    }

    #[test]
    fn each_shell_tool_is_given_what_it_takes() {
        let command = "sh step.sh 1";
        let habit = StepHabit::default();
        let given = |name: &str, properties: Value| {
            let call = shell(&offering(name, Takes::Object(properties)), command, "Write part 1", habit);
            call.map(|call| call.input.text())
        };
        let text = json!({ "type": "string" });
        assert_eq!(
            given("Bash", json!({ "command": text, "description": text })).unwrap(),
            json!({ "command": command, "description": "Write part 1" }).to_string()
        );
        assert_eq!(
            given("exec_command", json!({ "cmd": text, "yield_time_ms": {} })).unwrap(),
            json!({ "cmd": command, "yield_time_ms": WAIT_MS }).to_string()
        );
        assert_eq!(
            given("shell", json!({ "command": { "type": "array" } })).unwrap(),
            json!({ "command": ["sh", "-c", command] }).to_string()
        );
        assert_eq!(given("Read", json!({ "command": text })), None);
        let call = shell(&offering("exec", Takes::Text), command, "", habit).unwrap();
        assert!(
            matches!(call.input, Input::Text(code) if code.contains("tools.exec_command({\"cmd\":\"sh step.sh 1\""))
        );
    }

    #[test]
    fn the_command_carries_log_sleep_and_output() {
        let options = PersonaOptions {
            step_log: Some("/tmp/it's/log".into()),
            every: StepHabit { output_chars: 9, sleep_ms: 20, ..StepHabit::default() },
            ..PersonaOptions::default()
        };
        let command = step_command(&options, 7);
        assert!(command.starts_with(r"SEGUE_STEP_LOG='/tmp/it'\''s/log' STEP_MS=20 sh step.sh 7 && yes "));
        assert!(command.ends_with("| head -c 9"));
        assert_eq!(step_command(&PersonaOptions::default(), 7), "sh step.sh 7");
    }

    #[test]
    fn a_command_that_still_runs_is_waited_for() {
        let mut conversation = offering("write_stdin", Takes::Object(json!({})));
        assert_eq!(wait(&conversation), None);
        conversation.result("Process running with session ID 42\nOutput:\n");
        let input = json!({ "session_id": 42, "chars": "", "yield_time_ms": WAIT_MS });
        assert_eq!(wait(&conversation).unwrap().input, Input::Object(input));
        conversation.result("step 1 done");
        assert_eq!(wait(&conversation), None);
    }
}
