//! The list that Claude Code keeps with its task tools: one call makes a task, another changes it, by number.

use std::collections::BTreeMap;

use segue_machine::{AgentEvent, ListItem};
use serde_json::Value;

use crate::list_item;

/// The most tasks that are remembered.
const MOST: usize = 500;

/// The tasks of one conversation, and the calls about them that have not come to an end.
#[derive(Debug, Default)]
pub(super) struct TaskList {
    calls: BTreeMap<String, Call>,
    tasks: Vec<ListItem>,
}

#[derive(Debug)]
enum Call {
    Create(String),
    Update { task: String, text: Option<String>, status: Option<String> },
}

impl TaskList {
    /// A tool was called.
    pub(super) fn asked(&mut self, id: &str, tool: &str, input: &Value) {
        let word = |name: &str| input[name].as_str().map(str::to_owned);
        let call = match tool {
            "TaskCreate" => word("subject").map(Call::Create),
            "TaskUpdate" => word("taskId").map(|task| Call::Update {
                task,
                text: word("subject"),
                status: word("status"),
            }),
            _ => None,
        };
        self.calls.extend(call.map(|call| (id.to_owned(), call)));
    }

    /// It ended; the list, if it changed. The number of a new task is in what the tool gave back.
    pub(super) fn answered(&mut self, id: &str, ok: bool, result: &Value, words: &str) -> Option<AgentEvent> {
        let call = self.calls.remove(id).filter(|_| ok)?;
        match call {
            Call::Create(subject) => {
                let task = result.pointer("/task/id").and_then(Value::as_str).or_else(|| number(words))?;
                self.tasks.push(list_item(task.to_owned(), &subject, "pending"));
                if self.tasks.len() > MOST {
                    self.tasks.remove(0);
                }
            }
            Call::Update { task, status: Some(gone), .. } if gone == "deleted" => {
                self.tasks.retain(|known| known.id != task);
            }
            Call::Update { task, text, status } => {
                let known = self.tasks.iter_mut().find(|known| known.id == task)?;
                let text = text.unwrap_or_else(|| known.text.clone());
                let state = status.map_or(known.state, |status| list_item(task.clone(), "", &status).state);
                *known = ListItem { id: task, text, state };
            }
        }
        Some(AgentEvent::list(self.tasks.iter().cloned()))
    }
}

// "Task #3 created successfully: …"
fn number(words: &str) -> Option<&str> {
    words.strip_prefix("Task #")?.split_whitespace().next()
}
