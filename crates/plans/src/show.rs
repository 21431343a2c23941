//! A plan as a drawing of what comes before what, as wide as the terminal and no wider.

use crate::graph::Graph;
use crate::model::{Phase, Plan, Status};

/// Below this width lines and titles do not go beside one another.
const NARROW: usize = 50;

/// The lines of the drawing.
pub fn draw(plan: &Plan, width: usize) -> Vec<String> {
    let graph = Graph::new(plan);
    let mut order = graph.order();
    // What is in a circle has no place in the order and is shown all the same.
    let rest: Vec<usize> = (0..plan.phases.len()).filter(|at| !order.contains(at)).collect();
    let ordered = order.len();
    order.extend(rest);
    let lanes = lanes(&graph, &order[..ordered]);
    let widest = lanes.iter().map(|lane| lane.chars().count()).max().unwrap_or(0);
    let drawn = width >= NARROW && widest <= width / 3;
    let mut lines = Vec::new();
    for (row, at) in order.iter().enumerate() {
        let phase = &plan.phases[*at];
        let lane = match lanes.get(row) {
            Some(lane) if drawn => format!("{lane:<widest$} "),
            Some(_) => String::new(),
            None => "↻ ".to_owned(),
        };
        lines.push(fit(&format!("{lane}{}", title(phase)), &facts(phase), width));
        if !drawn || row >= ordered {
            let names: Vec<&str> =
                graph.needs(*at).iter().map(|need| plan.phases[*need].id.as_str()).collect();
            if !names.is_empty() {
                lines.push(cut(&format!("  needs {}", names.join(", ")), width));
            }
        }
    }
    lines
}

fn title(phase: &Phase) -> String {
    if phase.title.is_empty() { phase.id.clone() } else { format!("{}  {}", phase.id, phase.title) }
}

fn facts(phase: &Phase) -> String {
    let count = |n: usize, one: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {one}s")),
    };
    let status = match phase.status {
        Status::Pending => None,
        Status::InProgress => Some("in progress".to_owned()),
        Status::Completed => Some("completed".to_owned()),
        Status::Failed => Some("failed".to_owned()),
        Status::Blocked => Some("blocked".to_owned()),
        Status::Skipped => Some("skipped".to_owned()),
        Status::NeedsInput => Some("needs input".to_owned()),
    };
    let parts = [status, count(phase.tasks.len(), "task"), count(phase.gates.len(), "gate")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

// Left and right on one line when there is room, and the left side cut when there is none.
fn fit(left: &str, right: &str, width: usize) -> String {
    let (long, short) = (left.chars().count(), right.chars().count());
    if right.is_empty() || long + 2 + short > width {
        let keep = width.saturating_sub(short + 2);
        return if right.is_empty() || keep < 20 {
            cut(left, width)
        } else {
            format!("{}  {right}", cut(left, keep))
        };
    }
    format!("{left}  {right}")
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

// One drawing for each row: a lane for every phase that others still wait for.
fn lanes(graph: &Graph, order: &[usize]) -> Vec<String> {
    let mut left: Vec<usize> =
        (0..).map(|at| graph.followers(at).len()).take(order.len().max(count(graph, order))).collect();
    let mut lanes: Vec<Option<usize>> = Vec::new();
    let mut rows = Vec::with_capacity(order.len());
    for at in order {
        let needs = graph.needs(*at);
        let into: Vec<usize> = (0..lanes.len())
            .filter(|lane| lanes[*lane].is_some_and(|source| needs.contains(&source)))
            .collect();
        for need in needs {
            left[*need] = left[*need].saturating_sub(1);
        }
        let ends = |lane: usize, lanes: &[Option<usize>]| lanes[lane].is_some_and(|source| left[source] == 0);
        let ended = into.iter().copied().find(|lane| ends(*lane, &lanes));
        let free = || (0..lanes.len()).find(|lane| lanes[*lane].is_none()).unwrap_or(lanes.len());
        let own = ended.unwrap_or_else(free);
        if own == lanes.len() {
            lanes.push(None);
        }
        rows.push(row(&lanes, own, &into, |lane| ends(lane, &lanes)));
        for lane in &into {
            if ends(*lane, &lanes) {
                lanes[*lane] = None;
            }
        }
        lanes[own] = (left[*at] > 0).then_some(*at);
        while lanes.last() == Some(&None) {
            lanes.pop();
        }
    }
    rows
}

fn count(graph: &Graph, order: &[usize]) -> usize {
    let biggest =
        order.iter().flat_map(|at| graph.needs(*at).iter().chain(graph.followers(*at)).chain([at])).max();
    biggest.map_or(0, |at| at + 1)
}

fn row(lanes: &[Option<usize>], own: usize, into: &[usize], ends: impl Fn(usize) -> bool) -> String {
    let (low, high) = (
        into.iter().copied().chain([own]).min().unwrap_or(own),
        into.iter().copied().chain([own]).max().unwrap_or(own),
    );
    let mut out = String::new();
    for (lane, source) in lanes.iter().enumerate() {
        let across = lane > low && lane < high;
        out.push(if lane == own {
            '●'
        } else if into.contains(&lane) {
            match (ends(lane), lane > own, across) {
                (true, _, true) => '┴',
                (true, true, false) => '╯',
                (true, false, false) => '╰',
                (false, _, true) => '┼',
                (false, true, false) => '┤',
                (false, false, false) => '├',
            }
        } else {
            match (source.is_some(), across) {
                (true, true) => '┼',
                (true, false) => '│',
                (false, true) => '─',
                (false, false) => ' ',
            }
        });
        if lane + 1 < lanes.len() {
            out.push(if lane >= low && lane < high { '─' } else { ' ' });
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(phases: &[(&str, &[&str])]) -> Plan {
        let phase = |(id, needs): &(&str, &[&str])| {
            let needs = needs.iter().map(|n| (*n).to_owned()).collect();
            Phase { needs, title: format!("Title {id}"), ..Phase::new(*id) }
        };
        Plan { phases: phases.iter().map(phase).collect(), ..Plan::default() }
    }

    #[test]
    fn a_chain_with_a_phase_that_needs_all_is_drawn() {
        let lines = draw(&plan(&[("1", &[]), ("2", &["1"]), ("3", &["1"]), ("4", &["1", "2", "3"])]), 80);
        assert_eq!(lines, ["●     1  Title 1", "├─●   2  Title 2", "├─┼─● 3  Title 3", "●─┴─╯ 4  Title 4"]);
    }

    #[test]
    fn a_narrow_terminal_gets_words_instead_of_lines_and_nothing_is_wider() {
        let lines = draw(&plan(&[("1", &[]), ("2", &["1"])]), 12);
        assert_eq!(lines, ["1  Title 1", "2  Title 2", "  needs 1"]);
        assert!(draw(&plan(&[("1", &[])]), 6).iter().all(|line| line.chars().count() <= 6));
    }

    #[test]
    fn a_circle_is_shown_with_what_it_needs() {
        let lines = draw(&plan(&[("1", &["2"]), ("2", &["1"])]), 80);
        assert_eq!(lines, ["↻ 1  Title 1", "  needs 2", "↻ 2  Title 2", "  needs 1"]);
    }
}
