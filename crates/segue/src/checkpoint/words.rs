//! The checkpoint that segue writes when the agent does not: from what was seen, without asking anybody.

use std::collections::BTreeSet;

use segue_machine::checkpoint::{cut_chars, cut_list};
use segue_machine::{CheckpointBy, Depth};

use crate::checkpoint::{Document, Situation};

/// How much of the goal is repeated; the whole task follows in the prompt anyway.
const GOAL: usize = 600;
const TOOLS_LISTED: usize = 200;
const ERRORS_LISTED: usize = 5;

/// segue's own account of the work so far.
pub(crate) fn account(
    situation: &Situation,
    reason: &str,
    depth: Depth,
    earlier: Option<&Document>,
) -> String {
    let mut text = format!("## Goal\n{}\n\n", cut_chars(situation.task.trim(), GOAL));
    text.push_str(&format!("## Session Status\nwritten by segue, not by the agent ({reason})\n\n"));
    let done = unique(situation.tools.iter().filter(|t| t.ok).map(|t| t.title.as_str()));
    section(&mut text, "Completed Work (tool calls that ended well)", &cut_list(&done, TOOLS_LISTED));
    let failed: Vec<&str> =
        situation.tools.iter().rev().filter(|t| !t.ok).map(|t| t.title.as_str()).collect();
    section(
        &mut text,
        "Recent Errors (tool calls that failed, newest first)",
        &cut_list(&failed, ERRORS_LISTED),
    );
    if let Some(earlier) = earlier.filter(|e| e.by == CheckpointBy::Agent && depth != Depth::Emergency) {
        text.push_str(&format!(
            "## Earlier checkpoint, by the agent in session {}\n{}\n",
            earlier.session, earlier.summary
        ));
    }
    text.trim_end().to_owned()
}

fn section(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    text.push_str(&format!("## {title}\n"));
    for item in items {
        text.push_str(&format!("- {item}\n"));
    }
    text.push('\n');
}

fn unique<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    items.filter(|i| !i.is_empty() && seen.insert(*i)).collect()
}
