//! Makefiles, as far as they decide what a goal runs: its recipe, what it needs, and the variables in them.

use std::collections::{BTreeMap, BTreeSet};

use super::runs::Call;

/// The names that `make` looks for, in its order.
pub(super) const FILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// Settings that change what every recipe means.
const GLOBAL: &[&str] =
    &[".IGNORE", ".SHELLFLAGS", "SHELL", "MAKEFLAGS", ".DEFAULT_GOAL", ".ONESHELL", ".POSIX"];

/// The goals of a call; none is the first of the file.
pub(super) fn goals(call: &Call) -> Vec<String> {
    let words = call.words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains('='));
    words.cloned().collect()
}

/// A file's rules and variables.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    /// What a target needs, and its recipe.
    targets: BTreeMap<String, (Vec<String>, Vec<String>)>,
    first: Option<String>,
    variables: BTreeMap<String, String>,
    includes: Vec<String>,
}

impl Rules {
    pub(super) fn read(text: &str) -> Self {
        let mut rules = Self::default();
        let joined = text.replace("\\\n", " ");
        let mut open: Vec<String> = Vec::new();
        for line in joined.lines() {
            if let Some(recipe) = line.strip_prefix('\t') {
                for target in &open {
                    rules.targets.entry(target.clone()).or_default().1.push(recipe.trim().to_owned());
                }
                continue;
            }
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            open = rules.line(line);
        }
        rules
    }

    // The targets that a recipe may follow.
    fn line(&mut self, line: &str) -> Vec<String> {
        if ["include ", "-include ", "sinclude "].iter().any(|word| line.starts_with(word)) {
            self.includes.push(line.to_owned());
            return Vec::new();
        }
        let equals =
            line.find('=').filter(|at| line.find(':').is_none_or(|colon| colon + 1 >= *at || colon > *at));
        if let Some(at) = equals {
            let key = line[..at].trim_end_matches([':', '?', '+', '!']).trim().trim_start_matches("export ");
            let value = self.variables.entry(key.to_owned()).or_default();
            value.push_str(line[at + 1..].trim());
            return Vec::new();
        }
        let Some((names, needs)) = line.split_once(':') else { return Vec::new() };
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        let needs: Vec<String> =
            needs.trim_start_matches(':').split_whitespace().map(str::to_owned).collect();
        for name in &names {
            self.targets.entry(name.clone()).or_default().0.extend(needs.iter().cloned());
            if self.first.is_none() && !name.starts_with('.') {
                self.first = Some(name.clone());
            }
        }
        names
    }

    /// The files that are read as parts of this one.
    pub(super) fn included(&self) -> impl Iterator<Item = &str> {
        self.includes.iter().flat_map(|line| line.split_whitespace().skip(1))
    }

    // What is made for these goals, by name.
    fn made(&self, goals: &[String]) -> BTreeSet<String> {
        let mut open: Vec<String> =
            if goals.is_empty() { self.first.iter().cloned().collect() } else { goals.to_vec() };
        let mut made = BTreeSet::new();
        while let Some(goal) = open.pop() {
            if let Some((needs, _)) = self.targets.get(&goal)
                && made.insert(goal)
            {
                open.extend(needs.iter().cloned());
            }
        }
        made
    }

    /// The recipes for these goals, with their variables filled in once.
    pub(super) fn recipes(&self, goals: &[String]) -> String {
        let made = self.made(goals);
        let lines = made.iter().filter_map(|goal| self.targets.get(goal)).flat_map(|(_, recipe)| recipe);
        let filled = lines.map(|line| {
            let plain = line.trim_start_matches(['@', '-', '+']);
            self.variables.iter().fold(plain.to_owned(), |line, (key, value)| {
                line.replace(&format!("$({key})"), value).replace(&format!("${{{key}}}"), value)
            })
        });
        filled.collect::<Vec<_>>().join("\n")
    }

    /// Everything that decides what these goals run, in words that can be compared.
    pub(super) fn deciding(&self, goals: &[String]) -> BTreeMap<String, String> {
        let made = self.made(goals);
        let mut deciding = BTreeMap::new();
        let mut used = String::new();
        for goal in &made {
            let Some((needs, recipe)) = self.targets.get(goal) else { continue };
            let text = format!("{}\n{}", needs.join(" "), recipe.join("\n"));
            used.push_str(&text);
            deciding.insert(format!("target {goal}"), text);
        }
        // A variable may be made of others.
        for _ in 0..4 {
            for (key, value) in &self.variables {
                let named = used.contains(&format!("$({key})")) || used.contains(&format!("${{{key}}}"));
                if (named || GLOBAL.contains(&key.as_str())) && !deciding.contains_key(key) {
                    used.push_str(value);
                    deciding.insert(key.clone(), value.clone());
                }
            }
        }
        for global in GLOBAL.iter().filter(|global| self.targets.contains_key(**global)) {
            deciding.insert((*global).to_owned(), "set".to_owned());
        }
        for include in &self.includes {
            deciding.insert(include.clone(), String::new());
        }
        if goals.is_empty() {
            deciding.insert("first target".to_owned(), self.first.clone().unwrap_or_default());
        }
        deciding
    }
}
