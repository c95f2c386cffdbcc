//! Programs that put known text around lines that nobody knows: `awk '{print "kill", $1}'`, `sed 's/^/rm /'`. What they
//! print becomes a command if a shell reads it.

use super::{Walker, format};
use crate::invocation::{Part, Unknown, Value};

/// Flags of awk that take the next word.
const AWK_VALUES: &[&str] = &["-F", "-v", "-f", "--field-separator", "--assign", "--file"];
/// Flags of jq that take the next word, and those that take two.
const JQ_VALUES: &[&str] = &["--indent", "-L", "--tab"];
const JQ_PAIRS: &[&str] = &["--arg", "--argjson", "--slurpfile", "--rawfile"];
/// Further statements of one program are not read.
const MAX_STATEMENTS: usize = 64;

impl Walker<'_> {
    /// What is known of the lines that a program reads.
    pub(crate) fn fed_with(&mut self) -> Unknown {
        match self.unread().parts.first() {
            Some(Part::Unknown(kind)) => *kind,
            _ => Unknown::Anything,
        }
    }

    /// What such a program prints, with something unknown where a line is filled in.
    pub(super) fn generated(&mut self, base: &str, arguments: &[Value]) -> Option<Value> {
        let mut fill = || self.fed_with();
        match base {
            "awk" | "gawk" | "mawk" | "nawk" => lines_of_awk(script(arguments, AWK_VALUES, &[])?, fill()),
            "sed" | "gsed" => lines_of_sed(script(arguments, &[], &[])?, fill()),
            "jq" | "gojq" | "jaq" => lines_of_jq(script(arguments, JQ_VALUES, JQ_PAIRS)?, fill()),
            _ => None,
        }
    }
}

/// The program among the arguments: the value of `-e`, else the first operand.
fn script<'a>(arguments: &'a [Value], values: &[&str], pairs: &[&str]) -> Option<&'a str> {
    let mut arguments = arguments.iter().map(Value::as_text);
    while let Some(argument) = arguments.next() {
        match argument? {
            "-e" | "--expression" | "--" => return arguments.next()?,
            flag if values.contains(&flag) => drop(arguments.next()),
            flag if pairs.contains(&flag) => drop(arguments.nth(1)),
            flag if flag.len() > 1 && flag.starts_with('-') => {}
            script => return Some(script),
        }
    }
    None
}

/// Everything that an awk program may print, each once.
pub(crate) fn lines_of_awk(program: &str, fill: Unknown) -> Option<Value> {
    let mut all = Value::default();
    let mut rest = program;
    for _ in 0..MAX_STATEMENTS {
        let Some((at, formats)) = next_print(rest) else { break };
        rest = rest.get(at..).unwrap_or_default();
        let (arguments, after) = printed(rest, fill);
        rest = after;
        // A text that awk hands to a program itself is not printed.
        if after.trim_start().starts_with('>') {
            continue;
        }
        let value = if formats {
            format::printf(&arguments)?
        } else {
            let mut line = super::builtins::joined(&arguments).flat();
            line.push_text("\n");
            line
        };
        all.append(&value);
    }
    let is_known = |part: &Part| matches!(part, Part::Text(text) if !text.trim().is_empty());
    all.parts.iter().any(is_known).then_some(all)
}

/// Where the arguments of the next `print` or `printf` begin, and whether the first is a format.
fn next_print(program: &str) -> Option<(usize, bool)> {
    let mut from = 0;
    loop {
        let rest = program.get(from..)?;
        let quote = rest.find('"').unwrap_or(rest.len());
        let Some(found) = rest.find("print").filter(|found| *found < quote) else {
            let (_, length) = text_in_quotes(rest.get(quote..)?)?;
            from += quote + length;
            continue;
        };
        let before = rest.get(..found).and_then(|before| before.chars().next_back());
        let after = from + found + "print".len();
        let formats = program.get(after..).is_some_and(|after| after.starts_with('f'));
        if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return Some((after + usize::from(formats), formats));
        }
        from = after;
    }
}

/// The values that are printed, and what follows the statement.
fn printed(text: &str, fill: Unknown) -> (Vec<Value>, &str) {
    let mut values = Vec::new();
    let mut value = Value::default();
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '"' => {
                let Some((text, length)) = text_in_quotes(rest) else {
                    break;
                };
                value.push_text(&text);
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            ',' => values.push(std::mem::take(&mut value)),
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ';' | '}' | '\n' | '|' | '>' if depth == 0 => break,
            c if c.is_whitespace() => {}
            // A number is itself; for `%c` it is a character.
            '0'..='9' if value.parts.is_empty() => {
                let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                value.push_text(digits);
                rest = rest.get(digits.len()..).unwrap_or_default();
                continue;
            }
            _ if value.parts.last() == Some(&Part::Unknown(fill)) => {}
            _ => value.push(Part::Unknown(fill)),
        }
        rest = after;
    }
    values.push(value);
    let has_character = values
        .first()
        .and_then(Value::as_text)
        .is_some_and(|format| format.contains("%c"));
    if has_character {
        values.iter_mut().skip(1).for_each(character);
    }
    (values, rest)
}

