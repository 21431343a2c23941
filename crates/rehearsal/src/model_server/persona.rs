//! The worker that the model server plays: a pure function from a conversation to the next answer.
//!
//! It knows nothing but the conversation, reads it as [`crate::brain`] does, and calls whatever shell tool the request
//! offers. It never remembers another request.

use super::answer::{Answer, Call, Kind, Thread};
use super::conversation::{Conversation, Turn};
use super::script::{Manner, PersonaOptions, StepHabit};
use super::{errand, hands, looks, manner, prose};
use crate::brain::{self, Action, Belief, CHECKPOINT_REQUEST};
use crate::context::{Entry, Role};

/// What starts the task of a sub-agent; the command stands in the next line.
pub const SUBAGENT: &str = "[rehearsal: sub-agent]";

/// Tries of one step in a row after which it gives up.
const PATIENCE: usize = 3;

/// What Claude Code says when a stream broke off.
const CUT_OFF: &str = "Your response above was cut off";

/// What CLIs say when they want a summary in place of the conversation.
const SUMMARY_REQUESTS: [&str; 6] = [
    "create a detailed summary of",
    "CONTEXT CHECKPOINT COMPACTION",
    "handoff summary for another LLM",
    "First, reason in your scratchpad. Then, generate",
    "Critically evaluate the <state_snapshot>",
    QUOTES_CONVERSATION,
];

/// What OpenCode says before it writes the conversation down in a request for a summary.
const QUOTES_CONVERSATION: &str = "Here is the conversation so far:";

/// The next answer.
pub fn answer(conversation: &Conversation, options: &PersonaOptions) -> Answer {
    let answer = of_thread(conversation, options);
    let beside = conversation.forked && answer.thread == Thread::Main;
    if beside { Answer { thread: Thread::Fork, ..answer } } else { answer }
}

fn of_thread(conversation: &Conversation, options: &PersonaOptions) -> Answer {
    if let Some(answer) = errand::answer(conversation) {
        return answer;
    }
    if let Some(command) = subagent_command(conversation) {
        return sub_agent(conversation, options, command);
    }
    if asks_for_summary(conversation) {
        return Answer::words(Thread::Side, Kind::Compact, summary(&believe(&conversation.turns)));
    }
    let belief = believe(&conversation.turns);
    let words = |text: String| Answer::words(Thread::Main, Kind::Checkpoint, text);
    if checkpoint_is_due(&conversation.turns) {
        if let Some(text) = manner::checkpoint(conversation, options, &belief) {
            return words(text);
        }
    } else if options.manner == Manner::Eager && manner::is_alarmed(&conversation.turns) {
        return words(manner::block(conversation, options, &belief));
    }
    work(conversation, options, &belief)
}

/// What the worker believes about its list from this conversation.
pub fn believe(turns: &[Turn]) -> Belief {
    let entry = |turn: &Turn| {
        let (role, text) = match turn {
            Turn::User(text) => (Role::Prompt, text),
            Turn::Agent(text) => (Role::Agent, text),
            Turn::Result(text) => (Role::Tool, text),
            Turn::System(_) | Turn::Call(..) => return None,
        };
        if role == Role::Prompt && text.contains(QUOTES_CONVERSATION) {
            return Some(Entry { role: Role::Tool, text: quoted(text) });
        }
        // A request for a checkpoint names the headings of one, and a request for a summary those of a summary.
        let asks = role == Role::Prompt && (brain::asks_for_checkpoint(text) || is_summary_request(text));
        (!asks).then(|| Entry { role, text: text.clone() })
    };
    brain::believe(&turns.iter().filter_map(entry).collect::<Vec<_>>())
}

fn work(conversation: &Conversation, options: &PersonaOptions, belief: &Belief) -> Answer {
    let say = |text: String| Answer::words(Thread::Main, Kind::Work, text);
    if let Some(call) = looks::chore(conversation, options) {
        return Answer { calls: vec![call], ..say("A chore first.".to_owned()) };
    }
    let action = belief.next();
    if action == Action::NoList && !options.chores.is_empty() {
        return say("The chores are done.\n\nSTATUS: done".to_owned());
    }
    let Action::Step(first) = action else { return say(belief.sentence(action)) };
    if let Some(call) = hands::wait(conversation) {
        let text = "The command still runs. I wait for it.".to_owned();
        return Answer { calls: vec![call], steps: vec![first], ..say(text) };
    }
    if let Some(calls) = looks::due(conversation, options, first) {
        let seen = conversation.turns.len();
        return Answer { calls, ..say(format!("Before number {first} I look around, {seen} entries in.")) };
    }
    if tries_since_prompt(&conversation.turns, first) >= PATIENCE {
        return say(format!("Number {first} failed {PATIENCE} times in a row, so I stop here."));
    }
    let many = usize::try_from(options.parallel.max(1)).unwrap_or(usize::MAX);
    let steps: Vec<u32> = belief.open().map(|(n, _)| n).take(many).collect();
    let calls: Option<Vec<Call>> = steps.iter().map(|n| step_call(conversation, options, *n)).collect();
    let Some(mut calls) = calls else {
        return say("I have no tool that runs a command, so I stop here.".to_owned());
    };
    if options.keeps_list {
        calls.extend(looks::list(conversation, belief, first));
    }
    let most = |size: fn(StepHabit) -> u64| steps.iter().map(|n| size(options.habit(*n))).max().unwrap_or(0);
    let chars = most(|habit| habit.say_chars);
    let reasoning = most(|habit| habit.think_tokens);
    let known = steps.iter().filter_map(|n| options.facts.get(n)).flatten().map(String::as_str);
    let text = told(belief.sentence(action), u64::from(first), &known.collect::<Vec<_>>(), chars);
    Answer { calls, steps, reasoning, ..say(text) }
}

