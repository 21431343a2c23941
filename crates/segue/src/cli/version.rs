//! Asking a program a short question, such as its version, without trusting it to answer, to end or to be brief.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::child_env;
use crate::process::{self, own};

/// How long a program may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How much of an answer is read.
const MOST: u64 = 256 << 10;

/// What a program printed, or why there is no answer.
pub(super) fn ask(command: &[String], env: &BTreeMap<String, String>, dir: &Path) -> Result<String, String> {
    ask_within(PATIENCE, command, env, dir)
}

/// The first thing in a text that looks like a version.
pub(super) fn find(text: &str) -> Option<String> {
    let plain = without_colours(text);
    let words = plain.split(|c: char| !(c.is_ascii_alphanumeric() || ".-+_".contains(c)));
    let bare = words.map(|word| word.strip_prefix('v').unwrap_or(word).trim_matches('.'));
    let mut versions = bare.filter(|word| {
        let mut parts = word.split('.');
        let number = |part: Option<&str>| {
            part.is_some_and(|p| !p.is_empty() && p.starts_with(|c: char| c.is_ascii_digit()))
        };
        word.len() <= 40 && number(parts.next()) && number(parts.next())
    });
    versions.next().map(str::to_owned)
}

/// The same with another patience.
pub(super) fn ask_within(
    patience: Duration,
    command: &[String],
    env: &BTreeMap<String, String>,
    dir: &Path,
) -> Result<String, String> {
    let words = command.join(" ");
    let (program, args) = command.split_first().ok_or("it has no command")?;
    let mut program = Command::new(program);
    for name in child_env::kept_from_looking() {
        program.env_remove(name);
    }
    program.args(args).env("PATH", child_env::search_path()).envs(env).current_dir(dir).process_group(0);
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut child, _own) = own::spawn(&mut program).map_err(|error| format!("`{words}`: {error}"))?;
    let text = listen(&mut child);
    let ended = wait(&mut child, patience);
    // What it started may hold its output open; after this nothing of it is left.
    process::signal_group(child.id(), Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
    let text = text.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    match ended {
        Ok(Some(true)) => Ok(text),
        Ok(Some(false)) => Err(format!("`{words}` failed")),
        Ok(None) => Err(format!("`{words}` did not end within {} s", patience.as_secs())),
        Err(error) => Err(format!("`{words}`: {error}")),
    }
}

fn listen(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.take(MOST).read_to_end(&mut bytes);
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
    }
    receiver
}

fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<bool>> {
    let end = Instant::now() + patience;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status.success())),
            None if Instant::now() >= end => return Ok(None),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            let _ = chars.by_ref().find(|c| c.is_ascii_alphabetic());
            plain.push(' ');
        } else {
            plain.push(if c.is_control() { ' ' } else { c });
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<String, String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        ask_within(patience, &command, &BTreeMap::new(), Path::new("/"))
    }

    #[test]
    fn a_version_is_found_among_other_words() {
        for (text, version) in [
            ("2.1.325 (Claude Code)", "2.1.325"),
            ("codex-cli 0.166.0\n", "0.166.0"),
            ("warning: x\nv1.18.33", "1.18.33"),
            ("tool version 0.9.1-rc.2+b5.", "0.9.1-rc.2+b5"),
            ("\u{1b}[32m0.61.0\u{1b}[0m", "0.61.0"),
        ] {
            assert_eq!(find(text).as_deref(), Some(version), "{text:?}");
        }
        for text in ["", "no version", "1", "a.b.c", "1.", ".1", "\u{1b}[", "v", "é.1"] {
            assert_eq!(find(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_answer_is_what_was_printed_and_a_failure_says_so() {
        assert_eq!(shell("echo 1.2.3; echo noise >&2", PATIENCE).unwrap(), "1.2.3\n");
        assert!(shell("echo 1.2.3; exit 4", PATIENCE).unwrap_err().contains("failed"));
        let missing = ask(&["/no/such/program".to_owned()], &BTreeMap::new(), Path::new("/"));
        assert!(missing.unwrap_err().contains("/no/such/program"));
        assert!(ask(&[], &BTreeMap::new(), Path::new("/")).is_err());
    }

    #[test]
    fn a_program_that_never_ends_is_ended() {
        let why = shell("sleep 1000 & sleep 1000", Duration::from_millis(50)).unwrap_err();
        assert!(why.contains("did not end"), "{why}");
    }

    #[test]
    fn a_child_that_holds_the_output_open_does_not_hold_the_answer_back() {
        assert_eq!(shell("sleep 1000 & echo 1.2.3", PATIENCE).unwrap(), "1.2.3\n");
    }

    #[test]
    fn only_the_beginning_of_an_endless_answer_is_read() {
        let printed = shell("head -c 1000000 /dev/zero | tr '\\0' x 2>/dev/null; true", PATIENCE).unwrap();
        assert_eq!(printed.len() as u64, MOST);
    }
}
