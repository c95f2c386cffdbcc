//! Languages without a parser: the strings of the code, and whether it names a function that runs or deletes them.

use super::lower::LoweringContext;
use crate::effects::Effect;
use crate::interpret::quote_shell_word;
use crate::interpreters::words::literals as words;

/// How many strings are read.
const MAX_LITERALS: usize = 256;

/// How many texts are judged.
const MAX_LOWERED: usize = 48;

/// How many strings may have no end.
const MAX_OPEN_STRINGS: usize = 16;

/// How many names around a string may belong to its call.
const NAMES_BEFORE: usize = 8;
const NAMES_AFTER: usize = 3;

/// Signs that enclose a string, and their partners.
const QUOTES: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('`', '`'), ('`', '\'')];

/// Which code the strings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralMode {
    /// A language without a parser.
    AnyLanguage,
    /// Parsed code that may hide calls: only names that mean nothing else count.
    Reflection,
}

/// The strings that stand side by side, such as the words of a list, and the names in the code.
#[derive(Default)]
pub(super) struct CodeLiterals {
    groups: Vec<LiteralGroup>,
    names: Vec<String>,
    /// Whether an operator runs strings: `` $`command` ``, `"command".!`.
    runs_templates: bool,
}

/// Strings side by side.
#[derive(Default)]
struct LiteralGroup {
    texts: Vec<String>,
    /// How many names come before them.
    names_before: usize,
    /// Whether they are in backquotes.
    is_command: bool,
}

/// The effects of code in any language.
pub(super) fn lower_literals(text: &str, mut lowering: LoweringContext<'_>) -> Vec<Effect> {
    for code in text.lines().filter_map(find_shell_line) {
        lowering.lower_shell_code(code, None);
    }
    CodeLiterals::from_code(text).lower(LiteralMode::AnyLanguage, lowering)
}

/// The effects of code that walks a directory and deletes all that it finds there, under names that no string has.
pub(super) fn lower_walks(text: &str, mut lowering: LoweringContext<'_>) -> Vec<Effect> {
    let has_any = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    if !has_any(words::WALKERS) || has_any(words::WALK_FILTERS) || !deletes_variable(text) {
        return Vec::new();
    }
    let text = words::WALK_HOMES.iter().fold(text.to_owned(), |text, home| text.replace(home, "\"~\""));
    for root in CodeLiterals::from_code(&text).texts() {
        let root = root.trim_end_matches(['*', '/']);
        if words::WALK_ROOTS.contains(&root) || root.strip_prefix("/home/").is_some_and(|user| !user.contains('/')) {
            lowering.lower_shell_code(&format!("rm -rf -- {}", quote_path(root)), None);
        }
    }
    lowering.into_effects()
}

