//! Languages without a parser: the strings of the code, and whether it names a function that runs or deletes them.

use super::lower::LoweringContext;
use crate::effects::Effect;
use crate::interpret::quote_shell_word;
use crate::interpreters::words::literals as words;

/// How many strings are read.
const MAX_LITERALS: usize = 64;

/// Signs that enclose a string, and their partners.
const QUOTES: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('`', '`'), ('`', '\'')];

/// The strings that stand side by side, such as the words of a list, and the names in the code.
#[derive(Default)]
struct CodeLiterals {
    groups: Vec<Vec<String>>,
    names: Vec<String>,
}

/// The effects of code in any language.
pub(super) fn lower_literals(text: &str, mut lowering: LoweringContext<'_>) -> Vec<Effect> {
    for code in text.lines().filter_map(find_shell_line) {
        lowering.lower_shell_code(code, None);
    }
    let literals = CodeLiterals::from_code(text);
    let names = |known: &[&str]| literals.names.iter().any(|name| known.contains(&name.as_str()));
    if names(words::SHELL_CALLS) {
        for group in &literals.groups {
            lowering.lower_shell_code(&join_group(group), None);
        }
    }
    for (command, calls) in words::EQUIVALENTS {
        if names(calls) {
            for literal in literals.groups.iter().flatten() {
                let (home, rest) = literal.strip_prefix("~/").map_or(("", literal.as_str()), |rest| ("~/", rest));
                lowering.lower_shell_code(&format!("{command} {home}{}", quote_shell_word(rest)), None);
            }
        }
    }
    lowering.into_effects()
}

/// `:! command`, `!command`, `%%bash`: a line for a shell. `syscmd(command)` needs no quotes.
fn find_shell_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let behind = words::LINE_PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix));
    let behind = behind.filter(|code| !code.starts_with(['=', '(', '!']));
    behind.or_else(|| {
        let after = words::BARE_CALLS.iter().find_map(|call| line.split_once(call))?.1;
        after.rsplit_once([')', '}', '>']).map(|(code, _)| code)
    })
}

/// A text for a shell: one string, or the words of a list.
fn join_group(group: &[String]) -> String {
    match group {
        [only] => only.clone(),
        words => words.iter().map(|word| quote_shell_word(word)).collect::<Vec<_>>().join(" "),
    }
}

impl CodeLiterals {
    fn from_code(text: &str) -> Self {
        let mut found = Self::default();
        let mut rest = text;
        let mut is_new_group = true;
        while let Some(first) = rest.chars().next() {
            if found.names.len() + found.groups.len() > MAX_LITERALS * 4 {
                break;
            }
            if let Some((literal, after, joins)) = parse_literal(rest) {
                found.push_literal(literal, is_new_group, joins);
                is_new_group = false;
                rest = after;
                continue;
            }
            let end = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
            if end == 0 {
                is_new_group |= matches!(first, ';' | '\n');
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            }
            let (name, after) = rest.split_at(end);
            is_new_group |= !words::LIST_WORDS.contains(&name);
            found.names.push(name.to_owned());
            rest = after;
        }
        found
    }

    /// Adds a string to its neighbours. One that an operator joins continues the one before.
    fn push_literal(&mut self, literal: String, is_new_group: bool, joins: bool) {
        let is_full = self.groups.len() >= MAX_LITERALS;
        match self.groups.last_mut().filter(|_| !is_new_group) {
            Some(group) => match group.last_mut().filter(|_| joins) {
                Some(last) => last.push_str(&literal),
                None => group.push(literal),
            },
            None if is_full => {}
            None => self.groups.push(vec![literal]),
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '*')
}

/// A string at the start of a text, the rest, and whether an operator before it joins it with the last one.
fn parse_literal(text: &str) -> Option<(String, &str, bool)> {
    const JOINS: &[&str] = &["++", "<>", "+", ".", "~", "&", "^", "//"];
    let trimmed = text.trim_start();
    let operator = JOINS.iter().find(|join| trimmed.starts_with(**join));
    let start = match operator {
        Some(join) => trimmed.get(join.len()..)?.trim_start(),
        None => text,
    };
    let open = start.chars().next()?;
    let body = start.get(open.len_utf8()..)?;
    let closes = |close: char| {
        let mut escaped = false;
        body.find(|c: char| {
            let ends = c == close && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })
    };
    // In Lisp, a quote before a parenthesis or a name begins no string.
    if open == '\'' && body.starts_with('(') {
        return None;
    }
    let end = QUOTES.iter().filter(|(from, _)| *from == open).find_map(|(_, to)| closes(*to))?;
    let literal = body.get(..end)?.replace("\\\"", "\"").replace("\\'", "'");
    Some((literal, body.get(end + 1..)?, operator.is_some()))
}
