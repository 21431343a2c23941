//! A checkpoint on disk: compressed JSON with a checksum, and a reader that notices every change.
//!
//! A file appears under its name only when all of it is on disk. What is compressed and what is not is told from the
//! bytes, so that a file may be renamed, unpacked or laid out again; only its content must not change.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use thiserror::Error;

use super::document::{Document, VERSION};
use super::first_version;
use super::inside::OutsideError;
use crate::store::safely;

/// No checkpoint is larger than this when unpacked.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The bytes that compressed files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

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
    /// It must not be written there.
    #[error(transparent)]
    Outside(#[from] OutsideError),
    /// It cannot be put into words.
    #[error("the checkpoint cannot be written as JSON: {0}")]
    Words(#[from] serde_json::Error),
    /// It is no checkpoint, or half of one.
    #[error("checkpoint {}: it is damaged ({why}); segue continues from its own records", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It was changed after it was written.
    #[error("checkpoint {}: it was changed after it was written; segue continues from its own records", path.display())]
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
        found: u64,
    },
}

/// A checkpoint with what its file says beside it.
#[derive(Debug)]
pub(crate) struct Stored {
    /// What it holds.
    pub(crate) document: Document,
    /// Bytes on disk.
    pub(crate) bytes: u64,
    /// Bytes of the JSON in it.
    pub(crate) unpacked: u64,
}

impl Stored {
    /// How many times smaller the file is than what is in it.
    pub(crate) fn ratio(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a figure for people, of at most 256 MB")]
        let ratio = self.unpacked as f64 / self.bytes.max(1) as f64;
        (ratio * 10.0).round() / 10.0
    }
}

impl Document {
    /// The file of a checkpoint: the one that exists, or the one that will be written.
    pub(crate) fn file(dir: &Path, id: &str) -> PathBuf {
        let (packed, plain) = (dir.join(format!("{id}.json.gz")), dir.join(format!("{id}.json")));
        if !packed.exists() && plain.exists() { plain } else { packed }
    }

    /// Stores the checkpoint and its Markdown; a name appears only when the content is on disk.
    pub(crate) fn store(self, dir: &Path, markdown: &str) -> Result<PathBuf, CheckpointError> {
        let path = dir.join(format!("{}.json.gz", self.id));
        let id = self.id.clone();
        let write = || -> io::Result<()> {
            std::fs::create_dir_all(dir)?;
            write_whole(&path, &pack(&self.json()?)?)?;
            write_whole(&dir.join(format!("{id}.md")), markdown.as_bytes())
        };
        write().map_err(|source| CheckpointError::Io { path: path.clone(), source })?;
        Ok(path)
    }

    /// The JSON as it is stored, with version and checksum.
    pub(crate) fn json(&self) -> io::Result<Vec<u8>> {
        let mut value = serde_json::to_value(self)?;
        value["version"] = VERSION.into();
        value["checksum"] = sum(&value).into();
        Ok(serde_json::to_vec(&value)?)
    }

    /// Reads a checkpoint and makes sure that it is as it was written.
    pub(crate) fn read(path: &Path) -> Result<Self, CheckpointError> {
        Self::open(path).map(|stored| stored.document)
    }

    /// The same, with the sizes.
    pub(crate) fn open(path: &Path) -> Result<Stored, CheckpointError> {
        let io = |source| CheckpointError::Io { path: path.to_owned(), source };
        let damaged = |why: String| CheckpointError::Damaged { path: path.to_owned(), why };
        let bytes = read_up_to(safely::open(path).map_err(io)?).map_err(io)?;
        let json = if bytes.starts_with(&GZIP) {
            read_up_to(GzDecoder::new(bytes.as_slice())).map_err(|error| damaged(error.to_string()))?
        } else {
            bytes.clone()
        };
        let value: Value = serde_json::from_slice(&json).map_err(|error| damaged(error.to_string()))?;
        let version = value.get("version").and_then(Value::as_u64);
        let document = match version {
            Some(1) => first_version::read(&json).map_err(|error| damaged(error.to_string()))?,
            Some(found) if found > u64::from(VERSION) => {
                return Err(CheckpointError::Newer { path: path.to_owned(), found });
            }
            Some(found) if found == u64::from(VERSION) => second_version(value).map_err(damaged)?,
            _ => return Err(damaged("it does not say which version of the format it has".to_owned())),
        };
        let Some(document) = document else { return Err(CheckpointError::Changed { path: path.to_owned() }) };
        let len = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(Stored { document, bytes: len(&bytes), unpacked: len(&json) })
    }
}

/// `None` when the checksum is not that of the content.
fn second_version(value: Value) -> Result<Option<Document>, String> {
    let right = value.get("checksum").and_then(Value::as_str) == Some(sum(&value).as_str());
    // A field that cannot be read is damage only if it was written so.
    if !right {
        return Ok(None);
    }
    serde_json::from_value(value).map(Some).map_err(|error| error.to_string())
}

/// Over every field but the checksum itself, also over those that this version does not know.
fn sum(value: &Value) -> String {
    let mut bare = value.clone();
    if let Some(fields) = bare.as_object_mut() {
        fields.remove("checksum");
    }
    bare.sort_all_objects();
    blake3::hash(bare.to_string().as_bytes()).to_hex().to_string()
}

fn read_up_to(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than a checkpoint can be"));
    }
    Ok(bytes)
}

/// Compresses bytes.
pub(crate) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes)?;
    packer.finish()
}

/// Writes a file so that it has either its old content or all of the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    std::fs::File::open(dir)?.sync_all()
}

#[cfg(test)]
#[path = "stored_tests.rs"]
pub(super) mod tests;
