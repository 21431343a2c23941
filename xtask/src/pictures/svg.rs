//! A screen as an SVG, in light or dark.

use std::fmt::Write;

use super::screen::{Cell, Look, Screen};

/// The size of a cell, and the space around the screen.
const CELL: (usize, usize) = (8, 18);
const MARGIN: usize = 14;

/// On what background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn background(self) -> &'static str {
        match self {
            Self::Light => "#ffffff",
            Self::Dark => "#0d1117",
        }
    }

    fn color(self, look: Look) -> &'static str {
        let (plain, dim, colors) = match self {
            Self::Light => (
                "#1f2328",
                "#656d76",
                ["#1f2328", "#c5221f", "#116329", "#8a5a00", "#0550ae", "#8250df", "#1b7c83", "#57606a"],
            ),
            Self::Dark => (
                "#e6edf3",
                "#8b949e",
                ["#6e7681", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#e6edf3"],
            ),
        };
        match look.color {
            Some(color) => colors[usize::from(color % 8)],
            None if look.dim => dim,
            None => plain,
        }
    }
}

/// The picture of a screen, at most so many of its last rows, below the line that was typed.
pub(super) fn draw(screen: &Screen, typed: &str, most: usize, theme: Theme) -> String {
    let prompt = format!("$ segue {typed}");
    let mut rows = screen.rows();
    rows.drain(..rows.len().saturating_sub(most));
    let (width, height) = (screen.width * CELL.0 + 2 * MARGIN, (rows.len() + 1) * CELL.1 + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{}\" \
         stroke=\"#8b949e\" stroke-opacity=\"0.4\"/>\n<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,\
         monospace\" font-size=\"13\" xml:space=\"preserve\">\n",
        escaped(&prompt),
        theme.background()
    );
    let bold = Look { bold: true, ..Look::default() };
    let typed: Vec<Cell> = prompt.chars().map(|shown| Cell { shown, look: bold }).collect();
    for (n, row) in std::iter::once(typed.as_slice()).chain(rows).enumerate() {
        let y = MARGIN + n * CELL.1 + 13;
        for (column, text, look) in pieces(row) {
            let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{y}\" textLength=\"{}\" fill=\"{}\"{weight}>{}</text>",
                MARGIN + column * CELL.0,
                text.chars().count() * CELL.0,
                theme.color(look),
                escaped(&text)
            );
        }
    }
    svg + "</g>\n</svg>\n"
}

/// The parts of a row that look alike, with the column where each begins; spaces at their ends are left out.
fn pieces(row: &[Cell]) -> Vec<(usize, String, Look)> {
    let mut found: Vec<(usize, String, Look)> = Vec::new();
    for (column, cell) in row.iter().enumerate() {
        match found.last_mut() {
            Some((_, text, look)) if *look == cell.look => text.push(cell.shown),
            _ => found.push((column, cell.shown.to_string(), cell.look)),
        }
    }
    for (column, text, _) in &mut found {
        *column += text.chars().take_while(|c| *c == ' ').count();
        *text = text.trim().to_owned();
    }
    found.retain(|(_, text, _)| !text.is_empty());
    found
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_one_piece_and_text_is_escaped() {
        let screen = Screen::of("\u{1b}[32m  ok\u{1b}[0m a < b", 20);
        let picture = draw(&screen, "status", 1, Theme::Dark);
        assert!(picture.contains(">$ segue status</text>"), "{picture}");
        assert!(
            picture.contains("x=\"30\" y=\"45\" textLength=\"16\" fill=\"#56d364\">ok</text>"),
            "{picture}"
        );
        assert!(picture.contains(">a &lt; b</text>") && picture.ends_with("</svg>\n"), "{picture}");
    }
}
