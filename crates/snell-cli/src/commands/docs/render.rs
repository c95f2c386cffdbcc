//! Renders a page for a terminal.

use super::markdown::{MarkdownBlock, parse_blocks};
use super::search::DocsSearchHit;
use super::styled_text::{StyledText, break_word, min_word_width, render_line, split_words, strip_markup, wrap_words};
use crate::output::{TextStyle, apply_style, escape_invisible};

/// Lines that are longer are hard to read.
const MAX_WIDTH: usize = 100;

/// The indent of text below a heading, and of code below text.
const INDENT: usize = 2;
const CODE_INDENT: usize = 4;

/// Blanks between two columns.
const COLUMN_GAP: usize = 2;

/// A column is not made narrower than this.
const MIN_COLUMN_WIDTH: usize = 8;

/// The page, in lines that fit into this width.
pub(super) fn render_page(markdown: &str, width: usize) -> String {
    let room = width.min(MAX_WIDTH).saturating_sub(INDENT);
    let mut text = String::new();
    let mut after_item = false;
    for block in parse_blocks(markdown) {
        let is_item = matches!(block, MarkdownBlock::ListItem { .. });
        let goes_on = is_item && after_item;
        if !text.is_empty() && !goes_on {
            text.push('\n');
        }
        after_item = is_item;
        for line in render_block(&block, room) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// The places that a search found, below their headings.
pub(super) fn render_hits(hits: &[(&str, DocsSearchHit)], width: usize) -> String {
    let room = width.min(MAX_WIDTH).saturating_sub(CODE_INDENT);
    let mut text = String::new();
    let mut last = String::new();
    for (topic, place) in hits {
        let heading = format!("{topic}: {}", place.section);
        if heading != last {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&format!("{}\n", apply_style(&heading, TextStyle::Bold)));
            last = heading;
        }
        let mut mark = "  • ";
        for line in wrap_text(&place.text, room) {
            text.push_str(&format!("{mark}{line}\n"));
            mark = "    ";
        }
    }
    text
}

fn render_block(block: &MarkdownBlock, room: usize) -> Vec<String> {
    let indented = |lines: Vec<String>| lines.into_iter().map(|line| indent_line(INDENT, &line)).collect();
    match block {
        MarkdownBlock::Heading { level, text } => {
            let text = strip_markup(text);
            let text = if *level == 1 { text.to_uppercase() } else { text };
            vec![apply_style(&text, TextStyle::Bold)]
        }
        MarkdownBlock::Paragraph(text) => indented(wrap_text(text, room)),
        MarkdownBlock::ListItem { indent, mark, text } => {
            let hang = indent + mark.chars().count() + 1;
            let mut lines = wrap_text(text, room.saturating_sub(hang)).into_iter();
            let first = lines.next().unwrap_or_default();
            let first = indent_line(*indent, &format!("{mark} {first}"));
            indented([first].into_iter().chain(lines.map(|line| indent_line(hang, &line))).collect())
        }
        MarkdownBlock::Code(code) => {
            let line = |line: &String| {
                indent_line(INDENT + CODE_INDENT, &apply_style(&escape_invisible(line), TextStyle::Faint))
            };
            code.iter().map(line).collect()
        }
        MarkdownBlock::Table(rows) => indented(render_table(rows, room)),
    }
}

fn indent_line(indent: usize, line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(indent)) }
}

fn wrap_text(text: &str, room: usize) -> Vec<String> {
    wrap_words(&split_words(text), room).iter().map(|line| render_line(line)).collect()
}

/// A table whose cells are wrapped if it would be too wide.
fn render_table(rows: &[Vec<String>], room: usize) -> Vec<String> {
    let rows: Vec<Vec<Vec<StyledText>>> =
        rows.iter().map(|row| row.iter().map(|cell| split_words(cell)).collect()).collect();
    let widths = compute_column_widths(&rows, room);
    let wrap_cell = |(cell, width): (&Vec<StyledText>, &usize)| {
        wrap_words(&cell.iter().flat_map(|word| break_word(word, *width)).collect::<Vec<_>>(), *width)
    };
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().zip(&widths).map(wrap_cell).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        lines.extend((0..height).map(|line| render_row_line(&cells, &widths, line)));
        if number == 0 {
            let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.push(apply_style(&rules.join(&" ".repeat(COLUMN_GAP)), TextStyle::Faint));
        }
    }
    lines
}

/// One line of a row: that line of each of its cells.
fn render_row_line(cells: &[Vec<StyledText>], widths: &[usize], line: usize) -> String {
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let part = cell.get(line).map_or(&[][..], Vec::as_slice);
        text.push_str(&render_line(part));
        text.push_str(&" ".repeat(width.saturating_sub(part.len()) + COLUMN_GAP));
    }
    text.trim_end().to_owned()
}

/// The width of each column: that of its widest cell. If there is not enough room, the widest columns become narrower: first
/// down to their longest words, then down to the longest parts of these, then as far as necessary.
fn compute_column_widths(rows: &[Vec<Vec<StyledText>>], room: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let measure_columns = |measure: fn(&Vec<StyledText>) -> usize| -> Vec<usize> {
        let measure_column = |column| rows.iter().filter_map(|row| row.get(column)).map(measure).max();
        (0..columns).map(|column| measure_column(column).unwrap_or_default()).collect()
    };
    let longest_word =
        |cell: &Vec<StyledText>| cell.iter().map(Vec::len).max().unwrap_or_default().max(MIN_COLUMN_WIDTH);
    let longest_part =
        |cell: &Vec<StyledText>| cell.iter().map(min_word_width).max().unwrap_or_default().max(MIN_COLUMN_WIDTH);
    let mut widths = measure_columns(|cell| cell.iter().map(Vec::len).sum::<usize>() + cell.len().saturating_sub(1));
    let room = room.saturating_sub(COLUMN_GAP * columns.saturating_sub(1));
    for least in [measure_columns(longest_word), measure_columns(longest_part), vec![1; columns]] {
        while widths.iter().sum::<usize>() > room {
            let can_shrink = |column: &usize| widths[*column] > least[*column];
            let Some(column) = (0..columns).filter(can_shrink).max_by_key(|column| widths[*column]) else {
                break;
            };
            widths[column] -= 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_set_in_filled_and_aligned() {
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

          option   meaning
          ───────  ─────────────────────────
          `--raw`  prints it as it is
                   written, also here
          –        nothing
        ");
    }

    #[test]
    fn no_line_of_a_table_is_too_wide() {
        let long = "`some-crate::some::module::a_name_of_a_test_that_says_all`".to_owned();
        let rows = [vec!["a".to_owned(), "b ".repeat(60), "c ".repeat(60)], vec![long.clone(), long.clone(), long]];
        for room in [38, 50, 78] {
            for line in render_table(&rows, room) {
                assert!(line.chars().count() <= room, "{line}");
            }
        }
    }
}
