//! Reading an agent's answer to a checkpoint request, however it was wrapped.

/// What an agent answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The checkpoint text, verbatim.
    pub text: String,
    /// Whether the agent used the tags it was asked for.
    pub tagged: bool,
    /// The text by headings, in order.
    pub sections: Vec<Section>,
}

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading, without marks.
    pub title: String,
    /// The list items below it, or its lines when it has no list.
    pub items: Vec<String>,
}

impl Answer {
    /// The items below the first heading that contains one of `names`, whatever its case.
    pub fn items(&self, names: &[&str]) -> &[String] {
        let wanted = |title: &str| names.iter().any(|n| title.to_lowercase().contains(&n.to_lowercase()));
        self.sections.iter().find(|s| wanted(&s.title)).map_or(&[], |s| s.items.as_slice())
    }

    // Something below one of at least two of the headings that are asked for.
    fn says_enough(&self) -> bool {
        let known = self.sections.iter().filter(|section| is_expected(&section.title));
        let says = known.clone().flat_map(|section| &section.items).any(|item| !is_placeholder(item));
        known.count() >= 2 && says
    }
}

const OPEN: &str = "<checkpoint>";
const CLOSE: &str = "</checkpoint>";

/// The headings that are asked for, and others that agents use.
const PLAIN: [&str; 8] = [
    "goal",
    "completed work",
    "remaining tasks",
    "do not redo",
    "key decisions",
    "status",
    "next step",
    "constraints",
];

/// Reads the last `<checkpoint>` block of an answer; without tags the whole text is the checkpoint.
pub fn parse(answer: &str) -> Answer {
    let (body, tagged) = match last_block(answer) {
        Some(body) => (body, true),
        None => (answer, false),
    };
    let text = unfence(body.trim()).trim().to_owned();
    let sections = sections(&text);
    Answer { text, tagged, sections }
}

/// The last closed `<checkpoint>` block of a message that says something below at least two of the headings that are asked
/// for, with its tags. A quote of the request, whose lines are all in parentheses, is none.
pub fn complete_block(message: &str) -> Option<&str> {
    let mut end = message.len();
    while let Some(close) = message[..end].rfind(CLOSE) {
        let open = message[..close].rfind(OPEN)?;
        let block = &message[open..close + CLOSE.len()];
        if parse(block).says_enough() {
            return Some(block);
        }
        end = open;
    }
    None
}

/// Whether what an agent said when it was asked is a checkpoint, with or without tags: whoever continues the work instead of
/// answering says something too.
pub fn is_checkpoint(answer: &str) -> bool {
    let answer = parse(answer);
    answer.tagged || answer.says_enough()
}

fn is_expected(title: &str) -> bool {
    let title = title.to_lowercase();
    PLAIN.iter().any(|expected| title.contains(expected))
}

fn is_placeholder(item: &str) -> bool {
    let item = item.trim();
    item.starts_with('(') && item.ends_with(')')
}

// An empty last block (a closing remark that names the tag) does not beat a full one before it.
fn last_block(text: &str) -> Option<&str> {
    let mut rest = text;
    let mut found: Option<&str> = None;
    while let Some(open) = rest.find(OPEN) {
        let inner = &rest[open + OPEN.len()..];
        let (body, after) = match inner.find(CLOSE) {
            Some(close) => (&inner[..close], &inner[close + CLOSE.len()..]),
            None => (unclosed(inner), ""),
        };
        if !body.trim().is_empty() || found.is_none() {
            found = Some(body);
        }
        rest = after;
    }
    found
}

// Without a closing tag the block ends with the text, but the fence around it is no part of it.
fn unclosed(inner: &str) -> &str {
    inner.trim_end().strip_suffix("```").unwrap_or(inner)
}

fn unfence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let Some((info, body)) = inner.split_once('\n') else { return text };
    if info.contains('`') {
        return text;
    }
    match body.trim_end().strip_suffix("```") {
        Some(body) if !body.contains("```") => body,
        _ => text,
    }
}

fn sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(title) = heading(line) {
            close_section(&mut found, &mut lines);
            found.push(Section { title, items: Vec::new() });
        } else {
            lines.push(line);
        }
    }
    close_section(&mut found, &mut lines);
    found
}

