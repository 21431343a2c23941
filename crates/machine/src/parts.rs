//! The list in a task, and a task with only a part of it: for windows that cannot hold the whole.
//!
//! Items are open check boxes, or numbered lines where there are no boxes. What stands under an item, further in, belongs to
//! it. Everything that is no item stays in every part.

use std::ops::Range;

use crate::TaskPart;

/// How many items of a task's list are open.
pub fn count(task: &str) -> usize {
    items(task).len()
}

/// The task with only a part of its list, and a line that says so.
pub fn part_of(task: &str, part: TaskPart) -> String {
    let items = items(task);
    let wanted = part.first as usize..=part.last as usize;
    let left_out: Vec<&Range<usize>> =
        items.iter().zip(1..).filter(|(_, n)| !wanted.contains(n)).map(|(item, _)| item).collect();
    if left_out.is_empty() {
        return task.to_owned();
    }
    let kept = task.lines().enumerate().filter(|(n, _)| !left_out.iter().any(|item| item.contains(n)));
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    format!(
        "{}\n\n(This is a part of the task: items {} to {} of the {} on its list. The others come in other sessions: \
         leave them alone, and say that you are done when these are.)",
        kept.join("\n").trim_end(),
        part.first,
        part.last,
        items.len()
    )
}

// The lines of each item.
fn items(task: &str) -> Vec<Range<usize>> {
    let lines: Vec<&str> = task.lines().collect();
    let outside = outside_of_fences(&lines);
    let boxes = of_kind(&lines, &outside, is_open_box);
    if boxes.is_empty() { of_kind(&lines, &outside, is_numbered) } else { boxes }
}

fn of_kind(lines: &[&str], outside: &[bool], is: fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !outside[at] || !is(lines[at].trim_start()) {
            at += 1;
            continue;
        }
        let end = end_of(lines, outside, at);
        items.push(at..end);
        at = end;
    }
    items
}

// An item ends before the next line that is not further in than itself; empty lines before that are no part of it.
fn end_of(lines: &[&str], outside: &[bool], start: usize) -> usize {
    let own = indent(lines[start]);
    let mut end = start + 1;
    let mut paragraph = true;
    for (n, line) in lines.iter().enumerate().skip(start + 1) {
        if line.trim().is_empty() {
            paragraph = false;
            continue;
        }
        let begins = is_item(line.trim_start()) || line.trim_start().starts_with('#');
        let further_in = indent(line) > own || !outside[n];
        if !further_in && (!paragraph || begins) {
            break;
        }
        end = n + 1;
        paragraph = true;
    }
    end
}

fn outside_of_fences(lines: &[&str]) -> Vec<bool> {
    let mut fenced = false;
    let each = lines.iter().map(|line| {
        let mark = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let outside = !fenced && !mark;
        fenced ^= mark;
        outside
    });
    each.collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_item(line: &str) -> bool {
    is_numbered(line) || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn is_open_box(line: &str) -> bool {
    let item = line.strip_prefix(['-', '*', '+']).map(str::trim_start);
    item.is_some_and(|item| item.starts_with("[ ]"))
}

fn is_numbered(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "# Do\n\nFirst read.\n\n- [ ] a\n  more of a\n  - [ ] under a\n- [x] over\n- [ ] b\nlazy b\n\n- [ ] c\n\n## After\n1. say so\n";

    fn part(first: u32, last: u32) -> String {
        part_of(TASK, TaskPart { first, last, of: 3 })
    }

    #[test]
    fn a_part_has_its_items_with_all_below_them_and_everything_that_is_no_item() {
        assert_eq!(count(TASK), 3);
        let first = part(1, 1);
        for kept in [
            "# Do",
            "First read.",
            "- [ ] a",
            "more of a",
            "under a",
            "[x] over",
            "## After",
            "1. say so",
            "items 1 to 1 of the 3",
        ] {
            assert!(first.contains(kept), "{kept}: {first}");
        }
        assert!(
            !first.contains("- [ ] b") && !first.contains("lazy b") && !first.contains("- [ ] c"),
            "{first}"
        );
        let second = part(2, 3);
        assert!(
            !second.contains("more of a") && second.contains("lazy b") && second.contains("- [ ] c"),
            "{second}"
        );
    }

    #[test]
    fn every_item_is_in_exactly_one_of_the_parts() {
        for word in ["- [ ] a", "- [ ] b", "- [ ] c"] {
            assert_eq!([part(1, 2), part(3, 3)].iter().filter(|p| p.contains(word)).count(), 1, "{word}");
        }
    }

    #[test]
    fn numbered_lines_are_items_where_there_are_no_boxes() {
        let task = "Do:\n1. first\n2) two\n```\n3. no item\n```\n\n10. ten\n";
        assert_eq!(count(task), 3);
        let part = part_of(task, TaskPart { first: 3, last: 3, of: 3 });
        assert!(part.contains("10. ten") && !part.contains("first"), "{part}");
    }

    #[test]
    fn a_task_without_a_list_has_no_parts_and_the_whole_is_the_task_itself() {
        assert_eq!(count("fix it"), 0);
        assert_eq!(part(1, 3), TASK);
    }
}
