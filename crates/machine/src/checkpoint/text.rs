//! Cutting text to a size without breaking characters and without hiding that it was cut.

/// The notice that stands where text was cut.
const NOTICE: &str = "\n… (cut)";

/// At most `max` characters of `text`, the notice included, when something had to go.
pub fn cut_chars(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let notice = NOTICE.chars().count();
    if max < notice {
        return text.chars().take(max).collect();
    }
    let mut kept: String = text.chars().take(max - notice).collect();
    kept.push_str(NOTICE);
    kept
}

/// The first `max` items, then "and N more" when there are more.
pub fn cut_list<T: AsRef<str>>(items: &[T], max: usize) -> Vec<String> {
    let mut shown: Vec<String> = items.iter().take(max).map(|i| i.as_ref().to_owned()).collect();
    if items.len() > max {
        shown.push(format!("and {} more", items.len() - max));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c4_the_limit_holds_at_every_length_and_character_width() {
        let text = "aä€😀".repeat(2_000);
        for max in 0..300 {
            let cut = cut_chars(&text, max);
            assert!(cut.chars().count() <= max);
        }
        assert!(cut_chars(&text, 2_000).ends_with("… (cut)"));
        assert_eq!(cut_chars("short", 2_000), "short");
    }

    #[test]
    fn c3_25_files_are_20_and_5_more() {
        let files: Vec<String> = (0..25).map(|n| format!("f{n}")).collect();
        let shown = cut_list(&files, 20);
        assert_eq!((shown.len(), shown[20].as_str()), (21, "and 5 more"));
        assert_eq!(cut_list(&files, 25).len(), 25);
    }
}
