//! Tables of the documentation, read from its pages.

/// The rows of the first table below a heading, without its titles. Each cell is plain text.
pub(super) fn find_table_rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let below = page.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading);
    let table = below.skip_while(|line| !line.starts_with('|'));
    let table = table.take_while(|line| line.starts_with('|'));
    // The titles, and the line below them.
    table.skip(2).map(split_cells).collect()
}

fn split_cells(row: &str) -> Vec<String> {
    let inner = row.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split(" | ").map(|cell| strip_markup(cell.trim())).collect()
}

/// Markdown without its marks: code as it is, and of a link its text.
fn strip_markup(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let (kept, linked) = before.rsplit_once('[').unwrap_or(("", before));
        text.push_str(kept);
        text.push_str(linked);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text.replace(['`', '*'], "")
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
