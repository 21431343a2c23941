//! `segue judge`: runs a command and says whether what it gives is as expected. A gate that an exit code cannot decide.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use segue_plans::{Check, Outcome};

use super::failure::Failure;
use super::open::Place;
use super::out;

/// No more than this much of what a command prints is judged.
const MOST: u64 = 16 << 20;

/// Judges a command; 0 when it is as expected, 1 when it is not.
pub(super) fn judge(at: &Place, expect: &str, command: &str) -> Result<u8, Failure> {
    let judge = expect.parse().map_err(|error: segue_plans::BadJudge| Failure::usage(error.to_string()))?;
    let check = Check { run: command.to_owned(), judge };
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(&at.dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // What comes after that is read and dropped, so that the command can end.
        let mut first = stdout.take(MOST);
        first.read_to_end(&mut bytes)?;
        std::io::copy(&mut first.into_inner(), &mut std::io::sink())?;
    }
    let exit = child.wait()?.code();
    out::bytes(&bytes);
    let output = String::from_utf8_lossy(&bytes);
    let verdict = segue_plans::judge(&check, Outcome { exit, output: &output });
    let word = if verdict.passed { "as expected" } else { "not as expected" };
    let _ = writeln!(std::io::stderr().lock(), "segue: {word}: {}", verdict.why);
    Ok(u8::from(!verdict.passed))
}
