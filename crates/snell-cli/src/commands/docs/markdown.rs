//! Reads the Markdown of the documentation: the constructs that its pages use, and no others.

/// A block of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MarkdownBlock {
    Heading {
        level: usize,
        text: String,
    },
    Paragraph(String),
    /// One item of a list, with the width of its indent and its bullet or number.
    ListItem {
        indent: usize,
        mark: String,
        text: String,
    },
    /// Lines that are not wrapped.
    Code(Vec<String>),
    /// Rows of cells; the first row has the titles.
    Table(Vec<Vec<String>>),
}

/// The blocks of a page, in order.
pub(crate) fn parse_blocks(page: &str) -> Vec<MarkdownBlock> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().peekable();
    // Whether the next line continues the last block.
    let mut goes_on = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let went_on = std::mem::take(&mut goes_on);
        if trimmed.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```"));
            blocks.push(MarkdownBlock::Code(code.map(str::to_owned).collect()));
        } else if line.starts_with('|') {
            let mut rows = vec![split_cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(split_cells(row));
            }
            // A line of dashes separates the titles.
            rows.retain(|row| !row.iter().all(|cell| is_table_rule(cell)));
            blocks.push(MarkdownBlock::Table(rows));
        } else if let Some((level, text)) = parse_heading(line) {
            blocks.push(MarkdownBlock::Heading { level, text });
        } else if let Some((indent, mark, text)) = parse_list_item(line) {
            blocks.push(MarkdownBlock::ListItem { indent, mark, text });
            goes_on = true;
        } else if !trimmed.is_empty() && !trimmed.starts_with("<!--") {
            match blocks.last_mut().filter(|_| went_on) {
                Some(MarkdownBlock::Paragraph(text) | MarkdownBlock::ListItem { text, .. }) => {
                    text.push(' ');
                    text.push_str(trimmed);
                }
                _ => blocks.push(MarkdownBlock::Paragraph(trimmed.to_owned())),
            }
            goes_on = true;
        }
    }
    blocks
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

/// A text without markup. Code keeps its backquotes, and external links keep their targets.
pub(crate) fn strip_markup(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[', '!']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let link = rest.strip_prefix('!').unwrap_or(rest);
        if let Some((code, after)) = rest.strip_prefix('`').and_then(|code| code.split_once('`')) {
            plain.push_str(&format!("`{code}`"));
            rest = after;
        } else if let Some((bold, after)) = rest.strip_prefix("**").and_then(|bold| bold.split_once("**")) {
            plain.push_str(&strip_markup(bold));
            rest = after;
        } else if let Some((label, target, after)) = parse_link(link) {
            plain.push_str(&strip_markup(label));
            if target.contains("://") && label != target {
                plain.push_str(&format!(" ({target})"));
            }
            rest = after;
        } else {
            // An unpaired mark is plain text. All marks are ASCII.
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    plain + rest
}

/// Splits `[label](target)` and the rest; the label may contain brackets.
fn parse_link(text: &str) -> Option<(&str, &str, &str)> {
    let inner = text.strip_prefix('[')?;
    let mut depth = 0_usize;
    let end = inner.find(|c| {
        let ends = c == ']' && depth == 0;
        depth = match c {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        ends
    })?;
    let (target, after) = inner[end..].strip_prefix("](")?.split_once(')')?;
    Some((&inner[..end], target, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_split_into_blocks() {
        let page = "# Title\n\nTwo\nlines.\n<!-- remark -->\n\n- one\n  more\n- two\n\n3. three\n\n| a | b |\n|---|:-:|\n\
                    | x \\| y | |\n\n```sh\n# no heading\n\n| no table\n```\nEnd - of it.\n";
        let text = str::to_owned;
        let item = |mark: &str, words: &str| MarkdownBlock::ListItem { indent: 0, mark: text(mark), text: text(words) };
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

    #[test]
    fn markup_is_stripped_and_unpaired_marks_stay() {
        let cases = [
            ("a `b c` d", "a `b c` d"),
            ("**a `b`** c", "a `b` c"),
            ("see [`[server]`](notify.md#x), and [there](y.md).", "see `[server]`, and there."),
            ("[here](https://example.com/x)", "here (https://example.com/x)"),
            ("![a picture](x.png) of", "a picture of"),
            ("`a [b](c) *d*`", "`a [b](c) *d*`"),
            ("2 * 3 [sic] ok! `open", "2 * 3 [sic] ok! `open"),
            ("„…“ → ä `ö`", "„…“ → ä `ö`"),
        ];
        for (text, expected) in cases {
            assert_eq!(strip_markup(text), expected, "{text}");
        }
    }
}
