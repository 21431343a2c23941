//! Fits a script and a job to a policy, so that a run under it needs a known number of sessions.
//!
//! The sizes leave room for what is not known beforehand: how long the prompts are that segue writes around the
//! task, whether a request reaches the agent before or after its next step, and how well the gauge projects.

use segue_machine::Depth;
use segue_machine::policy::{At, Policy};

use crate::job::Job;
use crate::script::Script;

/// A script and a job that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sized {
    /// The agent.
    pub script: Script,
    /// Its work.
    pub job: Job,
}

/// What a prompt may add to the bare task, in tokens.
const AROUND_TASK: u64 = 400;
/// What a continuation prompt may add to that.
const CONTINUATION: u64 = 1_500;
/// What a checkpoint that replaces nothing may leave behind: the request, the answer, and the word to go on.
const DUMP: u64 = 1_000;
/// What asking for the last checkpoint and answering may take.
const LAST_WORDS: u64 = 1_600;
/// The room between the line and the window below which a larger window is taken, for the shortest checkpoint.
const LEAST_ROOM: u64 = 4_000;
/// The most that one step adds.
const LARGEST_STEP: u64 = 3_500;
/// Characters of the sentence that the agent says before each step.
const SENTENCE: u64 = 44;
/// A request that is sent at the end of a tool arrives within one such model call, as a rule.
const THINK_MS: u64 = 25;

/// Chooses sizes for `policy`. One that replaces sessions needs exactly `sessions` of them and none overflows; one
/// that does not meets the end of its window half way, and gets past it only if the agent compacts (`native`).
pub fn for_policy(policy: &Policy, sessions: u32) -> Sized {
    if !policy.replaces() {
        return past_the_window(policy.native);
    }
    let by_fill = (0..12).find_map(|doubled| by_fill(policy, sessions.max(1), 100_000 << doubled));
    let tools = policy
        .stages
        .iter()
        .filter(|s| s.replaces())
        .filter_map(|s| if let At::Tools(tools) = s.at { Some(tools) } else { None });
    match (by_fill, tools.min()) {
        (Some((sized, longest)), tools) if tools.is_none_or(|tools| tools > longest) => sized,
        (_, Some(tools)) => by_tools(tools, sessions.max(1)),
        (_, None) => past_the_window(policy.native),
    }
}

/// Sizes for a line on the gauge, and the most steps that a session can take before it is replaced.
fn by_fill(policy: &Policy, sessions: u32, window: u64) -> Option<(Sized, u32)> {
    let lines = policy
        .stages
        .iter()
        .filter(|s| s.replaces())
        .filter_map(|s| Some((line(s.at, policy, window)?, s.depth())));
    let (line, depth) = lines.min()?;
    let least = LEAST_ROOM + depth.map_or(0, |d| d.room() - Depth::Emergency.room());
    let room = window.checked_sub(line).filter(|room| *room >= least)?;
    // One step may pass the line by its whole size, and one more may begin before the request arrives.
    let step = LARGEST_STEP.min((room - LAST_WORDS) / 2);
    let dumps = policy.stages.iter().filter(|s| !s.replaces() && s.depth().is_some()).count() as u64;
    let unknown = AROUND_TASK + CONTINUATION + dumps * DUMP + step / 8;
    let sure = step / 20;

    // With `longest - 1 - fewer` to `longest` steps a session, only this many sessions can hold the job.
    let fewer = u32::try_from((unknown + sure) / step).ok()?;
    let most = sessions + 1 + sessions * fewer;
    let longest = most + 1;
    let job = Job { steps: (sessions - 1) * longest + 1 };
    let system_tokens = line.checked_sub(u64::from(most) * step - sure + tokens(&job.task_text()))?;
    Some((Sized { script: script(window, system_tokens, step), job }, longest))
}

fn line(at: At, policy: &Policy, window: u64) -> Option<u64> {
    let share = match at {
        At::Percent(share) => share,
        At::Forecast => policy.lines.soft,
        At::Used(tokens) => return Some(tokens),
        At::Left(tokens) => return window.checked_sub(tokens),
        At::Tools(_) => return None,
    };
    let tokens = (u128::from(window) * u128::from(share.hundredths())).div_ceil(10_000);
    u64::try_from(tokens).ok()
}

// Too few tools a session to allow for one that begins before the request arrives: then the middle of the last one.
fn by_tools(tools: u32, sessions: u32) -> Sized {
    let safe = (sessions - 1) * (tools + 1) + 1;
    let steps = if safe < sessions * tools { safe } else { (sessions - 1) * tools + (tools / 2).max(1) };
    Sized { script: script(100_000, 1_000, 200), job: Job { steps } }
}

fn past_the_window(native: bool) -> Sized {
    // Eight steps fit, and a second session must have room for the rest and its last words.
    let (window, step, job) = (100_000, 10_000, Job { steps: 15 });
    let system_tokens = window - step * 15 / 2 - tokens(&job.task_text());
    let compact_at_percent = native.then_some(80);
    Sized { script: Script { compact_at_percent, ..script(window, system_tokens, step) }, job }
}

fn script(window: u64, system_tokens: u64, step: u64) -> Script {
    let step_output_chars = step * 4 - SENTENCE;
    Script { window, system_tokens, step_output_chars, think_ms: THINK_MS, ..Script::default() }
}

fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

#[cfg(test)]
#[path = "sizing_tests.rs"]
mod tests;
