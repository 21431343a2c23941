//! What becomes of the agents' knowledge at handoffs: one cell of the matrix for each agent, window, size of results and
//! sort of worker (`segue_rehearsal::matrix`). Tokens are counted with a real vocabulary.
//!
//! `SEGUE_MATRIX_CELL=claude/200k/7k/no-list/auto` names the cell; `SEGUE_MATRIX_OUT` a file for its figures.
//! `cargo xtask nightly matrix` runs them all.

use segue_rehearsal::matrix::Cell;
use segue_rehearsal::model_server::answer::{Kind, Thread};
use segue_rehearsal::model_server::script::{Manner, PersonaOptions, StepHabit};
use segue_rehearsal::model_server::texts::Density;
use segue_rehearsal::model_server::{Opening, ServerScript, TruthLine, facts};
use serde_json::{Value, json};

use crate::inside::{inside, say};
use crate::support::{Done, World};

const STEPS: u32 = 24;
const FACTS: usize = 24;
/// Characters of the agent's own prose before each step: more than 20,000 tokens in all.
const PROSE: u64 = 4_500;
/// A picture of 800 by 600 points.
const PICTURE: &str = "looks/plan.png";
/// The longest continuation prompt.
const LONGEST_PROMPT: u64 = 10_000;

/// Tokens as a real vocabulary counts them.
pub(crate) fn count(text: &str) -> u64 {
    let tokens = tiktoken_rs::o200k_base_singleton().count_ordinary(text);
    u64::try_from(tokens).unwrap()
}

fn wanted() -> Option<Cell> {
    let name = std::env::var("SEGUE_MATRIX_CELL").ok()?;
    Some(name.parse().unwrap_or_else(|why| panic!("{why}")))
}

#[test]
fn one_cell() {
    let Some(cell) = wanted() else { return };
    inside(3_000, move || {
        let figures = run(&cell);
        say(&format!("{cell}: {figures}"));
        if let Some(path) = std::env::var_os("SEGUE_MATRIX_OUT") {
            std::fs::write(path, figures.to_string()).unwrap();
        }
        let wrong = wrong(&cell, &figures);
        assert!(wrong.is_empty(), "{cell}: {wrong:#?}\n{figures:#}");
    });
}

fn holds(name: &str) {
    let cell: Cell = name.parse().unwrap();
    let figures = run(&cell);
    say(&format!("{cell}: {figures}"));
    let wrong = wrong(&cell, &figures);
    assert!(wrong.is_empty(), "{cell}: {wrong:#?}\n{figures:#}");
}

#[test]
fn k1_k2_claude_hands_over_all_that_it_knew_with_large_results() {
    inside(600, || holds("claude/200k/15k/no-list/auto"));
}

#[test]
fn k1_k2_codex_hands_over_all_that_it_knew() {
    inside(600, || holds("codex/40k/7k/no-list/auto"));
}

#[test]
fn k1_k2_gemini_is_asked_inside_while_there_is_room_and_hands_over_all_that_it_knew() {
    inside(600, || holds("gemini/50k/7k/no-list/auto"));
}

#[test]
fn k1_k2_opencode_hands_over_all_that_it_knew() {
    inside(600, || holds("opencode/128k/7k/no-list/auto"));
}

/// The files that the worker reads, their contents with them.
fn looks(cell: &Cell) -> Vec<(String, String)> {
    let file = |(n, tokens): (usize, &u64)| {
        let path = format!("looks/{n:02}.txt");
        let seed = u64::try_from(n).unwrap();
        // OpenCode reads at most 50 kB of a file, so what is large there is dense.
        let dense = cell.agent == "opencode" && *tokens > 10_000;
        let density = if dense { Density::Base64 } else { Density::ALL[n % Density::ALL.len()] };
        let text = density.file(&path, seed, *tokens, count);
        (path, text)
    };
    cell.sizes().iter().cycle().take(10).enumerate().map(file).collect()
}

