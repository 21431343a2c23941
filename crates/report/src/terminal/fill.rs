//! How full a window is, in words and as a bar. Bars and percentages are of the ceiling; what is estimated or
//! unknown is called so.

use segue_machine::Source;
use segue_machine::gauge::Gauge;

use crate::terminal::numbers::short;
use crate::terminal::text::Tint;

/// The figures of a gauge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    pub(crate) tokens: Option<u64>,
    pub(crate) projected: Option<u64>,
    pub(crate) window: Option<u64>,
    pub(crate) ceiling: Option<u64>,
    pub(crate) percent: Option<f64>,
    pub(crate) source: Source,
}

impl From<&Gauge> for Fill {
    fn from(gauge: &Gauge) -> Self {
        Self {
            tokens: gauge.tokens(),
            projected: gauge.projected(),
            window: gauge.window(),
            ceiling: gauge.ceiling(),
            percent: gauge.percent().map(crate::stream::number),
            source: gauge.source(),
        }
    }
}

impl Fill {
    /// `136k of 177k (window 200k) exact`.
    pub(crate) fn words(&self) -> String {
        let Some(amount) = self.amount() else {
            return format!("context used unknown{}", wall(self.ceiling, self.window));
        };
        let source = match self.source {
            Source::Exact => " exact",
            Source::Reported => " reported",
            Source::Estimated => " estimated",
            Source::None => "",
        };
        match self.ceiling {
            Some(_) => format!("{amount}{}{source}", room(self.ceiling, self.window, " of ")),
            None => format!("{amount}{source}, window unknown"),
        }
    }

    /// `136k of 177k`, where there is no room for more.
    pub(crate) fn short_words(&self) -> String {
        match (self.amount(), self.ceiling) {
            (Some(amount), Some(ceiling)) => format!("{amount} of {}", short(ceiling)),
            (Some(amount), None) => format!("{amount}, window unknown"),
            (None, _) => "context used unknown".to_owned(),
        }
    }

    fn amount(&self) -> Option<String> {
        match (self.tokens, self.projected) {
            (Some(tokens), Some(projected)) if short(projected) != short(tokens) => {
                Some(format!("{}+{}", short(tokens), short(projected.saturating_sub(tokens))))
            }
            (Some(tokens), _) => Some(short(tokens)),
            (None, projected) => projected.map(|projected| format!("~{}", short(projected))),
        }
    }

    /// `68 %`, rounded down.
    pub(crate) fn percent_words(&self) -> Option<String> {
        self.percent.map(|percent| format!("{} %", percent.floor()))
    }

    /// So many cells, filled as the window is.
    pub(crate) fn bar(&self, cells: usize) -> Option<String> {
        let share = self.percent? / 100.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a few cells, at least 0"
        )]
        let full = ((share * cells as f64) as usize).min(cells);
        Some("█".repeat(full) + &"░".repeat(cells - full))
    }

    /// Green, yellow, red.
    pub(crate) fn tint(&self) -> Tint {
        match self.percent {
            None => Tint::Dim,
            Some(percent) if percent >= 90.0 => Tint::Bad,
            Some(percent) if percent >= 70.0 => Tint::Careful,
            Some(_) => Tint::Good,
        }
    }
}

/// `, window 200k` or `, ceiling 177k (window 200k)`.
pub(crate) fn wall(ceiling: Option<u64>, window: Option<u64>) -> String {
    room(ceiling, window, if ceiling == window { ", window " } else { ", ceiling " })
}

/// The ceiling and, where it is another figure, the window.
fn room(ceiling: Option<u64>, window: Option<u64>, lead: &str) -> String {
    match (ceiling, window) {
        (Some(ceiling), Some(window)) if ceiling != window => {
            format!("{lead}{} (window {})", short(ceiling), short(window))
        }
        (Some(ceiling), Some(_)) => format!("{lead}{}", short(ceiling)),
        (Some(ceiling), None) => format!("{lead}{} (window unknown)", short(ceiling)),
        (None, _) => ", window unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(tokens: Option<u64>, projected: Option<u64>, ceiling: Option<u64>, source: Source) -> Fill {
        let percent = tokens.max(projected).zip(ceiling).map(|(t, c)| t as f64 * 100.0 / c as f64);
        Fill { tokens, projected, window: ceiling.map(|_| 200_000), ceiling, percent, source }
    }

    #[test]
    fn the_words_name_tokens_ceiling_window_and_source() {
        let k = Some(136_000);
        assert_eq!(fill(k, k, Some(200_000), Source::Exact).words(), "136k of 200k exact");
        assert_eq!(
            fill(k, k, Some(177_000), Source::Reported).words(),
            "136k of 177k (window 200k) reported"
        );
        assert_eq!(fill(k, Some(141_500), Some(200_000), Source::Exact).words(), "136k+5.5k of 200k exact");
        assert_eq!(fill(None, k, Some(200_000), Source::Estimated).words(), "~136k of 200k estimated");
        assert_eq!(fill(None, k, Some(177_000), Source::Estimated).short_words(), "~136k of 177k");
    }

    #[test]
    fn m4_an_unknown_window_is_called_unknown() {
        assert_eq!(fill(Some(9_000), None, None, Source::Exact).words(), "9k exact, window unknown");
        assert_eq!(fill(None, None, None, Source::None).words(), "context used unknown, window unknown");
        assert_eq!(
            fill(None, None, Some(200_000), Source::None).words(),
            "context used unknown, window 200k"
        );
        assert_eq!(fill(None, None, Some(200_000), Source::None).short_words(), "context used unknown");
        assert_eq!(fill(Some(9_000), None, None, Source::Exact).short_words(), "9k, window unknown");
        assert_eq!(fill(Some(9_000), None, None, Source::Exact).bar(10), None);
    }

    #[test]
    fn m4_more_than_full_is_a_full_bar_and_an_honest_number() {
        let over = fill(Some(250_000), None, Some(200_000), Source::Exact);
        assert_eq!(over.bar(4).as_deref(), Some("████"));
        assert_eq!(over.percent_words().as_deref(), Some("125 %"));
    }

    #[test]
    fn a_bar_fills_with_its_share_of_the_ceiling() {
        let most = fill(Some(136_000), None, Some(200_000), Source::Exact);
        assert_eq!(most.bar(12).as_deref(), Some("████████░░░░"));
        assert_eq!(
            fill(Some(199_999), None, Some(200_000), Source::Exact).percent_words().as_deref(),
            Some("99 %")
        );
    }
}
