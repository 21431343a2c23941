//! What a worker does besides its steps: it reads files, several at a time, changes one now and then, and keeps its list.

use serde_json::{Value, json};

use super::answer::{Call, Input};
use super::conversation::{Conversation, Turn};
use super::hands;
use super::script::{Chore, PersonaOptions, StepHabit};
use crate::brain::Belief;

/// Tools that read a file, with the name of the path.
const READERS: [(&str, &str); 4] =
    [("Read", "file_path"), ("read_file", "file_path"), ("read", "filePath"), ("view_image", "path")];

/// Tools that change a file, with the names of path, old text and new text.
const EDITORS: [(&str, [&str; 3]); 3] = [
    ("Edit", ["file_path", "old_string", "new_string"]),
    ("replace", ["file_path", "old_string", "new_string"]),
    ("edit", ["filePath", "oldString", "newString"]),
];

/// Tools that keep a to-do list, with the names of the list and of an item's text.
const LISTS: [(&str, &str, &str); 4] = [
    ("update_plan", "plan", "step"),
    ("todowrite", "todos", "content"),
    ("TodoWrite", "todos", "content"),
    ("write_todos", "todos", "description"),
];

/// The first line of a file that can be changed: a number and the file's own name.
pub(super) fn first_line(revision: u32, path: &str) -> String {
    format!("revision {revision} of {path}")
}

/// Tools that write a file, with the names of path and text.
const WRITERS: [(&str, [&str; 2]); 3] = [
    ("Write", ["file_path", "content"]),
    ("write_file", ["file_path", "content"]),
    ("write", ["filePath", "content"]),
];

/// The chore that is due before the first step: there are as many calls in the conversation as chores were begun.
pub(super) fn chore(conversation: &Conversation, options: &PersonaOptions) -> Option<Call> {
    let begun = conversation.turns.iter().filter(|turn| matches!(turn, Turn::Call(..))).count();
    match options.chores.get(begun)? {
        Chore::Read(path) => read(conversation, path),
        Chore::Run(command) => hands::shell(conversation, command, "Do a chore", StepHabit::default()),
        Chore::Edit(path, old, new) => replace(conversation, path, old, new).or_else(|| {
            let change = format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n");
            patch(conversation, &change)
        }),
        Chore::Write(path, text) => WRITERS
            .iter()
            .find_map(|(name, fields)| with_fields(conversation, name, &fields[..], &[path, text]))
            .or_else(|| patch(conversation, &format!("*** Add File: {path}\n+{text}\n"))),
    }
}

// Codex changes files by a patch that its shell tool takes for its own.
fn patch(conversation: &Conversation, change: &str) -> Option<Call> {
    let patch = format!("*** Begin Patch\n{change}*** End Patch");
    if let Some(tool) = conversation.tool("apply_patch") {
        let input = match tool.takes {
            super::conversation::Takes::Text => Input::Text(patch),
            super::conversation::Takes::Object(_) => Input::Object(json!({ "input": patch })),
        };
        return Some(Call { name: tool.name.clone(), input });
    }
    hands::shell(
        conversation,
        &format!("apply_patch <<'EOF'\n{patch}\nEOF"),
        "Change a file",
        StepHabit::default(),
    )
}

fn replace(conversation: &Conversation, path: &str, old: &str, new: &str) -> Option<Call> {
    EDITORS.iter().find_map(|(name, fields)| with_fields(conversation, name, fields, &[path, old, new]))
}

fn with_fields(conversation: &Conversation, name: &str, fields: &[&str], values: &[&str]) -> Option<Call> {
    let tool =
        conversation.tool(name).filter(|tool| fields.iter().all(|field| tool.property(field).is_some()))?;
    let mut input = json!({});
    for (field, value) in fields.iter().zip(values) {
        input[*field] = (*value).into();
    }
    if tool.property("instruction").is_some() {
        input["instruction"] = "Change this.".into();
    }
    Some(Call { name: tool.name.clone(), input: Input::Object(input) })
}

/// What it does before it takes on a step; `None` when the step itself is due.
pub(super) fn due(conversation: &Conversation, options: &PersonaOptions, step: u32) -> Option<Vec<Call>> {
    if options.looks.is_empty() {
        return None;
    }
    let done = calls_since_step(&conversation.turns);
    let wanted = usize::try_from(options.looks_per_step).ok()?;
    if done < wanted {
        let many = usize::try_from(options.abreast.max(1)).ok()?.min(wanted - done);
        let first = usize::try_from(step).ok()? * wanted + done;
        let paths = (first..first + many).map(|at| &options.looks[at % options.looks.len()]);
        return paths.map(|path| read(conversation, path)).collect();
    }
    let edits = options.edit_every > 0 && step.is_multiple_of(options.edit_every) && done == wanted;
    edits.then(|| edit(conversation)).flatten().map(|call| vec![call])
}

// Since the last step ended: what it has read stays read when somebody asks it something.
fn calls_since_step(turns: &[Turn]) -> usize {
    let recent = turns.iter().rev().take_while(|turn| match turn {
        Turn::Result(text) => !text.lines().any(|line| line.starts_with("step ") && line.ends_with(" done")),
        Turn::User(_) | Turn::System(_) | Turn::Agent(_) | Turn::Call(..) => true,
    });
    recent.filter(|turn| matches!(turn, Turn::Call(..))).count()
}

fn read(conversation: &Conversation, path: &str) -> Option<Call> {
    let picture = path.ends_with(".png");
    for (name, field) in READERS {
        let fits = name != "view_image" || picture;
        if let Some(tool) = conversation.tool(name).filter(|tool| fits && tool.property(field).is_some()) {
            let mut input = json!({});
            input[field] = path.into();
            return Some(Call { name: tool.name.clone(), input: Input::Object(input) });
        }
    }
    let habit = StepHabit { output_chars: 80_000, ..StepHabit::default() };
    hands::shell(conversation, &format!("cat {path}"), &format!("Read {path}"), habit)
}