fn persona(cell: &Cell, looks: &[(String, String)]) -> PersonaOptions {
    let mean = cell.sizes().iter().sum::<u64>() / u64::try_from(cell.sizes().len()).unwrap();
    // Enough to fill the window more than twice; a large one once.
    let all = if cell.window >= 500_000 { cell.window * 13 / 10 } else { cell.window * 22 / 10 };
    let per_step = all.div_ceil(mean * u64::from(STEPS)).max(1);
    let mut paths: Vec<String> = looks.iter().map(|(path, _)| path.clone()).collect();
    if cell.size == "mixed" {
        paths.push(PICTURE.to_owned());
    }
    let every = StepHabit { say_chars: PROSE, ..StepHabit::default() };
    PersonaOptions {
        manner: cell.manner(),
        keeps_list: cell.persona == "list",
        facts: facts::spread(FACTS, STEPS),
        looks: paths,
        looks_per_step: u32::try_from(per_step).unwrap(),
        abreast: if mean < 5_000 { 3 } else { 2 },
        edit_every: 4,
        every,
        ..PersonaOptions::default()
    }
}

fn run(cell: &Cell) -> Value {
    let looks = looks(cell);
    let script = ServerScript {
        window: cell.window,
        counts_answer: true,
        persona: persona(cell, &looks),
        ..ServerScript::default()
    };
    let facts = script.persona.facts.clone();
    let world = World::counted(&[(&cell.agent, cell.window)], STEPS, script, count);
    std::fs::create_dir_all(world.repo().join("looks")).unwrap();
    looks.iter().for_each(|(path, text)| world.write(path, text));
    std::fs::write(world.repo().join(PICTURE), picture()).unwrap();
    world.commit();
    let run = world.run(&cell.agent, &["--policy", &cell.policy]);
    if let Some(path) = std::env::var_os("SEGUE_MATRIX_LINES") {
        let lines: String = run.lines().iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, lines).unwrap();
    }
    figures(&world, &run, &facts)
}

fn figures(world: &World, run: &Done, facts: &std::collections::BTreeMap<u32, Vec<String>>) -> Value {
    let truth = world.truth();
    let openings = world.openings();
    let (mut told, mut reached, mut missed) = (0, 0, Vec::new());
    for (n, opening) in openings.iter().enumerate().skip(1) {
        let said = said_before(opening, world, facts);
        let held = facts::held_by(said.iter().map(String::as_str), &opening.text);
        missed.extend(
            said.iter().filter(|fact| !held.contains(&fact.as_str())).map(|fact| format!("{n}: {fact}")),
        );
        reached += held.len();
        told += said.len();
    }
    let longest = openings.iter().skip(1).map(|opening| count(&opening.prompt)).max();
    let taken = run.of("checkpoint.taken");
    let handoffs: Vec<_> = run.of("handoff.decided").into_iter().filter(replaces).collect();
    let ways: Vec<&str> = handoffs
        .iter()
        .filter_map(|line| taken.iter().find(|taken| taken["checkpoint"] == line["checkpoint"]))
        .filter(|taken| taken["by"] == "agent")
        .map(|taken| taken["source"]["how"].as_str().unwrap_or("unknown"))
        .collect();
    let forks: Vec<_> = truth.iter().filter(|line| line.thread == Thread::Fork).collect();
    let (steps, finished) = (world.steps(), run.finished());
    json!({
        "verdict": finished["verdict"], "exit": run.code, "seconds": run.took.as_secs(),
        "sessions": run.of("session.started").len(), "handoffs": handoffs.len(),
        "reasons": handoffs.iter().map(|line| line["reason"].clone()).collect::<Value>(),
        "checkpoints": taken.len(), "by_agent": ways.len(), "how": ways,
        "facts_said": told, "facts_reached": reached, "facts_missed": missed, "prompt_tokens": longest,
        "overflows": world.overflow_answers(), "fill": fills(run),
        "refused": truth.iter().filter(|line| line.status >= 400).map(refused).collect::<Vec<_>>(),
        "side_questions": forks.len(), "side_tools": forks.iter().filter(|line| !line.calls.is_empty()).count(),
        "side_work": forks.iter().filter(|line| line.kind == Kind::Work).count(),
        "side_tokens": forks.iter().map(|line| line.input_tokens).sum::<u64>(),
        "side_cached": forks.iter().map(|line| line.cached).sum::<u64>(),
        "lost": steps.lost(STEPS), "repeated": steps.started_twice(), "cut": steps.half_done(),
        "cost_usd": finished["cost_usd"], "left": world.processes_left(),
    })
}

// A session that continues after failed gates is none, and neither is a stop.
fn replaces(line: &Value) -> bool {
    !line["to_agent"].is_null() && line["kind"] != "continue"
}

