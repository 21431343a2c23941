//! Reads one TOML file into values with their places, and reports everything that is wrong with it at once.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::key::{KEYS, KeyPath, nearest};
use crate::config::layers::{Entry, Source};
use crate::config::lists;
use crate::config::origin::{Origin, Spot, Spots};
use crate::config::other_tools;
use crate::config::problem::{Problem, Trouble};
use crate::config::read::{Written, found, read};
use crate::config::value::Value;

/// Which of the two files it is.
pub(crate) type Layer = fn(Spot) -> Origin;

/// More than anyone writes by hand.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;

/// What a file holds and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    spots: Spots<'a>,
    layer: Layer,
    values: Vec<(KeyPath, Entry)>,
    problems: Vec<Problem>,
}

/// The values of a file, or everything that is wrong with it.
pub(crate) fn parse(source: &Source, layer: Layer) -> Result<Vec<(KeyPath, Entry)>, Vec<Problem>> {
    let file = source.name.as_str();
    let bytes = source.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&source.bytes);
    if bytes.len() > MOST_BYTES {
        let why = format!("it is larger than {MOST_BYTES} bytes");
        return Err(vec![Problem::nowhere(Trouble::Unreadable { file: file.to_owned(), why })]);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let at = layer(Spots::new(file, &good).at(good.len()));
            return Err(vec![Problem::at(&at, Trouble::NotText)]);
        }
    };
    let spots = Spots::new(file, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(syntax(&errors, text, &spots, layer));
    }
    let mut reader = Reader { spots, layer, values: Vec::new(), problems: Vec::new() };
    reader.table(table.get_ref(), &KeyPath::top());
    reader.finish()
}

impl Reader<'_> {
    /// The place of something in the file.
    pub(crate) fn at<T>(&self, what: &Spanned<T>) -> Origin {
        (self.layer)(self.spots.at(what.span().start))
    }

    /// Notes that a value does not fit.
    pub(crate) fn bad<T>(&mut self, what: &Spanned<T>, key: impl ToString, why: impl Into<String>) {
        let at = self.at(what);
        self.problems.push(Problem::at(&at, Trouble::BadValue { key: key.to_string(), why: why.into() }));
    }

    /// Notes a key that is not one of `valid`.
    pub(crate) fn unknown(&mut self, name: &Spanned<impl AsRef<str>>, section: &str, valid: &[&str]) {
        let at = self.at(name);
        let name = name.get_ref().as_ref().to_owned();
        let hint = if valid.contains(&"*") {
            "choose a name of your own".to_owned()
        } else if let Some(answer) = other_tools::key(&name).filter(|_| home_of(&name).is_none()) {
            answer
        } else if let Some(near) = nearest(&name, valid.iter().copied()) {
            format!("did you mean {near:?}?")
        } else if let Some(home) = home_of(&name) {
            format!("it belongs in {home}")
        } else {
            format!("valid here: {}", valid.join(", "))
        };
        let section = if section.is_empty() { String::new() } else { format!(" in {section}") };
        self.problems.push(Problem::at(&at, Trouble::UnknownKey { name, section, hint }));
    }

    fn table(&mut self, table: &DeTable<'_>, path: &KeyPath) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            let below = path.child(name.get_ref());
            match (below.key(), value.get_ref()) {
                (_, DeValue::Table(inner)) if below.is_section() => self.table(inner, &below),
                (Some(key), raw) => {
                    let list = lists::read(self, key.kind, value);
                    match list.map_or_else(|| read(key, raw, Written::Toml), Ok) {
                        Ok(value) => self.keep(name, below, value),
                        Err(why) => self.bad(name, &below, why),
                    }
                }
                (None, raw) if below.is_section() => {
                    let why = format!(
                        "expected a table, found {}; write [{below}] on a line of its own",
                        found(raw)
                    );
                    self.bad(name, &below, why);
                }
                (None, _) => {
                    let section = if path.parts().is_empty() { String::new() } else { format!("[{path}]") };
                    self.unknown(name, &section, &path.children());
                }
            }
        }
    }

    fn keep<T>(&mut self, name: &Spanned<T>, path: KeyPath, value: Value) {
        let from = self.at(name);
        let path = if path == KeyPath::dotted("agent") { KeyPath::dotted("agents") } else { path };
        if let Some((_, first)) = self.values.iter().find(|(known, _)| *known == path) {
            let what = format!("agent and agents set the same value ({}); keep one of them", first.from);
            self.problems.push(Problem::clash(&from, what));
            return;
        }
        self.values.push((path, Entry { value, from }));
    }

    fn finish(mut self) -> Result<Vec<(KeyPath, Entry)>, Vec<Problem>> {
        self.problems.sort_by_key(place);
        if self.problems.is_empty() { Ok(self.values) } else { Err(self.problems) }
    }
}

/// The section in which a key of that name is at home.
fn home_of(name: &str) -> Option<String> {
    let key = KEYS.iter().find(|key| key.leaf() == name && key.path != name)?;
    let (section, _) = key.path.rsplit_once('.')?;
    Some(format!("[{}]", section.replace('*', "NAME")))
}

/// One message a line: what follows a broken line is often only its echo.
fn syntax(errors: &[toml::de::Error], text: &str, spots: &Spots<'_>, layer: Layer) -> Vec<Problem> {
    let mut problems: BTreeMap<usize, Problem> = BTreeMap::new();
    for error in errors {
        let start = error.span().map_or(0, |span| span.start);
        let mut message = error.message().to_owned();
        let in_agent =
            text.get(start..).is_some_and(|rest| rest.trim_start_matches('[').starts_with("agent."));
        if in_agent && message.starts_with("cannot extend value of type string") {
            message.push_str("; beside [agent.NAME] write agents = [\"NAME\"] instead of agent = \"NAME\"");
        }
        let spot = spots.at(start);
        problems.entry(spot.line).or_insert_with(|| Problem::at(&layer(spot), Trouble::Syntax(message)));
    }
    problems.into_values().collect()
}

fn place(problem: &Problem) -> Option<(usize, usize)> {
    problem.at.as_ref().and_then(Origin::spot).map(|spot| (spot.line, spot.column))
}