fn close_section(found: &mut [Section], lines: &mut Vec<&str>) {
    if let Some(section) = found.last_mut() {
        let bullets: Vec<String> = lines.iter().filter_map(|l| bullet(l)).collect();
        section.items = if bullets.is_empty() {
            lines.iter().map(|l| l.trim()).filter(|l| !l.is_empty()).map(str::to_owned).collect()
        } else {
            bullets
        };
    }
    lines.clear();
}

fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(title) = line.strip_prefix('#') {
        return Some(title.trim_start_matches('#').trim().trim_end_matches(':').to_owned());
    }
    let bold = line.strip_prefix("**").and_then(|l| l.strip_suffix("**").or_else(|| l.strip_suffix("**:")));
    if let Some(title) = bold {
        return Some(title.trim_end_matches(':').to_owned());
    }
    let title = line.strip_suffix(':')?;
    PLAIN.contains(&title.to_lowercase().as_str()).then(|| title.to_owned())
}

fn bullet(line: &str) -> Option<String> {
    let line = line.trim_start();
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| numbered(line))?;
    Some(rest.trim().to_owned()).filter(|r| !r.is_empty())
}

fn numbered(line: &str) -> Option<&str> {
    let digits = line.find(|c: char| !c.is_ascii_digit()).filter(|n| *n > 0)?;
    line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c1_plain_fenced_and_multi_line_blocks_give_the_same_text() {
        let body = "Goal: x\nsecond line";
        for answer in [
            format!("<checkpoint>{body}</checkpoint>"),
            format!("Here it is:\n<checkpoint>\n{body}\n</checkpoint>\nBye."),
            format!("```xml\n<checkpoint>\n{body}\n</checkpoint>\n```"),
            format!("```markdown\n<checkpoint>\n{body}\n</checkpoint>\n```"),
            format!("<checkpoint>\n```markdown\n{body}\n```\n</checkpoint>"),
            format!("<checkpoint>\n{body}"),
            format!("```xml\n<checkpoint>\n{body}\n```"),
        ] {
            let answer = parse(&answer);
            assert_eq!((answer.text.as_str(), answer.tagged), (body, true));
        }
    }

    #[test]
    fn c1_braces_are_kept_verbatim() {
        let body = r#"{"a": "{{ b }}"} {% raw %} <tag> $HOME"#;
        assert_eq!(parse(&format!("<checkpoint>{body}</checkpoint>")).text, body);
    }

    #[test]
    fn c1_the_last_block_wins() {
        let answer = "<checkpoint>one</checkpoint> no, wait <checkpoint>two</checkpoint>";
        assert_eq!(parse(answer).text, "two");
        assert_eq!(parse("<checkpoint>one</checkpoint> that was the <checkpoint></checkpoint>").text, "one");
    }

    #[test]
    fn c1_no_tags_means_the_whole_text() {
        let answer = parse("I did a and b.\n\n```sh\nls\n```\n");
        assert_eq!((answer.text.as_str(), answer.tagged), ("I did a and b.\n\n```sh\nls\n```", false));
    }

    #[test]
    fn k3_only_a_closed_block_with_two_headings_and_something_below_them_is_complete() {
        let whole = "<checkpoint>\n## Goal\nbuild it\n## Remaining Tasks\n- b\n</checkpoint>";
        assert_eq!(complete_block(&format!("Here:\n{whole}\nDone.")), Some(whole));
        assert_eq!(complete_block(&format!("{whole} as in <checkpoint></checkpoint>")), Some(whole));
        for none in [
            "<checkpoint>\n## Goal\nbuild it\n## Remaining Tasks\n- b\n",
            "<checkpoint>\n## Goal\nbuild it\n</checkpoint>",
            "<checkpoint>\n## Goal\n(what is to be achieved)\n## Remaining Tasks\n- (each part)\n</checkpoint>",
            "<checkpoint>x</checkpoint>",
            "</checkpoint>",
            "## Goal\nbuild it\n## Remaining Tasks\n- b\n",
        ] {
            assert_eq!(complete_block(none), None, "{none}");
        }
    }

    #[test]
    fn headings_of_every_kind_open_a_section() {
        let answer = parse("## Goal\nbuild it\n**Completed Work**\n- a\n- b\nRemaining Tasks:\n1. c\n2) d\n");
        assert_eq!(answer.items(&["completed"]), ["a", "b"]);
        assert_eq!(answer.items(&["remaining"]), ["c", "d"]);
        assert_eq!(answer.items(&["goal"]), ["build it"]);
        assert_eq!(answer.items(&["nothing like it"]), [""; 0]);
    }
}
