//! Puts the layers on top of each other and keeps, for each value, where it came from.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::Path;

use segue_machine::policy::preset;

use crate::config::file::{Layer, MOST_BYTES};
use crate::config::flags::Flags;
use crate::config::key::KeyPath;
use crate::config::origin::Origin;
use crate::config::problem::{ConfigErrors, Problem, Trouble};
use crate::config::value::Value;
use crate::config::{agents, defaults, env, file};
use crate::store::safely;

/// One value and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The value.
    pub(crate) value: Value,
    /// Where it came from.
    pub(crate) from: Origin,
}

/// Values by their path.
pub(crate) type Values = BTreeMap<KeyPath, Entry>;

/// The text of a file, with the name to use in messages.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The file as messages name it.
    pub(crate) name: String,
    /// What is in it.
    pub(crate) bytes: Vec<u8>,
}

/// A file that was there, was not there, or could not be read.
pub(crate) type Opened = Result<Option<Source>, Problem>;

/// All layers merged: each key has the value of the highest layer that sets it.
#[derive(Debug, Clone)]
pub(crate) struct Layers {
    values: Values,
    /// Values of the project's file in place of one of the user's.
    overruled: Values,
    warnings: Vec<Problem>,
}

impl Layers {
    /// Reads the files and merges all layers. A file that is not there is a layer that says nothing.
    ///
    /// # Errors
    /// Everything that is wrong in any layer.
    pub(crate) fn load(
        user_file: Option<&Path>,
        project_file: Option<&Path>,
        env: impl IntoIterator<Item = (String, String)>,
        flags: &Flags,
    ) -> Result<Self, ConfigErrors> {
        let own = user_file.map_or(Ok(None), |path| Source::open(path, Ok(())));
        let project = project_file.map_or(Ok(None), |path| {
            let root = path.parent().unwrap_or(path);
            Source::open(path, safely::refuse_link_out(root, path))
        });
        Self::from_sources(own, project, env, flags)
    }

    /// The same from texts, without the disk.
    ///
    /// # Errors
    /// Everything that is wrong in any layer.
    pub(crate) fn from_sources(
        user: Opened,
        project: Opened,
        env: impl IntoIterator<Item = (String, String)>,
        flags: &Flags,
    ) -> Result<Self, ConfigErrors> {
        let mut problems = Vec::new();
        let (mut set, mut overruled) = (Values::new(), Values::new());
        let files = [(user, Origin::User as Layer), (project, Origin::Project as Layer)];
        for (source, layer) in files {
            match source.map(|source| source.map(|source| file::parse(&source, layer))) {
                Ok(Some(Ok(values))) => {
                    let both = values
                        .iter()
                        .filter(|(path, entry)| set.get(path).is_some_and(|own| own.value != entry.value));
                    overruled.extend(both.cloned());
                    set.extend(values);
                }
                Ok(Some(Err(found))) => problems.extend(found),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        let env = env::parse(env);
        set.extend(env.values);
        problems.extend(env.problems);
        let (values, found) = flags.parse(&set);
        set.extend(values);
        problems.extend(found);
        ConfigErrors::check(problems)?;

        let name = match set.get(&KeyPath::dotted("policy")).map(|entry| &entry.value) {
            Some(Value::Text(name)) => name.clone(),
            _ => preset::NAMES[0].to_owned(),
        };
        let mut values = preset::find(&name).map(|preset| defaults::values(&preset)).unwrap_or_default();
        values.extend(set);
        agents::choose(&mut values);
        let mut layers = Self { values, overruled, warnings: env.warnings };
        layers.settle_commit(flags.no_auto_commit);
        Ok(layers)
    }

    /// The value at a path without names.
    pub(crate) fn get(&self, path: &str) -> Option<&Entry> {
        self.values.get(&KeyPath::dotted(path))
    }

    /// Everything that is set, in the order of the paths.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// What the project's file says in place of the user's.
    pub(crate) fn overruled(&self) -> &Values {
        &self.overruled
    }

    /// What is worth saying although it stops nothing.
    pub(crate) fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// `--no-auto-commit` only matters to a policy that would commit; a commit on the branch wants a clean tree
    /// to start from, because it would take the user's own changes with it.
    fn settle_commit(&mut self, no_auto_commit: bool) {
        let commit = KeyPath::dotted("git.commit");
        let to_branch = |values: &Values| {
            values.get(&commit).is_some_and(|entry| entry.value == Value::Text("branch".to_owned()))
        };
        if no_auto_commit && to_branch(&self.values) {
            let value = Value::Text("snapshot".to_owned());
            self.values.insert(commit.clone(), Entry { value, from: Origin::Flag("--no-auto-commit") });
        }
        let dirty = Entry { value: Value::Bool(!to_branch(&self.values)), from: Origin::Default };
        self.values.entry(KeyPath::dotted("git.allow_dirty")).or_insert(dirty);
    }
}

impl Source {
    fn open(path: &Path, may: std::io::Result<()>) -> Opened {
        let name = path.display().to_string();
        let mut bytes = Vec::new();
        // One byte more than is allowed tells a file that is too large without reading all of it.
        let read =
            may.and_then(|()| safely::plain(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(Self { name, bytes })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let what = Trouble::Unreadable { file: name, why: error.to_string() };
                Err(Problem::nowhere(what))
            }
        }
    }
}
