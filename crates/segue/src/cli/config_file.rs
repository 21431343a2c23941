//! `segue config set|edit|schema`: changes to `segue.toml` that leave its comments alone, and its schema for editors.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value as Json, json};
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::config::key::{Key, Kind};
use crate::config::{Flags, KEYS, nearest, resolve};
use crate::store::safely;

/// Sets one key. A value that makes the configuration wrong is not written.
pub(super) fn set(at: &Place, typed: &str, text: &str, user: bool) -> Result<u8, Failure> {
    let key = find(typed).ok_or_else(|| unknown(typed))?;
    let path = file(at, user)?;
    let before = read(&path)?;
    let mut document: DocumentMut = before
        .as_deref()
        .unwrap_or_default()
        .parse()
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let mut table: &mut Item = document.as_item_mut();
    let parts: Vec<&str> = typed.split('.').collect();
    let Some((leaf, tables)) = parts.split_last() else { return Err(unknown(typed)) };
    for part in tables {
        let next = table.as_table_like_mut().and_then(|table| {
            if !table.contains_key(part) {
                let mut new = Table::new();
                new.set_implicit(true);
                table.insert(part, Item::Table(new));
            }
            table.get_mut(part)
        });
        table = next
            .ok_or_else(|| Failure::usage(format!("{typed}: {part} is not a table in {}", path.display())))?;
    }
    let Some(table) = table.as_table_like_mut() else { return Err(unknown(typed)) };
    let new = item(key.kind, text).ok_or_else(|| {
        Failure::usage(format!("{typed} cannot be set from the command line: use `segue config edit`"))
    })?;
    match table.get_mut(leaf).and_then(Item::as_value_mut) {
        // What stands behind a value in its line stays there.
        Some(old) => {
            let around = old.decor().clone();
            *old = new;
            *old.decor_mut() = around;
        }
        None => drop(table.insert(leaf, value(new))),
    }
    write(&path, &document.to_string())?;
    if let Err(failure) = check(at) {
        match before {
            Some(text) => write(&path, &text)?,
            None => std::fs::remove_file(&path)?,
        }
        return Err(failure);
    }
    if !at.json {
        out::line(&format!("{typed} = {text} in {}", path.display()));
    }
    Ok(0)
}

/// Opens the file in the user's editor.
pub(super) fn edit(at: &Place, user: bool) -> Result<u8, Failure> {
    let path = file(at, user)?;
    let named =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let editor = named.unwrap_or_else(|| "vi".to_owned());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // An editor may be a command with arguments, as git takes it.
    let line = format!("{editor} \"$1\"");
    let ended = Command::new("sh").args(["-c", &line, "segue"]).arg(&path).status()?;
    if !ended.success() {
        return Err(Failure::failed(format!("{editor} ended with {ended}")));
    }
    check(at)?;
    out::line("the configuration is valid");
    Ok(0)
}

/// Prints the schema.
pub(super) fn schema() -> Result<u8, Failure> {
    let mut root = node();
    for key in KEYS.iter().filter(|key| key.path != "agent") {
        put(&mut root, &key.path.split('.').collect::<Vec<_>>(), key);
    }
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("segue.toml");
    out::line(&serde_json::to_string_pretty(&root)?);
    Ok(0)
}

/// A key that there is not.
pub(super) fn unknown(typed: &str) -> Failure {
    let near = nearest(typed, KEYS.iter().map(|key| key.path));
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    Failure::usage(format!("there is no key {typed:?} with a value{hint}; `segue config keys` lists them"))
}

fn file(at: &Place, user: bool) -> Result<PathBuf, Failure> {
    if !user {
        let store = at.store();
        let path = store.root().join("segue.toml");
        let refused = |error| Failure::usage(format!("{}: {error}", path.display()));
        safely::refuse_link_out(store.root(), &path).map_err(refused)?;
        return Ok(path);
    }
    open::user_file().ok_or_else(|| {
        Failure::usage("your configuration folder cannot be found: set HOME or XDG_CONFIG_HOME")
    })
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match safely::plain_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::usage(format!("{}: {error}", path.display()))),
    }
}

