//! Recordings of the real CLIs, given to the adapters: the events are those written beside each recording, every split of
//! the bytes gives the same, and the gauge is what the server counted at every call.
//!
//! `SEGUE_BLESS=1` writes the events anew; whoever does that reads what changed.

#![expect(clippy::disallowed_methods, reason = "a test reads its recordings; the crate itself reads nothing")]

// Clippy takes a module for a test only when it says so, integration test or not.
#[cfg(test)]
mod tape {
    use std::path::{Path, PathBuf};

    use segue_agents::acp::Acp;
    use segue_agents::claude::{self, Claude};
    use segue_agents::codex::{self, Codex};
    use segue_agents::opencode::{self, OpenCode};
    use segue_agents::{Act, Adapter, Io, Lines};
    use serde_json::{Value, json};

    /// Lines that mean nothing to an adapter.
    pub(crate) const NOISE: [&[u8]; 8] = [
        b"\xff\xfe\xc3( not text",
        b"Warning: something on the wrong stream",
        b"{\"type\":\"assistant\",\"message\":{\"id\":\"msg_cut\",\"usa",
        b"null",
        b"[]",
        b"{}",
        b"{\"type\":\"a_kind_from_the_future\",\"session_id\":\"x\"}",
        b"{\"method\":\"a/method/from/the/future\",\"params\":{\"threadId\":\"another\"}}",
    ];

    /// One recording.
    pub(crate) struct Tape {
        pub(crate) name: String,
        pub(crate) bytes: Vec<u8>,
        pub(crate) truth: Vec<Value>,
        path: PathBuf,
        notes: Value,
    }

