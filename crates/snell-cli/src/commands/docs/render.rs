//! Renders a page for a terminal.

use super::markdown::{MarkdownBlock, parse_blocks, strip_markup};
use super::search::DocsSearchHit;
use crate::output::{TextStyle, apply_style, escape_invisible, has_colours, wrap_lines};

/// Longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// The indent of text below a heading, and of code.
const INDENT: usize = 2;
const CODE_INDENT: usize = 6;

/// A page: text in lines of at most this width, and tables row by row.
pub(super) fn render_page(markdown: &str, width: usize) -> String {
    let mut text = String::new();
    let mut after_item = false;
    for block in parse_blocks(markdown) {
        let is_item = matches!(block, MarkdownBlock::ListItem { .. });
        let goes_on = is_item && after_item;
        if !text.is_empty() && !goes_on {
            text.push('\n');
        }
        after_item = is_item;
        text.push_str(&render_block(&block, width));
    }
    text
}

/// The hits of a search, below their topics and sections.
pub(super) fn render_hits(hits: &[(&str, DocsSearchHit)], width: usize) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for (topic, hit) in hits {
        let heading = format!("{topic}: {}", hit.section);
        if heading != last {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&format!("{}\n", apply_style(&heading, TextStyle::Bold)));
            last = heading;
        }
        text.push_str(&fill_text(&hit.text, INDENT, "• ", width));
    }
    text
}

fn render_block(block: &MarkdownBlock, width: usize) -> String {
    match block {
        MarkdownBlock::Heading { level, text } => {
            let text = strip_markup(text);
            let text = if *level == 1 { text.to_uppercase() } else { text };
            format!("{}\n", apply_style(&text, TextStyle::Bold))
        }
        MarkdownBlock::Paragraph(text) => fill_text(text, INDENT, "", width),
        MarkdownBlock::ListItem { indent, mark, text } => fill_text(text, INDENT + indent, &format!("{mark} "), width),
        MarkdownBlock::Code(code) => {
            let line = |line: &String| {
                let line = apply_style(&escape_invisible(line), TextStyle::Faint);
                format!("{}{line}\n", " ".repeat(if line.is_empty() { 0 } else { CODE_INDENT }))
            };
            code.iter().map(line).collect()
        }
        MarkdownBlock::Table(rows) => render_table(rows, width),
    }
}

/// Each row as its first cell, with the others below it, because few tables fit on a line.
fn render_table(rows: &[Vec<String>], width: usize) -> String {
    let (titles, rows) = rows.split_first().map_or((&[][..], rows), |(titles, rows)| (titles.as_slice(), rows));
    let mut text = String::new();
    for row in rows {
        for (column, (cell, title)) in row.iter().zip(titles).enumerate().filter(|(_, (cell, _))| !cell.is_empty()) {
            let indent = if column == 0 { INDENT } else { 2 * INDENT };
            let name = if column == 0 || titles.len() == 2 { String::new() } else { format!("{title}: ") };
            text.push_str(&fill_text(&format!("{name}{cell}"), indent, "", width));
        }
    }
    text
}

/// A text in lines, with a mark before the first.
fn fill_text(text: &str, indent: usize, mark: &str, width: usize) -> String {
    let hang = indent + mark.chars().count();
    let room = width.min(MAX_WIDTH).saturating_sub(hang).max(1);
    let mut is_code = false;
    let lines = wrap_lines(&strip_markup(text), Some(room), usize::MAX).into_iter().enumerate();
    let lines = lines.map(|(number, line)| {
        let mark = if number == 0 { mark } else { "" };
        format!("{mark:>hang$}{}\n", style_code(&line, &mut is_code))
    });
    lines.collect()
}

/// Shows code in a colour instead of backquotes, if there are colours. Code may continue on the next line.
fn style_code(line: &str, is_code: &mut bool) -> String {
    if !has_colours() {
        return line.to_owned();
    }
    let mut styled = String::new();
    for (number, part) in line.split('`').enumerate() {
        *is_code ^= number > 0;
        styled.push_str(&apply_style(part, if *is_code { TextStyle::Yellow } else { TextStyle::Plain }));
    }
    styled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_indented_and_wrapped() {
        let markdown = "# Title\n\nSome words that are\ntoo many for a line of this width.\n\n- an item that needs two \
                        lines as well\n- another\n\n```sh\nsnell docs   # stays\n```\n\n| option | meaning |\n|---|---|\n\
                        | `--raw` | prints it as it is written, also here |\n| – | nothing |\n";
        insta::assert_snapshot!(render_page(markdown, 36), @r"
        TITLE

          Some words that are too many for a
          line of this width.

          • an item that needs two lines as
            well
          • another

              snell docs   # stays

          `--raw`
            prints it as it is written, also
            here
          –
            nothing
        ");
    }

    #[test]
    fn a_wide_table_names_its_columns() {
        let markdown = "| event | Claude | Wave |\n|---|---|---|\n| `Stop` | yes | |\n| `Start` | | no |\n";
        insta::assert_snapshot!(render_page(markdown, 36), @r"
          `Stop`
            Claude: yes
          `Start`
            Wave: no
        ");
    }
}
