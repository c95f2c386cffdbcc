//! Programs that put known text around unknown lines: `awk '{print "kill", $1}'`, `sed 's/^/rm /'`. A shell may run
//! their output.

use super::printf;
use crate::interpret::ShellInterpreter;
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};

/// Flags of awk that take the next word.
const AWK_VALUES: &[&str] = &["-F", "-v", "-f", "--field-separator", "--assign", "--file"];
/// Flags of jq that take the next word, and those that take two.
const JQ_VALUES: &[&str] = &["--indent", "-L", "--tab"];
const JQ_PAIRS: &[&str] = &["--arg", "--argjson", "--slurpfile", "--rawfile"];
/// Further statements of one program are not read.
const MAX_STATEMENTS: usize = 64;

impl ShellInterpreter<'_> {
    /// The kind of the lines on standard input.
    pub(crate) fn classify_stdin(&mut self) -> UnknownKind {
        match self.approximate_stdin().parts.first() {
            Some(SymbolicPart::Unknown(kind)) => *kind,
            _ => UnknownKind::Anything,
        }
    }

    /// The output of such a program, with an unknown part in place of each line.
    pub(crate) fn predict_template(&mut self, base: &str, arguments: &[SymbolicText]) -> Option<SymbolicText> {
        let mut fill = || self.classify_stdin();
        match base {
            "awk" | "gawk" | "mawk" | "nawk" => {
                expand_awk_template(find_program_text(arguments, AWK_VALUES, &[])?, fill())
            }
            "sed" | "gsed" => expand_sed_template(find_program_text(arguments, &[], &[])?, fill()),
            "jq" | "gojq" | "jaq" => expand_jq_template(find_program_text(arguments, JQ_VALUES, JQ_PAIRS)?, fill()),
            _ => None,
        }
    }
}

/// The program text among the arguments: the value of `-e`, or the first operand.
fn find_program_text<'a>(arguments: &'a [SymbolicText], values: &[&str], pairs: &[&str]) -> Option<&'a str> {
    let mut arguments = arguments.iter().map(SymbolicText::as_text);
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

/// Every text that an awk program may print, each once.
pub(crate) fn expand_awk_template(program: &str, fill: UnknownKind) -> Option<SymbolicText> {
    let mut all = SymbolicText::default();
    let mut rest = program;
    for _ in 0..MAX_STATEMENTS {
        let Some((at, formats)) = find_next_print(rest) else { break };
        rest = rest.get(at..).unwrap_or_default();
        let (arguments, after) = parse_print_arguments(rest, fill);
        rest = after;
        // Text that awk pipes or writes itself is not printed.
        if after.trim_start().starts_with('>') {
            continue;
        }
        let value = if formats {
            printf::format_printf(&arguments)?
        } else {
            let mut line = crate::interpret::builtins::join_words(&arguments).flatten_patterns();
            line.push_text("\n");
            line
        };
        all.append(&value);
    }
    let is_known = |part: &SymbolicPart| matches!(part, SymbolicPart::Text(text) if !text.trim().is_empty());
    all.parts.iter().any(is_known).then_some(all)
}

/// Where the arguments of the next `print` or `printf` begin, and whether the first one is a format.
fn find_next_print(program: &str) -> Option<(usize, bool)> {
    let mut from = 0;
    loop {
        let rest = program.get(from..)?;
        let quote = rest.find('"').unwrap_or(rest.len());
        let Some(found) = rest.find("print").filter(|found| *found < quote) else {
            let after = parse_awk_string(rest.get(quote + 1..)?).1?;
            from = program.len() - after.len();
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

/// The values of a print statement, and the text after it.
fn parse_print_arguments(text: &str, fill: UnknownKind) -> (Vec<SymbolicText>, &str) {
    let mut values = Vec::new();
    let mut value = SymbolicText::default();
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '"' => {
                let (text, Some(after)) = parse_awk_string(after) else {
                    break;
                };
                value.push_text(&text);
                rest = after;
                continue;
            }
            ',' => values.push(std::mem::take(&mut value)),
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ';' | '}' | '\n' | '|' | '>' if depth == 0 => break,
            c if c.is_whitespace() => {}
            // A number is itself; for `%c` it is a character code.
            '0'..='9' if value.parts.is_empty() => {
                let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                value.push_text(digits);
                rest = rest.get(digits.len()..).unwrap_or_default();
                continue;
            }
            _ if value.parts.last() == Some(&SymbolicPart::Unknown(fill)) => {}
            _ => value.push(SymbolicPart::Unknown(fill)),
        }
        rest = after;
    }
    values.push(value);
    let has_character = values.first().and_then(SymbolicText::as_text).is_some_and(|format| format.contains("%c"));
    if has_character {
        values.iter_mut().skip(1).for_each(convert_char_code);
    }
    (values, rest)
}

/// Replaces a number by the character with this code.
fn convert_char_code(value: &mut SymbolicText) {
    let code = value.as_text().and_then(|text| text.parse().ok());
    if let Some(c) = code.and_then(char::from_u32) {
        *value = SymbolicText::from_text(c);
    }
}

/// The text of an awk string after its opening quote, and the text after its closing quote if there is one.
pub(crate) fn parse_awk_string(from: &str) -> (String, Option<&str>) {
    let mut text = String::new();
    let mut characters = from.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (text, from.get(at + 1..)),
            '\\' => match characters.next() {
                Some((at, 'x' | '0'..='7')) => {
                    let code = from.get(at..).unwrap_or_default();
                    let (character, length) = parse_code_escape(code);
                    text.push(character);
                    characters.by_ref().take(length - 1).for_each(|_| {});
                }
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c)) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    (text, None)
}

