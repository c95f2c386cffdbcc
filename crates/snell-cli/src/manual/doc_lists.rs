//! Lists of the documentation, read from its pages.

use crate::commands::docs::markdown::{MarkdownBlock, parse_blocks, strip_markup};

/// The items of the first list below a heading, each as the name before its colon and the text after it.
pub(super) fn find_list_entries(page: &str, heading: &str) -> Vec<(String, String)> {
    let is_heading = |block: &MarkdownBlock| matches!(block, MarkdownBlock::Heading { text, .. } if text == heading);
    let is_item = |block: &MarkdownBlock| matches!(block, MarkdownBlock::ListItem { .. });
    let below = parse_blocks(page).into_iter().skip_while(|block| !is_heading(block)).skip(1);
    let section = below.take_while(|block| !matches!(block, MarkdownBlock::Heading { .. }));
    let items = section.skip_while(|block| !is_item(block)).take_while(is_item);
    let entry = |block| match block {
        MarkdownBlock::ListItem { text, .. } => split_entry(&strip_markup(&text).replace('`', "")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_found_by_its_heading_and_split_at_the_colon() {
        let page = "# Page\n\n- no: no\n\n## This one\n\nWords.\n\n- `A` (older: `B`): `x`: see\n  [here](there.md)\n\
                    - `C`: d\n- no colon\n\nMore.\n\n- `E`: f\n\n## Empty\n\n## Last\n\n- `G`: h\n";
        let entries = [("A (older: B)", "x: see here"), ("C", "d")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(find_list_entries(page, "This one"), entries);
        assert!(find_list_entries(page, "Empty").is_empty());
    }
}
