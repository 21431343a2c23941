//! What people read is in the plain words of the vocabulary: the phrases that it replaced occur in no string of the
//! program that is shown to people, and in no document.

use std::path::{Path, PathBuf};

use regex::Regex;

/// The phrases that are not used, as regular expressions over lower-case text, with the word that is used.
const NOT_USED: &[(&str, &str)] = &[
    (r"\bclaimed\b", "unverified"),
    (r"\bneeds?[ _](a )?person\b", "needs input"),
    (r"\b(gates?|all|is|are|stays?|still|every|was|were|becomes?) (red|green)\b", "fails, passes"),
    (r"\b(red|green) (gates?|ones|before|after)\b", "failing, passing"),
    (r"\bas it was\b", "snapshot"),
    (r"\bfull checkpoint\b", "checkpoint (complete)"),
    (r"\bhint of the window\b", "usage hint"),
    (r"\bhow full\b|% full\b|\bfill unknown\b|\bfills? up (the|its|a) window\b", "context used"),
    (r"\breached forecast\b", "context is forecast to fill soon"),
    (r"\bdrawn lower\b|\blower line\b", "segue will hand over earlier"),
    (r"\b(goes|go|going|went) on\b", "continue"),
    (r"\bprocess is gone\b", "crashed"),
    (r"\bworks here\b", "active run"),
    (r"\bowner nobody\b", "active run: none"),
    (r"\bput down\b", "saved, unknown"),
    (r"\b(is|are|what's) not so\b", "false"),
    (r"\bheld to\b|\bholds? itself\b", "guarantees, checked by"),
    (r"\bown wires?\b", "protocol stream"),
    (r"\b(brief|full|a) dump\b", "checkpoint"),
    (r"\b(take|takes|taken|taking) up\b", "resume"),
    (r"\bwould go wrong\b|\bwent to go wrong\b", "check your setup"),
    (r"\bwhat comes before what\b", "dependency graph"),
    (r"\ba person (says|decides|must|looks|is|can)\b", "you"),
    (r"\binstead of words\b", "Print JSON, one object per line"),
    (r"\bclear(s|ed|ing)? up\b", "prune"),
    (r"\bmend(s|ed|ing)?\b", "fix, resolve"),
    (r"\btries now\b", "press Enter to retry now"),
    (r"\bpacked \{?\d|\{\}x\b", "(left out)"),
    (r"\bset-ups?\b", "setup"),
    (r"\bside by side\b", "in parallel"),
    (r"\bwhen left out\b|\bbeginning of it\b", "(default: …)"),
    (r"\bexecute or widen\b", "commands and settings"),
    (r"\bnot waiting for a provider\b", "provider unavailable, retry later"),
];

/// Folders and files of code whose strings people see.
const CODE: &[&str] = &[
    "crates/report/src",
    "crates/segue/src",
    "crates/machine/src/run",
    "crates/machine/src/policy",
    "crates/machine/src/limits.rs",
    "crates/machine/src/verdict.rs",
    "crates/plans/src",
    "crates/agents/src",
];

/// Files of code that hold words of others, to recognise them.
const WORDS_OF_OTHERS: &[&str] = &[
    // Verbs and statuses that authors of plans use.
    "crates/plans/src/words.rs",
    "crates/plans/src/verbs.rs",
    "crates/plans/src/formats/task_text.rs",
    // What an older version wrote.
    "crates/segue/src/checkpoint/first_version.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files_below(path: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| files_below(entry, ending, found));
    } else if path.to_str().unwrap().ends_with(ending) {
        found.push(path.to_owned());
    }
}

/// The string literals of Rust code outside tests, with their lines; in the definitions of the command line also the
/// documentation comments, which are its help.
fn shown_strings(code: &str, help: bool) -> Vec<(usize, String)> {
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap();
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            let (comment, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if help && let Some(words) = comment.strip_prefix("/// ") {
                found.push((line, words.to_owned()));
            }
            (rest, line) = (after, line + 1);
        } else if let Some(length) = rest.strip_prefix("'\\").and_then(|r| r.find('\'')) {
            rest = &rest[length.max(1) + 3..];
        } else if rest.starts_with("'\"'") {
            rest = &rest[3..];
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            let (text, after) = raw.split_once("\"#").unwrap();
            found.push((line, text.to_owned()));
            (rest, line) = (after, line + text.matches('\n').count());
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let end = end_of_string(quoted);
            found.push((line, unfolded(&quoted[..end])));
            line += quoted[..end].matches('\n').count();
            rest = &quoted[end + 1..];
        } else {
            line += usize::from(c == '\n');
            rest = &rest[c.len_utf8()..];
        }
    }
    found
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    text.find(|c| {
        let end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        end
    })
    .unwrap()
}

