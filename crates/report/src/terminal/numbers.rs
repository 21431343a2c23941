//! Numbers as people read them. Tokens are rounded down, so that 199,999 never looks like 200k.

/// `950`, `12.3k`, `136k`, `1.43M`.
pub(crate) fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..100_000 => scaled(tokens / 100, 1, "k"),
        100_000..1_000_000 => scaled(tokens / 1_000, 0, "k"),
        _ => scaled(tokens / 10_000, 2, "M"),
    }
}

fn scaled(number: u64, decimals: u32, unit: &str) -> String {
    let base = 10_u64.pow(decimals);
    let (whole, rest) = (number / base, number % base);
    if rest == 0 {
        return format!("{}{unit}", thousands(whole));
    }
    let digits = format!("{rest:0width$}", width = decimals as usize);
    format!("{}.{}{unit}", thousands(whole), digits.trim_end_matches('0'))
}

/// `1,432,262`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `0.4 s`, `12 s`, `5 min 12 s`, `2 h 05 min`, `3 d 4 h`.
pub fn duration(ms: u64) -> String {
    let s = ms / 1_000;
    match s {
        0..10 => format!("{s}.{} s", ms % 1_000 / 100),
        10..60 => format!("{s} s"),
        60..3_600 => format!("{} min {:02} s", s / 60, s % 60),
        3_600..86_400 => format!("{} h {:02} min", s / 3_600, s % 3_600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3_600),
    }
}

/// `5:12`, `2:05:12`: the time since the run began, at the head of a line.
pub(crate) fn clock(ms: u64) -> String {
    let s = ms / 1_000;
    if s < 3_600 {
        format!("{:02}:{:02}", s / 60, s % 60)
    } else {
        format!("{}:{:02}:{:02}", s / 3_600, s % 3_600 / 60, s % 60)
    }
}

/// `$3.21`; fractions of a cent are shown when there is nothing else.
pub(crate) fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// `1 call`, `2 calls`.
pub(crate) fn count(number: u32, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", thousands(u64::from(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short_and_never_rounded_up() {
        let cases = [
            (0, "0"),
            (950, "950"),
            (12_345, "12.3k"),
            (20_000, "20k"),
            (136_900, "136k"),
            (199_999, "199k"),
            (200_000, "200k"),
            (1_050_000, "1.05M"),
            (2_000_000, "2M"),
            (u64::MAX, "18,446,744,073,709.55M"),
        ];
        for (tokens, said) in cases {
            assert_eq!(short(tokens), said);
        }
        assert_eq!(thousands(1_432_262), "1,432,262");
    }

    #[test]
    fn times_grow_with_their_units() {
        let said: Vec<String> = [400, 12_000, 312_000, 7_512_000, 273_600_000].map(duration).into();
        assert_eq!(said, ["0.4 s", "12 s", "5 min 12 s", "2 h 05 min", "3 d 4 h"]);
        assert_eq!([clock(312_000), clock(7_512_000)], ["05:12", "2:05:12"]);
    }
}
