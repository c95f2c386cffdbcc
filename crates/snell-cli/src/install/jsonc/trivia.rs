//! Blanks and comments between values.

use std::ops::Range;

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonComment {
    pub(super) span: Range<usize>,
    /// Whether it ends with its line, so that nothing can follow it there.
    pub(super) ends_line: bool,
}

/// The comment after blanks, if there is one.
fn next_comment(text: &str, from: usize) -> Option<JsonComment> {
    let rest = text[from..].trim_start();
    let at = text.len() - rest.len();
    let length = if rest.starts_with("//") {
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        line.strip_suffix('\r').unwrap_or(line).len()
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else {
        return None;
    };
    Some(JsonComment { span: at..at + length, ends_line: rest.starts_with("//") })
}

/// The comments before the next value, comma or bracket.
fn comments_after(text: &str, from: usize) -> impl Iterator<Item = JsonComment> {
    std::iter::successors(next_comment(text, from), |comment| next_comment(text, comment.span.end))
}

/// The last comment before the next value, comma or bracket.
pub(super) fn find_last_comment(text: &str, from: usize) -> Option<JsonComment> {
    comments_after(text, from).last()
}

/// The end of the next comma, if there is one.
pub(super) fn find_comma(text: &str, from: usize) -> Option<usize> {
    let from = find_last_comment(text, from).map_or(from, |comment| comment.span.end);
    let rest = text[from..].trim_start();
    rest.starts_with(',').then_some(text.len() - rest.len() + 1)
}

/// The last comment on the same line.
pub(super) fn find_last_comment_on_line(text: &str, from: usize) -> Option<JsonComment> {
    comments_after(text, from).take_while(|comment| !text[from..comment.span.start].contains('\n')).last()
}

/// The start of the blanks before this offset.
pub(super) fn find_blanks_start(text: &str, at: usize) -> usize {
    text[..at].trim_end().len()
}

/// The indentation of the line.
pub(super) fn line_indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks precede this offset on its line.
pub(super) fn is_line_start(text: &str, at: usize) -> bool {
    text[..at].contains('\n')
        && line_indentation(text, at).len() == at - text[..at].rfind('\n').map_or(0, |end| end + 1)
}
