//! One phase from a text or a part of it: its fields, tasks, gates, criteria and notes.

use super::sections::{Kind, kind};
use super::{Reading, gates, notes, phase_head, task_text, tasks};
use crate::ids;
use crate::model::{Artifact, Format, Gate, Link, MustHave, Phase, Plan, Status};
use crate::text::{Doc, Front, Heading, Range, Value, decode, element, link, paths, plain, spans, tables};

/// Whether a text is a phase with a process wrapper, or with gates and dependencies.
pub(crate) fn is_debussy(doc: &Doc<'_>) -> bool {
    let has = |wanted: Kind| doc.headings.iter().any(|heading| kind(heading.title) == wanted);
    let fields = ["depends on", "master plan"];
    let head = doc.lines.iter().take(30).filter(|line| line.is_prose());
    let fielded = head
        .filter_map(|line| crate::text::field(line.text))
        .any(|(name, _)| fields.contains(&name.as_str()));
    has(Kind::Wrapper) || (has(Kind::Gates) && fielded && has(Kind::Tasks))
}

/// Reads a text that is one phase.
pub(crate) fn read_alone(reading: &Reading<'_, '_>, plan: &mut Plan) {
    let front = Front::read(reading.doc);
    let from = front.as_ref().map_or(0, |front| front.range.to);
    let range = Range { from, to: reading.doc.lines.len() };
    let mut phase = Phase::new("");
    if let Some(front) = &front {
        from_front(reading, front, &mut phase);
    }
    let head = reading.doc.inside(range).find(|heading| heading.level == 1);
    if let Some(head) = head {
        let (id, title) = ids::heading(head.title).unwrap_or_else(|| (String::new(), plain(head.title)));
        if phase.id.is_empty() {
            phase.id = id;
        }
        if phase.title.is_empty() {
            phase.title = title;
        }
        phase.at = reading.at_index(head.index);
    }
    if phase.id.is_empty() {
        phase.id = "1".to_owned();
    }
    if phase.at.line == 0 {
        phase.at = reading.at(1);
    }
    phase.alone = true;
    fill(reading, range, &mut phase, plan);
    plan.title = head.map(|head| plain(head.title)).unwrap_or_else(|| phase.title.clone());
    plan.phases.push(phase);
}

/// Fills a phase from a part of a text.
pub(crate) fn fill(reading: &Reading<'_, '_>, range: Range, phase: &mut Phase, plan: &mut Plan) {
    phase_head::read(reading, range, phase);
    (phase.end, phase.text) = (reading.end_index(range.to), reading.doc.text(range));
    let found = tasks::tasks(reading, range, !plan.format.has_own_tasks());
    plan.oddities.extend(found.oddities);
    phase.tasks = found.tasks;
    let covered = Covered::new(reading.doc, &found.covered);
    for heading in reading.doc.inside(range).filter(|heading| !covered.has(heading.index)) {
        section(reading, heading, phase);
    }
    tagged(reading, range, phase, &covered);
    if phase.files.is_empty() {
        phase.files = each_once(phase.tasks.iter().flat_map(|task| &task.files));
    }
    if phase.tasks.iter().any(|task| task.manual) {
        phase.autonomous = false;
    }
    let all_done = !phase.tasks.is_empty() && phase.tasks.iter().all(|task| task.status.is_over());
    if phase.status == Status::Pending && all_done {
        phase.status = Status::Completed;
    }
}

// Where a path comes first, it stays.
fn each_once<'p>(paths: impl Iterator<Item = &'p String>) -> Vec<String> {
    let mut found: Vec<(usize, &String)> = paths.enumerate().collect();
    found.sort_by_key(|(_, path)| *path);
    found.dedup_by_key(|(_, path)| *path);
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, path)| path.clone()).collect()
}

/// The lines that belong to tasks.
struct Covered(Vec<bool>);

