//! Tables with aligned columns.

use super::{TextStyle, apply_style, display_width, escape_invisible, terminal_width, truncate_to_width, write_stdout};

/// The widest padding of a column if nothing is cut: a wider cell does not widen the others.
const MAX_PADDED: usize = 64;

/// The width that a column keeps while others can be dropped for it: enough for numbers and times.
const MIN_COLUMN_WIDTH: usize = 9;

/// A table with aligned columns. On a terminal the flexible column, then the widest ones, are cut until a row fits.
#[derive(Debug)]
pub(crate) struct TextTable<const N: usize> {
    rows: Vec<[String; N]>,
    styles: Vec<[TextStyle; N]>,
    flexible: usize,
    /// Dropped if all its cells are empty.
    optional: Option<usize>,
    /// Dropped one after the other if there is no room for all.
    dispensable: Vec<usize>,
}

impl<const N: usize> TextTable<N> {
    /// `flexible` is the column to shorten first.
    pub(crate) fn new(titles: [&str; N], flexible: usize) -> Self {
        Self {
            flexible,
            optional: None,
            dispensable: Vec::new(),
            rows: vec![titles.map(str::to_owned)],
            styles: vec![[TextStyle::Bold; N]],
        }
    }

    /// Drops this column if all its cells are empty.
    pub(crate) fn with_optional_column(mut self, column: usize) -> Self {
        self.optional = Some(column);
        self
    }

    /// Drops these columns, one after the other, on a terminal that is too narrow for all.
    pub(crate) fn with_dispensable_columns(mut self, columns: &[usize]) -> Self {
        self.dispensable = columns.to_vec();
        self
    }

    pub(crate) fn add_row(&mut self, cells: [String; N]) {
        self.add_styled_row(cells.map(|cell| (cell, TextStyle::Plain)));
    }

    pub(crate) fn add_styled_row(&mut self, cells: [(String, TextStyle); N]) {
        self.styles.push(std::array::from_fn(|column| cells[column].1));
        self.rows.push(cells.map(|(cell, _)| escape_invisible(&cell)));
    }

    pub(crate) fn print(&self) {
        write_stdout(&self.render());
    }

    /// Prints every cell in full, even on a narrow terminal, and a blank line; nothing if there are no rows.
    pub(crate) fn print_full_width(&self) {
        if self.rows.len() > 1 {
            write_stdout(&format!("{}\n", self.render_within(None)));
        }
    }

    /// The text that [`TextTable::print`] prints.
    pub(crate) fn render(&self) -> String {
        self.render_within(terminal_width())
    }

    fn render_within(&self, room: Option<usize>) -> String {
        let shown = self.visible_columns(room);
        let widths = self.compute_widths(room, &shown);
        let mut text = String::new();
        for (row, styles) in self.rows.iter().zip(&self.styles) {
            // The last cell of a line needs no padding.
            let last = shown.iter().rev().find(|column| !row[**column].is_empty());
            let last = *last.unwrap_or(&0);
            for column in shown.iter().copied().filter(|column| *column <= last) {
                let cell = match room {
                    Some(_) => truncate_to_width(&row[column], widths[column]),
                    None => row[column].clone(),
                };
                let padding = widths[column].saturating_sub(display_width(&cell)) + 2;
                text.push_str(&apply_style(&cell, styles[column]));
                if column != last {
                    text.extend(std::iter::repeat_n(' ', padding));
                }
            }
            text.push('\n');
        }
        text
    }

    /// The columns that fit into this width.
    fn visible_columns(&self, room: Option<usize>) -> Vec<usize> {
        let is_empty = |column: usize| self.rows.iter().skip(1).all(|row| row[column].is_empty());
        let left_out = self.optional.filter(|column| is_empty(*column));
        let mut shown: Vec<_> = (0..N).filter(|column| Some(*column) != left_out).collect();
        let least = self.natural_widths().map(|width| width.min(MIN_COLUMN_WIDTH));
        for column in &self.dispensable {
            if room.is_none_or(|room| measure_excess(&least, &shown, room) == 0) {
                break;
            }
            shown.retain(|shown| shown != column);
        }
        shown
    }

    /// The width of each column without cuts.
    fn natural_widths(&self) -> [usize; N] {
        std::array::from_fn(|column| self.rows.iter().map(|row| display_width(&row[column])).max().unwrap_or(0))
    }

    fn compute_widths(&self, room: Option<usize>, shown: &[usize]) -> [usize; N] {
        let mut widths = self.natural_widths();
        let Some(room) = room else {
            return widths.map(|width| width.min(MAX_PADDED));
        };
        if let Some(width) = widths.get(self.flexible) {
            widths[self.flexible] = width.saturating_sub(measure_excess(&widths, shown, room)).max((*width).min(20));
        }
        while measure_excess(&widths, shown, room) > 0 {
            match shown.iter().copied().max_by_key(|column| widths[*column]) {
                Some(widest) if widths[widest] > 4 => widths[widest] -= 1,
                _ => break,
            }
        }
        widths
    }
}

/// The cells by which these columns, with the gaps between them, exceed the room.
fn measure_excess(widths: &[usize], shown: &[usize], room: usize) -> usize {
    let cells: usize = shown.iter().map(|column| widths[*column]).sum();
    (cells + 2 * shown.len().saturating_sub(1)).saturating_sub(room)
}
