//! Tables with aligned columns.

use super::{TextStyle, apply_style, display_width, escape_invisible, terminal_width, truncate_to_width, write_stdout};

/// The widest padding of a column if nothing is cut: a wider cell does not widen the others.
const MAX_PADDED: usize = 64;

/// The width that a column with a drop rank keeps while another can be dropped for it: enough for numbers and times.
const MIN_RANKED_WIDTH: usize = 9;

/// The same for a column without a rank: a state, an id.
const MIN_COLUMN_WIDTH: usize = 16;

/// The same for a flexible column: a few words.
const MIN_FLEXIBLE_WIDTH: usize = 20;

/// A column of a table. A terminal that is too narrow for all columns drops those with a drop rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableColumn {
    title: &'static str,
    drop_rank: Option<u8>,
    is_flexible: bool,
    is_optional: bool,
}

impl TableColumn {
    pub(crate) const fn new(title: &'static str) -> Self {
        Self { title, drop_rank: None, is_flexible: false, is_optional: false }
    }

    /// Drops the column on a narrow terminal: rank 1 first. A column without a rank always stays.
    pub(crate) const fn with_drop_rank(self, rank: u8) -> Self {
        Self { drop_rank: Some(rank), ..self }
    }

    /// Cuts this column before the others.
    pub(crate) const fn flexible(self) -> Self {
        Self { is_flexible: true, ..self }
    }

    /// Drops the column if all its cells are empty.
    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    fn min_width(self) -> usize {
        match self.drop_rank {
            _ if self.is_flexible => MIN_FLEXIBLE_WIDTH,
            Some(_) => MIN_RANKED_WIDTH,
            None => MIN_COLUMN_WIDTH,
        }
    }
}

/// A table with aligned columns. On a terminal, columns are dropped by their rank until the others are readable. Then the flexible
/// columns and the widest ones are cut until a row fits.
#[derive(Debug)]
pub(crate) struct TextTable<const N: usize> {
    columns: [TableColumn; N],
    rows: Vec<[String; N]>,
    styles: Vec<[TextStyle; N]>,
}

impl<const N: usize> TextTable<N> {
    pub(crate) fn new(columns: [TableColumn; N]) -> Self {
        let titles = columns.map(|column| column.title.to_owned());
        Self { columns, rows: vec![titles], styles: vec![[TextStyle::Bold; N]] }
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
        let mut shown: Vec<_> =
            (0..N).filter(|column| !self.columns[*column].is_optional || !is_empty(*column)).collect();
        let natural = self.natural_widths();
        let least: [usize; N] = std::array::from_fn(|column| natural[column].min(self.columns[column].min_width()));
        let rank = |column: &usize| self.columns[*column].drop_rank;
        while room.is_some_and(|room| measure_excess(&least, &shown, room) > 0) {
            let Some(next) = shown.iter().copied().filter(|column| rank(column).is_some()).min_by_key(rank) else {
                break;
            };
            shown.retain(|column| *column != next);
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
        for column in shown.iter().copied().filter(|column| self.columns[*column].is_flexible) {
            let width = widths[column];
            let cut = width.saturating_sub(measure_excess(&widths, shown, room));
            widths[column] = cut.max(width.min(MIN_FLEXIBLE_WIDTH));
        }
        while measure_excess(&widths, shown, room) > 0 {
            // Columns that are wider than they need to be are cut first.
            let is_wide = |column: &usize| widths[*column] > self.columns[*column].min_width();
            let widest = |columns: &mut dyn Iterator<Item = usize>| columns.max_by_key(|column| widths[*column]);
            let next =
                widest(&mut shown.iter().copied().filter(is_wide)).or_else(|| widest(&mut shown.iter().copied()));
            match next {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn build_table() -> TextTable<5> {
        let mut table = TextTable::new([
            TableColumn::new("AGENT"),
            TableColumn::new("STATE"),
            TableColumn::new("PROJECT").with_drop_rank(2),
            TableColumn::new("WORDS").flexible(),
            TableColumn::new("LAST ACTIVE").with_drop_rank(1),
        ]);
        let words = "Which of the two databases should the tests use from now on?";
        table.add_row(["1", "awaiting_input", "api", words, "12s ago"].map(str::to_owned));
        table.add_row(["12", "idle", "a-project-with-a-name", "Done.", "3h ago"].map(str::to_owned));
        table
    }

    #[test]
    fn narrow_terminals_drop_columns_by_rank_and_then_cut_the_others() {
        let table = build_table();
        let shown = [Some(30), Some(40), Some(60), Some(80), Some(120), None].map(|room| {
            let text = table.render_within(room);
            let widest = text.lines().map(display_width).max();
            assert!(room.is_none() || widest <= room, "{room:?}: {text}");
            format!("{room:?}\n{text}")
        });
        insta::assert_snapshot!(shown.concat(), @"
        Some(30)
        AGENT  STATE        WORDS
        1      awaiting_i…  Which of …
        12     idle         Done.
        Some(40)
        AGENT  STATE           WORDS
        1      awaiting_input  Which of the two…
        12     idle            Done.
        Some(60)
        AGENT  STATE           PROJECT          WORDS
        1      awaiting_input  api              Which of the two da…
        12     idle            a-project-with…  Done.
        Some(80)
        AGENT  STATE           PROJECT                WORDS                  LAST ACTIVE
        1      awaiting_input  api                    Which of the two dat…  12s ago
        12     idle            a-project-with-a-name  Done.                  3h ago
        Some(120)
        AGENT  STATE           PROJECT                WORDS                                                         LAST ACTIVE
        1      awaiting_input  api                    Which of the two databases should the tests use from now on?  12s ago
        12     idle            a-project-with-a-name  Done.                                                         3h ago
        None
        AGENT  STATE           PROJECT                WORDS                                                         LAST ACTIVE
        1      awaiting_input  api                    Which of the two databases should the tests use from now on?  12s ago
        12     idle            a-project-with-a-name  Done.                                                         3h ago
        ");
    }

    #[test]
    fn an_optional_column_is_dropped_if_it_is_empty() {
        let columns = [TableColumn::new("A"), TableColumn::new("B").optional()];
        let mut table = TextTable::new(columns);
        table.add_row(["1".into(), String::new()]);
        assert_eq!(table.render_within(None), "A\n1\n");
        table.add_row(["2".into(), "x".into()]);
        assert_eq!(table.render_within(Some(3)), "A  B\n1\n2  x\n");
    }
}
