//! What contributors run: `cargo xtask test`, `quick`, `nightly`, `agents`, `bench`, `faults`, `forecast`, `fuzz`, `simulate`,
//! `pictures`, `gen`.

mod accuracy;
mod agents;
mod bench;
mod deny;
mod edges;
mod faults;
mod forecast;
mod fuzz;
mod generate;
mod nightly;
mod pictures;
mod shell;
mod simulate;
mod suite;
mod test;

use std::io::Write;
use std::process::ExitCode;

/// Anything that went wrong, in words.
type Outcome = Result<(), Box<dyn std::error::Error>>;

const HELP: &str = "cargo xtask COMMAND

  test           everything that CI checks: format, lints, edges, licenses and sources of dependencies, generated files, all tests
  quick [WORD…]  what answers within a minute: format, the pure tests, and the tests from end to end whose names hold a word
  nightly [PART] what is too slow for each change, with new random inputs; PART is one of random, longest, fuzz, faults, matrix, deny
  nightly matrix [--pairwise] [--again] [WORD…]
                 what the agents' knowledge becomes at handoffs, into docs/continuity.md; continues where it stopped
  agents         the real agents that the tests drive, at pinned versions, into target/agents
  bench [PART]   what segue costs, as a table; PART is one of machine, redact, ledger, plans, program, cli, handoff, round, checkpoint,
                 beside, long, and longest, a run of a million events
  faults         everything that can go wrong at a provider, on every agent, as a table for the docs;
                 [--agent A,B] [--fault F,G] [--when W] choose a part of it
  forecast       how good the forecast of a window's growth is, as a table for the docs
  fuzz [TARGET] [--seconds N]
                 every decoder with bytes that nobody wrote, 60 seconds each
  simulate [--policy A,B] [--window N] [--growth NAME] [--runs N] [--seed N] [--no-brake] [--json]
                 the policies in simulated runs; without options 10,000 of each, into docs/simulator.md
  pictures [NAME…]
                 what segue shows on terminals of 60, 80 and 120 columns, in light and dark, into docs/pictures
  gen [--check]  write docs/schema and docs/reference, or say that they are out of date
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => test::test(),
        ["quick", words @ ..] => test::quick(words),
        ["nightly", words @ ..] => nightly::nightly(words),
        ["agents"] => agents::agents(),
        ["bench"] => bench::bench(None),
        ["bench", part] => bench::bench(Some(part)),
        ["faults", words @ ..] => faults::faults(words),
        ["forecast"] => forecast::forecast(),
        ["fuzz", rest @ ..] => fuzz::fuzz(rest),
        ["simulate", words @ ..] => simulate::command(words),
        ["pictures", names @ ..] => pictures::pictures(names),
        ["gen"] => generate::generate(false),
        ["gen", "--check"] => generate::generate(true),
        _ => Err(HELP.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