impl Covered {
    fn new(doc: &Doc<'_>, ranges: &[Range]) -> Self {
        let mut lines = vec![false; doc.lines.len()];
        for range in ranges {
            if let Some(lines) = lines.get_mut(range.from..range.to) {
                lines.fill(true);
            }
        }
        Self(lines)
    }

    fn has(&self, index: usize) -> bool {
        self.0.get(index).copied().unwrap_or(false)
    }
}

fn section(reading: &Reading<'_, '_>, heading: &Heading<'_>, phase: &mut Phase) {
    let body = heading.body;
    match kind(heading.title) {
        Kind::Gates => phase.gates.extend(gates::strict(reading, body)),
        Kind::Validation => {
            let known: Vec<Option<String>> = phase.gates.iter().map(|gate| gate.run.clone()).collect();
            let more = gates::lenient(reading, body).into_iter().filter(|gate| !known.contains(&gate.run));
            phase.gates.extend(more.collect::<Vec<Gate>>());
        }
        Kind::Criteria => phase.criteria.extend(task_text::criteria_in(reading, body, "")),
        Kind::Success => {
            let found = task_text::criteria_in(reading, body, "");
            if phase.tasks.iter().any(|task| !task.criteria.is_empty()) {
                phase.must_have.success.extend(found.into_iter().map(|criterion| criterion.text));
            } else {
                phase.criteria.extend(found);
            }
        }
        Kind::Wrapper => notes::read(reading, body, phase),
        Kind::Files => phase.files.extend(files(reading, body)),
        Kind::About if phase.about.is_empty() => {
            phase.about = reading.doc.text(Range { to: end_of_text(reading, heading), ..body })
        }
        Kind::About | Kind::Tasks | Kind::Aside | Kind::Other => {}
    }
}

// The text of a section up to its first heading.
fn end_of_text(reading: &Reading<'_, '_>, heading: &Heading<'_>) -> usize {
    reading.doc.inside(heading.body).next().map_or(heading.body.to, |inner| inner.index)
}

fn files(reading: &Reading<'_, '_>, range: Range) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for table in tables(reading.doc, range) {
        let column = table.column(&["file", "path", "files"]).unwrap_or(0);
        found.extend(
            table.rows.iter().filter_map(|(_, cells)| cells.get(column)).flat_map(|cell| paths(cell)),
        );
    }
    let items =
        reading.doc.slice(range).iter().filter(|l| l.is_prose()).filter_map(|l| crate::text::item(l.text));
    found.extend(items.flat_map(|item| paths(item.text).into_iter().take(1)));
    found
}

// What stands in tags of the phase's own: <objective>, <verification>, <success_criteria>.
fn tagged(reading: &Reading<'_, '_>, range: Range, phase: &mut Phase, covered: &Covered) {
    let own =
        |name: &str| element(reading.doc, range, name).filter(|element| !covered.has(element.range.from));
    if let Some(element) = own("objective") {
        phase.about = decode(&element.text());
        if phase.title.is_empty() {
            phase.title = plain(phase.about.lines().next().unwrap_or("")).chars().take(120).collect();
        }
    }
    if let Some(element) = own("verification") {
        phase.verify.extend(task_text::criteria_of(reading, &element));
    }
    if let Some(element) = own("success_criteria") {
        phase.must_have.success.extend(task_text::criteria_of(reading, &element).into_iter().map(|c| c.text));
    }
    if let Some(element) = own("must_haves") {
        phase.must_have.truths.extend(task_text::criteria_of(reading, &element).into_iter().map(|c| c.text));
    }
}

