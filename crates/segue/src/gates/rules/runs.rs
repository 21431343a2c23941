//! What a gate runs, as far as its command, the scripts that it calls and the recipes behind it tell.

use std::collections::BTreeSet;

use super::{make, manifest, name};
use crate::gates::shell;

/// Programs that run the script which is their first argument.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "ruby", "perl", "php", "deno", "tsx",
    "source", ".",
];

/// One command that a gate comes to, and the folder that it runs in (empty, or with a slash at its end).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) dir: String,
    pub(super) words: Vec<String>,
}

impl Call {
    /// The program without its folder; `python -m x` is x.
    pub(super) fn program(&self) -> &str {
        let first = self.words.first().map_or("", |word| name(word));
        match self.words.get(1).map(String::as_str) {
            Some("-m") if first.starts_with("python") => self.words.get(2).map_or("", String::as_str),
            Some(next) if ["npx", "uv", "poetry", "pipenv", "bunx"].contains(&first) => {
                let next = if next == "run" { self.words.get(2).map_or("", String::as_str) } else { next };
                name(next)
            }
            _ => first,
        }
    }
}

/// Everything that a gate comes to.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) calls: Vec<Call>,
    scripts: BTreeSet<String>,
    /// Folders of the work tree that programs are searched in.
    path_dirs: BTreeSet<String>,
}

impl Runs {
    pub(super) fn of(run: &str, path_dirs: &[String], before: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut runs = Self { path_dirs: path_dirs.iter().cloned().collect(), ..Self::default() };
        runs.path_dirs.extend(dirs_set(run));
        runs.take_in(run, "", before);
        // One level down: what the scripts and recipes call themselves.
        let direct = runs.calls.clone();
        for call in direct {
            for (text, dir) in behind(&call, before) {
                runs.take_in(&text, &dir, before);
            }
        }
        runs
    }

    fn take_in(&mut self, text: &str, dir: &str, before: &dyn Fn(&str) -> Option<String>) {
        let mut dir = dir.to_owned();
        for line in text.lines() {
            for simple in shell::commands(line).unwrap_or_default() {
                if let [cd, to] = simple.words.as_slice()
                    && cd == "cd"
                {
                    dir = joined(&dir, &format!("{to}/"));
                    continue;
                }
                let call = Call { dir: dir.clone(), words: simple.words };
                self.scripts.extend(script_of(&call).filter(|path| before(path).is_some()));
                self.scripts.extend(in_the_way(&call, before));
                self.calls.push(call);
            }
        }
    }

    /// Whether a program of this name is called.
    pub(super) fn calls(&self, programs: &[&str]) -> bool {
        self.calls.iter().any(|call| programs.contains(&call.program()))
    }

    /// Whether a file is run or read as a whole: a script, a shim, or the configuration of a runner and nothing else.
    pub(super) fn is_script(&self, path: &str) -> bool {
        self.scripts.contains(path) || self.is_shim(path) || self.is_runner_file(path)
    }

    fn is_shim(&self, path: &str) -> bool {
        let Some((dir, file)) = path.rsplit_once('/') else { return false };
        self.path_dirs.contains(dir)
            && self.calls.iter().any(|call| call.words.first().is_some_and(|word| word == file))
    }

    fn is_runner_file(&self, path: &str) -> bool {
        let file = name(path);
        let starts = |names: &[&str]| names.iter().any(|name| file.starts_with(name));
        match file {
            "config.toml" | "config" => {
                (path.starts_with(".cargo/") || path.contains("/.cargo/")) && self.calls(&["cargo"])
            }
            "pytest.ini" | ".pytest.ini" | "sitecustomize.py" | "usercustomize.py" => {
                self.calls(manifest::PYTHON)
            }
            "tox.ini" | "noxfile.py" => self.calls(&["tox", "nox"]),
            "clippy.toml" | ".clippy.toml" => self.calls(&["cargo"]),
            _ => {
                let config = starts(&[
                    "jest.config.",
                    "vitest.config.",
                    ".mocharc",
                    "playwright.config.",
                    "karma.conf",
                ]);
                config && self.calls(manifest::NODE)
            }
        }
    }
}

// Files that a call reads, or that keep it from running what it names, by being there: parts of a makefile, a file called as
// a goal, a module called as the runner.
fn in_the_way(call: &Call, before: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let at = |path: &str| joined(&call.dir, path);
    match call.words.as_slice() {
        [python, flag, module, ..]
            if flag == "-m"
                && name(python).starts_with("python")
                && manifest::PYTHON_MODULES.contains(&module.as_str()) =>
        {
            [".py", "/__init__.py", "/__main__.py"].map(|end| at(&format!("{module}{end}"))).to_vec()
        }
        [make, ..] if ["make", "gmake"].contains(&name(make)) => {
            let goals = make::goals(call).into_iter().map(|goal| at(&goal));
            let file = make::FILES.iter().find_map(|file| before(&at(file))).unwrap_or_default();
            goals.chain(make::Rules::read(&file).included().map(at)).collect()
        }
        _ => Vec::new(),
    }
}

// `PATH=tools:$PATH` in front of a command.
fn dirs_set(run: &str) -> Vec<String> {
    let Some((_, rest)) = run.split_once("PATH=") else { return Vec::new() };
    let value = rest.split([' ', ';', '&']).next().unwrap_or_default().trim_matches(['"', '\'']);
    let own = value
        .split(':')
        .map(|dir| dir.trim_start_matches("$PWD/").trim_start_matches("./").trim_end_matches('/'));
    own.filter(|dir| !dir.is_empty() && !dir.starts_with(['$', '/'])).map(str::to_owned).collect()
}

fn script_of(call: &Call) -> Option<String> {
    let first = call.words.first()?;
    let word = if INTERPRETERS.contains(&name(first)) {
        call.words.iter().skip(1).find(|word| !word.starts_with('-'))?
    } else {
        first
    };
    (!word.starts_with('/')).then(|| joined(&call.dir, word))
}

fn joined(dir: &str, path: &str) -> String {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    let open = path.ends_with('/');
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            let _ = parts.pop();
        } else {
            parts.push(part)
        }
    }
    let joined = parts.join("/");
    if open && !joined.is_empty() { format!("{joined}/") } else { joined }
}

/// The shell texts behind a call, each with its folder: a script's own, a recipe, an entry of a manifest.
fn behind(call: &Call, before: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    if let Some(text) = script_of(call).and_then(|path| before(&path)) {
        texts.push((text, String::new()));
    }
    if call.program() == "make" || call.program() == "gmake" {
        let files = make::FILES.iter().find_map(|file| before(&format!("{}{file}", call.dir)));
        if let Some(text) = files {
            texts.push((make::Rules::read(&text).recipes(&make::goals(call)), call.dir.clone()));
        }
    }
    if let Some(text) = before(&format!("{}package.json", call.dir)) {
        let names = manifest::node_scripts(call);
        texts.extend(manifest::entries(&text, &names).into_iter().map(|entry| (entry, call.dir.clone())));
    }
    texts
}
