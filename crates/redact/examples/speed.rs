//! How fast texts are cleaned: one line per kind of text with its name, the megabytes a second as a whole text, and as
//! output that comes in by lines, in time of the processor. `cargo xtask bench` and `cargo xtask nightly redact` run it as a
//! release build. Words choose kinds; a path measures that file instead.
#![expect(clippy::disallowed_methods, reason = "this measures; the crate itself does not")]
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::Duration,
};

use segue_redact::{Lines, Options, RedactError, Redactor};

const SIZE: usize = 1 << 18;
const RUNS: usize = 100;
const MOST: Duration = Duration::from_secs(1);

fn main() -> Result<(), RedactError> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let values =
        (0..20).map(|n| (format!("T{n}_TOKEN"), format!("value-{n}-{}", "q7Zt".repeat(6)))).collect();
    let redactor = Redactor::new(Options { values, ..Options::default() })?;
    let files = wanted.iter().filter_map(|path| Some((path.as_str(), std::fs::read_to_string(path).ok()?)));
    let files: Vec<(&str, String)> = files.collect();
    let of_files = !files.is_empty();
    for (name, text) in if of_files { files } else { kinds() } {
        if of_files || wanted.iter().all(|word| name.contains(word.as_str())) {
            let whole = speed(text.len(), || black_box(redactor.text(&text).counts.total()));
            let (mut lines, mut out) = (Lines::new(redactor.clone()), Vec::with_capacity(1 << 20));
            let by_line = speed(text.len(), || black_box(through(&mut lines, &mut out, &text)));
            println!("{name}\t{whole:.0}\t{by_line:.0}");
        }
    }
    Ok(())
}

/// Ten kinds of text, and source code with a secret every 2 kB.
fn kinds() -> Vec<(&'static str, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let code = repeated(&texts(&root.join("crates"), "rs"));
    let prose = repeated(&[texts(&root.join("docs"), "md"), texts(&root.join("crates"), "md")].concat());
    let stream = repeated(&texts(&root.join("crates/agents/cassettes"), "jsonl"));
    let hits = planted(&code);
    vec![
        ("source code", code),
        ("prose", prose),
        ("JSON lines", stream),
        ("base64 lines", filled(|chance, _| chance.of(BASE64, 76) + "\n")),
        ("hex lines", filled(|chance, _| chance.of(&BASE64[52..62], 4) + " " + &chance.of(HEX, 64) + "\n")),
        ("one endless line", filled(|chance, _| chance.of(&BASE64[..62], 50))),
        ("JSON of names", filled(json_of_names)),
        ("names and short lines", filled(|chance, _| format!("{}\n", chance.one(&NAMES)))),
        ("minified JavaScript", filled(minified)),
        ("log lines", filled(log_line)),
        ("CJK", filled(|chance, n| chance.of("的一是不了人我在有他这中大来上国", 40) + ["。", "\n"][n % 2])),
        ("source code with a secret every 2 kB", hits),
    ]
}

const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &str = "0123456789abcdef";
const NAMES: [&str; 16] = [
    "key",
    "token",
    "name",
    "password",
    "id",
    "secret",
    "author",
    "next_page_token",
    "keyboard",
    "api_key",
    "path",
    "login",
    "seed",
    "pwd",
    "size",
    "webhook",
];

fn json_of_names(chance: &mut Chance, _: usize) -> String {
    let pairs = (0..8).map(|_| match chance.below(3) {
        0 => format!("\"{}\":{}", chance.one(&NAMES), chance.below(1000)),
        1 => format!("\"{}\":\"{}\"", chance.one(&NAMES), chance.one(&NAMES)),
        _ => format!("\"{}\":true", chance.one(&NAMES)),
    });
    format!("{{{}}}\n", pairs.collect::<Vec<_>>().join(","))
}

fn minified(chance: &mut Chance, n: usize) -> String {
    let letter = |chance: &mut Chance| chance.of("abcdefghijklmnopqrstuvwxyz", 1);
    let [a, b, c] = std::array::from_fn(|_| letter(chance));
    let name = chance.one(&NAMES);
    let end = if n.is_multiple_of(2000) { "\n" } else { "" };
    format!("function {a}({b},{c}){{var e={b}.{name};return e&&{c}[\"{name}\"]?{a}(e,{n}):{b}===null}};{end}")
}

fn log_line(chance: &mut Chance, n: usize) -> String {
    let (name, other) = (chance.one(&NAMES), chance.one(&NAMES));
    let id = chance.of(HEX, 16);
    format!(
        "2026-03-04T10:11:{:02}Z INFO http request_id={id} {name}={} status=200 {other}_count={n} took=12ms\n",
        n % 60,
        chance.below(500)
    )
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % n
    }

    fn of(&mut self, set: &str, n: usize) -> String {
        let set: Vec<char> = set.chars().collect();
        (0..n).map(|_| set[self.below(set.len())]).collect()
    }

    fn one(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }
}

fn filled(part: impl Fn(&mut Chance, usize) -> String) -> String {
    let (mut out, mut chance) = (String::with_capacity(SIZE + 4096), Chance(0x9E37_79B9_7F4A_7C15));
    for n in 0.. {
        if out.len() >= SIZE {
            break;
        }
        out.push_str(&part(&mut chance, n));
    }
    out
}

/// The best of many short runs, in time of the processor: what a busy machine takes away is no property of the code.
fn speed(bytes: usize, mut work: impl FnMut() -> u64) -> f64 {
    let start = busy();
    let once = || {
        let start = busy();
        work();
        bytes as f64 / (busy() - start).as_secs_f64() / 1e6
    };
    std::iter::repeat_with(once).take(RUNS).take_while(|_| busy() - start < MOST).fold(0.0, f64::max)
}

/// How long this thread has had the processor.
fn busy() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn through(lines: &mut Lines, out: &mut Vec<u8>, text: &str) -> u64 {
    for chunk in text.as_bytes().chunks(8192) {
        lines.push(chunk, out);
        out.clear();
    }
    lines.finish(out);
    out.clear();
    lines.count()
}

fn planted(text: &str) -> String {
    let lines = text.split_inclusive('\n').scan(0, |since, line| {
        *since += line.len();
        let plant = *since > 2048;
        if plant {
            *since = 0;
        }
        Some(if plant {
            format!("{line}let key = \"{}{}\";\n", "gh", "p_a8Bd0Ef2Gh4Ij6Kl8Mn0Op2Qr4St6Uv8Wx0Y")
        } else {
            line.to_owned()
        })
    });
    lines.collect()
}

fn repeated(texts: &[String]) -> String {
    let mut out = String::with_capacity(SIZE + (1 << 20));
    while out.len() < SIZE && texts.iter().any(|text| !text.is_empty()) {
        texts.iter().for_each(|text| out.push_str(text));
    }
    let lines = out.split_inclusive('\n').scan(0, |size, line| {
        *size += line.len();
        (*size <= 2 * SIZE).then_some(line)
    });
    lines.collect()
}

fn texts(folder: &Path, ending: &str) -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                out.extend(std::fs::read_to_string(path));
            }
        }
    }
    out
}
