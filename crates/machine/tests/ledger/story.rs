//! A long run, made from one number: summaries that forget, repeat, contradict themselves and lie.

use segue_machine::claims::{Evidence, GateFact};

/// Random draws that depend on nothing but the seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % sides.max(1) as u64).unwrap_or(0)
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

/// Where something stands in a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Done,
    Remaining,
    DoNotRedo,
    Decisions,
    Constraints,
    Issues,
}

const PLACES: [(Place, &str); 6] = [
    (Place::Done, "Completed Work"),
    (Place::Remaining, "Remaining Tasks"),
    (Place::DoNotRedo, "Do Not Redo"),
    (Place::Decisions, "Key Decisions"),
    (Place::Constraints, "Constraints"),
    (Place::Issues, "Known issues"),
];

/// A line of a summary, first said in a round.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) place: Place,
    pub(crate) text: String,
    pub(crate) round: usize,
}

/// A run of twenty sessions.
pub(crate) struct Story {
    pub(crate) facts: Vec<Line>,
    pub(crate) noise: Vec<Line>,
    pub(crate) lies: Vec<Line>,
}

pub(crate) const ROUNDS: usize = 20;
const PARTS: [&str; 24] = [
    "parser",
    "lexer",
    "journal",
    "gauge",
    "scheduler",
    "cache",
    "router",
    "mailer",
    "importer",
    "exporter",
    "billing",
    "search",
    "login",
    "session",
    "queue",
    "archive",
    "report",
    "renderer",
    "worker",
    "config",
    "installer",
    "updater",
    "tracker",
    "index",
];
const THINGS: [&str; 24] = [
    "timeouts", "retries", "rounding", "paging", "encoding", "sorting", "locking", "logging", "quotas",
    "headers", "cursors", "leases", "dates", "limits", "schemas", "tokens", "batches", "signals", "streams",
    "hashes", "labels", "filters", "probes", "themes",
];
const WAYS: [&str; 16] = [
    "SQLite",
    "plain files",
    "a ring buffer",
    "one thread",
    "UTC",
    "snake case",
    "a bloom filter",
    "fixed point",
    "JSON lines",
    "a trie",
    "long polling",
    "soft deletes",
    "UUIDs",
    "a write-ahead log",
    "lazy loading",
    "two phases",
];
const WHY: [&str; 10] = [
    "it is simpler",
    "it is measured",
    "users asked for it",
    "it fits the budget",
    "the old way leaked",
    "reviews wanted it",
    "it was there before",
    "tools expect it",
    "it is portable",
    "it halves the code",
];

fn facts() -> Vec<(Place, String)> {
    let mut all = Vec::new();
    for n in 0..12 {
        all.push((
            Place::Decisions,
            format!("The {} keeps its {} in {} (decision F{n})", PARTS[n], THINGS[n], WAYS[n]),
        ));
    }
    for n in 0..10 {
        all.push((
            Place::Constraints,
            format!(
                "The {} must answer within {} ms, whatever the {}",
                PARTS[n + 12],
                20 + n,
                THINGS[n + 12]
            ),
        ));
    }
    for n in 0..8 {
        all.push((
            Place::Done,
            format!("Created src/{}/{}.rs for the {}", PARTS[n + 3], THINGS[n + 5], THINGS[n + 9]),
        ));
    }
    for n in 0..4 {
        all.push((
            Place::Issues,
            format!("test_{}_{} fails: expected {}, got {n}", PARTS[n + 6], THINGS[n], n + 17),
        ));
    }
    for n in 0..6 {
        all.push((
            Place::DoNotRedo,
            format!("Tried {} for the {}: does not work with {}", WAYS[n + 8], PARTS[n + 9], THINGS[n + 2]),
        ));
    }
    all
}

