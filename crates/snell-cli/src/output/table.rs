//! Aligned columns, for people.

use super::{Style, harmless, shortened, styled, terminal_width, width, write_out};

/// Where nothing is cut, a cell that is wider than this stands out, rather than that all others are filled up to it.
const MAX_PADDED: usize = 64;

/// Aligned columns. On a terminal one column, and only then the widest, is shortened until a row fits on a line.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
    styles: Vec<[Style; N]>,
    flexible: usize,
    /// Left out if nothing stands in it.
    optional: Option<usize>,
}

impl<const N: usize> Table<N> {
    /// `flexible` is the column to shorten first.
    pub(crate) fn new(titles: [&str; N], flexible: usize) -> Self {
        Self {
            flexible,
            optional: None,
            rows: vec![titles.map(str::to_owned)],
            styles: vec![[Style::Bold; N]],
        }
    }

    /// Leaves this column out if nothing stands in it.
    pub(crate) fn optional(mut self, column: usize) -> Self {
        self.optional = Some(column);
        self
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.styled_row(cells.map(|cell| (cell, Style::Plain)));
    }

    pub(crate) fn styled_row(&mut self, cells: [(String, Style); N]) {
        self.styles.push(std::array::from_fn(|column| cells[column].1));
        self.rows.push(cells.map(|(cell, _)| harmless(&cell)));
    }

    pub(crate) fn print(&self) {
        write_out(&self.text());
    }

    /// Prints every cell in full, however wide the terminal is.
    pub(crate) fn print_whole(&self) {
        write_out(&self.text_within(None));
    }

    /// What [`Table::print`] prints.
    pub(crate) fn text(&self) -> String {
        self.text_within(terminal_width())
    }

    fn text_within(&self, room: Option<usize>) -> String {
        let left_out = self
            .optional
            .filter(|column| self.rows.iter().skip(1).all(|row| row[*column].is_empty()));
        let widths = self.widths(room, left_out);
        let mut text = String::new();
        for (row, styles) in self.rows.iter().zip(&self.styles) {
            // What ends a line needs no padding.
            let last = (0..N)
                .rev()
                .find(|column| Some(*column) != left_out && !row[*column].is_empty());
            for column in (0..=last.unwrap_or(0)).filter(|column| Some(*column) != left_out) {
                let cell = match room {
                    Some(_) => shortened(&row[column], widths[column]),
                    None => row[column].clone(),
                };
                let padding = widths[column].saturating_sub(width(&cell)) + 2;
                text.push_str(&styled(&cell, styles[column]));
                if Some(column) != last {
                    text.extend(std::iter::repeat_n(' ', padding));
                }
            }
            text.push('\n');
        }
        text
    }

    fn widths(&self, room: Option<usize>, left_out: Option<usize>) -> [usize; N] {
        let mut widths = [0; N];
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(cell));
            }
        }
        if let Some(column) = left_out {
            widths[column] = 0;
        }
        let Some(room) = room else {
            return widths.map(|width| width.min(MAX_PADDED));
        };
        let gaps = N.saturating_sub(1 + usize::from(left_out.is_some()));
        let excess = |widths: &[usize; N]| (widths.iter().sum::<usize>() + 2 * gaps).saturating_sub(room);
        if let Some(width) = widths.get(self.flexible) {
            widths[self.flexible] = width.saturating_sub(excess(&widths)).max((*width).min(20));
        }
        while excess(&widths) > 0 {
            match widths.iter_mut().max() {
                Some(widest) if *widest > 4 => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}