    /// All recordings.
    pub(crate) fn all() -> Vec<Tape> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes");
        let folders = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir());
        let files = folders.flat_map(|f| std::fs::read_dir(f).unwrap()).map(|e| e.unwrap().path());
        let mut paths: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "jsonl")).collect();
        paths.sort();
        assert!(paths.len() >= 20, "only {} recordings found", paths.len());
        paths.into_iter().map(Tape::read).collect()
    }

    impl Tape {
        fn read(path: PathBuf) -> Self {
            let parsed = |ending: &str| {
                let text = std::fs::read_to_string(path.with_extension(ending)).unwrap();
                serde_json::from_str::<Value>(&text).unwrap()
            };
            let folder = path.parent().unwrap().file_name().unwrap().to_string_lossy();
            Self {
                name: format!("{folder}/{}", path.file_stem().unwrap().to_string_lossy()),
                bytes: std::fs::read(&path).unwrap(),
                truth: parsed("truth.json").as_array().unwrap().clone(),
                notes: parsed("acts.json"),
                path,
            }
        }

        /// The events file: one entry in each line.
        pub(crate) fn expected(&self) -> Vec<Value> {
            let text = std::fs::read_to_string(self.path.with_extension("events.json")).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or_default()
        }

        pub(crate) fn bless(&self, entries: &[Value]) {
            let lines: Vec<String> = entries.iter().map(|e| format!("  {e}")).collect();
            let text = format!("[\n{}\n]\n", lines.join(",\n"));
            std::fs::write(self.path.with_extension("events.json"), text).unwrap();
        }

        /// Whether it is an agent that segue knows nothing about but the protocol.
        pub(crate) fn speaks_acp(&self) -> bool {
            ["codex-acp", "qwen"].iter().any(|agent| self.name.starts_with(agent))
        }

        fn adapter(&self) -> Box<dyn Adapter> {
            let option = |name: &str| self.notes["options"][name].as_str().map(str::to_owned);
            if self.name.starts_with("claude") {
                return Box::new(Claude::new(claude::Options {
                    conversation: option("conversation").unwrap(),
                    resume: None,
                    model: option("model"),
                    permission: claude::Permission::Bypass,
                    no_compaction: true,
                    brake: None,
                    archive: None,
                }));
            }
            if self.name.starts_with("opencode") {
                return Box::new(OpenCode::new(opencode::Options {
                    edit: false,
                    resume: None,
                    model: None,
                    bypass: true,
                    no_compaction: true,
                }));
            }
            if self.speaks_acp() {
                return Box::new(Acp::new("/work/tree", None));
            }
            Box::new(Codex::new(codex::Options {
                edit: false,
                cwd: "/work/tree".to_owned(),
                resume: None,
                model: None,
                bypass: true,
                compaction_guard: option("guard"),
            }))
        }

        fn acts(&self, after: usize) -> impl Iterator<Item = Act> {
            let acts = self.notes["acts"].as_array().unwrap().iter();
            acts.filter(move |a| a["after"] == after).map(|a| match a["act"].as_str().unwrap() {
                "prompt" => Act::Prompt("the task".to_owned()),
                "side" => Act::SideQuestion { id: "q1".to_owned(), text: "the side question".to_owned() },
                "ask" => Act::Ask("the request for a checkpoint".to_owned()),
                "permission" => Act::Permission {
                    request: a["request"].as_str().unwrap().to_owned(),
                    allow: a["allow"].as_bool().unwrap(),
                },
                "close" => Act::Close,
                other => panic!("{other} is no act"),
            })
        }

        /// Everything that comes of the recording when its bytes arrive in these pieces: events and what was written, in order.
        pub(crate) fn play<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Value> {
            let (mut adapter, mut lines, mut told) = (self.adapter(), Lines::default(), Vec::new());
            let mut io = Io::default();
            adapter.open(&mut io);
            let mut count = 0;
            self.act(adapter.as_mut(), count, &mut io);
            tell(&mut io, &mut told);
            for piece in pieces {
                lines.push(piece, |line| {
                    adapter.line(line, &mut io);
                    tell(&mut io, &mut told);
                    if !NOISE.contains(&line) {
                        count += 1;
                        self.act(adapter.as_mut(), count, &mut io);
                        tell(&mut io, &mut told);
                    }
                });
            }
            assert_eq!(lines.finish(), None, "{}", self.name);
            let exit = self.notes["exit"].as_i64().and_then(|code| i32::try_from(code).ok());
            adapter.exited(exit, &mut io);
            tell(&mut io, &mut told);
            told
        }

        fn act(&self, adapter: &mut dyn Adapter, after: usize, io: &mut Io) {
            self.acts(after).for_each(|act| adapter.act(act, io));
        }

        /// The lines of the recording, as they stand in it.
        pub(crate) fn lines(&self) -> Vec<&[u8]> {
            self.bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()).collect()
        }

        /// Whether these pieces come out as the recording's lines, which is all that an adapter sees of them.
        pub(crate) fn same_lines(&self, pieces: [&[u8]; 2]) -> bool {
            let (mut lines, mut expected) = (Lines::default(), self.lines().into_iter());
            let mut same = true;
            for piece in pieces {
                lines.push(piece, |line| same &= expected.next() == Some(line));
            }
            same && expected.next().is_none() && lines.finish().is_none()
        }
    }

    fn tell(io: &mut Io, told: &mut Vec<Value>) {
        told.extend(io.events.drain(..).map(|event| serde_json::to_value(event).unwrap()));
        let written = std::mem::take(&mut io.write);
        told.extend(written.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(written_as));
        if std::mem::take(&mut io.close) {
            told.push(json!({ "wrote": "the end of input" }));
        }
    }

    // What a written line is, without its text, ids and versions.
    fn written_as(line: &[u8]) -> Value {
        let message: Value = serde_json::from_slice(line).unwrap();
        let word = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        let words =
            ["/method", "/path", "/type", "/priority", "/request/subtype", "/response/response/behavior"];
        json!({ "wrote": words.iter().filter_map(|p| word(p)).collect::<Vec<_>>().join(" ") })
    }

    /// Numbers that are the same in every run.
    pub(crate) struct Dice(pub(crate) u64);

    impl Dice {
        pub(crate) fn below(&mut self, most: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % most.max(1)
        }
    }
}

use serde_json::Value;
use tape::{Dice, NOISE, Tape};

/// How many ways there are to lay the comb: every byte is a cut in one of them.
#[cfg(test)]
const COMB: usize = 48;

#[test]
fn every_recording_gives_the_events_that_are_written_beside_it() {
    let bless = std::env::var_os("SEGUE_BLESS").is_some();
    for tape in tape::all() {
        let told = tape.play([&tape.bytes[..]]);
        if bless {
            tape.bless(&told);
        }
        let expected = tape.expected();
        for (at, (is, should)) in told.iter().zip(&expected).enumerate() {
            assert_eq!(is, should, "{}, entry {at}", tape.name);
        }
        assert_eq!(told.len(), expected.len(), "{}", tape.name);
        assert!(told.iter().all(|e| e["type"] != "unrecognised"), "{} has unknown lines", tape.name);
    }
}

#[test]
fn every_byte_of_a_recording_may_be_the_last_of_a_piece() {
    for tape in tape::all() {
        let whole = tape.play([&tape.bytes[..]]);
        for offset in 0..COMB {
            let (head, rest) = tape.bytes.split_at(offset.min(tape.bytes.len()));
            let told = tape.play([head].into_iter().chain(rest.chunks(COMB)));
            assert!(told == whole, "{}: pieces of {COMB} bytes from {offset} on", tape.name);
        }
        assert!(tape.play(tape.bytes.chunks(1)) == whole, "{}: one byte at a time", tape.name);
    }
}

