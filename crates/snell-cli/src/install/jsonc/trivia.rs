//! What stands between values: blanks and comments.

use std::ops::Range;

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonComment {
    pub(super) span: Range<usize>,
    /// Whether it goes on to the end of its line, so that nothing can follow it there.
    pub(super) ends_line: bool,
}

/// The next thing after blanks.
enum NextToken {
    Comment(JsonComment),
    /// A value, a comma, a bracket, or the end.
    Other(usize),
}

fn next_token(text: &str, from: usize) -> NextToken {
    let rest = &text[from..];
    let at = from + rest.len() - rest.trim_start().len();
    let rest = &text[at..];
    let length = if rest.starts_with("//") {
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        line.strip_suffix('\r').unwrap_or(line).len()
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else {
        return NextToken::Other(at);
    };
    NextToken::Comment(JsonComment { span: at..at + length, ends_line: rest.starts_with("//") })
}

/// Where the next thing stands that is neither blank nor comment.
pub(super) fn skip_trivia(text: &str, from: usize) -> usize {
    match next_token(text, from) {
        NextToken::Comment(comment) => skip_trivia(text, comment.span.end),
        NextToken::Other(at) => at,
    }
}

/// The end of the comma that follows, if one does.
pub(super) fn find_comma(text: &str, from: usize) -> Option<usize> {
    let at = skip_trivia(text, from);
    text[at..].starts_with(',').then_some(at + 1)
}

/// The last comment before the next thing.
pub(super) fn find_last_comment(text: &str, from: usize) -> Option<JsonComment> {
    let mut last = None;
    let mut at = from;
    while let NextToken::Comment(comment) = next_token(text, at) {
        at = comment.span.end;
        last = Some(comment);
    }
    last
}

/// The last of the comments that follow on the same line.
pub(super) fn find_last_comment_on_line(text: &str, from: usize) -> Option<JsonComment> {
    let mut last = None;
    let mut at = from;
    while let NextToken::Comment(comment) = next_token(text, at) {
        if text[at..comment.span.start].contains('\n') {
            break;
        }
        let spans_lines = text[comment.span.clone()].contains('\n');
        at = comment.span.end;
        last = Some(comment);
        if spans_lines {
            break;
        }
    }
    last
}

/// Where the blanks begin that stand before this place.
pub(super) fn find_blanks_start(text: &str, at: usize) -> usize {
    text[..at].trim_end().len()
}

/// The blanks at the beginning of the line of this place.
pub(super) fn line_indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks stand before this place on its line.
pub(super) fn is_line_start(text: &str, at: usize) -> bool {
    text[..at].contains('\n')
        && line_indentation(text, at).len() == at - text[..at].rfind('\n').map_or(0, |end| end + 1)
}
