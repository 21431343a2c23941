//! What an agent's own hooks call: the brake after a tool, and the guard before a compaction.
//!
//! A hook must never be the reason that an agent stops working: whatever goes wrong here lets it go on. Only an agent whose
//! run is gone is stopped after its tool, because nobody looks after it.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use segue_agents::text_chars;
use serde_json::{Value, json};

use super::args::Hook;
use super::failure::Failure;
use super::out;
use crate::driver::{Message, say_to_run};

/// Claude Code keeps a longer shell output in a file and gives the model only a preview.
const SHELL_MOST: u64 = 30_000;
const SHELL_PREVIEW: u64 = 2_500;

/// Answers the hook on standard output.
pub(super) fn hook(which: &Hook) -> Result<u8, Failure> {
    let mut text = String::new();
    let _ = std::io::stdin().lock().take(64 << 20).read_to_string(&mut text);
    let input: Value = serde_json::from_str(&text).unwrap_or_default();
    match which {
        Hook::AfterTool | Hook::BeforeModel => {
            let stop = if let Hook::AfterTool = which { after_tool(&input) } else { before_model() };
            if stop.unwrap_or(false) {
                let reason = "segue stops the work here; what it needs next comes as a message";
                out::line(&json!({ "continue": false, "stopReason": reason }).to_string());
            }
        }
        Hook::Archive => {
            archive(&input);
        }
        Hook::BeforeCompaction => {
            let reason = "segue replaces the session instead of compacting it";
            out::line(&json!({ "continue": false, "stopReason": reason }).to_string());
        }
    }
    Ok(0)
}

// The transcript as it is before the agent forgets: one copy for each compaction.
fn archive(input: &Value) -> Option<u64> {
    let transcript = Path::new(input["transcript_path"].as_str()?);
    let dir = PathBuf::from(std::env::var_os("SEGUE_RUN_DIR")?);
    let mark = std::env::var(crate::process::SESSION_MARK).ok()?;
    let session = mark.rsplit('.').next()?;
    let file = |n: u32| dir.join(format!("s{session}-before-compaction-{n}.jsonl"));
    let free = (1..10_000).map(file).find(|path| !path.exists())?;
    std::fs::copy(transcript, free).ok()
}

// A sub-agent's tools fill its own window, not the one that is looked after.
fn after_tool(input: &Value) -> Option<bool> {
    if input.get("agent_id").is_some_and(|id| !id.is_null()) {
        return Some(false);
    }
    let tool = input["tool_use_id"].as_str()?.to_owned();
    let chars = result_chars(input["tool_name"].as_str().unwrap_or_default(), &input["tool_response"]);
    ask(tool, chars)
}

// Everything that the call will carry has come through the agent's own stream by now.
fn before_model() -> Option<bool> {
    ask("model call".to_owned(), 0)
}

fn ask(tool: String, chars: u64) -> Option<bool> {
    let socket = std::env::var("SEGUE_SOCKET").ok()?;
    let token = std::env::var("SEGUE_TOKEN").ok()?;
    let mark = std::env::var(crate::process::SESSION_MARK).ok()?;
    let session = mark.rsplit('.').next()?.parse().ok()?;
    match say_to_run(Path::new(&socket), &token, Message::Brake { session, tool, chars }) {
        Ok(stop) => Some(stop),
        // Nobody listens any more, which is another thing than a run that is slow to answer.
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
            Some(true)
        }
        Err(_) => None,
    }
}

fn result_chars(tool: &str, response: &Value) -> u64 {
    let chars = text_chars(response);
    if tool == "Bash" && chars > SHELL_MOST { SHELL_PREVIEW } else { chars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_as_long_as_its_texts_and_a_long_shell_output_as_its_preview() {
        let response =
            json!({ "stdout": "ab", "stderr": "c", "interrupted": false, "more": ["d", { "e": "f" }] });
        assert_eq!(result_chars("Bash", &response), 5);
        assert_eq!(result_chars("Bash", &json!({ "stdout": "x".repeat(60_000) })), SHELL_PREVIEW);
        assert_eq!(result_chars("Read", &json!("x".repeat(60_000))), 60_000);
    }

    #[test]
    fn a_sub_agents_tool_never_brakes() {
        assert_eq!(after_tool(&json!({ "agent_id": "a1", "tool_use_id": "t" })), Some(false));
    }
}
