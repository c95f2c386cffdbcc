//! Tables and lists of the documentation, read from its pages.

use crate::commands::docs::markdown::{MarkdownBlock, SpanKind, parse_blocks, parse_spans};

/// The rows of the first table below a heading, without its titles. Each cell is plain text.
pub(super) fn find_table_rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let is_heading = |block: &MarkdownBlock| matches!(block, MarkdownBlock::Heading { text, .. } if text == heading);
    let below = parse_blocks(page).into_iter().skip_while(|block| !is_heading(block));
    let mut tables = below.filter_map(|block| if let MarkdownBlock::Table(rows) = block { Some(rows) } else { None });
    let rows = tables.next().unwrap_or_default().into_iter().skip(1);
    rows.map(|row| row.iter().map(|cell| strip_markup(cell)).collect()).collect()
}

/// The items of the first list below a heading, each as the name before its colon and the text after it.
pub(super) fn find_list_entries(page: &str, heading: &str) -> Vec<(String, String)> {
    let is_heading = |block: &MarkdownBlock| matches!(block, MarkdownBlock::Heading { text, .. } if text == heading);
    let is_item = |block: &MarkdownBlock| matches!(block, MarkdownBlock::ListItem { .. });
    let below = parse_blocks(page).into_iter().skip_while(|block| !is_heading(block)).skip(1);
    let section = below.take_while(|block| !matches!(block, MarkdownBlock::Heading { .. }));
    let items = section.skip_while(|block| !is_item(block)).take_while(is_item);
    let entry = |block| match block {
        MarkdownBlock::ListItem { text, .. } => split_entry(&strip_markup(&text)),
        _ => None,
    };
    items.filter_map(entry).collect()
}

/// Splits at the first colon outside parentheses.
fn split_entry(text: &str) -> Option<(String, String)> {
    let is_outside = |at: usize| text[..at].matches('(').count() == text[..at].matches(')').count();
    let (at, _) = text.match_indices(": ").find(|(at, _)| is_outside(*at))?;
    Some((text[..at].to_owned(), text[at + 2..].to_owned()))
}

/// A text without marks, and without the targets of its links.
fn strip_markup(text: &str) -> String {
    parse_spans(text).into_iter().filter(|(_, kind)| *kind != SpanKind::LinkTarget).map(|(text, _)| text).collect()
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

    #[test]
    fn a_list_is_found_by_its_heading_and_split_at_the_colon() {
        let page = "# Page\n\n- no: no\n\n## This one\n\nWords.\n\n- `A` (older: `B`): `x`: see\n  [here](there.md)\n\
                    - `C`: d\n- no colon\n\nMore.\n\n- `E`: f\n\n## Empty\n\n## Last\n\n- `G`: h\n";
        let entries = [("A (older: B)", "x: see here"), ("C", "d")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(find_list_entries(page, "This one"), entries);
        assert!(find_list_entries(page, "Empty").is_empty());
    }
}
