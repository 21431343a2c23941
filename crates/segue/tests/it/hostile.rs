//! A repository, or an unpacked archive of one, in which every place of segue's state is something else. No command runs
//! anything of it, hangs, or touches what is not its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use segue_rehearsal::script::Script;

use crate::support::{Done, World, small};

/// What is put in the place of a part of the state.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    LinkToFile,
    LinkToFolder,
    Fifo,
    Folder,
    Huge,
    Unreadable,
}

/// Every command that a person may try here; `clean`, which removes what it shows, only lists.
const COMMANDS: &[&[&str]] = &[
    &["init", "--yes"],
    &["run", "TASK.md"],
    &["run", "segue.plan.toml"],
    &["run", "TASK.md", "--dry-run"],
    &["run", "segue.plan.toml", "--dry-run"],
    &["loop", "TASK.md"],
    &["resume"],
    &["resume", "RUN"],
    &["resume", "PLAN"],
    &["list"],
    &["list", "--all"],
    &["status"],
    &["status", "--all"],
    &["log"],
    &["show"],
    &["show", "--output"],
    &["show", "--gates"],
    &["show", "--transcript"],
    &["path"],
    &["path", "RUN"],
    &["path", "--trees"],
    &["stop"],
    &["checkpoint", "list"],
    &["checkpoint", "show"],
    &["checkpoint", "verify"],
    &["checkpoint", "prune"],
    &["snapshot", "list"],
    &["snapshot", "show", "last"],
    &["snapshot", "restore", "last"],
    &["snapshot", "prune"],
    &["plan", "check", "segue.plan.toml"],
    &["plan", "show", "segue.plan.toml"],
    &["plan", "estimate", "segue.plan.toml"],
    &["plan", "status"],
    &["plan", "accept", "9"],
    &["replay"],
    &["agents"],
    &["budget"],
    &["trust", "--list"],
    &["doctor"],
    &["config", "show"],
    &["config", "check"],
    &["clean", "--dry-run"],
    &["completions", "bash"],
    &["man"],
];

/// Longer than any of them takes on a busy machine.
const MOST: Duration = Duration::from_secs(120);

/// What only the user's own files say: the name of the task and of the plan in another repository's state.
const PRECIOUS: [(&str, &str); 2] = [("Write the parts", "Wrote precious!"), ("Part of it", "Precious!!")];

/// A repository with a run and a plan that were cut off, and beside it something of the user's: a file, and the state of
/// another repository, in which everything is that is here.
struct Hostile {
    world: World,
    victim: PathBuf,
    before: BTreeMap<PathBuf, Vec<u8>>,
    run: String,
    plan: String,
}

