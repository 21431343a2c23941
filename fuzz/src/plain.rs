//! Runs a target without libFuzzer: inputs are changed at random from a fixed seed, so the same run can be had again.
//! Blind to what the code does with them, it is what there is where no C++ compiler is.

use std::panic::{self, AssertUnwindSafe};

use crate::{Target, corpus};

/// Numbers that look random and are the same each time.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (below.max(1) as u64)).unwrap_or_default()
    }
}

/// Runs the seeds of a target, then so many changed ones.
///
/// # Errors
/// The input for which something did not hold, or a seed that cannot be read.
pub fn run(target: &Target, runs: u64, seed: u64) -> Result<u64, Broken> {
    let seeds = corpus::seeds(target).map_err(|e| Broken::Seeds(e.to_string()))?;
    search(&seeds, runs, seed, &|data| target.run(data))
}

/// Runs these inputs, then so many changed ones; how many it were.
///
/// # Errors
/// The first input for which the check panics.
pub fn search(seeds: &[Vec<u8>], runs: u64, seed: u64, check: &dyn Fn(&[u8])) -> Result<u64, Broken> {
    let one = |data: &[u8]| {
        panic::catch_unwind(AssertUnwindSafe(|| check(data))).map_err(|_| Broken::Input(data.to_vec()))
    };
    let words: Vec<Vec<u8>> = corpus::words(seeds).into_iter().collect();
    for seed in seeds {
        one(seed)?;
    }
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..runs {
        one(&changed(seeds, &words, &mut dice))?;
    }
    Ok(seeds.len() as u64 + runs)
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The seeds cannot be read.
    #[error("the recordings cannot be read: {0}")]
    Seeds(String),
    /// Something did not hold.
    #[error("something did not hold for this input:\n{}", String::from_utf8_lossy(.0))]
    Input(Vec<u8>),
}

fn changed(seeds: &[Vec<u8>], words: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut data = seeds.get(dice.roll(seeds.len())).cloned().unwrap_or_default();
    for _ in 0..=dice.roll(4) {
        let from = dice.roll(data.len() + 1);
        let to = (from + dice.roll(24)).min(data.len());
        match dice.roll(6) {
            0 => data[from..to].fill(b"\0\n\"\\{[\xff~"[dice.roll(8)]),
            1 => drop(data.drain(from..to)),
            2 => drop(data.splice(from..to, words.get(dice.roll(words.len())).cloned().unwrap_or_default())),
            3 => {
                let again = data[from..to].to_vec();
                data.splice(from..from, again);
            }
            4 => data.truncate(from),
            _ => {
                let other = seeds.get(dice.roll(seeds.len())).cloned().unwrap_or_default();
                data.truncate(from);
                data.extend_from_slice(&other[dice.roll(other.len() + 1)..]);
            }
        }
    }
    data.truncate(corpus::LONGEST);
    data
}
