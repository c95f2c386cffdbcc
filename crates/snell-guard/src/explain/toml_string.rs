//! Texts as settings write them.

/// A text in quotes, with an escape for everything that a line of settings cannot hold or a reader would not see.
pub fn quote_toml_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if is_plain_char(c) => quoted.push(c),
            c if u32::from(c) <= 0xffff => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character is one that everybody sees: a letter, a figure, or a sign of ASCII.
fn is_plain_char(c: char) -> bool {
    c.is_alphanumeric() || (c.is_ascii() && !c.is_control())
}
