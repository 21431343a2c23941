//! `segue attach`: a run as its own terminal would show it, from the store alone. Leaving it does not stop the run.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Read, Write, stdin};
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionread;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use segue_machine::{Phase, Run, View};
use segue_report::{Beside, OuterStream, Terminal, to_json_line};

use super::failure::Failure;
use super::open::{self, Place};
use super::{crashed, out, stop, wait};
use crate::clock;
use crate::driver::{screen_paints, screen_size, screen_style};
use crate::foot::Foot;
use crate::history;
use crate::watch::Watch;

/// How often the store and the keys are looked at, and how often clocks are drawn anew.
const LOOK: Duration = Duration::from_millis(100);
const TICK: Duration = Duration::from_secs(1);

/// How many of the lines that were shown before are shown at first.
const BEFORE: usize = 12;

const KEYS: &str = "d or Ctrl-C leaves, the run continues · s stops it with a checkpoint";

/// Shows the active run until it ends or the user leaves; its end has the run's exit code.
pub(super) fn attach(at: &Place, run: Option<&str>) -> Result<u8, Failure> {
    // A plan that has just begun has no run yet.
    let active = if run.is_none() { wait::active_run(at).or_else(|| next_phase(at, "")) } else { None };
    let reader = at.reader()?;
    let mut id = match active {
        Some(active) => active,
        None => at.run(&reader, run)?.id,
    };
    let keys = Keys::open();
    loop {
        let left = Attached::new(at, &reader, &id).follow(&keys)?;
        // A plan goes on with its next phase.
        match (left, next_phase(at, &id)) {
            (Left::Over, Some(next)) => id = next,
            (Left::Over, None) => return ended(at, &reader, &id),
            (Left::ByUser, _) => {
                drop(keys);
                if !at.json {
                    out::line(&format!(
                        "run {id} continues; `segue attach` shows it again, `segue stop` stops it"
                    ));
                }
                return Ok(0);
            }
        }
    }
}

/// Why it is not watched any more.
enum Left {
    ByUser,
    Over,
}

fn ended(at: &Place, reader: &segue_journal::Reader, id: &str) -> Result<u8, Failure> {
    let seen = crashed::look(at, reader, id)?;
    if seen.crash.is_some() {
        return Err(Failure::exit(130, format!("run {id} crashed; `segue resume {id}` continues it")));
    }
    let view = seen.machine.view();
    let verified = view.spec.as_ref().is_some_and(|spec| spec.require_verified);
    Ok(view.outcome.as_ref().map_or(0, |outcome| outcome.exit_code(verified)))
}

// Between two phases nobody has the work tree for a moment.
fn next_phase(at: &Place, over: &str) -> Option<String> {
    let plan = super::plan::meant(at, None).filter(|plan| super::plan::is_active(at, plan))?;
    while super::plan::is_active(at, &plan) {
        if let Some(run) = wait::active_run(at).filter(|run| run != over) {
            return Some(run);
        }
        std::thread::sleep(LOOK);
    }
    None
}

struct Attached<'a> {
    at: &'a Place,
    reader: &'a segue_journal::Reader,
    run: &'a str,
    machine: Run,
    stream: OuterStream,
    terminal: Terminal,
    live: bool,
    watch: Option<Watch>,
    foot: Foot,
    last: u64,
    drawn: Instant,
}

impl<'a> Attached<'a> {
    fn new(at: &'a Place, reader: &'a segue_journal::Reader, run: &'a str) -> Self {
        let live = screen_paints() && !at.json;
        Self {
            at,
            reader,
            run,
            machine: Run::default(),
            stream: OuterStream::new(run),
            terminal: Terminal::new(screen_style(live)),
            live,
            watch: None,
            foot: Foot::default(),
            last: 0,
            drawn: Instant::now(),
        }
    }

    fn follow(mut self, keys: &Keys) -> Result<Left, Failure> {
        let mut first = true;
        loop {
            self.look();
            let lines = self.new_lines()?;
            let shown = lines.len();
            if shown > 0 || self.drawn.elapsed() >= TICK || first {
                // What happened before it was attached is in the log.
                let skip = if first { shown.saturating_sub(BEFORE) } else { 0 };
                self.draw(&lines[skip..])?;
            }
            first = false;
            let view = self.machine.view();
            let is_over = || view.phase == Phase::Finished;
            let alive = open::owner(self.at, self.run, view).is_some();
            if is_over() || (!alive && self.last == self.reader.last_seq(self.run)?) {
                self.clear();
                return Ok(Left::Over);
            }
            match keys.pressed(LOOK) {
                Some(b'd' | b'q' | 3 | 4) => {
                    self.clear();
                    return Ok(Left::ByUser);
                }
                Some(b's') => {
                    self.clear();
                    stop::stop(self.at, None, false)?;
                }
                _ => {}
            }
        }
    }

    fn look(&mut self) {
        if !self.live {
            return;
        }
        if let (None, Some(spec)) = (&self.watch, self.machine.view().spec.as_deref()) {
            self.watch = Some(Watch::new(spec, self.at.store().run_dir(self.run)));
        }
        let (width, rows) = screen_size();
        let beside = self.watch.as_ref().map(|watch| watch.beside(rows, KEYS));
        self.terminal
            .look(beside.unwrap_or(Beside { rows, keys: KEYS.to_owned(), ..Beside::default() }), width);
    }

    fn new_lines(&mut self) -> Result<Vec<String>, Failure> {
        let mut lines = VecDeque::new();
        for step in history::read(self.reader, self.run, self.last)? {
            self.last = step.record.seq;
            let effects = self.machine.handle(&step.record);
            let told = self.stream.take(&step.record, &effects, self.machine.view());
            if self.at.json {
                lines.extend(told.iter().map(to_json_line));
            } else {
                lines.extend(self.terminal.take(&told, self.machine.view()).lines);
            }
        }
        Ok(lines.into())
    }

    fn draw(&mut self, lines: &[String]) -> Result<(), Failure> {
        if self.at.json {
            out::lines(lines);
            return Ok(());
        }
        let frame = self.frame(self.machine.view());
        let text = self.foot.repaint(lines, frame, screen_size().0);
        write(&text);
        self.drawn = Instant::now();
        Ok(())
    }

    fn frame(&self, view: &View) -> Vec<String> {
        let frame = if self.live { self.terminal.status_at(view, clock::now()) } else { None };
        frame.map(|frame| frame.split('\n').map(str::to_owned).collect()).unwrap_or_default()
    }

    fn clear(&mut self) {
        write(&self.foot.repaint(&[], Vec::new(), screen_size().0));
    }
}

fn write(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The keys of a terminal, one by one, and the terminal as it was before.
struct Keys {
    before: Option<Termios>,
}

impl Keys {
    // Ctrl-C is a key here as well, so that leaving puts the terminal back.
    fn open() -> Self {
        let ours = stdin().is_terminal() && io::stdout().is_terminal();
        let before = tcgetattr(stdin()).ok().filter(|_| ours);
        if let Some(mut now) = before.clone() {
            now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
            let _ = tcsetattr(stdin(), OptionalActions::Now, &now);
        }
        Self { before }
    }

    // The next key that is pressed within this time.
    fn pressed(&self, patience: Duration) -> Option<u8> {
        std::thread::sleep(patience);
        self.before.as_ref()?;
        let waits = ioctl_fionread(stdin()).is_ok_and(|bytes| bytes > 0);
        let mut typed = [0_u8; 1];
        let read = waits && stdin().lock().read(&mut typed).is_ok_and(|n| n == 1);
        read.then_some(typed[0])
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}
