//! Runs each preset on paper, with the real gauge and every mix of what is not known beforehand.

use segue_machine::Reading;
use segue_machine::gauge::{Gauge, Ratio};
use segue_machine::policy::{Stage, preset};

use super::*;

#[derive(Debug, Clone, Copy)]
struct Unknown {
    around_task: u64,
    continuation: u64,
    dump: u64,
    ahead: u32,
}

struct Paper<'p> {
    policy: &'p Policy,
    sized: &'p Sized,
    unknown: Unknown,
    left: u32,
    tokens: u64,
    gauge: Gauge,
    fired: Vec<bool>,
}

impl Paper<'_> {
    fn run(policy: &Policy, sized: &Sized, unknown: Unknown) -> Result<u32, String> {
        let gauge = Gauge::new(Some(sized.script.window), None, None, Ratio::default());
        let mut paper =
            Paper { policy, sized, unknown, left: sized.job.steps, tokens: 0, gauge, fired: Vec::new() };
        let mut sessions = 0;
        while paper.left > 0 {
            sessions += 1;
            paper.session(sessions)?;
        }
        Ok(sessions)
    }

    fn session(&mut self, n: u32) -> Result<(), String> {
        let script = &self.sized.script;
        self.gauge = Gauge::new(Some(script.window), None, None, self.gauge.ratio());
        self.fired = vec![false; self.policy.stages.len()];
        self.tokens = script.system_tokens + tokens(&self.sized.job.task_text()) + self.unknown.around_task;
        self.tokens += if n > 1 { self.unknown.continuation } else { 0 };
        loop {
            self.call(SENTENCE / 4)?;
            if self.left == 0 {
                return Ok(());
            }
            self.tool();
            let Some(stage) = self.stage() else { continue };
            let room = script.window.saturating_sub(self.gauge.fill().unwrap_or_default());
            let enough = room >= stage.depth().map_or(0, Depth::room);
            if !stage.replaces() {
                self.call(if enough { self.unknown.dump } else { 0 })?;
                continue;
            }
            for _ in 0..self.unknown.ahead.min(self.left) {
                self.call(SENTENCE / 4)?;
                self.tool();
            }
            if self.left == 0 {
                return Err("the job ended at the very line".to_owned());
            }
            return if enough { self.call(LAST_WORDS / 2) } else { Err("no room to ask".to_owned()) };
        }
    }

    fn stage(&mut self) -> Option<Stage> {
        let script = &self.sized.script;
        let fill = self.gauge.fill()?;
        let reached = |s: &Stage| line(s.at, self.policy, script.window).is_some_and(|line| fill >= line);
        let i = (0..self.fired.len()).rev().find(|i| !self.fired[*i] && reached(&self.policy.stages[*i]))?;
        self.fired[..=i].fill(true);
        Some(self.policy.stages[i].clone()).filter(|s| s.depth().is_some())
    }

    fn call(&mut self, more: u64) -> Result<(), String> {
        self.tokens += more;
        self.gauge.read(&Reading::reported(self.tokens, Some(self.sized.script.window)));
        if self.tokens > self.sized.script.window {
            Err(format!("overflow at {}", self.tokens))
        } else {
            Ok(())
        }
    }

    fn tool(&mut self) {
        self.left -= 1;
        self.tokens += self.sized.script.step_output_chars.div_ceil(4);
        self.gauge.add(self.sized.script.step_output_chars);
    }
}

fn every_unknown() -> Vec<Unknown> {
    let mut all = Vec::new();
    for around_task in [0, 150, AROUND_TASK] {
        for continuation in [0, 400, 900, CONTINUATION] {
            for dump in [0, 500, DUMP] {
                all.extend((0..=1).map(|ahead| Unknown { around_task, continuation, dump, ahead }));
            }
        }
    }
    all
}

fn policy(name: &str) -> Policy {
    preset::find(name).unwrap().policy
}

fn always_needs(policy: &Policy, sessions: u32) -> Sized {
    let sized = for_policy(policy, sessions);
    for unknown in every_unknown() {
        assert_eq!(
            Paper::run(policy, &sized, unknown),
            Ok(sessions),
            "{} {unknown:?} {sized:?}",
            policy.name
        );
    }
    sized
}

#[test]
fn every_preset_that_replaces_needs_exactly_four_sessions() {
    for (name, most_steps) in [("auto", 19), ("loop", 19), ("phased", 19), ("seamless", 19), ("staged", 70)] {
        let sized = always_needs(&policy(name), 4);
        assert!(sized.job.steps <= most_steps, "{name}: {sized:?}");
    }
}

#[test]
fn other_counts_and_other_lines_hold_too() {
    for sessions in [2, 3, 6] {
        always_needs(&policy("auto"), sessions);
        always_needs(&policy("staged"), sessions);
    }
    for threshold in [5.0, 20.0, 50.0, 85.0, 95.0, 99.0] {
        let mut moved = policy("seamless");
        moved.set_threshold(threshold).unwrap();
        always_needs(&moved, 4);
    }
}

#[test]
fn a_policy_that_never_replaces_overflows_half_way() {
    let observe = policy("observe");
    let sized = for_policy(&observe, 4);
    let after = |steps: u64| {
        let step = (sized.script.step_output_chars + SENTENCE) / 4;
        sized.script.system_tokens + tokens(&sized.job.task_text()) + steps * step
    };
    assert!(after(7) + AROUND_TASK < sized.script.window && after(8) > sized.script.window);
    assert_eq!((sized.job.steps, sized.script.compact_at_percent), (15, None));
    assert_eq!(for_policy(&policy("native"), 4).script.compact_at_percent, Some(80));
    let mut off = policy("seamless");
    off.set_threshold(100.0).unwrap();
    assert_eq!(for_policy(&off, 4), sized);
}

#[test]
fn a_tool_count_below_the_line_decides() {
    let mut phased = policy("phased");
    phased.set_tool_threshold(3);
    assert_eq!(for_policy(&phased, 4).job.steps, 10);
    phased.set_tool_threshold(8);
    assert_eq!(for_policy(&phased, 4), for_policy(&policy("phased"), 4));
}
