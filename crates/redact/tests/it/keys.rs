//! The large set of secrets, ten draws of each, and how rarely three code bases are taken for secrets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use segue_redact::{Lines, Options, Redactor};

use crate::{
    draw::{Drawn, draw},
    keys_open, keys_sealed,
    plant::Chance,
};

const DRAWS: u64 = 10;

#[test]
fn c8_the_open_half_of_the_large_set_is_caught() {
    at_least_99_of_100("open", &keys_open::FORMS, &keys_open::PLACES, &keys_open::NAMED);
}

#[test]
fn c8_the_sealed_half_of_the_large_set_is_caught() {
    at_least_99_of_100("sealed", &keys_sealed::FORMS, &keys_sealed::PLACES, &keys_sealed::NAMED);
}

#[test]
fn c8_the_large_set_is_large() {
    let (open, sealed) = (plants(&keys_open::FORMS, &keys_open::PLACES, &keys_open::NAMED), {
        plants(&keys_sealed::FORMS, &keys_sealed::PLACES, &keys_sealed::NAMED)
    });
    let kinds: std::collections::BTreeSet<&str> = open.iter().chain(&sealed).map(|(kind, _)| *kind).collect();
    assert!(open.len() + sealed.len() >= 300, "{} and {} plants", open.len(), sealed.len());
    assert!(kinds.len() >= 60, "{} kinds", kinds.len());
}

fn at_least_99_of_100(half: &str, forms: &[Row], places: &[&str], named: &[Row]) {
    let redactor = Redactor::new(Options::default()).unwrap();
    let (mut all, mut missed) = (0, Vec::new());
    for (n, (kind, pattern)) in plants(forms, places, named).iter().enumerate() {
        for seed in 0..DRAWS {
            let drawn = draw(pattern, &mut Chance::new(seed * 1000 + n as u64 + 1));
            all += 1;
            if shown(&redactor, &drawn) {
                missed.push(format!("{kind} {seed}: {}", drawn.text));
            }
        }
    }
    println!("{half}: {} of {all} caught\n{}", all - missed.len(), missed.join("\n"));
    assert!(missed.len() * 100 <= all, "{half}: {} of {all} missed", missed.len());
}

type Row = (&'static str, &'static str);

/// Each form in two places, then what stands in a place of its own.
fn plants(forms: &[Row], places: &[&str], named: &[Row]) -> Vec<(&'static str, String)> {
    let place = |n: usize, pattern: &str| places[n % places.len()].replace('§', pattern);
    let twice = forms.iter().enumerate().flat_map(|(n, (kind, pattern))| {
        [(*kind, place(n, pattern)), (*kind, place(n / 4 + n + 6, pattern))]
    });
    twice.chain(named.iter().map(|(kind, pattern)| (*kind, (*pattern).to_owned()))).collect()
}

/// A secret counts as shown if eight characters of it are, in a text or in output line by line.
fn shown(redactor: &Redactor, drawn: &Drawn) -> bool {
    let (mut lines, mut kept) = (Lines::new(redactor.clone()), Vec::new());
    for chunk in format!("before\n{}\nafter\n", drawn.text).as_bytes().chunks(61) {
        lines.push(chunk, &mut kept);
    }
    lines.finish(&mut kept);
    let outs = [redactor.text(&drawn.text).text.into_owned(), String::from_utf8_lossy(&kept).into_owned()];
    let windows = drawn
        .secrets
        .iter()
        .flat_map(|secret| (0..(secret.len() + 1).saturating_sub(8)).filter_map(|at| secret.get(at..at + 8)));
    windows.clone().any(|window| outs.iter().any(|out| out.contains(window)))
}

#[test]
fn c8_code_is_taken_for_a_secret_in_one_of_10000_lines_at_most() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"))).unwrap();
    let vendored = home.join("registry/src");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bases = [
        ("segue", code(&here, None)),
        ("regex", code(&vendored, Some("regex-"))),
        ("tokio", { code(&vendored, Some("tokio-")) }),
    ];
    for (name, texts) in bases {
        let redactor = Redactor::new(Options::default()).unwrap();
        let (mut lines, mut alarms) = (0, Vec::new());
        for text in &texts {
            lines += text.lines().count();
            for line in text.lines().filter(|line| redactor.text(line).counts.total() > 0) {
                alarms.push(redactor.text(line).text.chars().take(160).collect::<String>());
            }
        }
        println!("{name}: {} alarms in {lines} lines\n{}", alarms.len(), alarms.join("\n"));
        assert!(lines > 10_000, "{name} has only {lines} lines");
        assert!(alarms.len() <= lines.div_ceil(10_000), "{name}: {} of {lines} lines", alarms.len());
    }
}

/// The sources below a folder, of one crate if there is a prefix; without the tests of secrets, which are full of them.
fn code(folder: &Path, prefix: Option<&str>) -> Vec<String> {
    let (mut folders, mut out) = (vec![(folder.to_owned(), 0)], Vec::new());
    while let Some((folder, depth)) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let wanted = depth != 1 || prefix.is_none_or(|prefix| name.starts_with(prefix));
            let left_out = name == "target" || name.starts_with('.') || path.ends_with("redact/tests");
            if path.is_dir() && wanted && !left_out {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|end| end == "rs") {
                out.extend(fs::read_to_string(path));
            }
        }
    }
    out
}