// The whole file at once.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    std::fs::create_dir_all(&folder)?;
    let mut file = tempfile::Builder::new().permissions(permissions(path)).tempfile_in(&folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(())
}

fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).map_or_else(|_| std::fs::Permissions::from_mode(0o644), |meta| meta.permissions())
}

fn check(at: &Place) -> Result<(), Failure> {
    let layers = at.layers(&Flags::default())?;
    match resolve(&layers) {
        Err(errors) if !errors.only_no_agent() => Err(errors.into()),
        _ => Ok(()),
    }
}

fn find(typed: &str) -> Option<&'static Key> {
    let parts: Vec<&str> = typed.split('.').collect();
    let fits = |key: &&Key| {
        let own: Vec<&str> = key.path.split('.').collect();
        own.len() == parts.len() && own.iter().zip(&parts).all(|(own, part)| *own == "*" || own == part)
    };
    KEYS.iter().find(fits)
}

fn item(kind: Kind, text: &str) -> Option<Value> {
    let list = |text: &str| text.split(',').map(str::trim).filter(|t| !t.is_empty()).collect::<Array>();
    Some(match kind {
        Kind::Stages | Kind::Gates | Kind::Secret => return None,
        Kind::Bool => text.parse::<bool>().map_or_else(|_| text.into(), Value::from),
        Kind::Count(_) => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Kind::List | Kind::Words => Value::Array(list(text)),
        Kind::Permissions => match text.strip_prefix("allow=") {
            Some(kinds) => Value::Array(list(kinds)),
            None => text.into(),
        },
        Kind::Text
        | Kind::Choice(_)
        | Kind::Command
        | Kind::Tokens
        | Kind::Percent
        | Kind::Threshold
        | Kind::Line
        | Kind::Duration
        | Kind::Money
        | Kind::Price => text.into(),
    })
}

fn node() -> Json {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

fn put(node: &mut Json, path: &[&str], key: &Key) {
    let Some((first, rest)) = path.split_first() else { return };
    let slot = if *first == "*" {
        &mut node["additionalProperties"]
    } else {
        let properties = node["properties"].as_object_mut().map(|p| p.entry(*first));
        match properties {
            Some(entry) => entry.or_insert(Json::Null),
            None => return,
        }
    };
    if rest.is_empty() {
        *slot = leaf(key);
        return;
    }
    if !slot.is_object() {
        *slot = self::node();
    }
    put(slot, rest, key);
}

fn leaf(key: &Key) -> Json {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let text = json!({ "type": "string" });
    let mut shape = match key.kind {
        Kind::Text | Kind::Secret => text,
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Words => texts,
        Kind::List | Kind::Command | Kind::Permissions => json!({ "anyOf": [text, texts] }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Count(least) => json!({ "type": "integer", "minimum": least }),
        Kind::Tokens
        | Kind::Percent
        | Kind::Threshold
        | Kind::Line
        | Kind::Duration
        | Kind::Money
        | Kind::Price => {
            json!({ "type": ["string", "number"] })
        }
        Kind::Stages => tables(&[("at", json!({ "type": ["string", "number"] })), ("do", texts)]),
        Kind::Gates => json!({ "type": "array", "items": { "type": "object" } }),
    };
    if key.none
        && let Some(map) = shape.as_object().cloned().map(Json::Object)
    {
        shape = json!({ "anyOf": [map, { "const": "none" }] });
    }
    shape["description"] = json!(key.about);
    shape
}

fn tables(fields: &[(&str, Json)]) -> Json {
    let properties: Map<String, Json> =
        fields.iter().map(|(name, shape)| ((*name).to_owned(), shape.clone())).collect();
    json!({ "type": "array", "items": { "type": "object", "properties": properties } })
}