fn refused(line: &TruthLine) -> String {
    format!("{:?} {}: {} tokens", line.thread, line.error.as_deref().unwrap_or("?"), line.input_tokens)
}

/// What had been said before a successor was told anything.
fn said_before(
    opening: &Opening,
    world: &World,
    facts: &std::collections::BTreeMap<u32, Vec<String>>,
) -> Vec<String> {
    let before = world.truth().into_iter().filter(|line| line.n < opening.n && line.thread == Thread::Main);
    let steps: std::collections::BTreeSet<u32> = before.flat_map(|line| line.steps).collect();
    steps.iter().filter_map(|step| facts.get(step)).flatten().cloned().collect()
}

/// Percent of the ceiling at each handoff because of the window: those after gates that failed in a turn that had ended are
/// left out.
fn fills(run: &Done) -> Vec<f64> {
    let (mut percent, mut judged, mut fills) = (0.0, false, Vec::new());
    for line in run.lines() {
        match line["type"].as_str() {
            Some("gauge.read") => {
                percent = line["percent"].as_f64().unwrap_or(percent);
                judged = false;
            }
            Some("gate.finished") => judged |= line["when"] == "after" && line["passed"] == false,
            Some("handoff.decided") if !judged && replaces(&line) => fills.push(percent),
            _ => {}
        }
    }
    fills
}

/// The promises that the figures break.
fn wrong(cell: &Cell, figures: &Value) -> Vec<String> {
    let number = |name: &str| figures[name].as_f64().unwrap_or(0.0);
    let none = |name: &str| figures[name].as_array().is_none_or(Vec::is_empty);
    let share = if number("facts_said") > 0.0 { number("facts_reached") / number("facts_said") } else { 0.0 };
    let asked = cell.manner() != Manner::Silent;
    let fact_share = if asked { 1.0 } else { 0.9 };
    let by_agent = if cell.agent == "gemini" { 0.95 } else { 0.98 };
    let least_fill = match (cell.agent.as_str(), cell.size.as_str()) {
        ("opencode", _) => 60.0,
        // It is asked inside its window, of which the request and its answer alone take an eighth here.
        ("gemini", _) if cell.window < 100_000 => 80.0,
        (_, "2.5k" | "7k") => 90.0,
        _ => 80.0,
    };
    let fills: Vec<f64> =
        figures["fill"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let promises = [
        (figures["verdict"] == "verified", "the run is verified"),
        (number("handoffs") >= 1.0, "there is a handoff"),
        (share >= fact_share, "the facts reach every successor"),
        (!asked || number("by_agent") >= by_agent * number("handoffs"), "the agent writes the checkpoints"),
        (number("prompt_tokens") <= LONGEST_PROMPT as f64, "the continuation prompt is short"),
        (cell.agent == "opencode" || number("overflows") == 0.0, "no overflow with a brake"),
        (none("lost") && none("repeated") && none("cut"), "no step is lost, repeated or cut"),
        (none("left"), "no process is left"),
        (fills.iter().sum::<f64>() >= least_fill * fills.len() as f64, "the window is used"),
    ];
    promises.iter().filter(|(kept, _)| !kept).map(|(_, promise)| format!("broken: {promise}")).collect()
}

// A plain grey picture: head, one block of stored rows, end.
fn picture() -> Vec<u8> {
    let mut png = vec![0x89, b'P', b'N', b'G', 13, 10, 26, 10];
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        png.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        let body = [kind.as_slice(), data].concat();
        png.extend(&body);
        png.extend(crc(&body).to_be_bytes());
    };
    let (width, height) = (800_u32, 600_u32);
    chunk(b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat());
    let row = [vec![0], vec![128; 800]].concat();
    let rows = row.repeat(600);
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut zlib, &rows).unwrap();
    chunk(b"IDAT", &zlib.finish().unwrap());
    chunk(b"IEND", &[]);
    png
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 },
        )
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[test]
fn a_real_vocabulary_counts_and_pictures_are_pictures() {
    assert_eq!(count("The quick brown fox jumps over the lazy dog."), 10);
    assert!(count("好的一是在不了有和人这中大") >= 8);
    assert_eq!(crc(b"IEND"), 0xAE42_6082);
    let all: u64 = (1..=STEPS).map(|_| PROSE).sum::<u64>() / 5;
    assert!(all > 20_000, "{all} tokens of prose at the least");
}
