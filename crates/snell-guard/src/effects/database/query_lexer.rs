//! Splits queries into words, without comments and strings.

/// The syntax of a query language.
#[derive(Debug)]
pub(crate) struct QueryDialect {
    /// Marks of comments that end with the line.
    pub(crate) comments: &'static [&'static str],
    /// The quotes of strings.
    pub(crate) quotes: &'static str,
    /// Signs that are words of their own.
    pub(crate) signs: &'static str,
}

/// The word that stands for a string.
pub(crate) const STRING_WORD: &str = "''";

/// The words of a query, in capitals, without comments.
pub(crate) fn split_query_words(text: &str, dialect: &QueryDialect) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // A command of the client itself ends with its line.
            '\\' if is_at_line_start(text, rest) => {
                words.push(";".to_owned());
                find_line_end(rest)
            }
            _ if dialect.comments.iter().any(|comment| rest.starts_with(comment)) => find_line_end(rest),
            // MySQL runs the contents of `/*!50000 … */`.
            '/' if rest.starts_with("/*!") => {
                rest.find(|c: char| !matches!(c, '/' | '*' | '!' | '0'..='9')).unwrap_or(rest.len())
            }
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            quote if dialect.quotes.contains(quote) => {
                words.push(STRING_WORD.to_owned());
                let inner = rest.get(quote.len_utf8()..).unwrap_or_default();
                inner.find(quote).map_or(rest.len(), |end| end + 2 * quote.len_utf8())
            }
            sign if dialect.signs.contains(sign) => {
                words.push(sign.to_string());
                sign.len_utf8()
            }
            letter if is_word_char(letter) => {
                let end = rest.find(|c: char| !is_word_char(c)).unwrap_or(rest.len());
                words.push(rest.get(..end).unwrap_or_default().to_uppercase());
                end
            }
            other => other.len_utf8(),
        };
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    words
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn find_line_end(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn is_at_line_start(text: &str, rest: &str) -> bool {
    let before = text.get(..text.len() - rest.len()).unwrap_or_default();
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_not_words() {
        let dialect = QueryDialect { comments: &["--", "#"], quotes: "'\"`", signs: ";{" };
        for (text, expected) in [
            ("drop  table users;", "DROP TABLE USERS ;"),
            ("a -- b\nc # d", "A C"),
            ("a /* b */ c", "A C"),
            ("/*!50000 drop */ x", "DROP X"),
            ("say 'a; b' \"c", "SAY '' ''"),
            ("\\timing on\ndrop x", "; DROP X"),
            ("a \\b", "A B"),
            ("match (n {a: 1})", "MATCH N { A 1"),
            ("größe", "GRÖSSE"),
            ("", ""),
        ] {
            assert_eq!(split_query_words(text, &dialect).join(" "), expected, "{text}");
        }
    }
}
