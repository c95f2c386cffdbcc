//! Code of other languages that only prints a text: `perl -e 'print "…"'`.

use crate::interpret::ExpandedCommand;
use crate::invocation::SymbolicText;

/// Keywords that print, and whether they end the line.
type PrintKeywords = &'static [(&'static str, bool)];

/// Languages, with the flag before the code and the keywords that print.
const LANGUAGES: &[(&str, &str, PrintKeywords)] = &[
    ("awk", "", &[("print", true), ("printf", false)]),
    ("gawk", "", &[("print", true), ("printf", false)]),
    ("mawk", "", &[("print", true), ("printf", false)]),
    ("node", "-e", &[("console.log", true)]),
    ("perl", "-e", &[("print", false), ("say", true)]),
    ("perl", "-E", &[("print", false), ("say", true)]),
    ("php", "-r", &[("echo", false), ("print", false)]),
    ("python", "-c", &[("print", true)]),
    ("python2", "-c", &[("print", true)]),
    ("python3", "-c", &[("print", true)]),
    ("ruby", "-e", &[("puts", true), ("print", false)]),
];

/// The output of a program whose code only prints one text.
pub(crate) fn predict_printed_literal(base: &str, command: &ExpandedCommand) -> Option<SymbolicText> {
    let (flag, code) = match command.arguments() {
        [code] => ("", code.as_text()?),
        [flag, code] => (flag.as_text()?, code.as_text()?),
        _ => return None,
    };
    let (_, _, words) = LANGUAGES.iter().find(|(name, wanted, _)| *name == base && *wanted == flag)?;
    let code = match code.trim().strip_prefix("BEGIN") {
        Some(block) => block.trim().strip_prefix('{')?.strip_suffix('}')?,
        None if flag.is_empty() => return None,
        None => code,
    };
    words.iter().find_map(|(word, ends)| {
        let text = parse_string_literal(code.trim().strip_prefix(word)?)?;
        Some(SymbolicText::from_text(if *ends { format!("{text}\n") } else { text }))
    })
}

/// One quoted text, possibly in parentheses.
fn parse_string_literal(code: &str) -> Option<String> {
    let code = code.trim().trim_end_matches(';').trim_end();
    let code = match code.strip_prefix('(') {
        Some(inner) => inner.strip_suffix(')')?.trim(),
        None => code,
    };
    let quote = code.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = code.strip_prefix(quote)?.strip_suffix(quote)?;
    // Interpolated values are unknown here.
    if inner.contains([quote, '$', '@', '#', '%']) {
        return None;
    }
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let alike = quote == '"' && has_portable_escapes(inner);
    if alike { super::printf::unescape_text(inner) } else { None }
}

/// Whether all escapes mean the same in all languages: `\n`, `\t`, `\\`, `\x72`.
fn has_portable_escapes(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            continue;
        }
        let known = match bytes.next() {
            Some(b'n' | b't' | b'\\') => true,
            Some(b'x') => {
                let mut digit = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
                digit() && digit()
            }
            _ => false,
        };
        if !known {
            return false;
        }
    }
    true
}