#[test]
fn a_recording_in_two_pieces_has_the_same_lines_wherever_it_is_cut() {
    for (seed, tape) in tape::all().iter().enumerate() {
        let (size, mut dice) = (tape.bytes.len(), Dice(seed as u64));
        let ends = tape.bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at);
        let near_ends = ends.flat_map(|at| [at.saturating_sub(1), at, at + 1, at + 2]);
        let anywhere = (0..400).map(|_| dice.below(size));
        for cut in near_ends.chain(anywhere).map(|cut| cut.min(size)) {
            let (head, rest) = tape.bytes.split_at(cut);
            assert!(tape.same_lines([head, rest]), "{}: cut at {cut}", tape.name);
        }
    }
}

#[test]
fn pieces_of_any_size_give_the_same_events() {
    for (seed, tape) in tape::all().iter().enumerate() {
        let (whole, mut dice) = (tape.play([&tape.bytes[..]]), Dice(seed as u64));
        for most in [3, 17, 200, 4_096, 65_536] {
            let mut pieces = Vec::new();
            let mut rest = &tape.bytes[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((1 + dice.below(most)).min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            assert!(tape.play(pieces) == whole, "{}: pieces of up to {most} bytes", tape.name);
        }
    }
}

#[test]
fn e1_lines_that_mean_nothing_change_nothing_wherever_they_stand() {
    for (seed, tape) in tape::all().iter().enumerate() {
        let whole = tape.play([&tape.bytes[..]]);
        let mut dice = Dice(seed as u64);
        let noisy: Vec<u8> = tape
            .lines()
            .into_iter()
            .flat_map(|line| [NOISE[dice.below(NOISE.len())], b"\n", line, b"\r\n\n"].concat())
            .collect();
        let told = tape.play([&noisy[..]]);
        let known: Vec<&Value> = told.iter().filter(|e| e["type"] != "unrecognised").collect();
        assert!(known.len() < told.len(), "{}: noise is told", tape.name);
        assert!(known.into_iter().eq(&whole), "{}", tape.name);
    }
}

#[test]
fn the_gauge_is_what_the_server_counted_at_every_call() {
    let mut calls = 0;
    for tape in tape::all() {
        let told = tape.play([&tape.bytes[..]]);
        let readings = told.iter().filter(|e| e["type"] == "usage_read" && e["scope"] == "main");
        let readings: Vec<&Value> = readings.filter(|e| !e["call"].is_null()).collect();
        // An answer that the CLI threw away or that never ended has no call here, and is read nowhere.
        let truth = tape.truth.iter().filter(|t| t["thread"] == "main" && !t["call"].is_null());
        let truth: Vec<&Value> = truth.collect();
        assert_eq!(readings.len(), truth.len(), "{}: one reading for each call", tape.name);
        for (reading, truth) in readings.into_iter().zip(truth) {
            let part = |name: &str| reading[name].as_u64().unwrap_or(0);
            let prompt = part("input") + part("cache_read") + part("cache_write");
            let is = (&reading["call"], prompt, part("output"));
            let should =
                (&truth["call"], truth["input"].as_u64().unwrap(), truth["output"].as_u64().unwrap());
            assert_eq!(is, should, "{}", tape.name);
            assert_eq!(truth["occupancy"], prompt + part("output"), "{}", tape.name);
            calls += 1;
        }
    }
    assert!(calls >= 80, "only {calls} calls were compared");
}

#[test]
fn what_an_agent_reports_without_naming_a_call_is_what_the_server_counted_for_one() {
    let mut reports = 0;
    for tape in tape::all().iter().filter(|tape| tape.speaks_acp()) {
        let told = tape.play([&tape.bytes[..]]);
        let reported = told.iter().filter(|e| e["type"] == "usage_read" && e["call"].is_null());
        let mut counted = tape.truth.iter().filter(|t| t["thread"] == "main").map(|t| &t["occupancy"]);
        for reading in reported {
            assert!(counted.any(|occupancy| *occupancy == reading["total"]), "{}: {reading}", tape.name);
            reports += 1;
        }
    }
    assert!(reports >= 10, "only {reports} reports were compared");
}

#[test]
fn no_recording_names_the_machine_or_quotes_a_system_prompt() {
    for tape in tape::all() {
        let Tape { name, bytes, .. } = &tape;
        // Codex marks the roots of its work tree with a tag of that name.
        let text = String::from_utf8(bytes.clone()).unwrap().replace("</root>", "");
        assert!(text.len() < 150_000, "{name} is too large");
        for word in
            ["/tmp/cass", "/root", "You are Claude", "You are Codex", "<skills_instructions", "<system"]
        {
            assert!(!text.contains(word), "{name} has {word}");
        }
    }
}
