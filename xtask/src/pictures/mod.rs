//! `cargo xtask pictures`: what segue shows on terminals of three widths, drawn in light and dark, for the README and for
//! whoever changes a screen. Each picture is what the program really wrote to a terminal of that width.

mod screen;
mod svg;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Outcome, shell};
use screen::Screen;
use svg::Theme;

const WIDTHS: [usize; 3] = [60, 80, 120];

/// One screen: how its file is called, what is typed, and how much of what was written is on it.
struct Shot {
    name: &'static str,
    typed: &'static str,
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Everything that was there at the end.
    End,
    /// What was there in the middle of the work.
    Middle,
}

/// In this order: later ones look at what the first one did.
const SHOTS: &[Shot] = &[
    shot("live", "demo --keep repo", Part::Middle),
    shot("demo", "demo --fast", Part::End),
    shot("status", "-C repo/repository status", Part::End),
    shot("log", "-C repo/repository log", Part::End),
    shot("list", "-C repo/repository list", Part::End),
    shot("checkpoints", "-C repo/repository checkpoint list", Part::End),
    shot("init", "-C new init --yes --agent claude", Part::End),
    shot("plan-check", "-C new plan check PLAN.md", Part::End),
    shot("rehearse", "-C new rehearse --agent scripted", Part::End),
    shot("mistake", "-C new config set limits.deadlin 2h", Part::End),
    shot("help", "--help", Part::End),
];

impl Shot {
    /// So many rows are on the picture, the last ones; a live view is as high as a terminal.
    fn rows(&self) -> usize {
        if self.part == Part::Middle { 22 } else { usize::MAX }
    }
}

const fn shot(name: &'static str, typed: &'static str, part: Part) -> Shot {
    Shot { name, typed, part }
}

const PLAN: &str = "# Parser

## Phase 1: Lexer

- [ ] read numbers
- [ ] read names

## Phase 2: Grammar

Depends on: Phase 4

- [ ] read expressions

### Gates
- tests: `npm test || true`
";

/// Draws the screens whose names are given; all of them without names.
pub(crate) fn pictures(names: &[&str]) -> Outcome {
    shell::run("cargo", &["build", "--quiet", "--package", "segue"])?;
    let into = shell::root().join("docs").join("pictures");
    std::fs::create_dir_all(&into)?;
    for width in WIDTHS {
        let world = World::build(width)?;
        for shot in SHOTS {
            let text = world.written(shot.typed)?;
            if !names.is_empty() && !names.contains(&shot.name) {
                continue;
            }
            let screen = Screen::of(&world.hidden(&shown(&text, shot.part)), width);
            for theme in [Theme::Light, Theme::Dark] {
                let name = format!("{}-{width}-{}.svg", shot.name, theme.name());
                std::fs::write(into.join(&name), svg::draw(&screen, shot.typed, shot.rows(), theme))?;
            }
        }
        shell::say(&format!("{width} columns: drawn into docs/pictures"));
    }
    Ok(())
}

/// The part of what was written that is wanted. The middle ends with a live line that shows the context used.
fn shown(text: &str, part: Part) -> String {
    if part == Part::End {
        return text.to_owned();
    }
    // A redraw begins with a carriage return, so what stands before one is a whole frame. One before a new line is no redraw.
    let redraws = text.match_indices('\r').filter(|(at, _)| !text[at + 1..].starts_with('\n'));
    let frames: Vec<usize> = redraws.map(|(at, _)| at).collect();
    let whole = |frame: &&[usize]| {
        let live = text[frame[0]..frame[1]].rsplit('\n').next().unwrap_or_default();
        live.contains(" %") && frame[1] < text.len() * 3 / 4
    };
    let last = frames.windows(2).rfind(whole).map_or(text.len(), |frame| frame[1]);
    text[..last].to_owned()
}

/// Folders and an environment of its own, on a terminal of one width.
struct World {
    root: PathBuf,
    width: usize,
}

impl World {
    fn build(width: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let root = std::env::temp_dir().join(format!("segue-pictures-{}-{width}", std::process::id()));
        let new = root.join("new");
        for folder in ["home", "tmp", "new/.git"] {
            std::fs::create_dir_all(root.join(folder))?;
        }
        std::fs::write(new.join("package.json"), "{ \"scripts\": { \"test\": \"node test.js\" } }\n")?;
        std::fs::write(new.join("PLAN.md"), PLAN)?;
        std::fs::remove_dir_all(new.join(".git"))?;
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(&new).status()?;
        if git.success() { Ok(Self { root, width }) } else { Err("git init failed".into()) }
    }

    /// What the program writes to a terminal when this is typed.
    fn written(&self, typed: &str) -> Result<String, Box<dyn std::error::Error>> {
        let program = shell::target().join("debug").join("segue");
        let line = format!("stty cols {} rows 50; exec {} {typed}", self.width, program.display());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env_clear()
            .envs([("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("SHELL", "/bin/sh"), ("USER", "you")])
            .env("HOME", self.root.join("home"))
            .env("TMPDIR", self.root.join("tmp"))
            .env("PATH", path)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The same without the folders of this machine.
    fn hidden(&self, text: &str) -> String {
        let program = shell::target().join("debug").join("segue");
        let real = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let name = |path: &Path| path.display().to_string();
        text.replace(&name(&program), "segue").replace(&name(&real), "~").replace(&name(&self.root), "~")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_run_ends_with_the_context_used() {
        let text = format!("{}\r40 % of 100k\rnothing known\r{}", "x".repeat(40), "y".repeat(90));
        assert!(shown(&text, Part::Middle).ends_with("\r40 % of 100k"));
        assert_eq!(shown(&text, Part::End), text);
    }
}
