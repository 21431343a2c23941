//! Which run is meant: by id or the beginning of it, by its last four characters, as `last`, or by words of its task.

use segue_journal::{Error, Reader, RunRow};

use super::failure::Failure;

/// The run that was typed.
pub(super) fn find(reader: &Reader, typed: &str) -> Result<RunRow, Failure> {
    let unknown = match reader.run(typed) {
        Ok(row) => return Ok(row),
        Err(error @ Error::UnknownRun { .. }) => error,
        Err(error @ Error::AmbiguousRun { .. }) => return Err(Failure::usage(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    let mut rows = reader.runs()?;
    if typed == "last" && !rows.is_empty() {
        return Ok(rows.swap_remove(0));
    }
    let by_end: Vec<&RunRow> = rows.iter().filter(|row| short(&row.id).starts_with(typed)).collect();
    let found = if by_end.is_empty() { by_words(&rows, typed) } else { by_end };
    match found.as_slice() {
        [] => Err(Failure::usage(format!("{unknown}; `segue list` shows the runs of this directory"))),
        [one] => Ok((*one).clone()),
        several => {
            let lines: Vec<String> = several
                .iter()
                .take(8)
                .map(|row| format!("  {}  {}", row.id, segue_report::plain(&row.task)))
                .collect();
            Err(Failure::usage(format!("{typed:?} matches {} runs:\n{}", several.len(), lines.join("\n"))))
        }
    }
}

/// The part of an id that chance made, which is short and mostly enough.
pub(super) fn short(id: &str) -> &str {
    id.rsplit('-').next().unwrap_or(id)
}

// Every word, in any order and in any case.
fn by_words<'a>(rows: &'a [RunRow], typed: &str) -> Vec<&'a RunRow> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let fits = |row: &&RunRow| {
        let task = row.task.to_lowercase();
        !words.is_empty() && words.iter().all(|word| task.contains(word))
    };
    rows.iter().filter(fits).collect()
}
