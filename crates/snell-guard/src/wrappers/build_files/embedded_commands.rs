//! Commands among other texts: in a line, after a key, in quotes, or as a list of quoted words.

use super::{COMPILED_CALLS, MAX_COMMANDS, SPAWN_CALLS, starts_with_program};

/// Signs and words before a command in a line.
const COMMAND_MARKS: &[&str] =
    &[": ", "=", "COMMAND ", "RUN ", "generate ", "- ", "shell ", "!", "<exec>", "<string>", "> "];

/// Longer texts are no commands.
const MAX_CANDIDATE: usize = 1 << 10;

/// How many words a command from a list of quoted words has.
const MAX_WORDS: usize = 16;

/// Commands, each once.
#[derive(Default)]
struct CommandCollector(Vec<String>);

impl CommandCollector {
    fn add(&mut self, candidate: &str) {
        if self.0.len() >= MAX_COMMANDS || candidate.len() > MAX_CANDIDATE {
            return;
        }
        let candidate = trim_signs(candidate);
        if starts_with_program(candidate) && !self.0.iter().any(|known| known == candidate) {
            self.0.push(candidate.to_owned());
        }
    }

    /// The strings that are commands, and those that are a program with its arguments.
    fn add_literals(&mut self, literals: &[String]) {
        for (at, literal) in literals.iter().enumerate() {
            let words = literals.get(at..).unwrap_or_default();
            if literal.contains(' ') || words.len() == 1 {
                self.add(literal);
            } else if starts_with_program(literal) {
                self.add(&join_literals(words));
            }
        }
    }
}

/// The commands in a text: in its lines and strings.
pub(super) fn list_embedded_commands(text: &str) -> Vec<String> {
    let mut commands = CommandCollector::default();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        commands.add(line);
        for mark in COMMAND_MARKS {
            let after = line.match_indices(mark).take(16).filter_map(|(at, _)| line.get(at + mark.len()..));
            after.for_each(|command| commands.add(command));
        }
    }
    split_statements(text).iter().for_each(|statement| commands.add_literals(&statement.literals));
    commands.0
}

/// The commands in code of a compiled language: in statements that start a program. The paths in statements with a known
/// call belong to the call's command.
pub(super) fn list_compiled_commands(text: &str) -> Vec<String> {
    let mut commands = CommandCollector::default();
    text.lines().filter_map(|line| line.trim().strip_prefix("//go:generate ")).for_each(|line| commands.add(line));
    for statement in split_statements(text) {
        let calls = |names: &[&str]| names.iter().any(|name| statement.code.contains(name));
        if calls(SPAWN_CALLS) {
            commands.add_literals(&statement.literals);
        }
        for (command, _) in COMPILED_CALLS.iter().filter(|(_, names)| calls(names)) {
            for literal in statement.literals.iter().filter(|literal| literal.starts_with(['/', '~', '.'])) {
                commands.add(&format!("{command} '{}'", literal.replace('\'', "")));
            }
            if names_home(&statement) {
                let below = statement.literals.iter().find(|literal| !matches!(literal.as_str(), "HOME" | "user.home"));
                let below = below.map(|below| below.trim_matches('/').replace('\'', "")).unwrap_or_default();
                commands.add(format!("{command} ~/'{below}'").trim_end_matches("/''"));
            }
        }
    }
    commands.0
}

/// A statement of code: its strings, and the rest.
#[derive(Default)]
struct LiteralStatement {
    literals: Vec<String>,
    code: String,
}

/// Whether a statement names the home directory.
fn names_home(statement: &LiteralStatement) -> bool {
    const NAMES: &[&str] =
        &["home_dir", "UserHomeDir", "homeDirectory", "NSHomeDirectory", "HomeDirectory", "UserProfile"];
    NAMES.iter().any(|name| statement.code.contains(name))
        || statement.literals.iter().any(|literal| literal == "HOME" || literal == "user.home")
}

/// Splits code at semicolons, and at line ends outside parentheses unless the next line continues the call.
fn split_statements(text: &str) -> Vec<LiteralStatement> {
    let mut all = vec![LiteralStatement::default()];
    let mut depth = 0_usize;
    // A quote without its end makes the rest of its line plain.
    let mut plain = false;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let Some(current) = all.last_mut() else { break };
        match c {
            '"' | '\'' | '`' if plain => {}
            '"' | '\'' | '`' => {
                let Some(literal) = read_literal(rest, c) else {
                    plain = true;
                    continue;
                };
                let length = literal.chars().count();
                current.literals.push(unescape_literal(literal));
                characters.by_ref().take(length + 1).for_each(drop);
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ';' => {
                depth = 0;
                all.push(LiteralStatement::default());
            }
            '\n' if std::mem::take(&mut plain) => all.push(LiteralStatement::default()),
            '\n' if depth == 0 && !rest.trim_start().starts_with('.') => all.push(LiteralStatement::default()),
            _ => {}
        }
        if let Some(current) = all.last_mut().filter(|_| !matches!(c, '"' | '\'' | '`')) {
            current.code.push(c);
        }
    }
    all.retain(|statement| !statement.literals.is_empty() || statement.code.contains("home"));
    all
}

/// The text up to the closing quote in the same line.
fn read_literal(rest: &str, quote: char) -> Option<&str> {
    let mut escaped = false;
    let end = rest.find(|c: char| {
        let ends = (c == quote && !escaped) || c == '\n';
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let literal = rest.get(..end)?;
    rest.get(end..)?.starts_with(quote).then_some(literal)
}

fn unescape_literal(literal: &str) -> String {
    literal.replace("\\n", "\n").replace("\\\"", "\"").replace("\\'", "'").replace("\\\\", "\\")
}

/// A list of quoted words as shell code.
fn join_literals(words: &[String]) -> String {
    let quote =
        |word: &String| match word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/.~$=:".contains(&byte)) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', "")),
        };
    words.iter().take(MAX_WORDS).map(quote).collect::<Vec<_>>().join(" ")
}

/// Removes the signs of the surrounding format: `- `, `@`, brackets, commas and unbalanced quotes.
fn trim_signs(candidate: &str) -> &str {
    let mut text = candidate.trim().trim_start_matches(['-', '@', '+', '|', '[', '{', '"', '\'', ' ']);
    loop {
        let shorter = text.trim_end_matches([',', ' ', ';']);
        let is_unbalanced = |open: char, close: char| {
            shorter.ends_with(close) && shorter.matches(close).count() > shorter.matches(open).count()
        };
        let odd_quote = |quote: char| shorter.ends_with(quote) && shorter.matches(quote).count() % 2 == 1;
        let drops = is_unbalanced('(', ')')
            || is_unbalanced('[', ']')
            || is_unbalanced('{', '}')
            || odd_quote('"')
            || odd_quote('\'');
        let shorter = if drops { shorter.get(..shorter.len() - 1).unwrap_or_default() } else { shorter };
        if shorter == text {
            return text;
        }
        text = shorter;
    }
}
