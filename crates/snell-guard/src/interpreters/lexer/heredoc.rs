//! Here-documents of Perl, Ruby and PHP: strings on the lines below.

/// A here-document.
pub(crate) struct ScriptHeredoc<'a> {
    /// The length of its start: `<<~"END"`.
    pub(crate) marker_len: usize,
    /// The quote around its mark, if any.
    pub(crate) quote: Option<char>,
    pub(crate) text: &'a str,
    /// How many bytes after the line belong to it, including the end mark.
    pub(crate) consumed_len: usize,
}

/// Parses one that starts here. `before` bytes of the lines below belong to others.
pub(crate) fn parse_heredoc<'a>(rest: &'a str, sign: &str, before: usize) -> Option<ScriptHeredoc<'a>> {
    let after = rest.strip_prefix(sign)?;
    let plain = after.trim_start_matches(['~', '-']);
    let indented = plain.len() < after.len();
    let quote = plain.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let named = quote.map_or(plain, |quote| plain.get(quote.len_utf8()..).unwrap_or_default());
    let length = named.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(named.len());
    let mark = named.get(..length).filter(|mark| !mark.is_empty())?;
    // `list <<item` is not a here-document.
    let meant = quote.is_some() || indented || mark.starts_with(|c: char| c.is_ascii_uppercase());
    let closing = quote.map_or(0, char::len_utf8);
    let written = rest.len() - named.len() + length + closing;
    let line = rest.find('\n').filter(|_| meant)? + 1;
    let body = rest.get(line + before..)?;
    let mut end = 0;
    for text in body.split_inclusive('\n') {
        let start = text.trim_start();
        let follows = start.strip_prefix(mark);
        if follows.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')) {
            let taken = end + (text.len() - start.len()) + mark.len();
            let text = body.get(..end)?;
            return Some(ScriptHeredoc { marker_len: written, quote, text, consumed_len: taken });
        }
        end += text.len();
    }
    None
}
