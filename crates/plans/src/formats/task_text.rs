//! One task from the text that belongs to it: elements, named parts, check boxes, commands.

use super::Reading;
use super::fields::{self, Name};
use super::list::{Node, trees};
use super::tasks::{is_box, task_heading};
use crate::command::looks_like_one;
use crate::expect::{check, criterion};
use crate::ids;
use crate::model::{Check, Complexity, Criterion, Status, Step, Task};
use crate::text::{
    Element, Mark, Range, Tag, after_ignoring_case, decode, element, elements, item, paths, plain, spans,
};

/// One task from the text that belongs to it.
pub(super) fn build(reading: &Reading<'_, '_>, tag: Option<&Tag>) -> Task {
    let (doc, all) = (reading.doc, reading.doc.all());
    let attribute = |name: &str| tag.and_then(|tag| tag.get(name)).map(str::to_owned);
    let (id, title) = name(reading, attribute("id"), attribute("title").or_else(|| attribute("name")));
    let own = fields::fields(reading, all);
    let field = |name| fields::find(&own, name);
    let tagged = |name: &str| element(doc, all, name);
    let mut covered: Vec<Range> = Vec::new();
    let mut task = Task { id, title, ..Task::default() };

    let kind = attribute("type").unwrap_or_default();
    task.manual = kind.starts_with("checkpoint") || kind == "manual" || kind == "human";
    let complexity = attribute("complexity").or_else(|| field(Name::Complexity).map(|f| f.rest.to_owned()));
    task.complexity = complexity.as_deref().and_then(Complexity::read);
    let wave = attribute("wave").or_else(|| field(Name::Wave).map(|f| f.rest.to_owned()));
    task.wave = wave.and_then(|wave| wave.trim().parse().ok());
    let status = attribute("status").or_else(|| field(Name::Status).map(|f| f.rest.to_owned()));
    task.status = status.as_deref().and_then(Status::read).unwrap_or_default();
    let needs = attribute("depends_on")
        .or_else(|| attribute("depends"))
        .or_else(|| tagged("depends_on").map(|e| e.text()));
    let needs = needs.or_else(|| field(Name::Needs).map(|f| f.rest.to_owned()));
    task.needs = needs.map(|needs| needed_tasks(&needs)).unwrap_or_default();

    task.files = match (tagged("files"), field(Name::Files)) {
        (Some(element), _) => paths(&element.text()),
        (None, Some(field)) => paths(&fields::file_lines(reading, field)),
        (None, None) => Vec::new(),
    };
    task.read = match (tagged("read_first").or_else(|| tagged("files_to_read")), field(Name::Read)) {
        (Some(element), _) => paths(&element.text()),
        (None, Some(field)) => paths(&fields::file_lines(reading, field)),
        (None, None) => Vec::new(),
    };
    for name in ["acceptance_criteria", "success_criteria"] {
        if let Some(element) = tagged(name) {
            task.criteria.extend(criteria_of(reading, &element));
            covered.push(element.range);
        }
    }
    if let Some(field) = field(Name::Criteria) {
        task.criteria.extend(criteria_in(reading, field.body, field.rest));
        covered.push(field.body);
    }
    if let Some(element) = tagged("verify") {
        verify_of(reading, &element, &mut task);
        covered.push(element.range);
    }
    if let Some(field) = field(Name::Verify) {
        verify_in(reading, field, &mut task);
        covered.push(field.body);
    }
    task.verify.extend(runs(reading));
    let done =
        tagged("done").map(|e| e.text()).or_else(|| field(Name::Done).map(|f| fields::text(reading, f)));
    task.done = done.map(|done| decode(&done)).unwrap_or_default();
    task.action = action(reading, &own);
    if doc.lines.iter().any(is_box) {
        let kept = |index: usize| !covered.iter().any(|range| range.has(index));
        task.steps = steps(&trees(reading, all, kept));
    }
    task
}

// The id and the title: of the tag, of <name>, or of a heading inside.
fn name(reading: &Reading<'_, '_>, id: Option<String>, title: Option<String>) -> (String, String) {
    let doc = reading.doc;
    let inner = element(doc, doc.all(), "name")
        .or_else(|| element(doc, doc.all(), "title"))
        .map(|e| decode(&e.text()));
    let title = title
        .or(inner)
        .or_else(|| doc.headings.first().map(|heading| heading.title.to_owned()))
        .unwrap_or_default();
    let title = plain(&title);
    let (own, rest) = task_heading(&title)
        .or_else(|| ids::numbered(&title).map(|(id, title)| (id.to_owned(), title.into_owned())))
        .unwrap_or_else(|| (String::new(), title.clone()));
    let rest = if rest.is_empty() { title } else { rest };
    (id.filter(|id| !id.is_empty()).unwrap_or(own), rest)
}

