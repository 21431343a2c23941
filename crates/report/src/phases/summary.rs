//! The last line of the frame: how many phases stand where, and what was spent. What a person must know comes first.

use segue_machine::Millis;

use super::progress::{Spent, Wait};
use super::state_words::spent_words;
use super::{PhaseNow, PhaseTree, Standing};
use crate::terminal::{Style, Tint, columns};

const DOT: &str = " · ";

/// The summary in at most so many lines.
pub(super) fn lines(tree: &PhaseTree, now: Millis, style: Style, most: usize) -> Vec<String> {
    let limit = style.columns().saturating_sub(1);
    let mut lines: Vec<Vec<(String, Tint)>> = vec![Vec::new()];
    let mut used = 0;
    for (words, tint) in pieces(tree, now) {
        let width = columns(&words);
        if used + width > limit && used > 0 && lines.len() < most {
            lines.push(Vec::new());
            used = 0;
        }
        used += width + columns(DOT);
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push((DOT.to_owned(), Tint::Dim));
            }
            line.push((words, tint));
        }
    }
    lines.iter().map(|line| style.fit(line)).collect()
}

fn pieces(tree: &PhaseTree, now: Millis) -> Vec<(String, Tint)> {
    let number = |is: fn(&Standing) -> bool| tree.leaves().filter(|phase| is(&phase.standing)).count();
    let (all, completed) = (tree.leaves().count(), number(|s| *s == Standing::Completed));
    let waits: Vec<&Wait> = tree.leaves().filter_map(waits).collect();
    let working = number(|s| matches!(s, Standing::Working | Standing::Mending)) - waits.len();
    let person = number(|s| *s == Standing::NeedsInput);
    let held = number(|s| matches!(s, Standing::Held { .. }));
    let verb = |n: usize, one: &'static str, many| if n == 1 { one } else { many };
    let until = waits.iter().filter_map(|wait| wait.until).min();
    let until = until.map(|at| format!(" until {}", tree.rules.clock(at, now))).unwrap_or_default();
    let counts: [(usize, String, Tint); 9] = [
        (person, verb(person, "needs input", "need input").into(), Tint::Careful),
        (number(|s| *s == Standing::Failed), "failed".into(), Tint::Bad),
        (working, "working".into(), Tint::Plain),
        (waits.len(), format!("{}{until}", verb(waits.len(), "waits", "wait")), Tint::Careful),
        (number(|s| matches!(s, Standing::Done | Standing::Merging)), "to be merged".into(), Tint::Plain),
        (number(|s| *s == Standing::Blocked), "blocked".into(), Tint::Careful),
        (number(|s| *s == Standing::Stopped), "stopped".into(), Tint::Careful),
        (held, "waiting for paths".into(), Tint::Plain),
        (number(|s| *s == Standing::Waiting), "queued".into(), Tint::Dim),
    ];
    let tint = if completed == all { Tint::Good } else { Tint::Bold };
    let mut pieces = vec![(format!("{completed} of {all} completed"), tint)];
    pieces.extend(
        counts.into_iter().filter(|(n, ..)| *n > 0).map(|(n, words, tint)| (format!("{n} {words}"), tint)),
    );
    let mut spent = Spent::default();
    tree.phases.values().for_each(|phase| spent.add(phase.progress.spent()));
    pieces.extend(spent_words(spent).map(|words| (words, Tint::Plain)));
    pieces
}

fn waits(phase: &PhaseNow) -> Option<&Wait> {
    let works = matches!(phase.standing, Standing::Working | Standing::Mending);
    phase.progress.wait.as_ref().filter(|_| works)
}