impl Hostile {
    fn new() -> Self {
        let world = crate::plan_run::world(4, Script { window: 200_000, ..small() });
        let victim = world.root().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("file"), "precious").unwrap();
        let plan = crate::plan_run::native(&[("1", &[], &[1]), ("2", &["1"], &[2])]);
        world.write("segue.plan.toml", &plan);
        world.commit("a plan");
        let killed = world.command(&["run", "segue.plan.toml"]).env("SEGUE_CRASH_PLAN_AFTER", "4").output();
        assert_eq!(killed.unwrap().status.code(), None);
        // The phase that lost its plan stops by itself.
        crate::support::until("the phase to be over", || world.segue(&["stop"]).code == Some(2));
        let killed = world.command(&["run", "TASK.md"]).env("SEGUE_CRASH_AFTER", "16").output().unwrap();
        assert_eq!(killed.status.code(), None, "{}", String::from_utf8_lossy(&killed.stderr));
        let run = world.run_id().unwrap();
        crate::support::until("the agent to be over", || crate::support::left_behind(&run).is_empty());
        let plan = first(&world.state_dir().join("plans"), "plan-");
        let _ = fs::remove_file(world.log());
        let gate = format!("touch '{}'", victim.join("new").display());
        world.write(
            "segue.toml",
            &world
                .read("segue.toml")
                .replace("[agent.", &format!("[[gate]]\nname = \"evil\"\nrun = {gate:?}\n\n[agent.")),
        );
        copied(&world.state_dir(), &victim.join("state"));
        let before = tree(&victim);
        Self { world, victim, before, run, plan }
    }

    /// Settings that would run or widen everything they can, a plan, and names and texts that speak to a terminal.
    fn speak(&self) {
        let world = &self.world;
        let touch = format!("touch '{}'", self.victim.join("new").display());
        let clear = "\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{202e}";
        for name in ["evil.sh", "bin/claude", "bin/codex", "bin/git", ".git/hooks/pre-commit"] {
            world.write(name, &format!("#!/bin/sh\n{touch}\n"));
            fs::set_permissions(world.repo().join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        world.write("mine.md", &format!("{clear} {{{{ task }}}}"));
        world.write(
            "segue.toml",
            &format!(
                "agents = [\"mine\", \"claude\"]\nplan_gates_first = true\n[redact]\nenabled = false\n[env]\npass = [\"*\"]\n\
                 [prompts]\ntask = \"mine.md\"\n[agent.mine]\nkind = \"command\"\ncommand = [\"sh\", \"evil.sh\"]\n\
                 permissions = \"bypass\"\n[agent.mine.env]\nLD_PRELOAD = \"./x.so\"\n[agent.claude]\nkind = \"claude\"\n\
                 command = \"bin/claude\"\n[[gate]]\nname = \"g\\u001b[2J\"\nrun = {touch:?}\n\
                 [gates.t]\nrun = {touch:?}\n"
            ),
        );
        world.write("TASK.md", &format!("{clear} do it\n"));
        let outside = self.victim.join("file").display().to_string();
        world.write(
            "segue.plan.toml",
            &format!(
                "title = \"t\\u001b[2J\"\n[[phase]]\nid = \"9\"\ntitle = \"p\\u001b]0;x\\u0007\"\nread = [{outside:?}, \"../victim/file\"]\n\
                 [[phase.gate]]\nname = \"g\"\nrun = {touch:?}\n[[phase.task]]\nid = \"1\"\ntitle = \"x\"\n"
            ),
        );
        world.write(&format!("a{clear}.md"), &format!("# {clear}\n\n## Phase 1: {clear}\n- [ ] `{touch}`\n"));
        let state = world.state_dir();
        for (at, name) in [("runs", "run"), ("plans", "plan-"), ("checkpoints", "c")] {
            let dir = state.join(at).join(format!("{name}{clear}"));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("journal.db"), clear).unwrap();
            fs::write(dir.join("changes.jsonl"), format!("{clear}\n")).unwrap();
        }
        fs::write(state.join("checkpoints").join(format!("{}-c9{clear}.md", self.run)), clear).unwrap();
        fs::write(state.join("checkpoints").join(format!("{}-c9{clear}.json", self.run)), clear).unwrap();
        fs::write(state.join("runs").join(&self.run).join("s1.out"), clear).unwrap();
        let swap = serde_json::json!({ "workdir": self.victim, "entries": [
            { "path": "file", "agents": { "bytes": [120], "runs": false }, "original": null },
            { "path": "../new", "agents": { "bytes": [120], "runs": true }, "original": null },
        ] });
        fs::write(state.join("runs").join(&self.run).join("gate-swap.json"), swap.to_string()).unwrap();
    }

    /// Every path of the state that there is, and those that a run would make.
    fn places(&self) -> Vec<PathBuf> {
        let state = self.world.state_dir();
        let mut places = vec![state.clone()];
        walk(&state, &mut places);
        places.extend(
            ["lock", "plans/lock", "restored", "trees-in", "checkpoints"].map(|name| state.join(name)),
        );
        let run = state.join("runs").join(&self.run);
        places.extend(["private.json", "gate-swap.json", "row.json"].map(|name| run.join(name)));
        places.sort();
        places.dedup();
        places
    }

    fn plant(&self, place: &Path, kind: Kind) {
        if let Some(dir) = place.parent() {
            fs::create_dir_all(dir).unwrap();
        }
        // The best that there is of this kind: the same place of the other repository.
        let twin = self.victim.join("state").join(place.strip_prefix(self.world.state_dir()).unwrap());
        match kind {
            Kind::LinkToFile if twin.is_file() => symlink(twin, place).unwrap(),
            Kind::LinkToFile => symlink(self.victim.join("file"), place).unwrap(),
            Kind::LinkToFolder if twin.is_dir() => symlink(twin, place).unwrap(),
            Kind::LinkToFolder => symlink(&self.victim, place).unwrap(),
            Kind::Fifo | Kind::Folder | Kind::Huge | Kind::Unreadable => self.plant_at(place, kind),
        }
    }

    fn plant_at(&self, place: &Path, kind: Kind) {
        match kind {
            Kind::LinkToFile | Kind::LinkToFolder => panic!("a link leads somewhere"),
            Kind::Fifo => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
            Kind::Folder => fs::create_dir(place).unwrap(),
            Kind::Huge => fs::File::create(place).unwrap().set_len(1 << 40).unwrap(),
            Kind::Unreadable => {
                fs::write(place, "\u{1b}]0;x\u{7}").unwrap();
                fs::set_permissions(place, fs::Permissions::from_mode(0o000)).unwrap();
            }
        }
    }

    /// One command, as it is called by somebody who allowed nothing.
    fn tried(&self, args: &[&str], told: &str) {
        let word = |word: &&str| match *word {
            "RUN" => self.run.clone(),
            "PLAN" => self.plan.clone(),
            other => other.to_owned(),
        };
        let args: Vec<String> = args.iter().map(word).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.tried_with(&args, &[], told);
    }

    fn tried_with(&self, args: &[&str], env: &[(&str, &str)], told: &str) {
        let mut command = without_privileges(&self.world.command(args));
        command.env_remove("SEGUE_TRUST").env("SEGUE_TERM", "dumb").envs(env.iter().copied());
        let done = within(command, &format!("{told} {args:?}"));
        assert!(!done.all().contains("panicked"), "{told} {args:?}: {}", done.all());
        let speaks = |c: char| matches!(c, '\u{1b}' | '\u{7}' | '\u{202e}');
        assert!(!done.all().contains(speaks), "{told} {args:?}: {:?}", done.all());
        assert!(tree(&self.victim) == self.before, "{told} {args:?} changed something: {}", done.all());
        let read = ["precious", "Precious"].iter().any(|word| done.all().contains(word));
        assert!(!read, "{told} {args:?}: what a link leads to was read: {}", done.all());
        assert!(!self.world.log().exists(), "{told} {args:?}: an agent was started");
    }

    fn every_command(&self, told: &str) {
        COMMANDS.iter().for_each(|args| self.tried(args, told));
        // What a shell asks when somebody presses the tab key.
        let asked = [("SEGUE_COMPLETE", "fish")];
        for words in [&["--", "segue", "show", ""][..], &["--", "segue", "run", "--agent", ""]] {
            self.tried_with(words, &asked, told);
        }
        let _ = fs::remove_dir_all(self.world.state_dir().join("restored"));
    }
}

