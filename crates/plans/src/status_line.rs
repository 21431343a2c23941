//! The one line that says how far a whole file is, in the formats that have one: written when nothing in it is open.

use crate::items::raw_lines;
use crate::model::Format;

/// How many lines a head has.
const HEAD: usize = 40;

/// What the author calls a file that needs nothing more, in lower case.
const OVER: [&str; 7] =
    ["done", "completed", "complete", "review", "ready for review", "ready-for-review", "cancelled"];

/// The text with its status line saying that the work is done; `None` where there is none, or it says so already.
pub(crate) fn finished(text: &str, format: Format) -> Option<String> {
    let debussy = matches!(format, Format::DebussyPhase | Format::DebussyMaster);
    let (from, to) = if format == Format::Backlog {
        in_front_matter(text)?
    } else if debussy || format == Format::Bmad {
        in_head(text)?
    } else {
        return None;
    };
    let old = text.get(from..to)?;
    let plain = old.trim_matches(['\'', '"', '*', ' ']);
    if plain.is_empty() || OVER.contains(&plain.to_lowercase().as_str()) {
        return None;
    }
    // Nobody but segue and its gates has looked at a story, and its own words say so: small ones in newer versions.
    let new = if debussy {
        "Completed"
    } else if format == Format::Backlog {
        "Done"
    } else if plain.chars().any(char::is_uppercase) {
        "Ready for Review"
    } else {
        "review"
    };
    Some(format!("{}{}{}", text.get(..from)?, old.replace(plain, new), text.get(to..)?))
}

fn in_front_matter(text: &str) -> Option<(usize, usize)> {
    for (n, (at, line)) in raw_lines(text).into_iter().enumerate() {
        if (n == 0) != (line.trim_end() == "---") {
            return None;
        }
        if let Some(value) = line.strip_prefix("status:") {
            return Some(value_of(at + line.len() - value.len(), value));
        }
    }
    None
}

// `Status: x` or `**Status:** x`, or the first line below a heading `Status`, before anything else of the story.
fn in_head(text: &str) -> Option<(usize, usize)> {
    let mut below = false;
    for (at, line) in raw_lines(text).into_iter().take(HEAD) {
        let bare = line.trim();
        if below && !bare.is_empty() {
            return (!bare.starts_with('#')).then(|| value_of(at, line));
        }
        let plain = bare.replace("**", "");
        if plain.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("status:")) && plain.len() > 7 {
            let value = line.get(line.find(':')? + 1..)?;
            let value = value.strip_prefix("**").unwrap_or(value);
            return Some(value_of(at + line.len() - value.len(), value));
        }
        below |= bare.trim_start_matches('#').trim().eq_ignore_ascii_case("status") && bare.starts_with('#');
    }
    None
}

fn value_of(at: usize, value: &str) -> (usize, usize) {
    let begin = at + value.len() - value.trim_start().len();
    (begin, begin + value.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_file_is_said_in_its_own_words_and_once() {
        for (format, text, wanted) in [
            (Format::Bmad, "# Story 1.1\n\n## Status\nApproved\n\n## Story\nx\n", "Ready for Review"),
            (Format::Bmad, "# Story 1.1\r\n\r\nStatus: ready-for-dev\r\n\r\n## Story\r\n", "review"),
            (Format::Backlog, "---\nid: T-1\nstatus: 'To Do'\n---\nstatus: text\n", "Done"),
            (Format::DebussyPhase, "# Phase 1\n\n**Status:** Pending\n", "Completed"),
            (Format::Bmad, "\u{feff}# Story 1.1\rStatus: Draft\r\r## Story\r- [x] a\r", "Ready for Review"),
            (Format::Backlog, "\u{feff}---\rstatus: To Do\r---\rstatus: text\r", "Done"),
        ] {
            let done = finished(text, format).unwrap();
            let lines = |text: &str| text.split(['\n', '\r']).map(str::to_owned).collect::<Vec<_>>();
            let differs: Vec<_> = lines(text).into_iter().zip(lines(&done)).filter(|(a, b)| a != b).collect();
            assert_eq!(differs.len(), 1, "{done}");
            assert!(differs[0].1.contains(wanted), "{done}");
            assert_eq!(done.len() + differs[0].0.len(), text.len() + differs[0].1.len());
            assert_eq!(finished(&done, format), None, "{done}");
        }
        for (format, text) in [
            (Format::Bmad, "# Story\n\nNothing of it.\n"),
            (Format::Bmad, "# Story\n\n## Status\n\n## Story\n"),
            (Format::Backlog, "no front matter\nstatus: To Do\n"),
            (Format::Kiro, "Status: open\n"),
        ] {
            assert_eq!(finished(text, format), None, "{text}");
        }
    }
}
