//! The checkpoint that segue writes when nobody could be asked: the agent's own list and words, and what its tools did.
//!
//! Everything is newest first and bounded; what does not fit is said once, with the file that has it. Nothing here looks
//! for a meaning in the words.

use std::collections::BTreeSet;

use segue_machine::checkpoint::cut_chars;
use segue_machine::{ItemState, ListItem, Message};

use super::compose::{CHARS_PER_TOKEN, Room};
use super::digest::{digest, tail};
use super::tool_calls::{changes, failure_line};
use crate::checkpoint::{Document, Situation, Workplace};

/// How much of the goal is repeated; the whole task follows in the prompt anyway.
const GOAL: usize = 600;
const FAILURES: usize = 6;
const CHANGES: usize = 20;
/// The share of the room that each part but the words may take: an eighth, a quarter, a third.
const EIGHTH: usize = 8;
const QUARTER: usize = 4;
const THIRD: usize = 3;
/// Stands before sentences of messages that do not fit whole.
const DIGEST_HEAD: &str = "From older messages, the sentences that say what no other does (oldest first):\n";

/// segue's own account of the work so far.
pub(super) fn account(place: &Workplace, situation: &Situation, reason: &str) -> String {
    let most = usize::try_from(place.account_tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
    let room = most.min(Room::new(place, situation, situation.tokens.ceiling, 0).checkpoint);
    let earlier = earlier_of(place, situation);
    Account { situation, reason, earlier: earlier.as_ref(), room }.text(|session| messages_of(place, session))
}

/// What the agent said that its own checkpoint does not know of; empty if nothing.
pub(super) fn said_since(place: &Workplace, situation: &Situation, room: usize) -> String {
    let (earlier, mut cut) = (earlier_of(place, situation), Cut::default());
    let account = Account { situation, reason: "", earlier: earlier.as_ref(), room };
    let words = account.words(room, |session| messages_of(place, session), &mut cut);
    if words.is_empty() { words } else { format!("\n\n{words}{}", cut.notice()) }
}

fn earlier_of(place: &Workplace, situation: &Situation) -> Option<Document> {
    let id = situation.previous_by_agent.as_ref()?;
    Document::read(&Document::file(&place.checkpoints, id)).ok()
}

fn messages_of(place: &Workplace, session: u32) -> Option<String> {
    let path = place.store.messages(&place.run, session);
    path.exists().then(|| place.store.shown(&path))
}

struct Account<'a> {
    situation: &'a Situation,
    reason: &'a str,
    /// The last checkpoint that an agent wrote.
    earlier: Option<&'a Document>,
    /// Characters in all.
    room: usize,
}

/// What did not fit, by kind.
#[derive(Default)]
struct Cut {
    what: Vec<String>,
    files: BTreeSet<String>,
}

impl Cut {
    fn notice(&self) -> String {
        if self.what.is_empty() {
            return String::new();
        }
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        let files = if files.is_empty() {
            String::new()
        } else {
            format!("; all messages are in {}", files.join(", "))
        };
        format!("\nLeft out for want of room: {}{files}", self.what.join(", "))
    }
}

