//! A page of the documentation, taken apart. It understands what its pages use of Markdown, and no more.

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkdownBlock {
    Heading {
        level: usize,
        text: String,
    },
    Paragraph(String),
    /// What a list says in one place: how far it is set in, what stands before it, what it says.
    ListItem {
        indent: usize,
        mark: String,
        text: String,
    },
    /// Lines that stay as they are.
    Code(Vec<String>),
    /// Rows of cells; the first one has the titles.
    Table(Vec<Vec<String>>),
}

/// The parts of a page, in order.
pub(super) fn parse_blocks(page: &str) -> Vec<MarkdownBlock> {
    let mut found = Vec::new();
    let mut lines = page.lines().peekable();
    // Whether the next line goes on with the last block.
    let mut goes_on = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let went_on = std::mem::take(&mut goes_on);
        if trimmed.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```"));
            found.push(MarkdownBlock::Code(code.map(str::to_owned).collect()));
        } else if line.starts_with('|') {
            let mut rows = vec![split_cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(split_cells(row));
            }
            // Below the titles there is a line of dashes.
            rows.retain(|row| !row.iter().all(|cell| is_table_rule(cell)));
            found.push(MarkdownBlock::Table(rows));
        } else if let Some((level, text)) = parse_heading(line) {
            found.push(MarkdownBlock::Heading { level, text });
        } else if let Some((indent, mark, text)) = parse_list_item(line) {
            found.push(MarkdownBlock::ListItem { indent, mark, text });
            goes_on = true;
        } else if !trimmed.is_empty() && !trimmed.starts_with("<!--") {
            match found.last_mut().filter(|_| went_on) {
                Some(MarkdownBlock::Paragraph(text) | MarkdownBlock::ListItem { text, .. }) => {
                    text.push(' ');
                    text.push_str(trimmed);
                }
                _ => found.push(MarkdownBlock::Paragraph(trimmed.to_owned())),
            }
            goes_on = true;
        }
    }
    found
}

fn parse_heading(line: &str) -> Option<(usize, String)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (level > 0 && text.starts_with(' ')).then(|| (level, text.trim().to_owned()))
}

/// `- text` and `1. text`.
fn parse_list_item(line: &str) -> Option<(usize, String, String)> {
    let trimmed = line.trim_start();
    let (mark, text) = trimmed.split_once(' ')?;
    let is_number = mark.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok());
    let mark = match mark {
        "-" | "*" => "•",
        _ if is_number => mark,
        _ => return None,
    };
    Some((line.len() - trimmed.len(), mark.to_owned(), text.trim().to_owned()))
}

/// The cells of a row. A bar that belongs to a cell is written `\|`.
fn split_cells(row: &str) -> Vec<String> {
    const BAR: char = '\u{0}';
    let row = row.replace("\\|", "\u{0}");
    let inner = row.trim().trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split('|').map(|cell| cell.trim().replace(BAR, "|")).collect()
}

fn is_table_rule(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_taken_apart() {
        let page = "# Title\n\nTwo\nlines.\n<!-- remark -->\n\n- one\n  more\n- two\n\n3. three\n\n| a | b |\n|---|:-:|\n\
                    | x \\| y | |\n\n```sh\n# no heading\n\n| no table\n```\nEnd - of it.\n";
        let text = str::to_owned;
        let item = |mark: &str, said: &str| MarkdownBlock::ListItem { indent: 0, mark: text(mark), text: text(said) };
        let expected = [
            MarkdownBlock::Heading { level: 1, text: text("Title") },
            MarkdownBlock::Paragraph(text("Two lines.")),
            item("•", "one more"),
            item("•", "two"),
            item("3.", "three"),
            MarkdownBlock::Table(vec![vec![text("a"), text("b")], vec![text("x | y"), text("")]]),
            MarkdownBlock::Code(vec![text("# no heading"), text(""), text("| no table")]),
            MarkdownBlock::Paragraph(text("End - of it.")),
        ];
        assert_eq!(parse_blocks(page), expected);
    }
}
