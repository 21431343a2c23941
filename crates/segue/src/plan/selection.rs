//! Which phases `--phase` means: one, a list, or a range in the order of the plan.

use segue_plans::Plan;
use segue_plans::ids::same;

/// The ids that were meant: `3`, `1,4`, `3-5`, `US1..US3`. An id of the plan comes before a range that looks like one.
pub(crate) fn select_phases(
    typed: &str,
    plan: &Plan,
    is_known: impl Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    let mut found: Vec<String> = Vec::new();
    if plan.phase(typed).is_some() || is_known(typed) {
        return Ok(vec![typed.to_owned()]);
    }
    for word in typed.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if plan.phase(word).is_some() || is_known(word) {
            found.push(word.to_owned());
        } else if let Some(range) = range(word, plan) {
            found.extend(range);
        } else {
            let ids: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
            return Err(format!("the plan has no phase {word}; its phases are {}", ids.join(", ")));
        }
    }
    Ok(found)
}

fn range(word: &str, plan: &Plan) -> Option<Vec<String>> {
    let at = |id: &str| plan.phases.iter().position(|phase| same(&phase.id, id.trim()));
    let ends = ["..", "–", "-"].iter().flat_map(|mark| {
        word.match_indices(mark).map(|(found, mark)| (&word[..found], &word[found + mark.len()..]))
    });
    let (from, to) =
        ends.filter_map(|(from, to)| Some((at(from)?, at(to)?))).find(|(from, to)| from <= to)?;
    Some(plan.phases[from..=to].iter().map(|phase| phase.id.clone()).collect())
}

#[cfg(test)]
mod tests {
    use segue_plans::Phase;

    use super::*;

    #[test]
    fn one_phase_a_list_and_a_range_are_understood_and_ids_come_first() {
        let phases = ["1", "2", "3.1", "6D", "01-02"].map(Phase::new).into();
        let plan = Plan { phases, ..Plan::default() };
        let select = |typed: &str| select_phases(typed, &plan, |id| id == "6Da");
        assert_eq!(select("2").unwrap(), ["2"]);
        assert_eq!(select("2-6D").unwrap(), ["2", "3.1", "6D"]);
        assert_eq!(select("1, 3.1..6D").unwrap(), ["1", "3.1", "6D"]);
        assert_eq!(select("01-02").unwrap(), ["01-02"], "an id of the plan");
        assert_eq!(select("6Da").unwrap(), ["6Da"], "a part of a phase");
        assert!(select("6D-2").unwrap_err().contains("its phases are 1, 2, 3.1, 6D, 01-02"));
        assert!(select("9").is_err());
    }
}