impl Account<'_> {
    fn text(&self, file: impl Fn(u32) -> Option<String>) -> String {
        let mut cut = Cut::default();
        let goal = format!(
            "## Goal\n{}\n\n",
            cut_chars(self.situation.task.trim(), GOAL.min(self.shared() / EIGHTH))
        );
        let list = self.list(&mut cut);
        let failed = self.failed(&mut cut);
        let earlier = self.earlier_words(&mut cut);
        let rest = [&goal, &list, &failed, &earlier].iter().map(|part| part.chars().count()).sum::<usize>();
        let words = self.words(self.room.saturating_sub(rest + 500), &file, &mut cut);
        format!("{goal}{}{list}{words}{failed}{earlier}", self.status(&cut)).trim_end().to_owned()
    }

    fn status(&self, cut: &Cut) -> String {
        let by = format!(
            "segue wrote this checkpoint, the agent was not asked or did not answer ({})",
            self.reason
        );
        format!("## Session Status\n{by}{}\n\n", cut.notice())
    }

    // What all parts but the words share.
    fn shared(&self) -> usize {
        if self.situation.prose.is_empty() { self.room } else { self.room * 2 / 3 }
    }

    // What is open comes first: it is what has to be done.
    fn list(&self, cut: &mut Cut) -> String {
        let (closed, open): (Vec<&ListItem>, Vec<&ListItem>) =
            self.situation.list.iter().partition(|item| item.state.is_closed());
        let open: Vec<String> = open.into_iter().map(item_line).collect();
        let closed: Vec<String> = closed.into_iter().rev().map(item_line).collect();
        let done = changes(&self.situation.tools);
        let done: Vec<String> = closed.into_iter().chain(done.into_iter().take(CHANGES)).collect();
        let mut text = section(
            "Remaining Tasks (the agent's own list)",
            &open,
            self.shared() / QUARTER,
            "open items",
            cut,
        );
        text += &section("Completed Work", &done, self.shared() / QUARTER, "completed items", cut);
        text
    }

    fn failed(&self, cut: &mut Cut) -> String {
        let failed = self.situation.tools.iter().rev().filter(|tool| !tool.ok);
        let failed: Vec<String> = failed.take(FAILURES).map(failure_line).collect();
        section("Failed Tool Calls (newest first)", &failed, self.shared() / EIGHTH, "failed tool calls", cut)
    }

    fn earlier_words(&self, cut: &mut Cut) -> String {
        let Some(earlier) = self.earlier else { return String::new() };
        let words = cut_chars(&earlier.summary, self.shared() / THIRD);
        if words.len() < earlier.summary.len() {
            cut.what.push("a part of the earlier checkpoint".to_owned());
        }
        format!("## Earlier Checkpoint (the agent wrote it in session {})\n{words}\n", earlier.session)
    }

    // What fits is quoted whole. Else the newest messages are, in half of the room, and of the older ones the sentences that
    // say most.
    fn words(&self, room: usize, file: impl Fn(u32) -> Option<String>, cut: &mut Cut) -> String {
        let mut seen = BTreeSet::new();
        let quoted: Vec<(&Message, String)> = self
            .situation
            .prose
            .iter()
            .rev()
            .map(|message| (message, quote(&message.text, &mut seen)))
            .collect();
        let size =
            |quotes: &[(&Message, String)]| quotes.iter().map(|(_, q)| q.chars().count()).sum::<usize>();
        let Some((newest, _)) = quoted.first() else { return String::new() };
        let (mut used, all_fit) = (0, size(&quoted) <= room);
        let whole = quoted.iter().take_while(|(_, quote)| {
            used += quote.chars().count();
            all_fit || used <= room / 2
        });
        let (whole, older) = quoted.split_at(whole.count());
        let mut text: String = whole.iter().map(|(_, quote)| quote.as_str()).collect();
        if !older.is_empty() {
            let mut passed_on: Vec<&str> = whole.iter().map(|(message, _)| message.text.as_str()).collect();
            if whole.is_empty() {
                let end = tail(&newest.text, room / 3);
                text = quote(end, &mut BTreeSet::new());
                passed_on.push(end);
            }
            let left = room.saturating_sub(text.chars().count() + DIGEST_HEAD.len() + 1);
            text += &digested(older, &passed_on, left);
            let first = self.earlier.map_or(1, |earlier| earlier.session);
            cut.files.extend((first..=newest.session).filter_map(file));
            let number = if older.len() == 1 {
                "1 older message".to_owned()
            } else {
                format!("{} older messages", older.len())
            };
            cut.what.push(format!("a part of {number}"));
        }
        let since = if self.earlier.is_some() { " since its last checkpoint" } else { "" };
        format!("## What the agent said{since} (newest first)\n{text}")
    }
}

