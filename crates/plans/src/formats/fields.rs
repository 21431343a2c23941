//! Named parts of a task or phase: `**Files:** …`, `- Verify: …`, and what stands below them.

use super::Reading;
use crate::text::{Line, Range, field, item};

/// What a field is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// The files that are changed.
    Files,
    /// The files to read first.
    Read,
    /// What is to be done.
    Action,
    /// How it can be checked.
    Verify,
    /// What must hold.
    Criteria,
    /// When it is done.
    Done,
    /// What comes before it.
    Needs,
    /// Which wave it belongs to.
    Wave,
    /// How much there is to it.
    Complexity,
    /// How far it is.
    Status,
    /// Something that ends the field before it and is not kept.
    Aside,
}

/// A field: its first words, and the lines below that belong to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) name: Name,
    /// What follows its name on the same line.
    pub(crate) rest: &'a str,
    /// Its line, by index.
    pub(crate) index: usize,
    /// The lines below that belong to it.
    pub(crate) body: Range,
}

/// The name of a field, as plans write it.
pub(crate) fn name(word: &str) -> Option<Name> {
    let word = word.split('(').next().unwrap_or(word).trim();
    Some(match word {
        "files" | "file" | "files modified" | "files_modified" | "files to modify" | "files to create"
        | "write scope" => Name::Files,
        "read first" | "read_first" | "files to read" => Name::Read,
        "action" | "do" | "instructions" | "implementation" | "what to do" => Name::Action,
        "verify" | "verification" | "validation" | "how to verify" => Name::Verify,
        "acceptance criteria" | "acceptance" | "acceptance_criteria" | "criteria" | "success criteria" => {
            Name::Criteria
        }
        "done" | "done when" | "definition of done" => Name::Done,
        "depends on" | "depends_on" | "depends" | "dependencies" | "blocked by" | "prerequisites" => {
            Name::Needs
        }
        "wave" => Name::Wave,
        "complexity" | "effort" | "size" => Name::Complexity,
        "status" => Name::Status,
        "interfaces" | "why" | "commit" | "requirements" | "design" | "notes" | "context" | "purpose"
        | "goal" | "checkpoint" | "independent test" | "plans" | "type" | "priority" | "tests" => Name::Aside,
        _ => return None,
    })
}

/// The fields in a range that stand at its left edge, or as items of a list.
pub(crate) fn fields<'a>(reading: &Reading<'_, 'a>, range: Range) -> Vec<Field<'a>> {
    let mut found: Vec<Field<'a>> = Vec::new();
    for (offset, line) in reading.doc.slice(range).iter().enumerate() {
        let index = range.from + offset;
        let heading = line.is_prose() && line.text.starts_with('#') && line.indent < 4;
        let next = if line.indent <= 1 { read(line) } else { None };
        if (heading || next.is_some())
            && let Some(last) = found.last_mut()
        {
            last.body.to = last.body.to.min(index);
        }
        if let Some((name, rest)) = next {
            found.push(Field { name, rest, index, body: Range { from: index + 1, to: range.to } });
        }
    }
    found
}

/// A field on a line, if there is one.
pub(crate) fn read<'a>(line: &Line<'a>) -> Option<(Name, &'a str)> {
    if !line.is_prose() || !line.text.contains(':') {
        return None;
    }
    let bold = line.text.starts_with("**") || line.text.starts_with("> **");
    let listed = item(line.text).filter(|item| item.mark.is_none());
    let text = listed.map_or(line.text, |item| item.text);
    let (word, rest) = field(text)?;
    let name = name(&word)?;
    let capital = text.trim_start_matches(['*', '>', ' ', '_']).starts_with(char::is_uppercase);
    // Without stars, words at the start of a sentence could be anything.
    let sure = bold
        || text.starts_with("**")
        || (capital
            && matches!(
                name,
                Name::Files | Name::Verify | Name::Done | Name::Needs | Name::Status | Name::Wave
            ));
    (sure && (listed.is_none() || text.starts_with("**") || listed.is_some_and(|i| i.number.is_none())))
        .then_some((name, rest))
}

/// The field of that name.
pub(crate) fn find<'f, 'a>(fields: &'f [Field<'a>], name: Name) -> Option<&'f Field<'a>> {
    fields.iter().find(|field| field.name == name)
}

/// The text of a field: what follows its name and what stands below.
pub(crate) fn text(reading: &Reading<'_, '_>, field: &Field<'_>) -> String {
    let below = reading.doc.text(field.body);
    match (field.rest.is_empty(), below.is_empty()) {
        (true, _) => below,
        (false, true) => field.rest.to_owned(),
        (false, false) => format!("{}\n{below}", field.rest),
    }
}

/// The part of a field that is a list of files: it ends with a check box, or with prose after an empty line.
pub(crate) fn file_lines(reading: &Reading<'_, '_>, field: &Field<'_>) -> String {
    let mut text = field.rest.to_owned();
    let mut blank = false;
    for line in reading.doc.slice(field.body).iter().take_while(|line| line.is_prose()) {
        let found = item(line.text);
        if found.is_some_and(|item| item.mark.is_some())
            || (blank && found.is_none() && !line.text.is_empty())
        {
            break;
        }
        blank = line.text.is_empty();
        text.push('\n');
        text.push_str(line.text);
    }
    text
}
