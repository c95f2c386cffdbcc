//! Tables of the documentation, read from its pages.

use crate::commands::docs::markdown::{MarkdownBlock, parse_blocks, strip_markup};

/// The rows of the first table below a heading, without its titles. Each cell is plain text.
pub(super) fn find_table_rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let is_heading = |block: &MarkdownBlock| matches!(block, MarkdownBlock::Heading { text, .. } if text == heading);
    let below = parse_blocks(page).into_iter().skip_while(|block| !is_heading(block));
    let mut tables = below.filter_map(|block| if let MarkdownBlock::Table(rows) = block { Some(rows) } else { None });
    let rows = tables.next().unwrap_or_default().into_iter().skip(1);
    rows.map(|row| row.iter().map(|cell| strip_markup(cell).replace('`', "")).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_by_its_heading_and_read_cell_by_cell() {
        let page = "# Page\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## This one\n\nWords.\n\n| a | b |\n|---|---|\n\
                    | `x`, `y` | see [here](there.md#anchor), and **not** [there](x) |\n| z | – |\n\nMore.\n\n| c |\n";
        assert_eq!(find_table_rows(page, "This one"), [["x, y", "see here, and not there"], ["z", "–"]]);
        assert!(find_table_rows(page, "Another").is_empty());
    }
}
