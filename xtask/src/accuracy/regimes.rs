//! Generated sessions to hold the forecast against. Its constants were fitted to the measured growth of real sessions, to
//! even calls of 2,000 tokens, and to waves of two sizes. `SmallSteady` and `Climbing` then showed where it took calls for
//! even that were not; the other four were only looked at.

use segue_machine::{AgentEvent, Reading};

use crate::simulate::{Dice, WEIGHT_PER_TOKEN};

/// A way in which sessions grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Regime {
    /// Every call adds about the same, and little.
    SmallSteady,
    /// Small calls, and every third or fourth reads a file of any size.
    BigReads,
    /// Quiet for a while, then a burst of large calls, then quiet again.
    Shifting,
    /// Calls that grow slowly larger as the session continues.
    Climbing,
    /// Now one result, now several side by side: each call adds one to six results of a middle size.
    SideBySide,
    /// Hardly anything for long, and once in thirty calls a page of logs.
    RarePages,
}

impl Regime {
    /// Every regime there is.
    pub(crate) const ALL: [Self; 6] = [
        Self::SmallSteady,
        Self::BigReads,
        Self::Shifting,
        Self::Climbing,
        Self::SideBySide,
        Self::RarePages,
    ];

    /// Its name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SmallSteady => "small and steady",
            Self::BigReads => "big reads, heavy tail",
            Self::Shifting => "quiet, then bursts",
            Self::Climbing => "slowly larger",
            Self::SideBySide => "results side by side",
            Self::RarePages => "rare long pages",
        }
    }

    /// One session of 40 to 160 calls; what it does is told as an agent tells it.
    pub(crate) fn session(self, dice: &mut Dice) -> Vec<AgentEvent> {
        let mut session = Session::new(dice);
        for _ in 0..dice.between(40, 160) {
            let grown = session.scale * self.call(&mut session, dice);
            session.call(grown, dice);
        }
        session.events
    }

    fn call(self, session: &mut Session, dice: &mut Dice) -> f64 {
        match self {
            Self::SmallSteady => within(dice, 280.0, 520.0),
            Self::BigReads if dice.chance(0.3) => (4_000.0 * normal(dice).exp()).min(80_000.0),
            Self::BigReads => within(dice, 200.0, 900.0),
            Self::Climbing => within(dice, 0.5, 1.5) * (300.0 + 20.0 * number(session.calls)),
            Self::SideBySide => (0..dice.between(1, 6)).map(|_| 350.0 * (0.6 * normal(dice)).exp()).sum(),
            Self::RarePages if dice.chance(1.0 / 30.0) => within(dice, 8_000.0, 30_000.0),
            Self::RarePages => within(dice, 60.0, 240.0),
            Self::Shifting => {
                if session.left == 0 {
                    session.burst = !session.burst;
                    session.left = if session.burst { dice.between(8, 20) } else { dice.between(15, 40) };
                }
                session.left -= 1;
                if session.burst { within(dice, 2_000.0, 9_000.0) } else { within(dice, 150.0, 400.0) }
            }
        }
    }
}

struct Session {
    events: Vec<AgentEvent>,
    calls: u64,
    fill: u64,
    /// Sessions are not alike: all that one adds is larger or smaller than with others.
    scale: f64,
    burst: bool,
    left: u64,
}

impl Session {
    fn new(dice: &mut Dice) -> Self {
        let scale = (0.5 * normal(dice)).exp();
        let left = dice.between(15, 40);
        let mut session = Self { events: Vec::new(), calls: 0, fill: 0, scale, burst: false, left };
        session.read(dice.between(30_000, 46_000), 0);
        session
    }

    // A call carries the results of the tools before it and adds its own answer.
    fn call(&mut self, grown: f64, dice: &mut Dice) {
        let answer = (250.0 * (0.7 * normal(dice)).exp()).min(grown * 0.6);
        let results = grown - answer;
        let chars = whole(results * WEIGHT_PER_TOKEN.draw(dice));
        let (tool, title) = (format!("t{}", self.calls), "works".to_owned());
        self.events.push(AgentEvent::ToolStarted { tool: tool.clone(), title: title.clone() });
        self.events.push(AgentEvent::ToolEnded { tool, title, ok: true, chars });
        self.events.push(AgentEvent::TextSaid { chars: whole(answer * 2.5) });
        self.read(whole(grown), whole(answer));
    }

    fn read(&mut self, grown: u64, answer: u64) {
        self.calls += 1;
        self.fill += grown;
        let call = Some(self.calls.to_string());
        let reading = Reading { call, ..Reading::exact(self.fill.saturating_sub(answer), 0, 0, answer) };
        self.events.push(AgentEvent::UsageRead(reading));
    }
}

fn within(dice: &mut Dice, least: f64, most: f64) -> f64 {
    least + (most - least) * dice.share()
}

fn normal(dice: &mut Dice) -> f64 {
    let (a, b) = (dice.share().max(f64::MIN_POSITIVE), dice.share());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

#[expect(clippy::cast_precision_loss, reason = "calls of one session")]
fn number(calls: u64) -> f64 {
    calls as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range before")]
fn whole(tokens: f64) -> u64 {
    tokens.round().clamp(0.0, 1e12) as u64
}
