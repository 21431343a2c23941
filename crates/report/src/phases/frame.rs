//! The block at the foot of the screen: which phases get a line when there is not room for all, and how a line is laid
//! out. The order is that of the plan, so that a phase stays where the eye found it.

use segue_machine::Millis;

use super::order::Placed;
use super::state_words::Room;
use super::{PhaseTree, Standing, state_words, summary};
use crate::Style;
use crate::terminal::{Tint, columns, plain};

const ROOM_FOR_A_LONG_SUMMARY: usize = 6;
const ROOM_FOR_TITLES: usize = 32;
const LONGEST_ID: usize = 10;
const LONGEST_AGENT: usize = 12;
const LONGEST_TITLE: usize = 40;

/// How much a line matters; the first is the last to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Attention,
    AtWork,
    Between,
    Held,
    ToCome,
    Over,
}

/// The lines of the frame.
pub(super) fn lines(tree: &PhaseTree, now: Millis, style: Style, rows: usize) -> Vec<String> {
    if rows == 0 {
        return Vec::new();
    }
    let most = if rows >= ROOM_FOR_A_LONG_SUMMARY { 2 } else { 1 };
    let summary = summary::lines(tree, now, style, most);
    let room = rows.saturating_sub(summary.len());
    let (shown, missing) = choose(tree, room);
    let mut lines = Vec::new();
    if missing.is_empty() && shown.len() < room {
        lines.push(style.fit(&[(plain(&tree.title), Tint::Bold)]));
    }
    let table = Table::of(tree, &shown, style);
    lines.extend(shown.iter().map(|placed| table.line(tree, placed, now)));
    if !missing.is_empty() && room > 0 {
        let ids: Vec<String> = missing.iter().map(|placed| plain(&placed.row.id)).collect();
        let words = format!("… {} more: {}", ids.len(), ids.join(", "));
        lines.push(style.fit(&[(words, Tint::Careful)]));
    }
    lines.extend(summary);
    lines
}

/// The phases that get a line, and those that should have one and do not. The rest is in the summary's counts.
fn choose(tree: &PhaseTree, room: usize) -> (Vec<&Placed>, Vec<&Placed>) {
    let mut ranked: Vec<(Rank, usize)> =
        tree.rows.iter().enumerate().map(|(at, placed)| (rank(tree, placed), at)).collect();
    ranked.sort_unstable();
    let urgent = ranked.iter().filter(|(rank, _)| *rank < Rank::Held).count();
    let take = if urgent > room { room.saturating_sub(1) } else { room.min(ranked.len()) };
    let place = |ranked: &[(Rank, usize)]| {
        let mut at: Vec<usize> = ranked.iter().map(|(_, at)| *at).collect();
        at.sort_unstable();
        at.into_iter().map(|at| &tree.rows[at]).collect::<Vec<_>>()
    };
    (place(&ranked[..take]), place(&ranked[take..urgent.max(take)]))
}

fn rank(tree: &PhaseTree, placed: &Placed) -> Rank {
    if !placed.parts.is_empty() {
        let over = placed.parts.iter().all(|id| tree.is_completed(id));
        return if over { Rank::Over } else { Rank::Held };
    }
    match tree.phase(&placed.row).map(|phase| &phase.standing) {
        Some(Standing::Failed | Standing::NeedsInput) => Rank::Attention,
        Some(Standing::Working | Standing::Merging | Standing::Mending) => Rank::AtWork,
        Some(Standing::Done | Standing::Stopped) => Rank::Between,
        Some(Standing::Held { .. } | Standing::Blocked) => Rank::Held,
        Some(Standing::Waiting) | None => Rank::ToCome,
        Some(Standing::Completed) => Rank::Over,
    }
}

/// The columns that the lines of one frame share.
struct Table {
    style: Style,
    id: usize,
    title: usize,
    agent: usize,
}

impl Table {
    fn of(tree: &PhaseTree, shown: &[&Placed], style: Style) -> Self {
        let all = style.columns();
        let widest =
            |width: fn(&Placed) -> usize| shown.iter().map(|placed| width(placed)).max().unwrap_or(0);
        let id = widest(|placed| columns(&name(placed))).min(LONGEST_ID).min(all / 3);
        let most = if all < ROOM_FOR_TITLES { 0 } else { (all * 3 / 10).min(LONGEST_TITLE) };
        let title = widest(|placed| columns(&plain(&placed.row.title))).min(most);
        let sessions = shown.iter().filter_map(|placed| tree.phase(&placed.row)?.progress.session.as_ref());
        let agent = sessions.map(|session| columns(&plain(&session.agent))).max().unwrap_or(0);
        Self { style, id, title, agent: agent.min(LONGEST_AGENT) }
    }

    fn line(&self, tree: &PhaseTree, placed: &Placed, now: Millis) -> String {
        let mut pieces = vec![(self.cell(&name(placed), self.id), Tint::Bold)];
        if self.title > 0 {
            pieces.push((format!(" {}", self.cell(&plain(&placed.row.title), self.title)), Tint::Plain));
        }
        pieces.push(("  ".to_owned(), Tint::Plain));
        let used: usize = pieces.iter().map(|(text, _)| columns(text)).sum();
        let columns = self.style.columns().saturating_sub(used);
        let room = Room { style: self.style, columns, agent: self.agent };
        pieces.extend(state_words::pieces(tree, placed, now, room));
        self.style.fit(&pieces)
    }

    fn cell(&self, text: &str, width: usize) -> String {
        let text = self.style.cut(text, width);
        let gap = width.saturating_sub(columns(&text));
        text + &" ".repeat(gap)
    }
}

/// The id, indented as deep as the phase stands.
fn name(placed: &Placed) -> String {
    format!("{}{}", "  ".repeat(placed.depth.min(3)), plain(&placed.row.id))
}
