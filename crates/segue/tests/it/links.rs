//! Every link in the documents leads somewhere: to a file that is there, and to a heading that it has. Every page is in the
//! book. No link is followed out of the repository.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages_below(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            pages_below(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "md") {
            found.insert(entry);
        }
    }
}

/// The pages below `docs` and those beside it.
fn pages() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    pages_below(&root().join("docs"), &mut found);
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        found.insert(root().join(name));
    }
    found
}

/// A page without its code: what looks like a link there is none.
fn prose(text: &str) -> String {
    let blocks = Regex::new(r"(?s)```.*?```").unwrap();
    let code = Regex::new("`[^`]*`").unwrap();
    code.replace_all(&blocks.replace_all(text, ""), "").into_owned()
}

fn links(text: &str) -> Vec<String> {
    let link = Regex::new(r#"\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)""#).unwrap();
    let found =
        link.captures_iter(text).map(|found| found.get(1).or(found.get(2)).unwrap().as_str().to_owned());
    found.filter(|link| !link.starts_with("http")).collect()
}

/// What a link to a heading is called, as GitHub and mdBook make it.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = Regex::new(r"(?m)^#+ (.*)$").unwrap();
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap();
    let slug = |heading: &str| {
        let plain = link.replace_all(heading, "$1").to_lowercase();
        let kept = plain.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let blocks = Regex::new(r"(?s)```.*?```").unwrap();
    headings.captures_iter(&blocks.replace_all(text, "")).map(|found| slug(found[1].trim())).collect()
}

fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            Component::CurDir => {}
            part @ (Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => tidy.push(part),
        }
    }
    tidy
}

#[test]
fn documented_links_lead_to_files_and_headings_that_are_there() {
    let mut faults = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        for link in links(&prose(&text)) {
            followed += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target =
                if path.is_empty() { page.clone() } else { tidy(&page.with_file_name("").join(path)) };
            if !target.exists() {
                faults.push(format!("{name}: {link}: no such file"));
            } else if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                if !there.contains(anchor) {
                    faults.push(format!("{name}: {link}: no such heading; there are {there:?}"));
                }
            }
        }
    }
    assert!(followed > 200, "only {followed} links were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn documented_pages_are_all_in_the_book() {
    let book = root().join("docs/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&std::fs::read_to_string(&book).unwrap())
        .iter()
        .map(|link| tidy(&book.with_file_name("").join(link)))
        .collect();
    let mut missing = BTreeSet::new();
    pages_below(&root().join("docs"), &mut missing);
    // Notes on decisions are for contributors.
    missing.retain(|page| {
        *page != book && !page.starts_with(root().join("docs/design")) && !listed.contains(page)
    });
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}
