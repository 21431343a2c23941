//! A master plan: a table of phases, each with a link to a file of its own.

use super::phase::{read_into, target};
use super::{Files, Reading, order, phased, source, text};
use crate::ids;
use crate::model::{Oddity, OddityKind, Phase, Plan, Status};
use crate::text::{Doc, Table, beside, plain, tables};

const IDS: [&str; 6] = ["phase", "#", "id", "no", "no.", "phase #"];
const STATUS: [&str; 2] = ["status", "state"];

/// Whether there is a table of phases that have files or a status.
pub(crate) fn is_master(doc: &Doc<'_>) -> bool {
    let linked = |table: &Table<'_>| {
        rows(table).any(|row| row.file.as_deref().is_some_and(|file| file.ends_with(".md")))
    };
    let tables = tables(doc, doc.all());
    if tables.iter().any(linked) {
        return true;
    }
    let listed = |table: &Table<'_>| {
        table.column(&STATUS).is_some()
            && table.column(&["title", "name", "focus", "description"]).is_some()
            && rows(table).count() > 0
    };
    // Without links the phases may also be sections of this file, or something else may be counted.
    let sections =
        || doc.headings.iter().any(|heading| heading.level > 1 && ids::heading(heading.title).is_some());
    tables.iter().any(listed) && !sections() && doc.boxes().0 == 0
}

struct Row {
    line: u32,
    id: String,
    title: String,
    file: Option<String>,
    status: Status,
    needs: Option<String>,
}

fn rows<'t>(table: &'t Table<'_>) -> impl Iterator<Item = Row> + 't {
    let id = table.column(&IDS);
    let title = table.column(&["title", "name", "phase name", "focus", "description", "file", "plan"]);
    let status = table.column(&STATUS);
    let needs = table.column(&["depends on", "dependencies", "depends", "needs", "requires"]);
    table.rows.iter().filter_map(move |(line, cells)| {
        let cell = |column: Option<usize>| column.and_then(|column| cells.get(column)).copied();
        let first = cell(id)?;
        let words = plain(first);
        let words = words.trim_matches(['`', ' ']);
        let lower = words.to_lowercase();
        let bare = if lower.starts_with("phase") {
            words.get(5..)?.trim_start_matches([' ', '#', '-'])
        } else {
            words
        };
        let (number, rest) = ids::leading(bare)?;
        let rest = rest.trim_start_matches(['.', ':', ' ', '-', '–', '—']).trim();
        let titled = cell(title).filter(|_| title != id).map(plain).filter(|title| !title.is_empty());
        Some(Row {
            line: *line,
            id: number.to_owned(),
            title: titled.unwrap_or_else(|| rest.to_owned()),
            file: cells.iter().find_map(|cell| target(cell)),
            status: cell(status).and_then(Status::read).unwrap_or_default(),
            needs: cell(needs).map(str::to_owned),
        })
    })
}

/// Reads the table, and every file that it links to.
pub(crate) fn read(reading: &Reading<'_, '_>, files: &dyn Files, plan: &mut Plan) {
    let doc = reading.doc;
    plan.title = doc.headings.first().map(|heading| plain(heading.title)).unwrap_or_default();
    let about = doc.headings.iter().find(|h| super::sections::kind(h.title) == super::sections::Kind::About);
    plan.about = about.map(|heading| doc.text(heading.body)).unwrap_or_default();
    let all = tables(doc, doc.all());
    let linked = |table: &&Table<'_>| rows(table).any(|row| row.file.is_some());
    let Some(table) = all.iter().find(linked).or_else(|| all.iter().find(|table| rows(table).count() > 0))
    else {
        return;
    };
    let rows: Vec<Row> = rows(table).collect();
    let from = plan.files.first().map(|file| file.name.clone()).unwrap_or_default();
    let mut said: Vec<Option<String>> = Vec::new();
    for row in &rows {
        let mut phase = Phase::new(row.id.clone());
        (phase.title, phase.status) = (row.title.clone(), row.status);
        phase.at = reading.at(row.line);
        if row.needs.is_some() {
            phase.needs_at = phase.at;
        }
        let read = row.file.as_ref().and_then(|path| linked_file(plan, files, &mut phase, path));
        plan.phases.push(phase);
        let own = row.needs.as_ref().map(|text| by_link(&rows, &from, &from, text));
        let Some((file, bytes)) = read else {
            said.push(own);
            continue;
        };
        let content = text("", &bytes).unwrap_or_default();
        let doc = Doc::new(&content);
        let name = row.file.as_deref().map(|file| beside(&from, file)).unwrap_or_default();
        let of_file = phased::stated(&doc, doc.all()).map(|text| by_link(&rows, &from, &name, text));
        said.push(match (of_file, own) {
            (Some(text), Some(own)) if order::says_none(&text) => Some(own),
            (of_file, own) => of_file.or(own),
        });
        if let Ok(raw) = std::str::from_utf8(&bytes) {
            super::assign::boxes_of(plan, file, raw, &doc);
        }
    }
    let said: Vec<Option<&str>> = said.iter().map(Option::as_deref).collect();
    order::resolve(&mut plan.phases, &said);
}

// What a phase says about its order, in a file of that name: a link says more surely than a number which phase is meant.
fn by_link(rows: &[Row], from: &str, name: &str, text: &str) -> String {
    let row = |file: &str| {
        rows.iter().find(|row| row.file.as_deref().is_some_and(|own| beside(from, own) == beside(name, file)))
    };
    let needed = ids::needed(text);
    if needed.iter().all(|needed| needed.file.is_none()) {
        return text.to_owned();
    }
    let id = |needed: &ids::Needed| {
        let linked = needed.file.as_deref().and_then(row);
        linked.map_or(needed.id.clone(), |row| row.id.clone())
    };
    needed.iter().map(|needed| format!("Phase {}", id(needed))).collect::<Vec<_>>().join(", ")
}

// The number of the file and its bytes, when it was read.
fn linked_file(plan: &mut Plan, files: &dyn Files, phase: &mut Phase, path: &str) -> Option<(u32, Vec<u8>)> {
    let from = plan.files.first().map(|file| file.name.clone()).unwrap_or_default();
    let name = beside(&from, path);
    let Some(bytes) = files.read(&name) else {
        plan.oddities.push(Oddity { kind: OddityKind::MissingFile, at: phase.at, what: name });
        return None;
    };
    let Ok(content) = text(&name, &bytes) else {
        plan.oddities.push(Oddity { kind: OddityKind::UnreadableFile, at: phase.at, what: name });
        return None;
    };
    let doc = Doc::new(&content);
    let file = u32::try_from(plan.files.len()).unwrap_or(u32::MAX);
    plan.files.push(source(&name, &doc));
    read_into(&Reading { doc: &doc, file, offset: 0 }, phase, plan);
    Some((file, bytes))
}