fn digested(older: &[(&Message, String)], passed_on: &[&str], room: usize) -> String {
    let texts: Vec<&str> = older.iter().rev().map(|(message, _)| message.text.as_str()).collect();
    let lines: String =
        digest(&texts, passed_on, room).iter().map(|sentence| format!("> {sentence}\n")).collect();
    if lines.is_empty() { lines } else { format!("{DIGEST_HEAD}{lines}\n") }
}

fn item_line(item: &ListItem) -> String {
    let mark = match item.state {
        ItemState::Pending | ItemState::Completed => "",
        ItemState::InProgress => " (in progress)",
        ItemState::Cancelled => " (given up)",
    };
    format!("{}{mark}", item.text.replace('\n', " "))
}

// A line that was said before in the same words is said once, where it is newest.
fn quote(words: &str, seen: &mut BTreeSet<String>) -> String {
    let mut text = String::new();
    for line in words.trim().lines() {
        if line.trim().is_empty() || seen.insert(line.trim().to_owned()) {
            text.push_str(&format!("> {line}\n"));
        }
    }
    if text.is_empty() { text } else { text + "\n" }
}

fn section(title: &str, items: &[String], room: usize, what: &str, cut: &mut Cut) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut text = format!("## {title}\n");
    let mut used = 0;
    for (n, item) in items.iter().enumerate() {
        used += item.chars().count() + 3;
        if used > room && n > 0 {
            cut.what.push(format!("{} {what}", items.len() - n));
            break;
        }
        text.push_str(&format!("- {item}\n"));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use segue_machine::{AgentEvent, AgentSpec, Event, Record, Run, RunSpec, policy::preset};

    use super::*;

    /// A session that reads, fails, edits, keeps a list and says these messages.
    fn situation(messages: impl IntoIterator<Item = String>) -> Situation {
        let agent = AgentSpec { name: "a".to_owned(), ..AgentSpec::default() };
        let spec = RunSpec::new("Build it.", vec![agent], preset::find("auto").unwrap().policy);
        let (mut run, mut seq) = (Run::default(), 0);
        let mut handle = |event: Event| {
            seq += 1;
            run.handle(&Record { seq, at: seq, event });
            run.view().clone()
        };
        handle(Event::RunStarted { spec: Box::new(spec) });
        let mut says = |event: AgentEvent| handle(Event::Agent { session: 1, event });
        let tool = |n: u32| format!("t{n}");
        let calls = [("Read a.rs", true, true), ("cargo test", false, false), ("Edit a.rs", true, false)];
        for (n, (title, ok, reads)) in (0..).zip(calls) {
            says(AgentEvent::ToolStarted { tool: tool(n), title: title.to_owned() });
            let (exit, last_line) = if ok { (None, None) } else { (Some(101), Some("2 failed".to_owned())) };
            says(AgentEvent::ToolDescribed { tool: tool(n), reads, exit, last_line });
            says(AgentEvent::ToolEnded { tool: tool(n), title: String::new(), ok, chars: 1 });
        }
        let item = |id: &str, text: &str, state| ListItem { id: id.to_owned(), text: text.to_owned(), state };
        says(AgentEvent::list([
            item("1", "write a.rs", ItemState::Completed),
            item("2", "write b.rs", ItemState::InProgress),
            item("3", "write c.rs", ItemState::Pending),
        ]));
        let mut view = says(AgentEvent::Compacted);
        for text in messages {
            view = says(AgentEvent::Said { text });
        }
        Situation::of(&view, 9).unwrap()
    }

    fn account_in(room: usize, situation: &Situation) -> String {
        let account = Account { situation, reason: "the agent died", earlier: None, room };
        account.text(|session| Some(format!("/state/r/s{session}.said.md")))
    }

    #[test]
    fn c9_segues_own_checkpoint_holds_list_words_failures_and_changes_and_no_reads() {
        let text =
            account_in(24_000, &situation(["The port is 7411.".to_owned(), "a.rs is done.".to_owned()]));
        let parsed = segue_machine::checkpoint::parse(&text);
        assert_eq!(parsed.items(&["remaining"]), ["write b.rs (in progress)", "write c.rs"]);
        assert_eq!(parsed.items(&["completed"]), ["write a.rs", "Edit a.rs"]);
        assert_eq!(parsed.items(&["failed"]), ["cargo test, exit code 101: 2 failed"]);
        let (newer, older) =
            (text.find("> a.rs is done.").unwrap(), text.find("> The port is 7411.").unwrap());
        assert!(newer < older && !text.contains("Read a.rs") && !text.contains("Left out"), "{text}");
    }

    #[test]
    fn c9_what_is_cut_is_the_oldest_and_is_said_once_with_the_file_that_has_it() {
        let filler = |n: u32| format!("message {n}: {}", format!("word {n} and more of it, ").repeat(20));
        let text = account_in(8_000, &situation((0..200).map(filler)));
        assert!(text.chars().count() <= 8_000, "{}", text.chars().count());
        assert!(
            text.contains("message 199:") && text.contains("message 195:") && !text.contains("message 0:")
        );
        assert_eq!(text.matches("Left out for want of room").count(), 1, "{text}");
        assert!(text.contains("older messages; all messages are in /state/r/s1.said.md"), "{text}");
    }

    #[test]
    fn c9_a_line_said_again_in_the_same_words_takes_room_once() {
        let messages = (0..300).map(|n| format!("I go on with the next part.\nfact {n}"));
        let text = account_in(12_000, &situation(messages));
        assert_eq!(text.matches("I go on with the next part.").count(), 1);
        assert!(text.contains("> fact 0\n") && text.contains("> fact 299\n"), "{text}");
    }

    #[test]
    fn c9_what_was_found_out_reaches_the_successor_of_an_agent_that_never_answers() {
        use segue_rehearsal::model_server::{facts, prose};
        let said = facts::spread(facts::FACTS.len(), 24);
        let message = |step: u32| {
            let found = said.get(&step).map_or_else(String::new, |facts| facts.join(" "));
            let around = |n: u32| prose::passage(u64::from(n), 2_000);
            format!("{} {found}{} Step {step} is next.", around(step * 2), around(step * 2 + 1))
        };
        let situation = situation((1..=24).map(message));
        for (room, least) in [(24_000, 24), (15_000, 22)] {
            let text = account_in(room, &situation);
            let held = facts::held_by(facts::FACTS, &text.replace("> ", "")).len();
            assert!(held >= least && text.chars().count() <= room, "{held} facts in {room}\n{text}");
        }
    }

    #[test]
    fn c9_the_words_have_room_whatever_else_there_is() {
        let mut full = situation(["The port is 7411, as Marta said.".to_owned()]);
        let item = |n: u32| ListItem { id: n.to_string(), text: "x".repeat(90), state: ItemState::Pending };
        full.list = (0..200).map(item).collect();
        full.list.extend((200..400).map(|n| ListItem { state: ItemState::Completed, ..item(n) }));
        full.tools.iter_mut().for_each(|tool| tool.title = "y".repeat(2_000));
        let text = account_in(6_000, &full);
        assert!(
            text.contains("> The port is 7411, as Marta said.") && text.chars().count() <= 6_000,
            "{text}"
        );
    }

    #[test]
    fn c9_a_message_longer_than_the_room_is_quoted_from_its_end() {
        let long: String = (0..900).map(|n| format!("Row {n} is plain and so is the next. ")).collect();
        let text = account_in(8_000, &situation([format!("{long}So the port is 7411.")]));
        let words = text.split_once("(newest first)\n").unwrap().1;
        assert!(words.contains("Row 899 is plain") && words.contains("So the port is 7411."), "{text}");
        assert!(text.contains("a part of 1 older message"), "{text}");
    }
}