impl Story {
    /// 40 facts and 400 lines of noise. `like_decisions`: all the noise looks like decisions.
    pub(crate) fn new(seed: u64, like_decisions: bool) -> Self {
        let mut dice = Dice(seed);
        let facts: Vec<Line> = facts()
            .into_iter()
            .map(|(place, text)| Line { place, text, round: dice.roll(ROUNDS / 2) })
            .collect();
        let noise = (0..400)
            .map(|n| {
                let place = match n % 20 {
                    _ if like_decisions => Place::Decisions,
                    0..=11 => Place::Done,
                    12..=14 => Place::Decisions,
                    15 => Place::Constraints,
                    16 => Place::DoNotRedo,
                    17 => Place::Issues,
                    _ => Place::Remaining,
                };
                let round = if n % 7 == 0 { ROUNDS - 1 } else { dice.roll(ROUNDS) };
                Line { place, text: chatter(&mut dice, n, place), round }
            })
            .collect();
        let lies = (0..ROUNDS)
            .flat_map(|round| {
                [
                    Line {
                        place: Place::Done,
                        text: format!("Created src/ghost/g{round}.rs with the {}", PARTS[round]),
                        round,
                    },
                    Line { place: Place::Done, text: format!("All {} tests pass", 101 + round), round },
                    Line { place: Place::Done, text: format!("Committed as 0a9d1e{round:02}"), round },
                ]
            })
            .collect();
        Self { facts, noise, lies }
    }

    /// What the agent writes down at the end of a session: what is new, a part of what is old, and lies.
    pub(crate) fn summary(&self, round: usize, dice: &mut Dice) -> String {
        let mut lines: Vec<&Line> = Vec::new();
        for line in self.facts.iter().chain(&self.noise) {
            let old = line.round < round && dice.roll(100) < 12;
            if line.round == round || old {
                lines.push(line);
            }
        }
        lines.extend(self.lies.iter().filter(|l| l.round == round));
        let mut text = String::from("<checkpoint>\n## Goal\nGo on\n");
        for (place, title) in PLACES {
            text.push_str(&format!("## {title}\n"));
            for line in lines.iter().filter(|l| l.place == place) {
                text.push_str(&format!(
                    "- {}\n",
                    reworded(&line.text, line.round < round && dice.roll(3) == 0)
                ));
            }
        }
        // The same summary takes back what it has just said.
        text.push_str(&format!(
            "## Key Decisions\n- Use tabs in part {round}\n- Do not use tabs in part {round}\n</checkpoint>\n"
        ));
        text
    }
}

fn reworded(text: &str, other: bool) -> String {
    if other { format!("**{}**", text.replace("The ", "the ")) } else { text.to_owned() }
}

fn chatter(dice: &mut Dice, n: usize, place: Place) -> String {
    let (part, thing) = (dice.pick(&PARTS), dice.pick(&THINGS));
    let (way, why) = (dice.pick(&WAYS), dice.pick(&WHY));
    match place {
        Place::Done => format!("Step {n}: went over {thing} of the {part}, {why}"),
        Place::Decisions => format!("Use {way} for {thing} of {part}, item {n}"),
        Place::Constraints => format!("{part} {thing} must stay below {n}"),
        Place::DoNotRedo => format!("The {thing} of the {part} are in order (pass {n})"),
        Place::Issues => format!("The {part} warns about {thing} (note {n})"),
        Place::Remaining => format!("Look at {thing} of the {part} once more ({n})"),
    }
}

/// What is so at the end of every round.
pub(crate) fn evidence(story: &Story) -> Evidence {
    let path = |l: &Line| l.text.split(' ').find(|w| w.starts_with("src/")).map(str::to_owned);
    let created: Vec<String> =
        story.facts.iter().filter(|l| l.place == Place::Done).filter_map(path).collect();
    Evidence {
        tree: created.clone(),
        created,
        commits: vec![("1234567aaaa".to_owned(), "part of it".to_owned())],
        gates: vec![GateFact { name: "tests".to_owned(), exit: Some(1), ..GateFact::default() }],
        git: true,
        ..Evidence::default()
    }
}
