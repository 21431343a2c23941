//! Opens what segue keeps: folder by folder from a handle of the outermost one that is segue's, so that no link is followed
//! on the way, whatever is put in the place of a folder meanwhile. Only plain files are opened, and nothing waits at a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The most that a file of segue's own is read for at once.
const MOST: u64 = 256 << 20;

/// The folder that everything is in, in git's folder and in the user's for state.
const NAME: &str = "segue";

/// Opens a file to be read.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDONLY)
}

/// Opens a file for its owner alone, with what else it is opened for.
pub(crate) fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    let base =
        path.ancestors().find(|part| part.file_name().is_some_and(|name| name == NAME)).unwrap_or(path);
    let base = base.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(base, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut parts = path.strip_prefix(base).unwrap_or(path).components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(io::Error::other("it is not a path of segue")) };
        let flags = if parts.peek().is_some() { OFlags::DIRECTORY } else { flags };
        at = rustix::fs::openat(&at, name, flags | safe, Mode::RUSR | Mode::WUSR)?;
    }
    is_plain(File::from(at))
}

/// Opens a file to be read and added to; makes it where there is none.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDWR | OFlags::CREATE | OFlags::APPEND)
}

/// Opens a plain file that is the user's or the repository's, links and all.
pub(crate) fn plain(path: &Path) -> io::Result<File> {
    let file = rustix::fs::open(path, OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    is_plain(File::from(file))
}

/// What is in such a file, if it is text.
pub(crate) fn plain_text(path: &Path) -> io::Result<String> {
    all(plain(path)?).and_then(text)
}

/// What is in a file of the work tree that is named by what may come from somebody else; no link leads out of it.
pub(crate) fn read_inside(root: &Path, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let real = root.join(path).canonicalize()?;
    if real.starts_with(root.canonicalize()?) {
        all(plain(&real)?)
    } else {
        Err(io::Error::other(format!("{} lies outside of {}", real.display(), root.display())))
    }
}

/// An error for a file of the work tree that is a link, or behind one, to what lies outside: whoever named it saw a name of
/// the repository's. What is named by its real path, or with `..`, is meant.
pub(crate) fn refuse_link_out(root: &Path, file: &Path) -> io::Result<()> {
    let named_so = file.components().any(|part| part == Component::ParentDir) || !file.starts_with(root);
    let Some(real) = file.canonicalize().ok().filter(|_| !named_so) else { return Ok(()) };
    if real.starts_with(root.canonicalize()?) {
        return Ok(());
    }
    let (root, real) = (root.display(), real.display());
    Err(io::Error::other(format!("it is a link out of {root}; name or copy {real} itself if you mean it")))
}

/// Where a file of the work tree is written or removed; no link on the way to it leads out.
pub(crate) fn place_inside(root: &Path, path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let full = root.join(path);
    let there = full.ancestors().skip(1).find(|part| part.symlink_metadata().is_ok()).unwrap_or(root);
    let real = there.canonicalize()?;
    if real.starts_with(root.canonicalize()?) {
        Ok(full)
    } else {
        Err(io::Error::other(format!("{} lies outside of {}", real.display(), root.display())))
    }
}

/// What is in a file of segue's own.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    all(open(path)?)
}

/// What is in a file of segue's own that is text.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    read(path).and_then(text)
}

/// What tells a file's content from any other; `None` when there is none.
pub(crate) fn seal(path: &Path) -> Option<String> {
    Some(blake3::hash(&read(path).ok()?).to_hex().to_string())
}

fn is_plain(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not a text file"))
}

fn all(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other(format!("it is larger than {} MB", MOST >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn s1_only_plain_files_that_no_link_leads_to_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(NAME);
        let other = dir.path().join("other");
        for folder in [&state.join("runs/a"), &other.join("a")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("file"), "text").unwrap();
        }
        assert_eq!(read_text(&state.join("runs/a/file")).unwrap(), "text");
        symlink(other.join("a/file"), state.join("runs/a/link")).unwrap();
        symlink(other.join("a"), state.join("runs/b")).unwrap();
        symlink(&other, state.join("all")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(state.join("pipe")).status().unwrap();
        assert!(made.success());
        File::create(state.join("huge")).unwrap().set_len(MOST + 1).unwrap();
        for bad in
            ["runs/a/link", "runs/b/file", "all/a/file", "pipe", "runs", "huge", "runs/../huge", "none"]
        {
            assert!(read(&state.join(bad)).is_err(), "{bad}");
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        assert!(open_with(&state.join("runs/b/new"), flags).is_err() && !other.join("a/new").exists());
        fs::rename(&state, dir.path().join("away")).unwrap();
        symlink(dir.path().join("away"), &state).unwrap();
        assert!(read(&state.join("runs/a/file")).is_err(), "the state itself is a link");
    }
}