/// `162`, `x72`: the character after a backslash, and the length of its code.
fn parse_code_escape(code: &str) -> (char, usize) {
    const MAX_DIGITS: usize = 3;
    let (digits, radix, most) = match code.strip_prefix('x') {
        Some(digits) => (digits, 16, 2),
        None => (code, 8, MAX_DIGITS),
    };
    let length = digits.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let number = digits.get(..length).and_then(|digits| u8::from_str_radix(digits, radix).ok());
    (number.map_or('?', char::from), length + code.len() - digits.len())
}

/// `s/^/text/`, `s/$/text/`, `s/.*/text & text/`
fn expand_sed_template(script: &str, fill: UnknownKind) -> Option<SymbolicText> {
    let mut line = SymbolicText::from_unknown(fill);
    for command in script.split([';', '\n']).filter(|command| !command.trim().is_empty()) {
        let rest = command.trim().strip_prefix('s')?;
        let sign = rest.chars().next().filter(|sign| !sign.is_alphanumeric())?;
        let (from, rest) = split_at_delimiter(rest.get(sign.len_utf8()..)?, sign)?;
        let (to, _) = split_at_delimiter(rest, sign)?;
        let around = match from.as_str() {
            "^" => (to.to_owned(), String::new()),
            "$" => (String::new(), to.to_owned()),
            _ => match to.split_once('&') {
                Some((before, after)) => (before.to_owned(), after.to_owned()),
                // The match is replaced, and the text around it is unknown.
                None => match to.find('\\') {
                    Some(at) => (to.get(..at)?.to_owned(), String::new()),
                    None => return None,
                },
            },
        };
        let mut whole = SymbolicText::from_text(around.0);
        whole.append(&line);
        whole.push_text(&around.1);
        line = whole;
    }
    line.push_text("\n");
    line.as_text().is_none().then_some(line)
}

/// The text before a delimiter, which a backslash escapes, and the rest.
fn split_at_delimiter(text: &str, sign: char) -> Option<(String, &str)> {
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

/// `"from_text \(.field) from_text"`
fn expand_jq_template(program: &str, fill: UnknownKind) -> Option<SymbolicText> {
    let inner = program.rsplit_once('|').map_or(program, |(_, last)| last).trim();
    let mut rest = inner.strip_prefix('"')?.strip_suffix('"')?;
    let mut line = SymbolicText::default();
    while let Some((before, after)) = rest.split_once("\\(") {
        line.push_text(before);
        line.push(SymbolicPart::Unknown(fill));
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
        type TemplateFn = fn(&str, UnknownKind) -> Option<SymbolicText>;
        let cases: &[(TemplateFn, &str, Option<&str>)] = &[
            (expand_awk_template, r#"{print "kill -9 "$1}"#, Some("kill -9 …\n")),
            (expand_awk_template, r#"$2=="java"{print "kill", $1}"#, Some("kill …\n")),
            (expand_awk_template, r#"{printf "rm -rf %s\n", $0}"#, Some("rm -rf …\n")),
            (expand_awk_template, r#"BEGIN{printf "%c%c x\n",114,109}"#, Some("rm x\n")),
            (expand_awk_template, r#"{print $1; print "a" > "f"; print "b"}"#, Some("…\nb\n")),
            (expand_awk_template, "{print $2}", None),
            (expand_awk_template, r#"{ fingerprint = "a" }"#, None),
            (expand_sed_template, "s#^#rm -rf /var/#", Some("rm -rf /var/…\n")),
            (expand_sed_template, "s/.*/rm & now/", Some("rm … now\n")),
            (expand_sed_template, r"s/\(.*\)/rm \1/", Some("rm …\n")),
            (expand_sed_template, "s/^/a/;s/$/b/", Some("a…b\n")),
            (expand_sed_template, r"s/^/rm \/a\//", Some("rm /a/…\n")),
            (expand_sed_template, "s/a/b/", None),
            (expand_sed_template, "/x/d", None),
            (expand_jq_template, r#".items[] | "rm \(.name) x""#, Some("rm … x\n")),
            (expand_jq_template, ".items[].name", None),
        ];
        for (lines, program, expected) in cases {
            let value = lines(program, UnknownKind::Anything).map(|value| value.to_string());
            assert_eq!(value.as_deref(), *expected, "{program}");
        }
    }
}
