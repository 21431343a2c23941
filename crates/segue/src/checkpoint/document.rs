//! One checkpoint as JSON with a checksum, beside Markdown for people.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use segue_machine::{CheckpointBy, Claims, Depth, Millis};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the format. Readers accept every older one and refuse newer ones.
const VERSION: u32 = 1;

/// A checkpoint that cannot be used.
#[derive(Debug, Error)]
pub(crate) enum CheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no checkpoint, or half of one.
    #[error("checkpoint {}: it is damaged ({why}); segue goes on from its own facts", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It was changed after it was written.
    #[error("checkpoint {}: it was changed after it was written; segue goes on from its own facts", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A newer segue wrote it.
    #[error("checkpoint {}: written by a newer segue (format {found}, this one reads up to {VERSION})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// The window when the checkpoint was taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) used: Option<u64>,
    pub(crate) ceiling: Option<u64>,
    pub(crate) window: Option<u64>,
    pub(crate) percent: Option<f64>,
}

/// Files that differ from the start of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) created: Vec<String>,
    pub(crate) modified: Vec<String>,
    pub(crate) deleted: Vec<String>,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) version: u32,
    pub(crate) id: String,
    pub(crate) created_at: Millis,
    pub(crate) run: String,
    pub(crate) session: u32,
    pub(crate) agent: String,
    pub(crate) by: CheckpointBy,
    pub(crate) depth: Depth,
    pub(crate) stage: Option<String>,
    pub(crate) reason: String,
    pub(crate) tokens: Tokens,
    /// What the next session is told: the agent's words, or segue's in their place.
    pub(crate) text: String,
    pub(crate) files: Files,
    pub(crate) diffstat: Option<String>,
    pub(crate) commits: Vec<String>,
    pub(crate) gates: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) snapshot: Option<String>,
    pub(crate) claims: Claims,
    pub(crate) trouble: Option<String>,
    /// Over everything else; filled in when it is stored.
    pub(crate) checksum: String,
}

impl Document {
    /// The file of a checkpoint.
    pub(crate) fn file(dir: &Path, id: &str) -> PathBuf {
        dir.join(format!("{id}.json"))
    }

    /// Stores the checkpoint and its Markdown; the name appears only when the content is on disk.
    pub(crate) fn store(mut self, dir: &Path, markdown: &str) -> Result<PathBuf, CheckpointError> {
        let path = Self::file(dir, &self.id);
        self.version = VERSION;
        self.checksum = self.sum();
        let write = || -> io::Result<()> {
            std::fs::create_dir_all(dir)?;
            let json = serde_json::to_vec_pretty(&self)?;
            write_whole(&path, &json)?;
            write_whole(&path.with_extension("md"), markdown.as_bytes())
        };
        write().map_err(|source| CheckpointError::Io { path: path.clone(), source })?;
        Ok(path)
    }

    /// Reads a checkpoint and makes sure that it is as it was written.
    pub(crate) fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes =
            std::fs::read(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
        let damaged =
            |why: serde_json::Error| CheckpointError::Damaged { path: path.to_owned(), why: why.to_string() };
        let head: Version = serde_json::from_slice(&bytes).map_err(damaged)?;
        if head.version > VERSION {
            return Err(CheckpointError::Newer { path: path.to_owned(), found: head.version });
        }
        let document: Self = serde_json::from_slice(&bytes).map_err(damaged)?;
        if document.checksum != document.sum() {
            return Err(CheckpointError::Changed { path: path.to_owned() });
        }
        Ok(document)
    }

    fn sum(&self) -> String {
        let bare = Self { checksum: String::new(), ..self.clone() };
        let json = serde_json::to_vec(&bare).unwrap_or_default();
        blake3::hash(&json).to_hex().to_string()
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    std::fs::File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document {
            version: VERSION,
            id: "c7".to_owned(),
            created_at: 1,
            run: "r".to_owned(),
            session: 1,
            agent: "a".to_owned(),
            by: CheckpointBy::Agent,
            depth: Depth::Full,
            stage: Some("90%".to_owned()),
            reason: "full".to_owned(),
            tokens: Tokens::default(),
            text: "done: a\n\"quoted\" {braces}".to_owned(),
            files: Files::default(),
            diffstat: None,
            commits: vec![],
            gates: vec![],
            notes: vec![],
            snapshot: None,
            claims: Claims::default(),
            trouble: None,
            checksum: String::new(),
        }
    }

    #[test]
    fn it_is_read_as_it_was_stored() {
        let dir = tempfile::tempdir().unwrap();
        let path = document().store(dir.path(), "# md").unwrap();
        assert_eq!(Document::read(&path).unwrap().text, document().text);
        assert!(path.with_extension("md").exists());
    }

    #[test]
    fn c9_a_changed_or_damaged_file_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = document().store(dir.path(), "").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("done: a", "done: b")).unwrap();
        assert!(matches!(Document::read(&path), Err(CheckpointError::Changed { .. })));
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert!(matches!(Document::read(&path), Err(CheckpointError::Damaged { .. })));
        std::fs::write(&path, text.replace("\"version\": 1", "\"version\": 9")).unwrap();
        assert!(matches!(Document::read(&path), Err(CheckpointError::Newer { found: 9, .. })));
    }
}