/// The same program as a user who may read and write only what modes allow: to root nothing is unreadable.
fn without_privileges(command: &Command) -> Command {
    if !rustix::process::getuid().is_root() {
        let mut same = Command::new(command.get_program());
        dressed(&mut same, command);
        return same;
    }
    let mut dropped = Command::new("setpriv");
    dropped.args(["--bounding-set=-all", "--inh-caps=-all"]).arg(command.get_program());
    dressed(&mut dropped, command);
    dropped
}

fn dressed(new: &mut Command, old: &Command) {
    new.args(old.get_args()).current_dir(old.get_current_dir().unwrap()).env_clear();
    new.envs(old.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
}

/// Another repository's state, like the one here but for what it is about.
fn copied(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copied(&path, &to);
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        for (ours, theirs) in PRECIOUS {
            assert_eq!(ours.len(), theirs.len());
            for at in 0..bytes.len().saturating_sub(ours.len()) {
                if bytes[at..].starts_with(ours.as_bytes()) {
                    bytes[at..at + ours.len()].copy_from_slice(theirs.as_bytes());
                }
            }
        }
        fs::write(to, bytes).unwrap();
    }
}

/// Runs it to its end; one that does not end is a failure.
fn within(mut command: Command, told: &str) -> Done {
    let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let mut child =
        command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap()).spawn().unwrap();
    let until = Instant::now() + MOST;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("{told}: it hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |mut file: fs::File| {
        use std::io::{Read, Seek};
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Done { code: status.code(), out: text(out), err: text(err) }
}

fn first(dir: &Path, begins: &str) -> String {
    let names = dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.into_iter().find(|name| name.starts_with(begins)).unwrap()
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        }
        found.push(path);
    }
}

fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut paths = Vec::new();
    walk(dir, &mut paths);
    paths.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect()
}

fn every_place(kind: Kind) {
    let hostile = Hostile::new();
    let mut untouched = without_privileges(&hostile.world.command(&["list"]));
    let listed = untouched.output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains(PRECIOUS[0].0), "{listed:?}");
    let aside = hostile.world.root().join("aside");
    let places = hostile.places();
    assert!(places.len() > 15, "{places:?}");
    for place in places {
        let known = place.symlink_metadata().is_ok();
        if known {
            fs::rename(&place, &aside).unwrap();
        }
        hostile.plant(&place, kind);
        hostile.every_command(&format!("{kind:?} at {}", place.display()));
        remove(&place);
        if known {
            fs::rename(&aside, &place).unwrap();
        }
    }
}