fn unfolded(text: &str) -> String {
    let folded = Regex::new(r"\\\n\s*").unwrap();
    folded.replace_all(text, "").replace("\\\"", "\"").replace("\\n", " ")
}

/// A document without its inline code: names of fields and values are what they are.
fn prose(text: &str) -> Vec<(usize, String)> {
    let code = Regex::new("`[^`]*`").unwrap();
    let paragraphs = Regex::new(r"\n\s*\n").unwrap();
    let mut found = Vec::new();
    let mut line = 1;
    for paragraph in paragraphs.split(text) {
        let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        found.push((line, code.replace_all(&joined, "`…`").into_owned()));
        line += paragraph.matches('\n').count() + 2;
    }
    found
}

fn not_used(strings: &[(usize, String)]) -> Vec<String> {
    let phrases: Vec<(Regex, &str)> =
        NOT_USED.iter().map(|(phrase, used)| (Regex::new(phrase).unwrap(), *used)).collect();
    let mut found = Vec::new();
    for (line, text) in strings.iter().filter(|(_, text)| text.contains(' ')) {
        let lower = text.to_lowercase();
        for (phrase, used) in &phrases {
            if let Some(hit) = phrase.find(&lower) {
                found.push(format!("{line}: {:?} (used: {used}) in {text:.160?}", hit.as_str()));
            }
        }
    }
    found
}

fn strings_by_file(with_help: bool) -> Vec<(String, Vec<(usize, String)>)> {
    let mut files = Vec::new();
    CODE.iter().for_each(|path| files_below(&root().join(path), ".rs", &mut files));
    let clap = Regex::new(r"derive\([^)]*(Args|Subcommand|Parser)").unwrap();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let test =
            name.ends_with("_tests.rs") || name.contains("/run_tests/") || name.ends_with("/sample.rs");
        if !test && !WORDS_OF_OTHERS.contains(&name.as_str()) {
            let code = std::fs::read_to_string(&file).unwrap();
            found.push((name, shown_strings(&code, with_help && clap.is_match(&code))));
        }
    }
    found
}

/// Every string literal of the program that people may see, with the file that holds it.
pub(crate) fn shown_by_the_program() -> Vec<(String, String)> {
    let files = strings_by_file(false).into_iter();
    files.flat_map(|(name, strings)| strings.into_iter().map(move |(_, text)| (name.clone(), text))).collect()
}

#[test]
fn words_strings_of_the_program_use_none_of_the_replaced_phrases() {
    let mut faults = Vec::new();
    let files = strings_by_file(true);
    let read: usize = files.iter().map(|(_, strings)| strings.len()).sum();
    for (name, strings) in &files {
        faults.extend(not_used(strings).into_iter().map(|fault| format!("{name}:{fault}")));
    }
    assert!(read > 3_000, "only {read} strings were found: the extraction is broken");
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

#[test]
fn words_documents_use_none_of_the_replaced_phrases() {
    let root = root();
    let single = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/examples/segue.toml"];
    let mut files: Vec<PathBuf> = single.iter().map(|file| root.join(file)).collect();
    files_below(&root.join("docs"), ".md", &mut files);
    // Notes on decisions are history.
    files.retain(|file| !file.starts_with(root.join("docs/design")));
    let mut faults = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display();
        faults.extend(not_used(&prose(&text)).into_iter().map(|fault| format!("{name}:{fault}")));
    }
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

#[test]
fn words_the_extraction_sees_strings_folded_lines_and_help_and_no_tests() {
    let code = "/// Take up a run\nfn f() { g('\"', '\\'', \"a \\\"b\\\" \\\n   c\", r#\"raw \"x\"\"#); } // \"no\"\n\
                #[cfg(test)]\nmod tests { \"not this\" }";
    let texts = |help| shown_strings(code, help).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts(false), ["a \"b\" c", "raw \"x\""]);
    assert_eq!(texts(true), ["Take up a run", "a \"b\" c", "raw \"x\""]);
    assert_eq!(not_used(&shown_strings(code, true)).len(), 1);
}
