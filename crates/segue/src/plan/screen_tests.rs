use segue_redact::Options;

use super::*;
use crate::foot::Foot;

/// A terminal as far as the screen uses one.
struct Terminal {
    rows: Vec<Vec<char>>,
    at: (usize, usize),
    top: usize,
    size: (usize, usize),
}

impl Terminal {
    fn new(width: usize, height: usize) -> Self {
        Self { rows: vec![Vec::new()], at: (0, 0), top: 0, size: (width, height) }
    }

    fn write(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\r' => self.at.1 = 0,
                '\n' => self.down(),
                '\x1b' => match chars.by_ref().find(char::is_ascii_alphabetic) {
                    Some('A') => self.at.0 = self.at.0.saturating_sub(1).max(self.top),
                    Some('K') => self.rows[self.at.0].clear(),
                    other => panic!("the screen wrote ESC [ {other:?}"),
                },
                c => self.put(c),
            }
        }
    }

    fn put(&mut self, c: char) {
        if self.at.1 == self.size.0 {
            self.down();
        }
        let row = &mut self.rows[self.at.0];
        row.resize(row.len().max(self.at.1 + 1), ' ');
        row[self.at.1] = c;
        self.at.1 += 1;
    }

    fn down(&mut self) {
        self.at = (self.at.0 + 1, 0);
        if self.at.0 == self.rows.len() {
            self.rows.push(Vec::new());
            self.top = self.rows.len().saturating_sub(self.size.1);
        }
    }

    fn text(&self) -> Vec<String> {
        self.rows[..=self.at.0].iter().map(|row| row.iter().collect()).collect()
    }
}

fn lines(of: &[&str]) -> Vec<String> {
    of.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn what_stays_is_there_once_and_the_frame_is_below_it() {
    let (mut terminal, mut foot) = (Terminal::new(20, 6), Foot::default());
    let mut kept = Vec::new();
    for n in 0..40_usize {
        let stay: Vec<String> = (0..n % 4).map(|part| format!("line {n}.{part}")).collect();
        let frame: Vec<String> = (0..n % 5).map(|row| format!("frame {n} row {row}")).collect();
        kept.extend(stay.clone());
        terminal.write(&foot.repaint(&stay, frame.clone(), 20));
        let mut expected = kept.clone();
        expected.extend(if frame.is_empty() { vec![String::new()] } else { frame });
        assert_eq!(terminal.text(), expected, "after step {n}");
        assert!(terminal.rows[terminal.at.0 + 1..].iter().all(Vec::is_empty), "after step {n}");
    }
}

#[test]
fn a_frame_that_did_not_change_is_not_written_again() {
    let mut foot = Foot::default();
    assert_eq!(foot.repaint(&[], lines(&["a", "b"]), 80), "a\nb");
    assert_eq!(foot.repaint(&[], lines(&["a", "b"]), 80), "");
    assert_eq!(foot.repaint(&lines(&["x"]), lines(&["a", "b"]), 80), "\r\x1b[2K\x1b[A\x1b[2Kx\na\nb");
    assert_eq!(foot.repaint(&[], Vec::new(), 80), "\r\x1b[2K\x1b[A\x1b[2K");
    assert_eq!(foot.repaint(&[], Vec::new(), 80), "");
}

#[test]
fn rows_of_a_frame_that_a_narrower_terminal_broke_are_erased_too() {
    let mut foot = Foot::default();
    foot.repaint(&[], lines(&["\x1b[1m0123456789\x1b[0m", "short"]), 80);
    let up = "\x1b[A\x1b[2K".repeat(4);
    assert_eq!(foot.repaint(&[], lines(&["new"]), 4), format!("\r\x1b[2K{up}new"));
}

#[test]
fn the_frame_leaves_room_for_what_stays() {
    assert_eq!([0, 1, 3, 10, 24, 60].map(frame_rows), [16, 1, 1, 7, 16, 40]);
}

#[test]
fn secrets_and_broken_lines_do_not_get_to_the_screen() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let redactor = Redactor::new(Options::default()).unwrap();
    let rows = [Row { id: "1".into(), title: format!("use {secret}"), ..Row::default() }];
    let mut screen = Screen::new(secret, &rows, redactor);
    screen.live = false;
    screen.tell("1", Standing::Failed, &format!("{secret} was refused"));
    for line in [&b"{"[..], b"\xff\xfe", b"null", b"[1,2]", b"{\"type\":\"gauge.read\"}"] {
        screen.line("1", line);
    }
    screen.live = true;
    screen.painted = Some(Instant::now() + Duration::from_secs(3_600));
    screen.say(&format!("\n{secret} \x1b[2Jsaid"));
    screen.show(&[format!("{secret} shown")]);
    let kept = std::mem::take(&mut screen.pending).join("\n");
    assert!(kept.starts_with('\n') && kept.ends_with(" shown") && kept.contains(" said"), "{kept}");
    assert!(!kept.contains(secret) && !kept.contains('\x1b'), "{kept}");
    let style = Style { color: false, width: 120, live: true, ascii: false };
    let frame = screen.tree.frame(0, style, 10).join("\n");
    assert!(!frame.contains(secret) && frame.contains("was refused"), "{frame}");
}
