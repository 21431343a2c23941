//! What an agent's own hooks call: the brake after a tool, and the guard before a compaction.
//!
//! A hook must never be the reason that an agent stops working: whatever goes wrong here lets it go on. Only an agent whose
//! run is gone is stopped after its tool, because nobody looks after it.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use segue_agents::text_weight;
use segue_redact::Lines;
use serde_json::{Value, json};

use super::args::Hook;
use super::failure::Failure;
use super::open::Place;
use super::out;
use crate::driver::{HookVerdict, Message, say_to_run};
use crate::store::safely;

/// How much of a transcript is read at a time.
const PART: usize = 64 * 1024;

/// Claude Code keeps a longer shell output in a file and gives the model only a preview.
const SHELL_MOST: usize = 30_000;
const SHELL_PREVIEW: u64 = 4_000;

/// What the model is told of a written file besides its changed lines.
const WRITTEN: u64 = 200;
/// A line number before each line of a file that is read.
const LINE_NUMBER: u64 = 10;
/// A picture of the largest size that is sent, 1,600 tokens.
const IMAGE: u64 = 6_400;

/// Answers the hook on standard output.
pub(super) fn hook(at: &Place, which: &Hook) -> Result<u8, Failure> {
    let mut text = String::new();
    let _ = std::io::stdin().lock().take(64 << 20).read_to_string(&mut text);
    let input: Value = serde_json::from_str(&text).unwrap_or_default();
    match which {
        Hook::AfterTool | Hook::BeforeModel => {
            let verdict = if let Hook::AfterTool = which { after_tool(&input) } else { before_model() };
            let HookVerdict { stop, context } = verdict.unwrap_or_default();
            if stop {
                let reason = "segue stops the work here; what it needs next comes as a message";
                out::line(&json!({ "continue": false, "stopReason": reason }).to_string());
            } else if let Some(text) = context {
                let context = json!({ "hookEventName": "PostToolUse", "additionalContext": text });
                out::line(&json!({ "hookSpecificOutput": context }).to_string());
            }
        }
        Hook::Archive => {
            archive(at, &input);
        }
        Hook::BeforeCompaction => {
            let reason = "segue replaces the session instead of compacting it";
            out::line(&json!({ "continue": false, "stopReason": reason }).to_string());
        }
    }
    Ok(0)
}

// The transcript as it is before the agent forgets, without its secrets: one copy for each compaction.
fn archive(at: &Place, input: &Value) -> Option<()> {
    let mut transcript = safely::plain(Path::new(input["transcript_path"].as_str()?)).ok()?;
    let dir = PathBuf::from(std::env::var_os("SEGUE_RUN_DIR")?);
    let mark = std::env::var(crate::process::SESSION_MARK).ok()?;
    let session = mark.rsplit('.').next()?;
    let file = |n: u32| dir.join(format!("s{session}-before-compaction-{n}.jsonl"));
    let free = (1..10_000).map(file).find(|path| path.symlink_metadata().is_err())?;
    let mut copy = safely::open_with(&free, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).ok()?;
    let (mut lines, mut clean, mut part) = (Lines::new(at.redactor().ok()?), Vec::new(), vec![0; PART]);
    loop {
        let read = transcript.read(&mut part).ok()?;
        if read == 0 {
            lines.finish(&mut clean);
        } else {
            lines.push(&part[..read], &mut clean);
        }
        copy.write_all(&clean).ok()?;
        clean.clear();
        if read == 0 {
            return Some(());
        }
    }
}

// A sub-agent's tools fill its own window, not the one that is looked after.
fn after_tool(input: &Value) -> Option<HookVerdict> {
    if input.get("agent_id").is_some_and(|id| !id.is_null()) {
        return Some(HookVerdict::default());
    }
    let tool = input["tool_use_id"].as_str()?.to_owned();
    let chars = result_weight(input["tool_name"].as_str().unwrap_or_default(), &input["tool_response"]);
    ask(tool, chars)
}

// Everything that the call will carry has come through the agent's own stream by now.
fn before_model() -> Option<HookVerdict> {
    ask(segue_machine::MODEL_CALL.to_owned(), 0)
}

