//! `segue log`: what happened, as it was shown live. With `-f` it goes on while the run does.

use std::time::Duration;

use segue_machine::{Phase, Run};
use segue_report::{OuterStream, Style, Terminal, to_json_line};

use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::driver::{screen_colors, screen_width};
use crate::history;

const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Writes the events of a run.
pub(super) fn log(at: &Place, run: Option<&str>, follow: bool) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let row = at.run(&reader, run)?;
    let color = screen_colors();
    let terminal = Terminal::new(Style { color, width: screen_width(), live: false, ascii: false });
    let (mut machine, mut stream, mut last) = (Run::default(), OuterStream::new(&row.id), 0);
    loop {
        for step in history::read(&reader, &row.id, last)? {
            last = step.record.seq;
            let effects = machine.handle(&step.record);
            let lines = stream.take(&step.record, &effects, machine.view());
            if at.json {
                out::lines(lines.iter().map(to_json_line));
            } else {
                out::painted(terminal.take(&lines, machine.view()).lines);
            }
        }
        let alive = open::owner(at, &row.id, machine.view()).is_some();
        if !follow
            || machine.view().phase == Phase::Finished
            || (!alive && last == reader.last_seq(&row.id)?)
        {
            return Ok(0);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