fn edit(conversation: &Conversation) -> Option<Call> {
    let seen = conversation.turns.iter().rev().find_map(|turn| match turn {
        Turn::Result(text) => text.lines().find_map(revision),
        Turn::System(_) | Turn::User(_) | Turn::Agent(_) | Turn::Call(..) => None,
    });
    let (number, path) = seen?;
    let (old, new) = (first_line(number, &path), first_line(number + 1, &path));
    if let Some(call) = replace(conversation, &path, &old, &new) {
        return Some(call);
    }
    let command = format!("sed -i '1s/revision {number} /revision {} /' {path}", number + 1);
    hands::shell(conversation, &command, "Count the revision up", StepHabit::default())
}

// Readers put a line number before it.
fn revision(line: &str) -> Option<(u32, String)> {
    let (_, rest) = line.split_once("revision ")?;
    let (number, path) = rest.split_once(" of ")?;
    Some((number.parse().ok()?, path.split_whitespace().next()?.to_owned()))
}

/// A call that brings the list up to date, where the CLI has a tool for it.
pub(super) fn list(conversation: &Conversation, belief: &Belief, now: u32) -> Option<Call> {
    let (tool, list, text) =
        LISTS.iter().find_map(|(name, list, text)| Some((conversation.tool(name)?, list, text)))?;
    let item = |(n, what): (&u32, &String)| {
        let status = match (belief.done.contains(n), *n == now) {
            (true, _) => "completed",
            (false, true) => "in_progress",
            (false, false) => "pending",
        };
        let mut item = json!({ "status": status });
        item[*text] = format!("step {n}: {what}").into();
        if *list == "todos" {
            for (field, value) in
                [("priority", "medium".to_owned()), ("id", n.to_string()), ("activeForm", what.clone())]
            {
                if asks_for(tool.property(list), field) {
                    item[field] = value.into();
                }
            }
        }
        item
    };
    let mut input = json!({});
    input[*list] = belief.listed.iter().map(item).collect();
    Some(Call { name: tool.name.clone(), input: Input::Object(input) })
}

fn asks_for(list: Option<&Value>, field: &str) -> bool {
    list.is_some_and(|list| !list["items"]["properties"][field].is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_server::conversation::{Takes, Tool};

    fn offering(tools: &[(&str, &[&str])]) -> Conversation {
        let tool = |(name, fields): &(&str, &[&str])| {
            let properties = fields.iter().map(|field| ((*field).to_owned(), json!({}))).collect();
            Tool { name: (*name).to_owned(), takes: Takes::Object(Value::Object(properties)) }
        };
        Conversation { tools: tools.iter().map(tool).collect(), ..Conversation::default() }
    }

    #[test]
    fn files_are_read_abreast_then_one_is_changed_then_the_step_is_due() {
        let options = PersonaOptions {
            looks: vec!["looks/0.txt".to_owned(), "looks/1.txt".to_owned()],
            looks_per_step: 3,
            abreast: 2,
            edit_every: 2,
            ..PersonaOptions::default()
        };
        let mut talk = offering(&[
            ("Read", &["file_path"]),
            ("Edit", &["file_path", "old_string", "new_string"]),
            ("Bash", &["command"]),
        ]);
        talk.user("the task");
        let inputs = |calls: Vec<Call>| calls.iter().map(|call| call.input.text()).collect::<Vec<_>>();
        let add = |talk: &mut Conversation, calls: &[Call]| {
            calls.iter().for_each(|call| talk.call(&call.name, &call.input.text()));
            calls.iter().for_each(|_| talk.result("     1\trevision 4 of looks/1.txt\n     2\tmore"));
        };
        let two = due(&talk, &options, 2).unwrap();
        assert_eq!(inputs(two.clone()), [r#"{"file_path":"looks/0.txt"}"#, r#"{"file_path":"looks/1.txt"}"#]);
        add(&mut talk, &two);
        let one = due(&talk, &options, 2).unwrap();
        assert_eq!(one.len(), 1);
        add(&mut talk, &one);
        let change = due(&talk, &options, 2).unwrap();
        let text = inputs(change.clone()).concat();
        assert!(
            text.contains("revision 4 of looks/1.txt") && text.contains("revision 5 of looks/1.txt"),
            "{text}"
        );
        add(&mut talk, &change);
        assert_eq!(due(&talk, &options, 2), None);
        talk.call("Bash", "sh step.sh 2");
        talk.result("step 2 done");
        assert_eq!(due(&talk, &options, 3).unwrap().len(), 2);
        let bare = offering(&[("exec_command", &["cmd"])]);
        assert!(inputs(due(&bare, &options, 1).unwrap())[0].contains("cat looks/1.txt"));
    }

    #[test]
    fn a_list_is_kept_where_there_is_a_tool_for_it() {
        let mut belief = Belief::default();
        belief.listed.extend([(1, "write part 1".to_owned()), (2, "write part 2".to_owned())]);
        belief.done.insert(1);
        let call = list(&offering(&[("update_plan", &["plan"])]), &belief, 2).unwrap();
        let plan = json!({ "plan": [{ "status": "completed", "step": "step 1: write part 1" },
                                    { "status": "in_progress", "step": "step 2: write part 2" }] });
        assert_eq!(call.input, Input::Object(plan));
        assert_eq!(list(&offering(&[("Bash", &["command"])]), &belief, 2), None);
    }
}
