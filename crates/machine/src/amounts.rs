//! Numbers as people read them, the same everywhere. Tokens are rounded down, so that 199,999 never looks like 200k.

/// `950`, `12.3k`, `136k`, `1.43M`.
pub fn short(tokens: u64) -> String {
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
pub fn thousands(number: u64) -> String {
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

/// `0.4 s`, `12 s`, `5 m 12 s`, `18 m`, `2 h 05 m`, `3 d 4 h`: two units at most, and none that is zero.
pub fn duration(ms: u64) -> String {
    let s = ms / 1_000;
    match s {
        0..10 if ms % 1_000 >= 100 => format!("{s}.{} s", ms % 1_000 / 100),
        0..60 => format!("{s} s"),
        60..3_600 => two_units(s / 60, "m", s % 60, "s", 2),
        3_600..86_400 => two_units(s / 3_600, "h", s % 3_600 / 60, "m", 2),
        _ => two_units(s / 86_400, "d", s % 86_400 / 3_600, "h", 1),
    }
}

fn two_units(large: u64, unit: &str, small: u64, small_unit: &str, digits: usize) -> String {
    if small == 0 {
        format!("{large} {unit}")
    } else {
        format!("{large} {unit} {small:0digits$} {small_unit}")
    }
}

/// `1 session`, `2 sessions`.
pub fn count(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", thousands(number))
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
        assert_eq!([count(1, "session"), count(1_200, "session")], ["1 session", "1,200 sessions"]);
    }

    #[test]
    fn times_grow_with_their_units_and_leave_out_zeros() {
        let cases = [
            (0, "0 s"),
            (400, "0.4 s"),
            (9_000, "9 s"),
            (12_900, "12 s"),
            (312_000, "5 m 12 s"),
            (1_080_000, "18 m"),
            (7_512_000, "2 h 05 m"),
            (28_800_000, "8 h"),
            (273_600_000, "3 d 4 h"),
        ];
        for (ms, said) in cases {
            assert_eq!(duration(ms), said);
        }
    }
}
