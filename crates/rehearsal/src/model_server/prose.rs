//! Words that mean little: what a worker says around the facts, long enough to hide them in and never the same twice.

const SUBJECTS: [&str; 16] = [
    "the booking module",
    "this loop",
    "the first helper",
    "the totals view",
    "that constructor",
    "the old migration",
    "the small adapter",
    "the request builder",
    "the second fixture",
    "the report writer",
    "this branch of the parser",
    "the cache in front",
    "the outer wrapper",
    "the retry path",
    "the shared schema",
    "the date formatter",
];
const VERBS: [&str; 12] = [
    "looks as the description says",
    "reads well enough for now",
    "calls through to the layer below",
    "hands its result on unchanged",
    "was moved here from another folder",
    "has the shape I expected",
    "keeps its names short",
    "does its work in one pass",
    "leaves the tables alone",
    "follows the pattern of its neighbours",
    "is covered by the checks",
    "depends on nothing new",
];
const TAILS: [&str; 11] = [
    "so I leave it",
    "and the next part can build on it",
    "which fits what I saw before",
    "though I would have split it",
    "and I see no reason to touch it",
    "as far as the listing shows",
    "while the rest of the file is plain",
    "and that is enough to go on with",
    "before anything else happens",
    "with a margin that seems fair",
    "and nothing about it surprises me",
];

/// Prose of just so many characters; another seed gives other prose.
pub fn passage(seed: u64, chars: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < chars {
        text.push(' ');
        text.push_str(&sentence(seed.wrapping_mul(8_191).wrapping_add(n)));
        n += 1;
    }
    text.truncate(chars);
    text
}

fn sentence(n: u64) -> String {
    let pick = |list: &[&'static str], by: u64| list[usize::try_from(by % list.len() as u64).unwrap_or(0)];
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    let subject = pick(&SUBJECTS, mixed);
    let mut chars = subject.chars();
    let subject: String = chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect();
    let line = mixed >> 11 & 1_023;
    format!("{subject} near line {line} {}, {}.", pick(&VERBS, mixed >> 21), pick(&TAILS, mixed >> 33))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_the_length_asked_for_and_does_not_repeat_itself() {
        let text = passage(7, 5_000);
        assert_eq!(text.len(), 5_000);
        let sentences: Vec<&str> = text.split(". ").collect();
        let different: std::collections::BTreeSet<&&str> = sentences.iter().collect();
        assert!(different.len() * 100 >= sentences.len() * 95, "{} of {}", different.len(), sentences.len());
        assert_ne!(passage(7, 300), passage(8, 300));
    }
}