/// Whether a call deletes something else than a string, or is handed on: `unlink $_`, `map(os.remove, …)`.
fn deletes_variable(text: &str) -> bool {
    words::WALK_DELETIONS.iter().any(|call| {
        let mut after = text.split(call).skip(1).map(|rest| rest.trim_start_matches([' ', '(']));
        after.any(|rest| !rest.starts_with(['"', '\'', '`', '_']) && !rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// `:! command`, `!command`, `%%bash`: a line for a shell. `syscmd(command)` needs no quotes.
fn find_shell_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    // gdb: `pipe command | program`
    if let Some((_, code)) = line.strip_prefix("pipe ").and_then(|rest| rest.rsplit_once('|')) {
        return Some(code);
    }
    let behind = words::LINE_PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix));
    let behind = behind.filter(|code| !code.starts_with(['=', '(', '!']));
    behind.or_else(|| {
        let after = words::BARE_CALLS.iter().find_map(|call| line.split_once(call))?.1;
        after.rsplit_once([')', '}', '>']).map(|(code, _)| code.trim_matches(['`', '\'', '"']))
    })
}

/// A text for a shell: one string, or the words of a list.
fn join_group(group: &[String]) -> String {
    match group {
        [only] => only.clone(),
        [flag, code] if flag == "-c" => code.clone(),
        words => words.iter().map(|word| quote_shell_word(word)).collect::<Vec<_>>().join(" "),
    }
}

impl CodeLiterals {
    /// Whether the code or one of its strings has one of these names.
    fn names_any(&self, known: &[&str]) -> bool {
        let literals = self.texts();
        self.names.iter().chain(literals).any(|name| known.contains(&name.as_str()))
    }

    /// Whether the code may run something without a call that a parser sees: by a name in a string, by a reference to a
    /// function, or through a reflective call.
    pub(super) fn hides_calls(&self, text: &str) -> bool {
        let is_named = |literal: &String| words::REFERENCES.contains(&literal.as_str());
        let is_reference = |name: &str| {
            let mut before = "";
            text.split(name).any(|part| {
                let follows = part.starts_with([')', ']', ',', '.', ';', '}']) && !before.is_empty();
                let is_handed = follows && !is_import(before);
                let is_member = before.ends_with("].");
                before = part;
                is_handed || is_member
            })
        };
        let holds_code =
            |literal: &String| literal.contains('(') && words::REFERENCES.iter().any(|name| literal.contains(name));
        self.names_any(words::REFLECTION)
            || words::TRANSFORMATIONS.iter().any(|mark| text.contains(mark))
            || self.runs_templates
            || (self.names_any(words::CODE_RUNNERS) && self.texts().any(holds_code))
            || self.texts().any(is_named)
            || words::REFERENCES.iter().any(|name| is_reference(name))
    }

    /// The strings that look like code with a call.
    pub(super) fn inner_codes(&self) -> impl Iterator<Item = &String> {
        let runs_code = self.names_any(words::CODE_RUNNERS);
        let literals = self.texts().filter(move |_| runs_code);
        literals.filter(|literal| literal.contains('(') && literal.contains(')'))
    }

    /// All strings.
    fn texts(&self) -> impl Iterator<Item = &String> {
        self.groups.iter().flat_map(|group| &group.texts)
    }

    /// Whether one of these calls stands near a group, or one of the strings before it names one.
    fn is_near(&self, group: &LiteralGroup, calls: &[&str]) -> bool {
        let from = group.names_before.saturating_sub(NAMES_BEFORE);
        let until = (group.names_before + NAMES_AFTER).min(self.names.len());
        let near = self.names.get(from..until).unwrap_or_default();
        near.iter().chain(self.texts()).any(|name| calls.contains(&name.as_str()))
    }

    /// The effects, if a function runs the strings or deletes them.
    pub(super) fn lower(&self, mode: LiteralMode, mut lowering: LoweringContext<'_>) -> Vec<Effect> {
        let mut codes: Vec<String> =
            self.texts().filter_map(|text| text.strip_prefix('|')).map(str::to_owned).collect();
        let is_shell_call = |literal: &String| words::SHELL_CALLS.contains(&literal.as_str());
        let is_called = match mode {
            LiteralMode::AnyLanguage => self.names_any(words::SHELL_CALLS),
            LiteralMode::Reflection => self.names_any(words::REFLECTED_CALLS) || self.texts().any(is_shell_call),
        };
        let runs = is_called || self.runs_templates;
        for group in self.groups.iter().filter(|group| runs || group.is_command) {
            for texts in group.texts.split(is_shell_call).filter(|texts| !texts.is_empty()) {
                codes.push(join_group(texts));
                // `table["name"]("command")`
                if let [name, code] = texts
                    && !words::PRINTERS.contains(&name.as_str())
                    && code.contains(' ')
                {
                    codes.push(code.clone());
                }
            }
        }
        codes.extend(self.list_equivalents(mode));
        // Texts with blanks and paths come first: the others rarely do anything.
        codes.sort_by_key(|code| !code.contains([' ', '/', '~']));
        codes.iter().take(MAX_LOWERED).for_each(|code| lowering.lower_shell_code(code, None));
        lowering.into_effects()
    }

    /// The commands that do the same as calls beside the strings.
    fn list_equivalents(&self, mode: LiteralMode) -> Vec<String> {
        let mut commands = Vec::new();
        for (command, calls) in words::EQUIVALENTS {
            let is_meant = |call: &&&str| mode == LiteralMode::AnyLanguage || words::REFLECTED_CALLS.contains(*call);
            let calls: Vec<&str> = calls.iter().filter(is_meant).copied().collect();
            for group in self.groups.iter().filter(|group| self.is_near(group, &calls)) {
                let texts = group.texts.iter().filter(|text| !calls.contains(&text.as_str()));
                let paths = texts.filter(|text| text.contains(['/', '~', '.', '*']) || text.as_str() == "HOME");
                commands.extend(paths.map(|path| format!("{command} {}", quote_path(path))));
            }
        }
        commands
    }

    pub(super) fn from_code(text: &str) -> Self {
        let mut found =
            Self { runs_templates: words::TEMPLATE_CALLS.iter().any(|mark| text.contains(mark)), ..Self::default() };
        let mut rest = text;
        let mut is_new_group = true;
        // Searching for the end of each of many open strings would take too long.
        let mut open_strings = 0;
        while let Some(first) = rest.chars().next() {
            if found.names.len() + found.groups.len() > MAX_LITERALS * 8 {
                break;
            }
            let may_begin = open_strings < MAX_OPEN_STRINGS;
            let parsed = Some(rest).filter(|_| may_begin).and_then(parse_literal).or_else(|| parse_code_points(rest));
            open_strings += usize::from(parsed.is_none() && QUOTES.iter().any(|(quote, _)| *quote == first));
            if let Some((literal, after, joins)) = parsed {
                found.push_literal(literal, is_new_group, joins);
                if let Some(group) = found.groups.last_mut() {
                    group.is_command |= rest.starts_with('`')
                        && rest.get(..rest.len() - after.len()).is_some_and(|all| all.ends_with('`'));
                }
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
        // `["sys", "tem"].join("")`
        if text.contains("join") || text.contains("implode") {
            let joined: Vec<String> = found.groups.iter().map(|group| group.texts.concat()).collect();
            found.names.extend(joined);
        }
        let mut changed: Vec<String> = Vec::new();
        if ["::-1", "reverse", "strrev"].iter().any(|mark| text.contains(mark)) {
            changed.extend(found.texts().map(|literal| literal.chars().rev().collect::<String>()));
        }
        if ["rot13", "rot_13"].iter().any(|mark| text.contains(mark)) {
            changed.extend(found.texts().map(|literal| literal.chars().map(rotate_letter).collect::<String>()));
        }
        for literal in changed {
            found.names.push(literal.clone());
            found.push_literal(literal, true, false);
        }
        found
    }

    /// Adds a string to its neighbours. One that an operator joins continues the one before.
    fn push_literal(&mut self, literal: String, is_new_group: bool, joins: bool) {
        let is_full = self.groups.len() >= MAX_LITERALS;
        match self.groups.last_mut().filter(|_| !is_new_group) {
            Some(group) => match group.texts.last_mut().filter(|_| joins) {
                Some(last) => last.push_str(&literal),
                None => group.texts.push(literal),
            },
            None if is_full => {}
            None => self.groups.push(LiteralGroup {
                texts: vec![literal],
                names_before: self.names.len(),
                is_command: false,
            }),
        }
    }
}

/// A path for a shell, with `~` for the home directory.
fn quote_path(literal: &str) -> String {
    match literal {
        "~" | "HOME" | "USERPROFILE" => "~".to_owned(),
        _ => match literal.strip_prefix("~/") {
            Some(rest) => format!("~/{}", quote_shell_word(rest)),
            None => quote_shell_word(literal),
        },
    }
}

fn rotate_letter(c: char) -> char {
    let turn = |first: u8| char::from(first + (c as u8 - first + 13) % 26);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        _ => c,
    }
}

/// `114,109,32,…`: the text of a list of code points, and the rest.
fn parse_code_points(text: &str) -> Option<(String, &str, bool)> {
    const FEWEST: usize = 6;
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | ' ')).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let characters = numbers.split([',', ' ']).filter(|number| !number.is_empty());
    let decoded: String = characters.map(|number| number.parse::<u8>().ok().map(char::from)).collect::<Option<_>>()?;
    (decoded.len() >= FEWEST).then_some((decoded, rest, false))
}

/// Whether the statement that a text ends with takes names from a module: `from os import …`, `const {…`.
fn is_import(before: &str) -> bool {
    let from = before.rfind(['\n', ';']).map_or(0, |at| at + 1);
    let statement = before.get(from..).unwrap_or_default().trim_start();
    words::IMPORT_STARTS.iter().any(|start| statement.starts_with(start))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '*')
}

/// A string at the start of a text, the rest, and whether an operator before it joins it with the last one.
fn parse_literal(text: &str) -> Option<(String, &str, bool)> {
    const JOINS: &[&str] = &["++", "<>", "+", "..", ".", "~", "&", "^", "//"];
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
