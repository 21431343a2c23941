//! What gates and criteria said, for other programs: JUnit XML, and a summary in Markdown as GitHub shows it.

use segue_machine::checkpoint::cut_chars;
use segue_machine::{GateChange, GateResult};

use super::PlanError;
use super::outcome;
use super::state::State;
use crate::store::Store;

/// How much of a gate's output is given.
const OUTPUT: usize = 4_000;

/// The results of one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suite {
    /// The phase or task.
    pub(crate) name: String,
    /// How it stands, in a word.
    pub(crate) status: String,
    /// What its gates said last.
    pub(crate) gates: Vec<GateResult>,
    /// What the agent changed of what they run.
    pub(crate) changes: Vec<GateChange>,
}

/// The results of runs, by name, status and id.
pub(crate) fn suites(store: &Store, runs: &[(String, String, String)]) -> Result<Vec<Suite>, PlanError> {
    let mut all = Vec::new();
    for (name, status, run) in runs {
        let facts = outcome::look(store, run)?.unwrap_or_default();
        let (name, status) = (name.clone(), status.clone());
        all.push(Suite { name, status, gates: facts.gates, changes: facts.gate_changes });
    }
    Ok(all)
}

impl State {
    /// The runs of a plan, for [`suites`].
    pub(crate) fn runs(&self) -> Vec<(String, String, String)> {
        let word = |status: segue_plans::Status| {
            serde_json::to_value(status)
                .ok()
                .and_then(|word| word.as_str().map(str::to_owned))
                .unwrap_or_default()
        };
        let one = |(id, phase): (&String, &super::state::PhaseState)| {
            (format!("phase {id}"), word(phase.status), phase.run.clone().unwrap_or_default())
        };
        self.phases.iter().map(one).collect()
    }
}

/// As JUnit XML: a suite for each run, a case for each gate.
pub(crate) fn junit(title: &str, suites: &[Suite]) -> String {
    let count = |suite: &Suite| (suite.gates.len(), suite.gates.iter().filter(|gate| !gate.passed).count());
    let (tests, failures) = suites.iter().map(count).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\">\n",
        escaped(title)
    );
    for suite in suites {
        let (tests, failures) = count(suite);
        let seconds = suite.gates.iter().map(|gate| gate.ms).sum::<u64>() as f64 / 1e3;
        let name = escaped(&suite.name);
        xml.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"{seconds:.3}\">\n"
        ));
        for gate in &suite.gates {
            let case = format!(
                "    <testcase classname=\"{name}\" name=\"{}\" time=\"{:.3}\"",
                escaped(&gate.gate),
                gate.ms as f64 / 1e3
            );
            if gate.passed {
                xml.push_str(&format!("{case}/>\n"));
            } else {
                let exit = gate.ended();
                let output = escaped(&cut_chars(&gate.tail, OUTPUT));
                xml.push_str(&format!(
                    "{case}>\n      <failure message=\"{exit}\">{output}</failure>\n    </testcase>\n"
                ));
            }
        }
        if !suite.changes.is_empty() {
            let said: Vec<String> = suite.changes.iter().map(|change| escaped(&change.sentence())).collect();
            xml.push_str(&format!("    <system-out>{}</system-out>\n", said.join("&#10;")));
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// As a summary in Markdown.
pub(crate) fn step_summary(title: &str, suites: &[Suite]) -> String {
    let mut text = format!("## {}\n\n| | gate | result | seconds |\n|---|---|---|---|\n", line(title));
    for suite in suites {
        if suite.gates.is_empty() {
            text.push_str(&format!("| {} | (none) | {} | |\n", line(&suite.name), line(&suite.status)));
        }
        for gate in &suite.gates {
            let result = if gate.passed { "✅ passes" } else { "❌ fails" };
            let seconds = gate.ms as f64 / 1e3;
            text.push_str(&format!(
                "| {} | {} | {result} | {seconds:.1} |\n",
                line(&suite.name),
                line(&gate.gate)
            ));
        }
    }
    for (suite, change) in
        suites.iter().flat_map(|suite| suite.changes.iter().map(move |change| (suite, change)))
    {
        text.push_str(&format!("\n⚠️ {}: {}\n", line(&suite.name), line(&change.sentence())));
    }
    for (suite, gate) in suites.iter().flat_map(|suite| suite.gates.iter().map(move |gate| (suite, gate))) {
        if !gate.passed && !gate.tail.trim().is_empty() {
            let output = cut_chars(gate.tail.trim(), OUTPUT).replace("```", "'''");
            let (suite, gate) = (line(&suite.name), line(&gate.gate));
            text.push_str(&format!(
                "\n<details><summary>{suite}: {gate}</summary>\n\n```\n{output}\n```\n</details>\n"
            ));
        }
    }
    text
}

fn line(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ").replace('<', "&lt;")
}

// XML 1.0 has no place for most control characters, not even as references.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use segue_machine::{ChangeHow, ChangedFile, GateWhen};

    use super::*;

    fn suite() -> Suite {
        let gate = |name: &str, passed: bool, tail: &str| GateResult {
            gate: name.to_owned(),
            when: GateWhen::After,
            passed,
            exit: Some(i32::from(!passed)),
            ms: 1_500,
            output: None,
            tail: tail.to_owned(),
            timed_out: false,
        };
        let gates = vec![gate("tests", true, ""), gate("a < b & \"c\"", false, "\u{1b}[31mno\n]]> |")];
        let gone = ChangedFile { path: "a<b.py".to_owned(), what: "is gone, with 2 tests".to_owned() };
        let change = GateChange {
            gate: "tests".to_owned(),
            files: vec![gone],
            how: ChangeHow::Listed,
            passed_with_originals: None,
            stops: false,
            unchecked: None,
        };
        Suite { name: "phase 1".to_owned(), status: "failed".to_owned(), gates, changes: vec![change] }
    }

    #[test]
    fn junit_counts_and_escapes() {
        let xml = junit("P & Q", &[suite()]);
        assert!(xml.contains("<testsuites name=\"P &amp; Q\" tests=\"2\" failures=\"1\">"), "{xml}");
        assert!(xml.contains("name=\"a &lt; b &amp; &quot;c&quot;\" time=\"1.500\">"), "{xml}");
        assert!(xml.contains("<failure message=\"exit 1\">\u{fffd}[31mno&#10;]]&gt; |</failure>"), "{xml}");
        assert_eq!(xml.matches("<testcase").count(), 2);
        assert!(
            xml.contains("<system-out>gate tests: a&lt;b.py is gone, with 2 tests</system-out>"),
            "{xml}"
        );
    }

    #[test]
    fn a_summary_has_a_row_for_each_gate_and_the_output_of_red_ones() {
        let text = step_summary("P", &[suite(), Suite { name: "phase 2".to_owned(), ..Suite::default() }]);
        assert!(text.contains("| phase 1 | tests | ✅ passes | 1.5 |"), "{text}");
        assert!(text.contains("| phase 2 | (none) |"), "{text}");
        assert_eq!(text.matches("<details>").count(), 1);
        assert!(text.contains("⚠️ phase 1: gate tests: a&lt;b.py is gone, with 2 tests"), "{text}");
    }
}
