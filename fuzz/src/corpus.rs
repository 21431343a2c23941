//! Where the runs begin: inputs made of the recordings and of a few lines written by hand, those that once broke
//! something, and the words that occur in them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Target;

/// The longest input that is worth running: longer ones say nothing new and take their time.
pub const LONGEST: usize = 8 * 1024;

/// How many lines of a recording make one input.
const WINDOW: usize = 6;

/// Numbers at the edge of what can be counted.
const NUMBERS: [&str; 2] = ["18446744073709551615", "9223372036854775807"];

/// The workspace's own folder.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The inputs that once broke this target.
///
/// # Errors
/// A file cannot be read.
pub fn regressions(target: &Target) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let folder = root().join("fuzz/regressions").join(target.name);
    files(&folder)?.into_iter().map(|path| Ok((path.clone(), fs::read(path)?))).collect()
}

/// All inputs to begin with, the shortest first.
///
/// # Errors
/// A recording cannot be read.
pub fn seeds(target: &Target) -> io::Result<Vec<Vec<u8>>> {
    let mut found: BTreeSet<Vec<u8>> = target.seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    found.extend(regressions(target)?.into_iter().map(|(_, bytes)| bytes));
    for path in recordings(target)? {
        found.extend(pieces(&fs::read(path)?));
    }
    if target.name == "records" {
        found.extend(crate::records::of_recordings(&events(&root())?));
    }
    let extreme: Vec<Vec<u8>> = found.iter().flat_map(|seed| NUMBERS.map(|n| renumbered(seed, n))).collect();
    found.extend(extreme);
    let mut found: Vec<Vec<u8>> = found.into_iter().filter(|seed| seed.len() <= LONGEST).collect();
    found.sort_by_key(Vec::len);
    Ok(found)
}

/// The words of these inputs: names, short texts and numbers at the edges.
pub fn words(seeds: &[Vec<u8>]) -> BTreeSet<Vec<u8>> {
    let edges = ["0", "-1", "1e400", "9223372036854775808", "null", "[]", "{}", "~"];
    let edges = edges.iter().chain(&NUMBERS);
    let mut words: BTreeSet<Vec<u8>> = edges.map(|word| word.as_bytes().to_vec()).collect();
    for seed in seeds {
        let quoted = seed.split(|byte| *byte == b'"').skip(1).step_by(2);
        words.extend(quoted.filter(|word| (2..=28).contains(&word.len())).map(<[u8]>::to_vec));
    }
    words
}

/// The words as libFuzzer reads them.
pub fn dictionary(words: &BTreeSet<Vec<u8>>) -> String {
    let plain = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        other => format!("\\x{other:02X}"),
    };
    words.iter().map(|word| format!("\"{}\"\n", word.iter().map(plain).collect::<String>())).collect()
}

fn recordings(target: &Target) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in files(&root().join("crates/agents/cassettes"))? {
        // `NAME-VERSION`; a name may have a dash in it.
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = name.rsplit_once('-').map_or("", |(name, _)| name);
        if folder.is_dir() && target.cassettes.contains(&name) {
            found.extend(files(&folder)?.into_iter().filter(|p| p.extension().is_some_and(|e| e == "jsonl")));
        }
    }
    Ok(found)
}

/// What the adapters made of the recordings.
fn events(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in files(&root.join("crates/agents/cassettes"))?.iter().filter(|path| path.is_dir()) {
        for path in files(folder)?.iter().filter(|p| p.to_string_lossy().ends_with(".events.json")) {
            found.push(fs::read_to_string(path)?);
        }
    }
    Ok(found)
}

// Each line alone, and a few that follow each other: an input should be short, and yet have a history.
fn pieces(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let short: Vec<&[u8]> = lines.iter().copied().filter(|line| line.len() < LONGEST / WINDOW).collect();
    let windows = short.chunks(WINDOW).map(|lines| lines.join(&b'\n'));
    lines.iter().step_by(3).map(|line| line.to_vec()).chain(windows).collect()
}

// Every number from four digits on in place of which this one stands: short ones are names, kinds and versions.
fn renumbered(seed: &[u8], number: &str) -> Vec<u8> {
    let mut made = Vec::new();
    for run in seed.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        let long = run.len() > 3 && run[0].is_ascii_digit();
        made.extend_from_slice(if long { number.as_bytes() } else { run });
    }
    made
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    paths.sort();
    Ok(paths)
}