/// It was never run here: the user's state folder knows nothing of it.
#[test]
fn s1_settings_a_plan_a_journal_and_names_of_a_hostile_repository() {
    let hostile = Hostile::new();
    fs::remove_dir_all(hostile.world.user_state()).unwrap();
    hostile.speak();
    hostile.every_command("everything");
    let named: Vec<String> = fs::read_dir(hostile.world.repo())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('a') && name.ends_with(".md"))
        .collect();
    for name in &named {
        for args in [
            &["plan", "check", name][..],
            &["plan", "show", name],
            &["run", name],
            &["run", name, "--dry-run"],
        ] {
            hostile.tried(args, "a name with escapes");
        }
    }
    // Somebody else's journal, and nothing else of theirs: what it would run is not what this user started.
    hostile.world.git(&["checkout", "--quiet", "--", "segue.toml", "TASK.md", "segue.plan.toml"]);
    hostile.every_command("a journal from elsewhere");
}

#[test]
fn s1_links_to_a_file_in_every_place_of_the_state() {
    every_place(Kind::LinkToFile);
}

#[test]
fn s1_links_to_a_folder_in_every_place_of_the_state() {
    every_place(Kind::LinkToFolder);
}

#[test]
fn s1_pipes_in_every_place_of_the_state() {
    every_place(Kind::Fifo);
}

#[test]
fn s1_folders_in_every_place_of_the_state() {
    every_place(Kind::Folder);
}

#[test]
fn s1_huge_files_in_every_place_of_the_state() {
    every_place(Kind::Huge);
}

#[test]
fn s1_unreadable_files_in_every_place_of_the_state() {
    every_place(Kind::Unreadable);
}

/// What a repository brings in its work tree: a task, a plan, settings, and what `segue init` looks at.
#[test]
fn s1_files_of_the_work_tree_that_are_pipes_links_or_huge() {
    let hostile = Hostile::new();
    let names =
        ["TASK.md", "segue.plan.toml", "segue.toml", "package.json", "Cargo.toml", ".gemini/settings.json"];
    let aside = hostile.world.root().join("aside");
    for name in names {
        let place = hostile.world.repo().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let known = place.exists();
        if known {
            fs::rename(&place, &aside).unwrap();
        }
        for kind in [Kind::LinkToFile, Kind::LinkToFolder, Kind::Fifo, Kind::Folder, Kind::Huge] {
            match kind {
                Kind::LinkToFile => symlink(hostile.victim.join("file"), &place).unwrap(),
                Kind::LinkToFolder => symlink(&hostile.victim, &place).unwrap(),
                Kind::Fifo | Kind::Folder | Kind::Huge | Kind::Unreadable => hostile.plant_at(&place, kind),
            }
            let told = format!("{kind:?} at {name}");
            for args in [
                &["init", "--print"][..],
                &["config", "check"],
                &["config", "set", "policy", "auto"],
                &["doctor"],
                &["run", "TASK.md", "--dry-run"],
                &["run", "segue.plan.toml", "--dry-run"],
                &["run", "TASK.md", "--trust", "--agent", "nobody"],
                &["loop", "TASK.md"],
                &["plan", "check", "segue.plan.toml"],
                &["plan", "check", "."],
            ] {
                hostile.tried(args, &told);
            }
            remove(&place);
        }
        if known {
            fs::rename(&aside, &place).unwrap();
        }
    }
}

/// Removing is the one thing that cannot be taken back: nothing behind a link is removed.
#[test]
fn s1_clean_removes_nothing_that_a_link_leads_to() {
    let hostile = Hostile::new();
    let state = hostile.world.state_dir();
    let kept = hostile.world.root().join("kept");
    copied(&state, &kept);
    let places = hostile.places();
    // The demos of other tests lie in the folder that all share.
    let temporary = hostile.world.root().display().to_string();
    for kind in [Kind::LinkToFile, Kind::LinkToFolder] {
        for place in &places {
            remove(place);
            hostile.plant(place, kind);
            let told = format!("{kind:?} at {}", place.display());
            hostile.tried_with(&["clean", "--yes"], &[("TMPDIR", &temporary)], &told);
            remove(&state);
            copied(&kept, &state);
        }
    }
}

fn remove(place: &Path) {
    match place.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place).unwrap(),
        Ok(_) => fs::remove_file(place).unwrap(),
        Err(_) => {}
    }
}
