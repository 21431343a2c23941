//! `segue-fuzz`: writes what libFuzzer begins with, runs a target without it, or gives one input to a target.
//!
//! `cargo xtask fuzz` calls it; by hand it is for an input that broke something.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use segue_fuzz::{TARGETS, Target, corpus, find, plain};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const HELP: &str = "segue-fuzz list
segue-fuzz seeds FOLDER               inputs to begin with and a dictionary, for every target
segue-fuzz plain TARGET RUNS FILE     so many inputs at random; one that breaks something is written to FILE
segue-fuzz one TARGET FILE            this input only";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["list"] => list(),
        ["seeds", folder] => seeds(Path::new(folder)),
        ["plain", name, runs, file] => known(name).and_then(|target| random(target, runs, file)),
        ["one", name, file] => known(name).and_then(|target| one(target, file)),
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

fn known(name: &str) -> Result<&'static Target, Box<dyn std::error::Error>> {
    find(name).ok_or_else(|| format!("there is no target {name}; see segue-fuzz list").into())
}

fn list() -> Outcome {
    for target in TARGETS {
        writeln!(std::io::stdout(), "{}", target.name)?;
    }
    Ok(())
}

fn seeds(folder: &Path) -> Outcome {
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        let seeds = corpus::seeds(target)?;
        for (n, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("{n:04}")), seed)?;
        }
        fs::write(folder.with_extension("dict"), corpus::dictionary(&corpus::words(&seeds)))?;
    }
    Ok(())
}

fn random(target: &Target, runs: &str, file: &str) -> Outcome {
    match plain::run(target, runs.parse()?, 1) {
        Ok(runs) => Ok(writeln!(std::io::stdout(), "{}: {runs} inputs", target.name)?),
        Err(plain::Broken::Input(data)) => {
            fs::write(file, &data)?;
            Err(format!("{}: {} bytes that broke it are in {file}", target.name, data.len()).into())
        }
        Err(error) => Err(error.into()),
    }
}

fn one(target: &Target, file: &str) -> Outcome {
    let data = fs::read(file)?;
    target.run(&data);
    Ok(writeln!(std::io::stdout(), "{}: {} bytes, everything holds", target.name, data.len())?)
}
