//! What stands between values: blanks and comments.

use std::ops::Range;

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    pub(super) span: Range<usize>,
    /// Whether it goes on to the end of its line, so that nothing can follow it there.
    pub(super) ends_line: bool,
}

/// The next thing after blanks.
enum Next {
    Comment(Comment),
    /// A value, a comma, a bracket, or the end.
    Other(usize),
}

fn next(text: &str, from: usize) -> Next {
    let rest = &text[from..];
    let at = from + rest.len() - rest.trim_start().len();
    let rest = &text[at..];
    let length = if rest.starts_with("//") {
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        line.strip_suffix('\r').unwrap_or(line).len()
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else {
        return Next::Other(at);
    };
    Next::Comment(Comment {
        span: at..at + length,
        ends_line: rest.starts_with("//"),
    })
}

/// Where the next thing stands that is neither blank nor comment.
pub(super) fn skip(text: &str, from: usize) -> usize {
    match next(text, from) {
        Next::Comment(comment) => skip(text, comment.span.end),
        Next::Other(at) => at,
    }
}

/// The end of the comma that follows, if one does.
pub(super) fn comma_after(text: &str, from: usize) -> Option<usize> {
    let at = skip(text, from);
    text[at..].starts_with(',').then_some(at + 1)
}

/// The last comment before the next thing.
pub(super) fn last_comment(text: &str, from: usize) -> Option<Comment> {
    let mut last = None;
    let mut at = from;
    while let Next::Comment(comment) = next(text, at) {
        at = comment.span.end;
        last = Some(comment);
    }
    last
}

/// The last of the comments that follow on the same line.
pub(super) fn last_comment_on_line(text: &str, from: usize) -> Option<Comment> {
    let mut last = None;
    let mut at = from;
    while let Next::Comment(comment) = next(text, at) {
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
pub(super) fn blanks_before(text: &str, at: usize) -> usize {
    text[..at].trim_end().len()
}

/// The blanks at the beginning of the line of this place.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks stand before this place on its line.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text[..at].contains('\n') && indentation(text, at).len() == at - text[..at].rfind('\n').map_or(0, |end| end + 1)
}
