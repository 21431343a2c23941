//! `segue checkpoint export`: a checkpoint as one file that needs nothing beside it.

use std::path::Path;

use super::{Failure, Place, Shelf, out};
use crate::checkpoint::{Document, pack, page, write_whole};

/// Writes a checkpoint to a file.
pub(super) fn export(
    at: &Place,
    id: &str,
    file: &Path,
    markdown: bool,
    run: Option<&str>,
) -> Result<u8, Failure> {
    let document = Shelf::open(at)?.read(Some(id), run)?;
    let packed = file.extension().is_some_and(|ending| ending == "gz");
    let bytes = match (markdown, packed) {
        (true, _) => page(&document).into_bytes(),
        (false, true) => pack(&document.json()?)?,
        (false, false) => laid_out(&document)?,
    };
    if file.as_os_str() == "-" {
        out::bytes(&bytes);
        return Ok(0);
    }
    let path = at.dir.join(file);
    write_whole(&path, &bytes).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    if at.json {
        let doc = serde_json::json!({ "checkpoint": document.id, "file": path, "bytes": bytes.len() });
        out::line(&doc.to_string());
    } else {
        out::line(&format!("wrote checkpoint {} to {}", document.id, file.display()));
        if !markdown {
            out::line(&format!(
                "`segue run --from-checkpoint {}` continues from it, in any work tree",
                file.display()
            ));
        }
    }
    Ok(0)
}

fn laid_out(document: &Document) -> std::io::Result<Vec<u8>> {
    let value: serde_json::Value = serde_json::from_slice(&document.json()?)?;
    let mut text = serde_json::to_vec_pretty(&value)?;
    text.push(b'\n');
    Ok(text)
}
