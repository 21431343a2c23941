//! Amounts as people write them: durations, money, percentages, command lines.
//!
//! Text in, number out; what is out of range is `None`, so that later sums cannot overflow.

use segue_machine::policy::{BadThreshold, preset};

/// Ten years: longer than any run, and far from the end of a `u64`.
const MOST_MILLIS: u64 = 3_650 * 86_400_000;
const MOST_TOKENS: u64 = 1_000_000_000_000;
const MOST_DOLLARS: u64 = 1_000_000_000;
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A duration in milliseconds: `10m`, `1h30m`, `45s`, `500ms`; a bare number is seconds. Never 0.
pub(crate) fn millis(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    if let Some(seconds) = decimal(rest) {
        return in_range(seconds * 1_000.0);
    }
    let (mut total, mut above) = (0.0, u64::MAX);
    while !rest.is_empty() {
        let (number, after) = split_while(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split_while(after.trim_start(), |c| c.is_ascii_alphabetic());
        let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        if factor >= above {
            return None;
        }
        above = factor;
        #[expect(clippy::cast_precision_loss, reason = "a factor of at most one day")]
        let part = decimal(number)? * factor as f64;
        total += part;
        rest = after.trim_start();
    }
    in_range(total)
}

/// The duration as [`millis`] reads it.
pub(crate) fn millis_text(mut millis: u64) -> String {
    let mut text = String::new();
    for (unit, factor) in UNITS.into_iter().skip(1) {
        if millis >= factor {
            text.push_str(&format!("{}{unit}", millis / factor));
            millis %= factor;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// Money in millionths of a dollar: `5`, `5.50`, `$5`. Never 0.
pub(crate) fn musd(text: &str) -> Option<u64> {
    price(text).filter(|m| *m > 0)
}

/// The same where nothing is an amount too.
pub(crate) fn price(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('$').unwrap_or(text);
    let (whole, cents) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(cents) || cents.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok().filter(|w| *w <= MOST_DOLLARS)?;
    let cents: u64 = format!("{cents:0<6}").parse().ok()?;
    Some(whole * 1_000_000 + cents)
}

/// The money as [`musd`] reads it.
pub(crate) fn musd_text(musd: u64) -> String {
    let (whole, rest) = (musd / 1_000_000, musd % 1_000_000);
    let cents = format!("{rest:06}");
    match cents.trim_end_matches('0') {
        "" => format!("{whole}"),
        short if short.len() < 2 => format!("{whole}.{short}0"),
        short => format!("{whole}.{short}"),
    }
}

/// Tokens: `200000`, `200k`, `1M`. Never 0.
pub(crate) fn tokens(text: &str) -> Option<u64> {
    segue_machine::gauge::parse_tokens(text).filter(|t| (1..=MOST_TOKENS).contains(t))
}

/// Whether an amount that may be a percentage or tokens is in tokens: it has their unit, or is too much for a percentage.
pub(crate) fn is_tokens(text: &str) -> bool {
    const MOST_PERCENT: u64 = 1_000;
    text.ends_with(['k', 'K', 'm', 'M']) || tokens(text).is_some_and(|tokens| tokens >= MOST_PERCENT)
}

/// A percentage: `90`, `87.5`, `90%`. A fraction is asked back by the machine's own rule.
pub(crate) fn percent(text: &str) -> Option<Result<f64, BadThreshold>> {
    let text = text.trim();
    let number: f64 = text.strip_suffix('%').unwrap_or(text).trim().parse().ok()?;
    let mut scratch = preset::find(preset::NAMES[0])?.policy;
    Some(scratch.set_threshold(number).map(|()| number))
}

/// The words of a command line, with quotes and backslashes as in a shell; `None` when a quote is left open.
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().push(chars.next()?),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

fn decimal(text: &str) -> Option<f64> {
    let digits =
        text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if digits { text.parse().ok() } else { None }
}

fn in_range(millis: f64) -> Option<u64> {
    #[expect(clippy::cast_precision_loss, reason = "far below the precision of an f64")]
    let most = MOST_MILLIS as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    (1.0..=most).contains(&millis).then_some(millis.round() as u64)
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ms) in [
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("45s", 45_000),
            ("500ms", 500),
            ("90", 90_000),
            ("1.5h", 5_400_000),
            ("2d", 172_800_000),
        ] {
            assert_eq!(millis(text), Some(ms), "{text}");
        }
        for text in ["", "0", "0s", "-5s", "10x", "m", "30m1h", "5m5m", "1..2s", "999999999999d", "1e9", "é"]
        {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    #[test]
    fn durations_and_money_are_written_as_they_are_read() {
        for text in ["10m", "1h30m", "45s", "500ms", "48h", "1s500ms"] {
            assert_eq!(millis(text).map(millis_text).as_deref(), Some(text));
        }
        for text in ["5", "5.50", "0.000001", "12.345"] {
            assert_eq!(musd(text).map(musd_text).as_deref(), Some(text));
        }
    }

    #[test]
    fn money_is_exact_and_never_nothing() {
        assert_eq!(musd("$5"), Some(5_000_000));
        assert_eq!(musd("5.5"), Some(5_500_000));
        for text in ["", "$", "0", "0.00", "-1", "5.", ".5", "1e3", "5.1234567", "99999999999", "5 USD"] {
            assert_eq!(musd(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_line_is_split_as_a_shell_would() {
        let split = |text| words(text).unwrap();
        assert_eq!(split("gemini  --acp"), ["gemini", "--acp"]);
        assert_eq!(split(r#"a "b c" 'd "e' f\ g "" h"i"j"#), ["a", "b c", "d \"e", "f g", "", "hij"]);
        assert_eq!(split("  "), Vec::<String>::new());
        assert_eq!(words("a 'b"), None);
        assert_eq!(words("a\\"), None);
    }

    #[test]
    fn a_fraction_is_no_percentage() {
        assert_eq!(percent("87.5%"), Some(Ok(87.5)));
        assert!(matches!(percent("0.9"), Some(Err(BadThreshold::Fraction(..)))));
        assert!(matches!(percent("nan"), Some(Err(BadThreshold::NotPercent(_)))));
        assert_eq!(percent("ninety"), None);
    }
}