/// The tasks that a text names: `1.1, 2.3`, `Task 4`, `T001`.
pub(crate) fn needed_tasks(text: &str) -> Vec<String> {
    let lower = text.trim().to_lowercase();
    if ["none", "n/a", "nothing", "-", "—"].iter().any(|word| lower.starts_with(word)) {
        return Vec::new();
    }
    let words = text.split([',', ' ', ';', '[', ']', '"', '(', ')', '`']);
    let is_id = |word: &&str| {
        word.chars().any(|c| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    words.map(|word| word.trim_matches(['.', '_', '*'])).filter(is_id).map(str::to_owned).collect()
}

fn action(reading: &Reading<'_, '_>, own: &[fields::Field<'_>]) -> String {
    let doc = reading.doc;
    if let Some(element) = element(doc, doc.all(), "action") {
        return decode(&element.text());
    }
    let parts =
        ["what-built", "how-to-verify", "decision"].iter().filter_map(|name| element(doc, doc.all(), name));
    let parts: Vec<String> = parts.map(|element| decode(&element.text())).collect();
    if !parts.is_empty() {
        return parts.join("\n\n");
    }
    match fields::find(own, Name::Action) {
        Some(field) => fields::text(reading, field),
        // Without a field for it, all of the text is what is to be done.
        None => doc.text(doc.all()),
    }
}

/// The check boxes of lists, as steps.
pub(super) fn steps(nodes: &[Node<'_>]) -> Vec<Step> {
    let boxed =
        nodes.iter().flat_map(|node| node.mark.is_some().then_some(node).into_iter().chain(node.boxes()));
    boxed.map(|node| Step { text: plain(&node.text), done: node.mark == Some(Mark::Done) }).collect()
}

/// The criteria of an element: its items, or all of it as one.
pub(crate) fn criteria_of(reading: &Reading<'_, '_>, element: &Element<'_>) -> Vec<Criterion> {
    let doc = element.doc();
    let first = element.parts.first().map_or(element.line, |(line, _)| *line);
    let inner = Reading {
        doc: &doc,
        file: reading.file,
        offset: reading.offset.saturating_add(first.saturating_sub(1)),
    };
    criteria_in(&inner, doc.all(), "")
}

/// The criteria in a range: its items, or all of it as one.
pub(crate) fn criteria_in(reading: &Reading<'_, '_>, range: Range, rest: &str) -> Vec<Criterion> {
    let nodes = trees(reading, range, |_| true);
    if !nodes.is_empty() {
        return nodes.iter().map(|node| criterion(&node.whole(), reading.at_index(node.index))).collect();
    }
    let text = format!("{rest}\n{}", reading.doc.text(range));
    let text = text.trim();
    let none = text.is_empty() || text.eq_ignore_ascii_case("none") || text.eq_ignore_ascii_case("n/a");
    if none { Vec::new() } else { vec![criterion(text, reading.at_index(range.from))] }
}

// <verify>: its <automated> commands, or its words.
fn verify_of(reading: &Reading<'_, '_>, outer: &Element<'_>, task: &mut Task) {
    let commands = elements(reading.doc, outer.range, "automated");
    for element in &commands {
        let run = decode(&element.text());
        let at = reading.at(element.line);
        // "MISSING" is said where somebody has yet to write the command.
        let missing = run.is_empty() || run.starts_with("MISSING");
        let checks = if missing { Vec::new() } else { vec![check(&run, None)] };
        task.verify.push(Criterion { at, text: if missing { run } else { String::new() }, checks });
    }
    task.manual |= element(reading.doc, outer.range, "human-check").is_some();
    if commands.is_empty() {
        task.verify.extend(criteria_of(reading, outer));
    }
}

// **Verify:** what is "verified by" a command is a criterion.
fn verify_in(reading: &Reading<'_, '_>, field: &fields::Field<'_>, task: &mut Task) {
    for found in criteria_in(reading, field.body, field.rest) {
        if found.text.to_lowercase().contains("verified by") {
            task.criteria.push(found);
        } else if !found.checks.is_empty() || task.criteria.is_empty() {
            task.verify.push(found);
        }
    }
    let one = spans(field.rest);
    if let [only] = one.as_slice()
        && task.verify.iter().all(|v| v.checks.is_empty())
        && looks_like_one(only.code)
    {
        task.verify = vec![Criterion {
            at: reading.at_index(field.index),
            text: String::new(),
            checks: vec![check(only.code, None)],
        }];
    }
}

// "Run: `cmd`" with "Expected: PASS" behind it. A step that is expected to fail on the way decides nothing.
fn runs(reading: &Reading<'_, '_>) -> Vec<Criterion> {
    let mut found: Vec<Criterion> = Vec::new();
    let mut last: Option<(u32, Check)> = None;
    for line in reading.doc.lines.iter().filter(|line| line.is_prose()) {
        let text = item(line.text).map_or(line.text, |item| item.text);
        if ["run:", "run `"].iter().any(|word| after_ignoring_case(text, word).is_some()) {
            last = spans(text).first().map(|span| (line.no, check(span.code, None)));
        } else if let Some(rest) = after_ignoring_case(text, "expected:") {
            let rest = rest.to_lowercase();
            let good = [
                "pass",
                "all ",
                "no error",
                "0 ",
                "exit 0",
                "success",
                "clean",
                "ok",
                "green",
                "build succe",
                "compiles",
            ];
            let passes = good.iter().any(|word| rest.trim_start().starts_with(word));
            if let Some((line, check)) = last.take().filter(|_| passes)
                && !found.iter().any(|known| known.checks.contains(&check))
            {
                found.push(Criterion { at: reading.at(line), text: String::new(), checks: vec![check] });
            }
        }
    }
    found
}