/// The character of a number.
fn character(value: &mut Value) {
    let code = value.as_text().and_then(|text| text.parse().ok());
    if let Some(c) = code.and_then(char::from_u32) {
        *value = Value::text(c);
    }
}

/// A text in double quotes at the beginning, without what its escapes hide, and how long it is with its quotes.
fn text_in_quotes(from: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut characters = from.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((text, at + 1)),
            '\\' => match characters.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                // In a format, a percent sign of the text would be taken for one.
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
    None
}

/// `s/^/text/`, `s/$/text/`, `s/.*/text & text/`
fn lines_of_sed(script: &str, fill: Unknown) -> Option<Value> {
    let mut line = Value::unknown(fill);
    for command in script.split([';', '\n']).filter(|command| !command.trim().is_empty()) {
        let rest = command.trim().strip_prefix('s')?;
        let sign = rest.chars().next().filter(|sign| !sign.is_alphanumeric())?;
        let (from, rest) = until(rest.get(sign.len_utf8()..)?, sign)?;
        let (to, _) = until(rest, sign)?;
        let around = match from.as_str() {
            "^" => (to.to_owned(), String::new()),
            "$" => (String::new(), to.to_owned()),
            _ => match to.split_once('&') {
                Some((before, after)) => (before.to_owned(), after.to_owned()),
                // A pattern in place of which something stands: what is around it is unknown.
                None => match to.find('\\') {
                    Some(at) => (to.get(..at)?.to_owned(), String::new()),
                    None => return None,
                },
            },
        };
        let mut whole = Value::text(around.0);
        whole.append(&line);
        whole.push_text(&around.1);
        line = whole;
    }
    line.push_text("\n");
    line.as_text().is_none().then_some(line)
}

/// The text before a sign, in which a backslash makes the sign an ordinary one, and what follows.
fn until(text: &str, sign: char) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == sign => return Some((part, text.get(at + c.len_utf8()..)?)),
            '\\' => match characters.next()?.1 {
                c if c == sign => part.push(c),
                c => part.extend(['\\', c]),
            },
            c => part.push(c),
        }
    }
    None
}

/// `"text \(.field) text"`
fn lines_of_jq(program: &str, fill: Unknown) -> Option<Value> {
    let inner = program.rsplit_once('|').map_or(program, |(_, last)| last).trim();
    let mut rest = inner.strip_prefix('"')?.strip_suffix('"')?;
    let mut line = Value::default();
    while let Some((before, after)) = rest.split_once("\\(") {
        line.push_text(before);
        line.push(Part::Unknown(fill));
        rest = after.split_once(')')?.1;
    }
    line.push_text(rest);
    line.push_text("\n");
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_text_stays_and_what_is_filled_in_is_unknown() {
        type Lines = fn(&str, Unknown) -> Option<Value>;
        let cases: &[(Lines, &str, Option<&str>)] = &[
            (lines_of_awk, r#"{print "kill -9 "$1}"#, Some("kill -9 …\n")),
            (lines_of_awk, r#"$2=="java"{print "kill", $1}"#, Some("kill …\n")),
            (lines_of_awk, r#"{printf "rm -rf %s\n", $0}"#, Some("rm -rf …\n")),
            (lines_of_awk, r#"BEGIN{printf "%c%c x\n",114,109}"#, Some("rm x\n")),
            (
                lines_of_awk,
                r#"{print $1; print "a" > "f"; print "b"}"#,
                Some("…\nb\n"),
            ),
            (lines_of_awk, "{print $2}", None),
            (lines_of_awk, r#"{ fingerprint = "a" }"#, None),
            (lines_of_sed, "s#^#rm -rf /var/#", Some("rm -rf /var/…\n")),
            (lines_of_sed, "s/.*/rm & now/", Some("rm … now\n")),
            (lines_of_sed, r"s/\(.*\)/rm \1/", Some("rm …\n")),
            (lines_of_sed, "s/^/a/;s/$/b/", Some("a…b\n")),
            (lines_of_sed, r"s/^/rm \/a\//", Some("rm /a/…\n")),
            (lines_of_sed, "s/a/b/", None),
            (lines_of_sed, "/x/d", None),
            (lines_of_jq, r#".items[] | "rm \(.name) x""#, Some("rm … x\n")),
            (lines_of_jq, ".items[].name", None),
        ];
        for (lines, program, expected) in cases {
            let value = lines(program, Unknown::Anything).map(|value| value.to_string());
            assert_eq!(value.as_deref(), *expected, "{program}");
        }
    }
}
