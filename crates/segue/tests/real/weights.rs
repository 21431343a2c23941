//! How far the weight of a text, by which segue estimates what a call will hold, is from what a real vocabulary counts.

use std::path::{Path, PathBuf};

use segue_machine::gauge::weigh;
use segue_rehearsal::model_server::texts::Density;

use crate::inside::{inside, say};
use crate::matrix::count;

const PIECE: usize = 8_000;

/// Texts by sort: what a worker of the matrix reads, and the project's own files.
fn texts() -> Vec<(String, String)> {
    let made = Density::ALL.into_iter().flat_map(|density| {
        (0..6).map(move |seed| (format!("{density:?}"), density.file("a.txt", seed, 3_000, count)))
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders =
        ["docs", "crates/machine/src", "crates/machine/src/run", "crates/agents/cassettes/claude-2.1.325"];
    let files = folders.iter().flat_map(|folder| files(&root.join(folder)));
    let pieces = files.flat_map(|path| {
        let sort = path.extension().unwrap().to_string_lossy().into_owned();
        let chars: Vec<char> = std::fs::read_to_string(&path).unwrap().chars().collect();
        let piece = move |piece: &[char]| (sort.clone(), piece.iter().collect::<String>());
        chars.chunks_exact(PIECE).take(4).map(piece).collect::<Vec<_>>()
    });
    made.chain(pieces).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let read = ["md", "rs", "jsonl"];
    let fits = |path: &PathBuf| path.extension().is_some_and(|e| read.iter().any(|known| e == *known));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(fits).collect();
    files.sort();
    files
}

#[test]
fn the_weight_of_a_text_is_near_what_a_vocabulary_counts_whatever_is_in_it() {
    inside(120, || {
        let mut shares: Vec<(f64, String)> = texts()
            .into_iter()
            .map(|(sort, text)| (count(&text) as f64 * 4.0 / weigh(&text) as f64, sort))
            .collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |hundredths: usize| shares[(shares.len() * hundredths / 100).min(shares.len() - 1)].0;
        let quantiles = [1, 5, 50, 95, 99].map(|hundredths| format!("{:.2}", at(hundredths)));
        say(&format!(
            "{} texts, tokens as a share of the estimate at 1, 5, 50, 95, 99 %: {quantiles:?}",
            shares.len()
        ));
        let wrong: Vec<_> = shares.iter().filter(|(share, _)| !(0.8..=1.2).contains(share)).collect();
        assert!(shares.len() >= 60 && wrong.len() * 50 <= shares.len(), "{wrong:?}");
        assert!((0.95..=1.05).contains(&at(50)), "{}", at(50));
    });
}
