//! What must hold for an adapter, whatever its agent prints: no panic, the same outcome however the bytes were split, events
//! that the journal gives back as they were, and no more output than the input explains.

use segue_agents::{Act, Adapter, Io, Lines};
use segue_machine::{AgentEvent, Event, Record, Run};

use crate::records;

/// Bytes of events and answers for each byte that came in: an id may be repeated, a text kept and told again.
const GROWTH: usize = 64;
/// And for each act: prompts, instructions, the frames around them.
const PER_ACT: usize = 2_048;

/// Everything that came of the bytes.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    events: Vec<AgentEvent>,
    wrote: Vec<u8>,
    closed: bool,
    tail: Option<segue_agents::Tail>,
    acts: usize,
}

/// One conversation that is fed line by line, with something asked of it now and then.
struct Talk {
    adapter: Box<dyn Adapter>,
    outcome: Outcome,
}

/// Gives an adapter these bytes.
pub(crate) fn check(make: fn() -> Box<dyn Adapter>, data: &[u8]) {
    let whole = play(make(), &mut [data].into_iter());
    let dice = data.iter().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    for size in [1, 2 + dice % 13, 1 + dice % 4_096] {
        let pieces = play(make(), &mut data.chunks(size));
        assert_eq!(pieces, whole, "in pieces of {size} bytes");
    }
    let json = serde_json::to_string(&whole.events).unwrap_or_else(|e| panic!("not written: {e}"));
    let back: Vec<AgentEvent> = serde_json::from_str(&json).unwrap_or_else(|e| panic!("not read back: {e}"));
    assert_eq!(back, whole.events);
    let most = data.len() * GROWTH + (whole.acts + 4) * PER_ACT;
    assert!(json.len() <= most, "{} bytes made {} bytes of events", data.len(), json.len());
    assert!(whole.wrote.len() <= most, "{} bytes made {} bytes to write", data.len(), whole.wrote.len());
    decide(whole.events);
}

fn play(adapter: Box<dyn Adapter>, pieces: &mut dyn Iterator<Item = &[u8]>) -> Outcome {
    let mut talk = Talk { adapter, outcome: Outcome::default() };
    talk.with(|adapter, io| adapter.open(io));
    talk.act(Act::Prompt("the task".to_owned()));
    let mut lines = Lines::default();
    for piece in pieces {
        lines.push(piece, |line| talk.line(line));
    }
    if let Some(rest) = lines.finish() {
        talk.line(&rest);
    }
    talk.with(|adapter, io| adapter.exited(Some(0), io));
    talk.outcome.tail = talk.adapter.tail();
    talk.outcome
}

impl Talk {
    fn with(&mut self, call: impl FnOnce(&mut dyn Adapter, &mut Io)) {
        let mut io = Io::default();
        call(self.adapter.as_mut(), &mut io);
        self.outcome.closed |= io.close;
        self.outcome.wrote.extend(io.write);
        let asked: Vec<Act> = io.events.iter().filter_map(answer).collect();
        self.outcome.events.extend(io.events);
        asked.into_iter().for_each(|act| self.act(act));
    }

    fn act(&mut self, act: Act) {
        self.outcome.acts += 1;
        self.with(|adapter, io| adapter.act(act, io));
    }

    // What is asked of the agent depends on the line alone, so it is the same for every split.
    fn line(&mut self, line: &[u8]) {
        match line.strip_prefix(b"~") {
            Some(line) => self.with(|adapter, io| adapter.tailed(line, io)),
            None => self.with(|adapter, io| adapter.line(line, io)),
        }
        let sum = line.iter().fold(0_u8, |sum, byte| sum.wrapping_mul(7).wrapping_add(*byte));
        match sum {
            0..=7 => self.act(Act::Ask("put it down".to_owned())),
            8..=11 => self.act(Act::Prompt("go on".to_owned())),
            12..=15 => self.act(Act::Tell("soon full".to_owned())),
            16..=23 => self.act(Act::Braked),
            24..=25 => self.act(Act::Permission { request: "none".to_owned(), allow: true }),
            26 => self.act(Act::Close),
            27..=30 => self.act(Act::SideQuestion { id: "1".to_owned(), text: "why?".to_owned() }),
            _ => {}
        }
    }
}

fn answer(event: &AgentEvent) -> Option<Act> {
    let AgentEvent::PermissionAsked { request, .. } = event else { return None };
    Some(Act::Permission { request: request.clone(), allow: request.len().is_multiple_of(2) })
}

// What an agent says goes to the machine, which must not fall over it either.
fn decide(events: Vec<AgentEvent>) {
    let mut run = Run::default();
    let mut seq = 0;
    let mut take = |event: Event| {
        seq += 1;
        run.handle(&Record { seq, at: seq, event });
    };
    records::opening().into_iter().for_each(&mut take);
    events.into_iter().for_each(|event| take(Event::Agent { session: 1, event }));
}
