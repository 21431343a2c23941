//! The order of phases on the screen: as the plan has them, the parts of a split one below it.

use std::collections::{BTreeMap, BTreeSet};

use super::Row;

/// A phase in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) row: Row,
    /// How many phases it is a part of, one inside the other.
    pub(super) depth: usize,
    /// The ids of its own parts.
    pub(super) parts: Vec<String>,
}

/// Every phase once, in its place.
pub(super) fn placed(rows: &[Row]) -> Vec<Placed> {
    let mut ids = BTreeSet::new();
    let rows: Vec<&Row> = rows.iter().filter(|row| ids.insert(row.id.as_str())).collect();
    let mut parts: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    let mut left: Vec<(&Row, usize)> = Vec::new();
    for row in &rows {
        match row.part_of.as_deref().filter(|whole| ids.contains(whole)) {
            Some(whole) => parts.entry(whole).or_default().push(row),
            None => left.push((row, 0)),
        }
    }
    left.reverse();
    let mut out = Vec::with_capacity(rows.len());
    while let Some((row, depth)) = left.pop() {
        let own = parts.remove(row.id.as_str()).unwrap_or_default();
        let ids = own.iter().map(|part| part.id.clone()).collect();
        out.push(Placed { row: row.clone(), depth, parts: ids });
        left.extend(own.into_iter().rev().map(|part| (part, depth + 1)));
    }
    // Phases that are parts of each other have no place of their own; they are shown all the same.
    let circles = parts.into_values().flatten();
    out.extend(circles.map(|row| Placed { row: row.clone(), depth: 0, parts: Vec::new() }));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, part_of: Option<&str>) -> Row {
        Row { id: id.into(), part_of: part_of.map(Into::into), ..Row::default() }
    }

    fn shown(rows: &[Row]) -> Vec<(String, usize)> {
        placed(rows).into_iter().map(|placed| (placed.row.id, placed.depth)).collect()
    }

    #[test]
    fn parts_stand_below_their_phase_wherever_they_come_in() {
        let rows =
            [row("1a", Some("1")), row("2", None), row("1", None), row("1b", Some("1")), row("2", None)];
        let pairs = [("2", 0), ("1", 0), ("1a", 1), ("1b", 1)].map(|(id, depth)| (id.to_owned(), depth));
        assert_eq!(shown(&rows), pairs);
    }

    #[test]
    fn a_part_of_nothing_known_and_parts_of_each_other_are_shown() {
        let rows = [row("a", Some("b")), row("b", Some("a")), row("c", Some("c")), row("d", Some("gone"))];
        let ids: BTreeSet<String> = shown(&rows).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), 4);
    }
}
