//! How fast texts are cleaned: one line per text with megabytes a second, and those of a check for UTF-8 beside it.
//! `cargo xtask bench` runs it as a release build.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this measures; the crate itself does not"
)]
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use segue_redact::{Lines, Options, RedactError, Redactor};

const SIZE: usize = 1 << 20;

fn main() -> Result<(), RedactError> {
    let values =
        (0..20).map(|n| (format!("T{n}_TOKEN"), format!("value-{n}-{}", "q7Zt".repeat(6)))).collect();
    let redactor = Redactor::new(Options { values, ..Options::default() })?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = filled(&texts(&root.join("crates"), "rs"));
    let prose = filled(&[texts(&root.join("docs"), "md"), texts(&root.join("crates"), "md")].concat());
    let stream = filled(&texts(&root.join("crates/agents/cassettes"), "jsonl"));
    let clean = |text: &str| redactor.text(text).text.into_owned();
    let hits = planted(&source);
    let (source, prose, stream) = (clean(&source), clean(&prose), clean(&stream));
    for text in [&source, &prose, &stream, &hits] {
        println!(
            "{:.0} {:.0}",
            speed(text.len(), || black_box(redactor.text(text).counts.total())),
            checked(text)
        );
    }
    println!("{:.0} {:.0}", speed(stream.len(), || black_box(through(&redactor, &stream))), checked(&stream));
    Ok(())
}

/// The best of many short runs: what a busy machine takes away is no property of the code.
fn speed(bytes: usize, mut work: impl FnMut() -> u64) -> f64 {
    let once = || {
        let start = Instant::now();
        work();
        bytes as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    std::iter::repeat_with(once).take(31).fold(0.0, f64::max)
}

fn checked(text: &str) -> f64 {
    speed(text.len(), || black_box(u64::from(std::str::from_utf8(black_box(text.as_bytes())).is_ok())))
}

fn through(redactor: &Redactor, text: &str) -> u64 {
    let (mut lines, mut out) = (Lines::new(redactor.clone()), Vec::with_capacity(1 << 20));
    for chunk in text.as_bytes().chunks(8192) {
        lines.push(chunk, &mut out);
        out.clear();
    }
    lines.finish(&mut out);
    lines.count()
}

fn planted(text: &str) -> String {
    let lines = text.split_inclusive('\n').scan(0, |since, line| {
        *since += line.len();
        let plant = *since > 2048;
        if plant {
            *since = 0;
        }
        Some(if plant {
            format!("{line}let key = \"{}{}\";\n", "gh", "p_a8Bd0Ef2Gh4Ij6Kl8Mn0Op2Qr4St6Uv8Wx0Y")
        } else {
            line.to_owned()
        })
    });
    lines.collect()
}

fn filled(texts: &[String]) -> String {
    let mut out = String::with_capacity(SIZE + (1 << 20));
    while out.len() < SIZE && texts.iter().any(|text| !text.is_empty()) {
        texts.iter().for_each(|text| out.push_str(text));
    }
    let lines = out.split_inclusive('\n').scan(0, |size, line| {
        *size += line.len();
        (*size <= 2 * SIZE).then_some(line)
    });
    lines.collect()
}

fn texts(folder: &Path, ending: &str) -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                out.extend(std::fs::read_to_string(path));
            }
        }
    }
    out
}