fn ask(tool: String, chars: u64) -> Option<HookVerdict> {
    let socket = std::env::var("SEGUE_SOCKET").ok()?;
    let token = std::env::var("SEGUE_TOKEN").ok()?;
    let mark = std::env::var(crate::process::SESSION_MARK).ok()?;
    let session = mark.rsplit('.').next()?.parse().ok()?;
    match say_to_run(Path::new(&socket), &token, Message::Brake { session, tool, chars }) {
        Ok(verdict) => Some(verdict),
        // Nobody listens any more, which is another thing than a run that is slow to answer.
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
            Some(HookVerdict { stop: true, ..HookVerdict::default() })
        }
        Err(_) => None,
    }
}

// What the model is sent of a result, by weight, which is less than what the hook is told for some tools and more for others.
fn result_weight(tool: &str, response: &Value) -> u64 {
    if let Some(chars) = media_weight(response) {
        return chars;
    }
    match tool {
        // The model gets the changed lines, not the file as it was.
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            let patch = text_weight(&response["structuredPatch"]);
            patch.saturating_add(text_weight(&response["filePath"])).saturating_add(WRITTEN)
        }
        "Read" => {
            let lines = response["file"]["numLines"].as_u64().unwrap_or(0);
            text_weight(response).saturating_add(lines.saturating_mul(LINE_NUMBER))
        }
        _ => {
            let long = response["stdout"].as_str().is_some_and(|text| text.chars().count() > SHELL_MOST);
            if tool == "Bash" && long { SHELL_PREVIEW } else { text_weight(response) }
        }
    }
}

// Pictures and documents go by their size.
fn media_weight(response: &Value) -> Option<u64> {
    if let Some(parts) = response.as_array() {
        let media = |part: &Value| media_weight(part).unwrap_or_else(|| text_weight(part));
        return parts.iter().any(|part| media_weight(part).is_some()).then(|| parts.iter().map(media).sum());
    }
    let file = &response["file"];
    match response["type"].as_str()? {
        "image" => {
            let side = |name: &str| file["dimensions"][name].as_u64();
            let pixels = side("displayWidth").zip(side("displayHeight")).map(|(w, h)| w.saturating_mul(h));
            Some(pixels.map_or(IMAGE, |pixels| (pixels / 188).clamp(300, IMAGE)))
        }
        "pdf" | "document" => {
            let bytes = file["originalSize"].as_u64().unwrap_or(0);
            Some((bytes / 6).clamp(IMAGE, 400_000))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_as_long_as_its_texts_and_a_long_shell_output_as_its_preview() {
        let response =
            json!({ "stdout": "ab", "stderr": "c", "interrupted": false, "more": ["d", { "e": "f" }] });
        assert_eq!(result_weight("Bash", &response), 4 * 3);
        assert_eq!(result_weight("Bash", &json!({ "stdout": "x".repeat(60_000) })), SHELL_PREVIEW);
        let text = "the quick brown fox ".repeat(3_000);
        assert_eq!(result_weight("Read", &json!(text)), text_weight(&json!(text)));
    }

    #[test]
    fn a_result_counts_for_what_the_model_is_sent_of_it() {
        let patch = json!([{ "oldStart": 1, "lines": ["-old", "+new"] }]);
        let edit = json!({
            "filePath": "a.rs", "originalFile": "x".repeat(90_000), "oldString": "old", "newString": "new",
            "structuredPatch": patch,
        });
        let told = text_weight(&json!(["-old", "+new", "a.rs"]));
        assert!(told < 50 && result_weight("Edit", &edit) == told + WRITTEN, "{told}");
        let read = json!({ "type": "text", "file": { "content": "a\nb\n", "numLines": 2 } });
        assert_eq!(result_weight("Read", &read), text_weight(&json!(["text", "a\nb\n"])) + 2 * LINE_NUMBER);
        let size = json!({ "displayWidth": 600, "displayHeight": 400 });
        let image = json!({ "type": "image", "file": { "base64": "x".repeat(90_000), "dimensions": size } });
        assert_eq!(result_weight("Read", &image), 1_276);
        let pdf = json!({ "type": "pdf", "file": { "base64": "x".repeat(90_000), "originalSize": 67_500 } });
        assert_eq!(result_weight("Read", &pdf), 11_250);
        let mixed =
            json!([{ "type": "text", "text": "abc" }, { "type": "image", "data": "x".repeat(90_000) }]);
        assert_eq!(result_weight("mcp__x__y", &mixed), text_weight(&json!(["text", "abc"])) + IMAGE);
    }

    #[test]
    fn a_sub_agents_tool_never_brakes() {
        let verdict = after_tool(&json!({ "agent_id": "a1", "tool_use_id": "t" }));
        assert_eq!(verdict, Some(HookVerdict::default()));
    }
}
