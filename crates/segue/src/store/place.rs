//! Where the state of a work tree lies: in git's common folder, or in the user's state folder.
//!
//! git's folder is taken only where nobody else can write into it and modes are kept. A place that exists already is found
//! again, whatever has become of git's folder meanwhile.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::safely;
use crate::state::State;

/// segue's folder in git's.
const NAME: &str = "segue";

/// In git's folder of a linked work tree: the work tree that its plan was started in.
const ROOT: &str = "segue-root";

/// Where everything is when there is neither a usable repository nor a home.
const NOWHERE: &str = "/nonexistent/segue";

/// In the state: the folder that the configuration names for work trees of phases.
const TREES: &str = "trees-in";

/// The most that a file of git's is read for a path.
const MOST: u64 = 16 * 1024;

/// The folders of a work tree's state.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The state.
    pub(super) dir: PathBuf,
    /// The work trees of phases side by side.
    pub(super) trees: PathBuf,
    /// A link that somebody put there. Then there is no state: nothing is read or written through it.
    pub(super) linked: Option<PathBuf>,
}

/// What git keeps for a work tree.
#[derive(Debug)]
struct GitDirs {
    /// Its own folder.
    own: PathBuf,
    /// The one that it shares with other work trees.
    common: PathBuf,
}

impl GitDirs {
    fn of(workdir: &Path) -> Option<Self> {
        let link = workdir.join(".git");
        let own = if fs::metadata(&link).ok()?.is_dir() {
            link
        } else {
            workdir.join(first_line(&link)?.strip_prefix("gitdir: ")?)
        };
        let common = first_line(&own.join("commondir")).map_or_else(|| own.clone(), |path| own.join(path));
        Some(Self { own: own.canonicalize().ok()?, common: common.canonicalize().ok()? })
    }

    // The folder of a linked work tree, from git's common one.
    fn linked(&self) -> Option<&OsStr> {
        (self.own != self.common).then(|| self.own.file_name()).flatten()
    }
}

impl Place {
    /// Where the state of a work tree is, or would be.
    pub(super) fn of(workdir: &Path) -> Self {
        let place = Self::usual(workdir);
        if let Some(link) = place.own_parts().into_iter().find(|part| part.is_symlink()) {
            return Self { dir: PathBuf::from(NOWHERE), linked: Some(link), ..place };
        }
        let Some(named) = safely::read_text(&place.dir.join(TREES))
            .ok()
            .and_then(|text| text.lines().next().map(PathBuf::from))
        else {
            return place;
        };
        let key = place.trees.file_name().unwrap_or_default().to_owned();
        Self { trees: named.join(key), ..place }
    }

    fn usual(workdir: &Path) -> Self {
        let git = GitDirs::of(workdir);
        let owned = in_user_folder(workdir, git.as_ref());
        let Some(git) = git else { return owned };
        let base = git.common.join(NAME);
        let below = Path::new("worktrees");
        let dir = git.linked().map_or_else(|| base.clone(), |name| base.join(below).join(name));
        let here = Self { dir, ..owned.clone() };
        match fs::symlink_metadata(&base) {
            Ok(found) if found.is_dir() && is_own(&found) && may_write(&base) => here,
            _ if owned.dir.exists() => owned,
            // What lies in the way is told when it is to be written to.
            Ok(_) if is_private(&git.common) => here,
            Err(_) if is_private(&git.common) && may_write(&git.common) => here,
            Ok(found) if found.is_dir() && is_own(&found) => here,
            Ok(_) | Err(_) => owned,
        }
    }

    /// The place in the user's state folder.
    pub(super) fn in_user_folder(workdir: &Path) -> Self {
        in_user_folder(workdir, GitDirs::of(workdir).as_ref())
    }

    /// The folders that only segue makes, the outer ones first.
    pub(super) fn own_parts(&self) -> Vec<PathBuf> {
        let linked = self.dir.parent().is_some_and(|parent| parent.ends_with("worktrees"));
        let mut parts: Vec<PathBuf> =
            self.dir.ancestors().take(if linked { 3 } else { 1 }).map(Path::to_owned).collect();
        parts.reverse();
        parts.extend(["runs", "plans", "checkpoints", "restored"].map(|name| self.dir.join(name)));
        parts
    }

    /// Whether there is no place at all.
    pub(super) fn is_nowhere(&self) -> bool {
        self.dir.starts_with(NOWHERE)
    }
}

/// The work tree in which a phase's work tree was made; `None` for any other work tree.
pub(super) fn root_of(workdir: &Path) -> Option<PathBuf> {
    let git = GitDirs::of(workdir)?;
    git.linked()?;
    let root = PathBuf::from(first_line(&git.own.join(ROOT))?);
    let same = GitDirs::of(&root).is_some_and(|main| main.common == git.common);
    (root.is_absolute() && same).then_some(root)
}

/// Says whose phase works in a linked work tree.
pub(super) fn mark(tree: &Path, root: &Path) -> io::Result<()> {
    let git = GitDirs::of(tree).ok_or_else(|| io::Error::other("it is no work tree of git's"))?;
    fs::write(git.own.join(ROOT), format!("{}\n", root.display()))
}

/// Notes where work trees of phases are made; `None` where they usually are.
pub(super) fn note_trees(state: &Path, dir: Option<&Path>) -> io::Result<()> {
    match (fs::remove_file(state.join(TREES)), dir) {
        (Err(error), _) if error.kind() != io::ErrorKind::NotFound => Err(error),
        (_, Some(dir)) => {
            safely::append(&state.join(TREES)).and_then(|mut file| writeln!(file, "{}", dir.display()))
        }
        (_, None) => Ok(()),
    }
}

fn in_user_folder(workdir: &Path, git: Option<&GitDirs>) -> Place {
    let state = State::of_user().unwrap_or_else(|| State::at(NOWHERE));
    let real = workdir.canonicalize().unwrap_or_else(|_| workdir.to_owned());
    let key = key(git.map_or(&real, |git| &git.common));
    let dir = state.path("repositories").join(&key);
    let linked = git.and_then(GitDirs::linked);
    let dir = linked.map_or_else(|| dir.clone(), |name| dir.join("worktrees").join(name));
    Place { dir, trees: state.path("trees").join(key), linked: None }
}

// A name that people recognise, and what tells it from others of that name.
fn key(path: &Path) -> String {
    let path_words = path.components().rev().filter_map(|part| part.as_os_str().to_str());
    let name = path_words.into_iter().find(|name| *name != ".git").unwrap_or("tree");
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = name.chars().take(40).map(plain).collect();
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    format!("{name}-{}", &hash[..16])
}

fn first_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    safely::plain(path).ok()?.take(MOST).read_to_string(&mut text).ok()?;
    text.lines().next().map(str::to_owned)
}

/// Whether it is this user's.
pub(super) fn is_own(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

// Whoever may write into the folder could put another one in the place of segue's.
fn is_private(dir: &Path) -> bool {
    let Ok(found) = fs::metadata(dir) else { return false };
    let mode = found.mode();
    let own_group = found.gid() == rustix::process::getegid().as_raw() && mode & 0o2000 == 0;
    is_own(&found) && mode & 0o002 == 0 && (mode & 0o020 == 0 || own_group)
}

fn may_write(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok()
}