fn step_call(conversation: &Conversation, options: &PersonaOptions, step: u32) -> Option<Call> {
    let command = hands::step_command(options, step);
    let habit = options.habit(step);
    let sub_agent = habit.subagent.then(|| hands::sub_agent(conversation, SUBAGENT, &command)).flatten();
    sub_agent.or_else(|| hands::shell(conversation, &command, &format!("Write part {step}"), habit))
}

// A sub-agent runs its one command and tells what came of it.
fn sub_agent(conversation: &Conversation, options: &PersonaOptions, command: &str) -> Answer {
    let say = |text: String| Answer::words(Thread::Side, Kind::Work, text);
    if let Some(output) = conversation.turns.iter().rev().find_map(result) {
        let first = output.lines().find(|line| line.starts_with("step ")).unwrap_or("the command failed");
        return say(format!("{first}\n"));
    }
    let habit = options.every;
    let call = hands::shell(conversation, command, "Write one part", habit);
    Answer { calls: call.into_iter().collect(), ..say("I run the command.".to_owned()) }
}

fn subagent_command(conversation: &Conversation) -> Option<&str> {
    let task = |turn| user(turn)?.trim_start().strip_prefix(SUBAGENT)?.trim_start().lines().next();
    conversation.turns.iter().find_map(task)
}

/// Whether the last request for a checkpoint has no answer, and nothing else was asked for since.
pub(super) fn checkpoint_is_due(turns: &[Turn]) -> bool {
    let mut cut_off = false;
    for turn in turns.iter().rev() {
        match turn {
            Turn::User(text) if text.starts_with(CUT_OFF) => cut_off = true,
            Turn::User(text) => return brain::asks_for_checkpoint(text),
            Turn::System(text) if text.contains(CHECKPOINT_REQUEST) => return true,
            // Half an answer is none.
            Turn::Agent(_) if cut_off => {}
            Turn::Agent(_) | Turn::Call(..) => return false,
            Turn::System(_) | Turn::Result(_) => {}
        }
    }
    false
}

pub(super) fn asks_for_summary(conversation: &Conversation) -> bool {
    conversation.turns.iter().rev().find_map(user).is_some_and(is_summary_request)
}

fn is_summary_request(text: &str) -> bool {
    SUMMARY_REQUESTS.iter().any(|words| text.contains(words))
}

// What is written down between tags, the older summary first, without the labels that stand before each entry.
fn quoted(text: &str) -> String {
    let between = |open: &str, close: &str| {
        let (_, after) = text.split_once(open)?;
        after.split_once(close).map(|(inner, _)| inner)
    };
    let parts =
        [between("<prior-summary>", "</prior-summary>"), between("<conversation>", "</conversation>")];
    let lines = parts.into_iter().flatten().flat_map(str::lines);
    let plain = |line: &'_ str| line.strip_prefix("[Tool result]: ").unwrap_or(line).to_owned() + "\n";
    lines.map(plain).collect()
}

fn summary(belief: &Belief) -> String {
    let item = |mark: &'static str| move |(n, text): (u32, &str)| format!("- [{mark}] step {n}: {text}\n");
    let list: String = belief.closed().map(item("x")).chain(belief.open().map(item(" "))).collect();
    format!(
        "<summary>\nWork through this list in order, one step at a time. For each step run `sh step.sh` with its \
         number. What is ticked is finished; run no step twice.\n\n{list}\nWhen the list is finished, say \
         LOOP_COMPLETE.\n</summary>"
    )
}

fn tries_since_prompt(turns: &[Turn], step: u32) -> usize {
    let command = format!("step.sh {step}");
    let tries = |turn: &&Turn| match turn {
        Turn::Call(_, input) => input
            .match_indices(&command)
            .any(|(at, _)| !input[at + command.len()..].starts_with(|next: char| next.is_ascii_digit())),
        Turn::System(_) | Turn::User(_) | Turn::Agent(_) | Turn::Result(_) => false,
    };
    turns.iter().rev().take_while(|turn| user(turn).is_none()).filter(tries).count()
}

pub(super) fn user(turn: &Turn) -> Option<&str> {
    if let Turn::User(text) = turn { Some(text) } else { None }
}

fn result(turn: &Turn) -> Option<&str> {
    if let Turn::Result(text) = turn { Some(text) } else { None }
}

// The sentence, and prose of so many characters with the facts in the middle of it. Never the same twice: Gemini CLI ends
// a turn in which the model repeats itself.
fn told(sentence: String, seed: u64, facts: &[&str], chars: u64) -> String {
    let facts: String = facts.iter().map(|fact| format!(" {fact}")).collect();
    let most = usize::try_from(chars).unwrap_or(usize::MAX);
    let room = most.saturating_sub(sentence.len() + facts.len());
    let before = prose::passage(seed * 2, room / 2);
    let after = prose::passage(seed * 2 + 1, room - room / 2);
    format!("{before}{facts}{after} {sentence}").trim_start().to_owned()
}

#[cfg(test)]
#[path = "persona_tests.rs"]
mod tests;
