//! Numbers as people read them, beside those of every crate.

pub use segue_machine::amounts::duration;
pub(crate) use segue_machine::amounts::{short, thousands};

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
    segue_machine::amounts::count(u64::from(number), noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_has_hours_when_there_are_any() {
        assert_eq!([clock(312_000), clock(7_512_000)], ["05:12", "2:05:12"]);
    }
}
