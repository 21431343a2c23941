//! `segue log`: what happened, as it was shown live. With `-f` it goes on while the run does.

use std::time::Duration;

use segue_machine::{Phase, Run};
use segue_report::{OuterStream, Style, Terminal, to_json_line};

use super::failure::Failure;
use super::open::{self, Place};
use super::out;
use crate::driver::{screen_colors, screen_width};
use crate::history;

/// How many events are read at a time: whoever reads only the first lines has them at once.
const PAGE: usize = 500;

const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Writes the events of a run.
pub(super) fn log(at: &Place, run: Option<&str>, follow: bool) -> Result<u8, Failure> {
    let reader = at.reader()?;
    let row = at.run(&reader, run)?;
    let color = screen_colors();
    let terminal = Terminal::new(Style { color, width: screen_width(), live: false, ascii: false });
    let (mut machine, mut stream, mut last) = (Run::default(), OuterStream::new(&row.id), 0);
    loop {
        loop {
            let page = history::page(&reader, &row.id, last, PAGE)?;
            let Some(end) = page.last() else { break };
            last = end.record.seq;
            for step in page {
                let effects = machine.handle(&step.record);
                let lines = stream.take(&step.record, &effects, machine.view());
                let read = if at.json {
                    out::lines(lines.iter().map(to_json_line))
                } else {
                    out::painted(terminal.take(&lines, machine.view()).lines)
                };
                if !read {
                    return Ok(0);
                }
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
