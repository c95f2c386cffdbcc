//! A page as people read it at a terminal.

use super::markdown::{MarkdownBlock, parse_blocks};
use super::search::DocsSearchHit;
use super::styled_text::{
    self, StyledWord, break_word, line_width, min_word_width, split_words, word_width, wrap_words,
};
use crate::output::{TextStyle, apply_style, escape_invisible};

/// Lines that are longer are hard to read.
const MAX_WIDTH: usize = 100;

/// How far text is set in below a heading, and code below text.
const INDENT: usize = 2;
const CODE_INDENT: usize = 4;

/// What stands between two columns.
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

/// What was found, below the headings under which it stands.
pub(super) fn render_hits(found: &[(&str, DocsSearchHit)], width: usize) -> String {
    let room = width.min(MAX_WIDTH).saturating_sub(CODE_INDENT);
    let mut text = String::new();
    let mut last = String::new();
    for (topic, place) in found {
        let heading = format!("{topic}: {}", place.section);
        if heading != last {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n", apply_style(&heading, TextStyle::Bold)));
            last = heading;
        }
        let lines = wrap_text(&place.text, room).into_iter().enumerate();
        for (number, line) in lines {
            let mark = if number == 0 { "  • " } else { "    " };
            text.push_str(&format!("{mark}{line}\n"));
        }
    }
    text
}

fn render_block(block: &MarkdownBlock, room: usize) -> Vec<String> {
    let indented = |lines: Vec<String>| lines.into_iter().map(|line| indent_line(INDENT, &line)).collect();
    match block {
        MarkdownBlock::Heading { level, text } => {
            let text = styled_text::strip_markup(text);
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
    let words = split_words(text);
    wrap_words(&words, room).iter().map(|line| styled_text::render_line(line)).collect()
}

/// A table, whose cells are broken into lines where it would be too wide.
fn render_table(rows: &[Vec<String>], room: usize) -> Vec<String> {
    let cells: Vec<Vec<Vec<StyledWord>>> =
        rows.iter().map(|row| row.iter().map(|cell| split_words(cell)).collect()).collect();
    let widths = compute_column_widths(&cells, room);
    let fitted = |cell: &Vec<StyledWord>, width: usize| cell.iter().flat_map(|word| break_word(word, width)).collect();
    let cells: Vec<Vec<Vec<StyledWord>>> =
        cells.iter().map(|row| row.iter().zip(&widths).map(|(cell, width)| fitted(cell, *width)).collect()).collect();
    let mut shown = Vec::new();
    for (number, row) in cells.iter().enumerate() {
        let columns: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| wrap_words(cell, *width)).collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or_default();
        shown.extend((0..height).map(|line| render_row_line(&columns, &widths, line)));
        if number == 0 {
            let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
            shown.push(apply_style(&rules.join(&" ".repeat(COLUMN_GAP)), TextStyle::Faint));
        }
    }
    shown
}

/// One line of a row: what each of its cells has there.
fn render_row_line(columns: &[Vec<Vec<&StyledWord>>], widths: &[usize], line: usize) -> String {
    let mut text = String::new();
    for (column, width) in columns.iter().zip(widths) {
        let cell = column.get(line).map_or(&[][..], Vec::as_slice);
        text.push_str(&styled_text::render_line(cell));
        text.push_str(&" ".repeat(width.saturating_sub(line_width(cell)) + COLUMN_GAP));
    }
    text.trim_end().to_owned()
}

/// How wide each column is: as wide as what stands in it, and if that is too much, the widest ones are made narrower: first
/// down to their longest words, then down to the longest parts of these, then as far as it takes.
fn compute_column_widths(rows: &[Vec<Vec<StyledWord>>], room: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize, measure: fn(&[StyledWord]) -> usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| measure(cell)).max().unwrap_or_default()
    };
    let mut widths: Vec<_> =
        (0..columns).map(|column| widest(column, |cell| line_width(&cell.iter().collect::<Vec<_>>()))).collect();
    let of_words = |measure: fn(&StyledWord) -> usize| -> Vec<_> {
        (0..columns)
            .map(|column| {
                let cells = rows.iter().filter_map(|row| row.get(column));
                let words = cells.flatten().map(measure);
                words.max().unwrap_or_default().max(MIN_COLUMN_WIDTH)
            })
            .collect()
    };
    let room = room.saturating_sub(COLUMN_GAP * columns.saturating_sub(1));
    for least in [of_words(word_width), of_words(min_word_width), vec![1; columns]] {
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
