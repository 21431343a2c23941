//! Tables: a row of names, a row of dashes, and rows of cells.

use super::doc::{Doc, Line, Range};

/// A table, with the names of its columns in lower case.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    /// The names of the columns.
    pub(crate) names: Vec<String>,
    /// The line and the cells of each row.
    pub(crate) rows: Vec<(u32, Vec<&'a str>)>,
}

impl Table<'_> {
    /// The first column whose name is one of these.
    pub(crate) fn column(&self, names: &[&str]) -> Option<usize> {
        self.names.iter().position(|name| names.contains(&name.as_str()))
    }
}

/// The tables in a part of a document.
pub(crate) fn tables<'a>(doc: &Doc<'a>, range: Range) -> Vec<Table<'a>> {
    let lines = doc.slice(range);
    let mut found = Vec::new();
    let mut index = 0;
    while index + 1 < lines.len() {
        if !(is_row(&lines[index]) && is_rule(&lines[index + 1])) {
            index += 1;
            continue;
        }
        let names =
            cells(lines[index].text).iter().map(|name| name.trim_matches('*').to_lowercase()).collect();
        let rows: Vec<_> =
            lines[index + 2..].iter().take_while(|l| is_row(l)).map(|l| (l.no, cells(l.text))).collect();
        index += 2 + rows.len();
        found.push(Table { names, rows });
    }
    found
}

fn is_row(line: &Line<'_>) -> bool {
    line.is_prose() && line.text.contains('|')
}

fn is_rule(line: &Line<'_>) -> bool {
    is_row(line)
        && line.text.contains('-')
        && line.text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

// A bar inside a code span or behind a backslash ends no cell.
fn cells(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('|').unwrap_or(text);
    let (mut found, mut from, mut code, mut escaped) = (Vec::new(), 0, false, false);
    for (at, char) in text.char_indices() {
        match char {
            '`' => code = !code,
            '|' if !code && !escaped => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        escaped = char == '\\';
    }
    if !text[from..].trim().is_empty() {
        found.push(text[from..].trim());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_names_and_rows_with_their_lines() {
        let doc =
            Doc::new("x\n| Phase | **Title** |\n|---|:-:|\n| 1 | `a | b` |\n| 6D | [c](d.md) |\n\ny | z");
        let tables = tables(&doc, doc.all());
        assert_eq!(tables[0].names, ["phase", "title"]);
        assert_eq!(tables[0].rows, [(4, vec!["1", "`a | b`"]), (5, vec!["6D", "[c](d.md)"])]);
        assert_eq!(tables.len(), 1);
    }
}
