//! What a phase is held to, as gates of its run: its own gates, its criteria with what is expected of them, and the notes
//! that it must write.

use std::path::Path;

use segue_machine::GateSpec;
use segue_machine::checkpoint::cut_chars;
use segue_plans::{Check, Criterion, Gate, Judge, Phase, Plan};

/// How long one of them may take.
const TIMEOUT_MS: u64 = 10 * 60_000;

/// How much of a criterion's words goes into its gate's name.
const NAME: usize = 60;

/// The gates of a phase's run. `program` is this program: it judges what an exit code alone cannot decide.
pub(super) fn of(plan: &Plan, phase: &Phase, program: &Path) -> Vec<GateSpec> {
    let mut gates = Gates { list: Vec::new(), program: quoted(&program.display().to_string()) };
    phase.gates.iter().chain(&plan.gates).for_each(|gate| gates.gate(gate));
    gates.criteria("criterion ", &phase.criteria);
    gates.criteria("verify ", &phase.verify);
    for task in &phase.tasks {
        gates.criteria(&format!("criterion {}.", task.id), &task.criteria);
        gates.criteria(&format!("verify {}.", task.id), &task.verify);
    }
    phase.notes_out.iter().for_each(|path| gates.note(path));
    if !phase.autonomous || phase.tasks.iter().any(|task| task.manual) {
        gates.add("reviewed by you".to_owned(), String::new(), true);
    }
    gates.list
}

struct Gates {
    list: Vec<GateSpec>,
    program: String,
}

impl Gates {
    fn add(&mut self, name: String, run: String, manual: bool) {
        if self
            .list
            .iter()
            .any(|gate| gate.manual == manual && gate.run == run && (!manual || gate.name == name))
        {
            return;
        }
        let taken = |name: &str, list: &[GateSpec]| list.iter().any(|gate| gate.name == name);
        let mut unique = name.clone();
        let mut n = 2;
        while taken(&unique, &self.list) {
            unique = format!("{n} {name}");
            n += 1;
        }
        self.list.push(GateSpec { manual, ..GateSpec::new(unique, run, TIMEOUT_MS) });
    }

    fn gate(&mut self, gate: &Gate) {
        // Without a command it is no gate: the audit has refused the plan, or the configuration marks it manual.
        match &gate.run {
            Some(run) if !gate.manual => self.add(gate.name.clone(), run.clone(), false),
            _ => self.add(gate.name.clone(), String::new(), true),
        }
    }

    fn criteria(&mut self, prefix: &str, criteria: &[Criterion]) {
        let mut n = 0;
        for criterion in criteria {
            for check in &criterion.checks {
                n += 1;
                let words = if criterion.text.is_empty() { &check.run } else { &criterion.text };
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                let name = format!("{prefix}{n}: {}", cut_chars(&words, NAME));
                let run = self.command(check);
                self.add(name, run, false);
            }
        }
    }

    fn command(&self, check: &Check) -> String {
        if check.judge == Judge::Exit(0) {
            return check.run.clone();
        }
        let expect = quoted(&check.judge.to_string());
        format!("{} judge --expect {expect} -- {}", self.program, quoted(&check.run))
    }

    fn note(&mut self, path: &str) {
        let word = quoted(path);
        let told = quoted(&format!("{path} is missing or empty: this phase must write it"));
        let run = format!("test -s {word} || {{ echo {told}; exit 1; }}");
        self.add(format!("note {path}"), run, false);
    }
}

/// A word of the shell that stands for exactly this text.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use segue_plans::Task;

    use super::*;

    fn check(run: &str, judge: &str) -> Criterion {
        let checks = vec![Check { run: run.to_owned(), judge: judge.parse().unwrap() }];
        Criterion { text: format!("{run} is right"), checks, ..Criterion::default() }
    }

    #[test]
    fn p3_a_command_is_taken_verbatim_and_one_gate_is_asked_once() {
        let gate = |name: &str, run: &str| Gate {
            name: name.to_owned(),
            run: Some(run.to_owned()),
            ..Gate::default()
        };
        let run = "make test && echo \"it's ok\" | grep -q ok";
        let phase = Phase { gates: vec![gate("tests", run), gate("tests", "make lint")], ..Phase::new("1") };
        let plan = Plan { gates: vec![gate("again", run)], ..Plan::default() };
        let gates: Vec<(String, String)> = of(&plan, &phase, Path::new("/bin/segue"))
            .into_iter()
            .map(|gate| (gate.name, gate.run))
            .collect();
        let pair = |name: &str, run: &str| (name.to_owned(), run.to_owned());
        assert_eq!(gates, [pair("tests", run), pair("2 tests", "make lint")]);
    }

    #[test]
    fn p5_what_an_exit_code_cannot_decide_is_judged_by_this_program() {
        let task = Task {
            id: "3".to_owned(),
            criteria: vec![check("grep -c 'a' f", "at least 2")],
            ..Task::default()
        };
        let phase = Phase {
            criteria: vec![check("true", "exit 0")],
            tasks: vec![task],
            notes_out: vec!["notes/it's.md".to_owned()],
            ..Phase::new("1")
        };
        let gates = of(&Plan::default(), &phase, Path::new("/my bin/segue"));
        assert_eq!(gates[0].run, "true");
        assert_eq!(gates[1].run, "'/my bin/segue' judge --expect 'at least 2' -- 'grep -c '\\''a'\\'' f'");
        assert!(gates[1].name.starts_with("criterion 3.1: "), "{}", gates[1].name);
        assert!(gates[2].run.starts_with("test -s 'notes/it'\\''s.md' ||"), "{}", gates[2].run);
    }

    #[test]
    fn what_needs_a_person_ends_with_one() {
        let phase = Phase { autonomous: false, ..Phase::new("1") };
        let gates = of(&Plan::default(), &phase, Path::new("segue"));
        assert_eq!((gates.len(), gates[0].manual), (1, true));
    }
}
