//! What it costs to clean a text, measured by the crate's own example as a release build.

use super::Row;
use crate::shell;

const ROWS: [(&str, &str); 5] = [
    ("redaction of source code without secrets", "≥ 100 MB/s"),
    ("redaction of prose without secrets", "≥ 100 MB/s"),
    ("redaction of JSON lines without secrets", "≥ 100 MB/s"),
    ("redaction of source code with a secret every 2 kB", "–"),
    ("redaction of an agent's kept output, line by line", "–"),
];

pub(super) fn rows() -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let run = ["run", "--quiet", "--release", "--package", "segue-redact", "--example", "speed"];
    let measured = shell::read("cargo", &run)?;
    let rows = ROWS.iter().zip(measured.lines()).map(|((what, bar), line)| {
        let (figure, beside) = line.split_once(' ').unwrap_or((line, "?"));
        let beside = format!("checking the same bytes for UTF-8: {beside} MB/s");
        Row { what, figure: format!("{figure} MB/s"), beside, bar }
    });
    Ok(rows.collect())
}