// Front matter: GSD's, or that of one task in a folder of them.
fn from_front(reading: &Reading<'_, '_>, front: &Front, phase: &mut Phase) {
    let number = |text: &str| {
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let letter = text[end..].chars().take_while(char::is_ascii_alphanumeric).count();
        // 6D is an id, 01-foundation is number 01 of a name.
        if letter <= 1 {
            text[..end + letter].to_owned()
        } else {
            text[..end].trim_end_matches('.').to_owned()
        }
    };
    let group = front.text(&["phase"]).map(|text| (number(text), text));
    let plan = front.text(&["plan", "plan_id", "id", "task_id"]);
    phase.id = match (group, plan) {
        (Some((group, _)), Some(plan)) if !plan.contains('-') && !group.is_empty() => {
            format!("{group}-{plan}")
        }
        (_, Some(plan)) => plan.to_owned(),
        (Some((group, whole)), None) => {
            if group.is_empty() {
                whole.to_owned()
            } else {
                group
            }
        }
        (None, None) => String::new(),
    };
    phase.title = front.text(&["title", "name"]).unwrap_or_default().to_owned();
    phase.wave = front.text(&["wave"]).and_then(|wave| wave.parse().ok());
    phase.status = front.text(&["status"]).and_then(Status::read).unwrap_or_default();
    phase.autonomous = front.text(&["autonomous"]) != Some("false");
    phase.parallel = match front.text(&["parallel"]) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let names = ["depends_on", "dependencies", "needs"];
    if let Some(needs) = front.get(&names) {
        phase.needs = needs.texts().iter().map(|text| text.trim_end_matches("-PLAN.md").to_owned()).collect();
        phase.needs_at = reading.at(front.line(&names).unwrap_or(1));
    }
    let files = front.get(&["files_modified", "files", "write_scope", "scopePaths"]);
    phase.files = files.map(Value::texts).unwrap_or_default();
    for (key, slot) in [("agent", &mut phase.agent), ("role", &mut phase.role), ("policy", &mut phase.policy)]
    {
        *slot = front.text(&[key]).map(str::to_owned);
    }
    if let Some(must) = front.get(&["must_haves"]) {
        phase.must_have = must_have(must);
    }
}

fn must_have(value: &Value) -> MustHave {
    let list = |name: &str| value.get(name).map(Value::list).unwrap_or_default();
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::text).unwrap_or_default().to_owned();
    let artifact = |value: &Value| Artifact {
        path: value.text().map_or_else(|| text(value, "path"), str::to_owned),
        provides: text(value, "provides"),
        contains: text(value, "contains"),
        min_lines: text(value, "min_lines").parse().ok(),
    };
    let link = |value: &Value| Link {
        from: text(value, "from"),
        to: text(value, "to"),
        via: text(value, "via"),
        pattern: text(value, "pattern"),
    };
    MustHave {
        truths: value.get("truths").map(Value::texts).unwrap_or_else(|| value.texts()),
        success: Vec::new(),
        artifacts: list("artifacts").iter().map(artifact).collect(),
        links: list("key_links").iter().map(link).collect(),
    }
}

/// A file that a phase of a master plan lies in: reads it into the phase.
pub(crate) fn read_into(reading: &Reading<'_, '_>, phase: &mut Phase, plan: &mut Plan) {
    let mut own = Plan { format: Format::DebussyPhase, ..Plan::default() };
    read_alone(reading, &mut own);
    let Some(mut read) = own.phases.pop() else { return };
    plan.oddities.append(&mut own.oddities);
    (read.id, read.alone) = (phase.id.clone(), false);
    if !phase.title.is_empty() {
        read.title = std::mem::take(&mut phase.title);
    }
    if read.needs_at.line == 0 {
        read.needs_at = phase.needs_at;
    }
    // The table of the master plan is where the status is kept.
    read.status = if phase.status == Status::Pending { read.status } else { phase.status };
    *phase = read;
}

/// The target of the first link in a cell, or a path in back-ticks.
pub(crate) fn target(cell: &str) -> Option<String> {
    let linked = link(cell).map(|(_, target)| target.to_owned());
    linked
        .or_else(|| spans(cell).first().map(|span| span.code.to_owned()).filter(|code| code.ends_with(".md")))
}
