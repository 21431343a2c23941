//! Writing the ledger for the next session, within a budget.
//!
//! Categories are ranked in the order of [`Category`]. Each has a share of the budget that the others cannot take; what a
//! category does not need goes to the others by rank. Inside a category: open before said to be done, then
//! evidence, then how often it was said, then how recently. What is left out is named.

use super::{Category, Item, Ledger, State};

/// The ledger as the next session is told it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Markdown, by category.
    pub text: String,
    /// How many items it shows.
    pub shown: usize,
    /// How many items of which category had no room.
    pub left_out: Vec<(Category, usize)>,
}

/// How many bytes are counted as one token.
const BYTES: usize = 4;
/// What of one item's text is shown at most, in characters.
const LONG: usize = 400;
/// Room for the line that names what is left out.
const NOTE: usize = 96;

// Heading and share of the budget in percent.
const fn shape(category: Category) -> (&'static str, usize) {
    match category {
        Category::Rule => ("## The user's rules", 20),
        Category::Constraint => ("## Constraints", 18),
        Category::Decision => ("## Decisions", 20),
        Category::Failure => ("## Open failures", 10),
        Category::DeadEnd => ("## Dead ends, not to be tried again", 10),
        Category::Remaining => ("## Remaining", 10),
        Category::DoNotRedo => ("## Do not redo", 6),
        Category::Done => ("## Done", 6),
    }
}

const fn plural(category: Category) -> &'static str {
    match category {
        Category::Rule => "rules",
        Category::Constraint => "constraints",
        Category::Decision => "decisions",
        Category::Failure => "failures",
        Category::DeadEnd => "dead ends",
        Category::Remaining => "remaining items",
        Category::DoNotRedo => "do-not-redo items",
        Category::Done => "done items",
    }
}

struct Part<'l> {
    category: Category,
    /// By rank, with their position in the ledger.
    items: Vec<(usize, &'l Item, String)>,
    taken: Vec<bool>,
    /// Bytes that it has used, heading included.
    used: usize,
}

impl Ledger {
    /// Writes what still holds, in at most `max_tokens` tokens of four bytes.
    pub fn render(&self, max_tokens: usize) -> Rendered {
        let budget = max_tokens.saturating_mul(BYTES);
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut free = budget;
        let mut crowded: Vec<(Category, usize)> = Vec::new();
        for category in Category::ALL {
            let items = self.ranked(category);
            if items.is_empty() {
                continue;
            }
            let fixed = shape(category).0.len() + 2 + NOTE;
            if free < fixed {
                crowded.push((category, items.len()));
                continue;
            }
            free -= fixed;
            let taken = vec![false; items.len()];
            parts.push(Part { category, items, taken, used: 0 });
        }
        let whole = free;
        for part in &mut parts {
            part.fill(whole * shape(part.category).1 / 100, &mut free);
        }
        for part in &mut parts {
            part.fill(usize::MAX, &mut free);
        }
        let mut made = Rendered::default();
        for part in &parts {
            part.write(self, &mut made);
        }
        made.left_out.extend(crowded);
        made
    }

    fn ranked(&self, category: Category) -> Vec<(usize, &Item, String)> {
        // What stands below the remaining items as said to be done does not stand among the done ones, too.
        let told = |i: &Item| {
            let of = i.closes.and_then(|at| self.items.get(at as usize));
            i.weight < 2 && of.is_some_and(|of| matches!(of.state, State::SaidDone { .. }))
        };
        let live = |i: &Item| {
            i.category == category && matches!(i.state, State::Open | State::SaidDone { .. }) && !told(i)
        };
        let mut items: Vec<(usize, &Item, String)> = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, i)| live(i))
            .map(|(n, i)| (n, i, self.line(n, i)))
            .collect();
        items.sort_by(|(a, x, _), (b, y, _)| {
            let said = |i: &Item| matches!(i.state, State::SaidDone { .. });
            (said(x), y.weight, y.times, y.seen, *b).cmp(&(said(y), x.weight, x.times, x.seen, *a))
        });
        items
    }
}

impl Part<'_> {
    // Takes items by rank while they fit into both this part's share and what is free.
    fn fill(&mut self, share: usize, free: &mut usize) {
        for (taken, (_, _, line)) in self.taken.iter_mut().zip(&self.items) {
            if !*taken && line.len() <= *free && self.used.saturating_add(line.len()) <= share {
                *taken = true;
                self.used += line.len();
                *free -= line.len();
            }
        }
    }

    fn write(&self, ledger: &Ledger, made: &mut Rendered) {
        let mut shown: Vec<(usize, &str)> = self
            .items
            .iter()
            .zip(&self.taken)
            .filter(|(_, t)| **t)
            .map(|((n, _, line), _)| (*n, line.as_str()))
            .collect();
        shown.sort_unstable();
        if !made.text.is_empty() {
            made.text.push('\n');
        }
        made.text.push_str(shape(self.category).0);
        made.text.push('\n');
        shown.iter().for_each(|(_, line)| made.text.push_str(line));
        made.shown += shown.len();
        let left: Vec<&Item> =
            self.items.iter().zip(&self.taken).filter(|(_, t)| !**t).map(|((_, item, _), _)| *item).collect();
        if !left.is_empty() {
            made.left_out.push((self.category, left.len()));
            let mut note = format!("({} older {} are left out", left.len(), plural(self.category));
            let newest = left.iter().filter_map(|i| ledger.seen(i)).max_by_key(|o| o.at);
            if let Some(checkpoint) = newest.and_then(|o| o.checkpoint.as_ref()).filter(|c| c.len() <= 24) {
                note.push_str("; see checkpoint ");
                note.push_str(checkpoint);
            }
            note.push_str(")\n");
            made.text.push_str(&note);
        }
    }
}

impl Ledger {
    fn line(&self, at: usize, item: &Item) -> String {
        let mut line = String::with_capacity(item.text.len() + 24);
        line.push_str("- ");
        if item.category == Category::Remaining {
            line.push_str(&format!("[R{}] ", at + 1));
        }
        if item.text.len() > LONG && item.text.chars().count() > LONG {
            line.extend(item.text.chars().take(LONG - 1));
            line.push('…');
        } else {
            line.push_str(&item.text);
        }
        if let State::SaidDone { by } = &item.state {
            line.push_str(&format!(" (said done in {by}, not confirmed)"));
        } else if item.category == Category::Done && item.weight >= 2 && !item.evidence.is_empty() {
            line.push_str(&format!(" ({})", item.evidence));
        }
        if let Some(was) = &item.was {
            let was: String = was.chars().take(80).collect();
            line.push_str(&format!(" (before: {was})"));
        }
        // A failure is a fact only where segue saw it.
        if item.category == Category::Failure && item.weight == 0 {
            let session = self.seen(item).map_or(0, |origin| origin.session);
            line.push_str(&format!(" (the agent says so, session {session})"));
        }
        line.push('\n');
        line
    }
}
