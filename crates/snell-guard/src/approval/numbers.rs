//! Variables that hold numbers for certain. Arithmetic evaluates the value of a name, and a subscript in it may run a command.

use snell_shell::{
    AssignmentValue, ShellCommand, ShellCommandKind, ShellScript, ShellWord, VariableAssignment, WordPart,
};

/// Variables of the shell that are numbers.
const SHELL_NUMBERS: &[&str] = &["?", "#", "$", "RANDOM", "SECONDS", "LINENO", "BASHPID", "PPID", "UID", "EUID"];

/// Programs that print one number, whatever they read.
const COUNTERS: &[&str] = &["wc", "nproc"];

/// With more assignments, no variable counts as a number.
const MAX_ASSIGNMENTS: usize = 200;

/// The most rounds of a counting loop.
const MAX_ROUNDS: u32 = 100_000;

/// The assignments of a script: each name, and whether the value is a number if the names in it are.
#[derive(Debug, Default)]
pub(super) struct NumberVariables {
    assignments: Vec<(String, Option<NumberValue>)>,
}

/// A value that is a number if all these names are.
#[derive(Debug, Default)]
struct NumberValue {
    names: Vec<String>,
}

impl NumberVariables {
    /// Reads the assignments of a script.
    pub(super) fn from_script(script: &ShellScript) -> Self {
        let mut variables = Self::default();
        variables.add_script(script);
        if variables.assignments.len() > MAX_ASSIGNMENTS {
            return Self::default();
        }
        variables.keep_certain();
        variables
    }

    /// Whether a variable is a number wherever it is used.
    pub(super) fn contains(&self, name: &str) -> bool {
        is_shell_number(name) || self.assignments.iter().any(|(known, value)| known == name && value.is_some())
    }

    /// Whether `((i=0; i<9; i++))` ends, and only this loop sets its name.
    pub(super) fn is_counting_loop(&self, expressions: &ShellWord) -> bool {
        find_counter(expressions).is_some_and(|counter| {
            let set = self.assignments.iter().filter(|(name, _)| *name == counter).count();
            set == 1 && self.contains(&counter)
        })
    }

    /// Removes names with any other value, until none is left that depends on one.
    fn keep_certain(&mut self) {
        loop {
            let is_certain = |value: &Option<NumberValue>| {
                value.as_ref().is_some_and(|value| value.names.iter().all(|name| self.contains(name)))
            };
            let doubtful: Vec<String> =
                self.assignments.iter().filter(|(_, value)| !is_certain(value)).map(|(name, _)| name.clone()).collect();
            let mut is_changed = false;
            for (_, value) in self.assignments.iter_mut().filter(|(name, _)| doubtful.contains(name)) {
                is_changed |= value.take().is_some();
            }
            if !is_changed {
                return;
            }
        }
    }

    fn add_script(&mut self, script: &ShellScript) {
        let commands =
            script.items.iter().flat_map(|item| &item.pipelines).flat_map(|(_, pipeline)| &pipeline.commands);
        commands.for_each(|command| self.add_command(command));
    }

    fn add_command(&mut self, command: &ShellCommand) {
        match &command.kind {
            ShellCommandKind::Simple { assignments, words } => self.add_simple(assignments, words),
            ShellCommandKind::Subshell(script) | ShellCommandKind::Group(script) => self.add_script(script),
            ShellCommandKind::If { branches, otherwise } => {
                let tests = branches.iter().flat_map(|(test, body)| [test, body]);
                tests.chain(otherwise).for_each(|script| self.add_script(script));
            }
            ShellCommandKind::While { condition, body, .. } => {
                self.add_script(condition);
                self.add_script(body);
            }
            ShellCommandKind::For { variable, words, body, .. } => {
                let is_count = words.as_ref().is_some_and(|words| words.iter().all(counts));
                self.assignments.push((variable.clone(), is_count.then(NumberValue::default)));
                self.add_script(body);
            }
            ShellCommandKind::ArithmeticFor { expressions, body } => {
                let counter = find_counter(expressions);
                self.assignments.extend(counter.map(|counter| (counter, Some(NumberValue::default()))));
                self.add_script(body);
            }
            ShellCommandKind::Case { arms, .. } => arms.iter().for_each(|(_, body)| self.add_script(body)),
            ShellCommandKind::Function { body, .. } | ShellCommandKind::Coprocess { body } => self.add_command(body),
            // Arithmetic of numbers only sets numbers.
            ShellCommandKind::Arithmetic(_) | ShellCommandKind::Test(_) => {}
        }
    }

    fn add_simple(&mut self, assignments: &[VariableAssignment], words: &[ShellWord]) {
        for assignment in assignments {
            let value = match &assignment.value {
                AssignmentValue::Word(word) if assignment.index.is_none() => read_number(word),
                AssignmentValue::Word(_) | AssignmentValue::Array(_) => None,
            };
            self.assignments.push((assignment.name.clone(), value));
        }
        // `read x`
        if words.first().and_then(ShellWord::as_unquoted) == Some("read") {
            let names = words.iter().skip(1).filter_map(ShellWord::as_unquoted);
            self.assignments.extend(names.map(|name| (name.to_owned(), None)));
        }
    }
}

/// Whether the shell itself keeps a number in this variable.
pub(super) fn is_shell_number(name: &str) -> bool {
    SHELL_NUMBERS.contains(&name)
}

/// The value of an assignment, if it may be a number.
fn read_number(word: &ShellWord) -> Option<NumberValue> {
    match word.parts.as_slice() {
        [WordPart::Text { text, .. }] if is_digits(text) => Some(NumberValue::default()),
        [WordPart::Arithmetic(inner)] => Some(NumberValue { names: find_names(inner)? }),
        [WordPart::Parameter(parameter)] => {
            use snell_shell::ParameterOperation as Operation;
            let is_plain = parameter.index.is_none() && !parameter.indirect;
            match &parameter.operation {
                Operation::Length => Some(NumberValue::default()),
                Operation::None if is_plain => Some(NumberValue { names: vec![parameter.name.clone()] }),
                _ => None,
            }
        }
        [WordPart::Substitution { script, .. }] if prints_number(script) => Some(NumberValue::default()),
        _ => None,
    }
}

/// `… | wc -l`, `grep -c x file`
fn prints_number(script: &ShellScript) -> bool {
    let [item] = script.items.as_slice() else { return false };
    let [(_, pipeline)] = item.pipelines.as_slice() else { return false };
    let Some(ShellCommandKind::Simple { assignments, words }) = pipeline.commands.last().map(|last| &last.kind) else {
        return false;
    };
    let texts: Vec<&str> = words.iter().map_while(ShellWord::as_unquoted).collect();
    let is_all = assignments.is_empty() && texts.len() == words.len();
    match texts.split_first() {
        // With a file, its name is printed, too.
        Some((name, flags)) if COUNTERS.contains(name) => is_all && flags.iter().all(|flag| flag.starts_with('-')),
        Some((&"date", ["+%s"])) => true,
        _ => false,
    }
}

/// A number, or a range of them, in the list of a loop.
fn counts(word: &ShellWord) -> bool {
    match word.parts.as_slice() {
        [WordPart::Text { text, .. }] => is_digits(text),
        [WordPart::Range { from, to, .. }] => is_digits(from) && is_digits(to),
        [WordPart::Substitution { script, .. }] => {
            let Some((_, command)) = script.single_command() else { return false };
            let ShellCommandKind::Simple { words, .. } = &command.kind else { return false };
            let texts: Vec<&str> = words.iter().map_while(ShellWord::as_unquoted).collect();
            let numbers = texts.get(1..).unwrap_or_default();
            texts.len() == words.len() && texts.first() == Some(&"seq") && numbers.iter().all(|text| is_digits(text))
        }
        _ => false,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names in an arithmetic expression; `None` if it has more than names, numbers and operators.
pub(super) fn find_names(word: &ShellWord) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for part in &word.parts {
        match part {
            WordPart::Text { text, .. } => {
                let is_sign = |c: char| " +-*/%()<>=!&|?:,\t\n".contains(c) || c == '_' || c.is_ascii_alphanumeric();
                if !text.chars().all(is_sign) {
                    return None;
                }
                let words =
                    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
                for word in words.filter(|word| !is_digits(word)) {
                    // `0x1f` and `a1` next to a parameter could be read in several ways.
                    let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                    is_name.then(|| names.push(word.to_owned()))?;
                }
            }
            WordPart::Parameter(parameter) => {
                let is_plain = matches!(parameter.operation, snell_shell::ParameterOperation::None)
                    && parameter.index.is_none()
                    && !parameter.indirect;
                is_plain.then(|| names.push(parameter.name.clone()))?;
            }
            _ => return None,
        }
    }
    Some(names)
}

/// The name that `i=0; i<9; i++` counts up.
fn find_counter(expressions: &ShellWord) -> Option<String> {
    let [WordPart::Text { text, .. }] = expressions.parts.as_slice() else { return None };
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (start, rest) = text.split_once(';')?;
    let (test, step) = rest.split_once(';')?;
    let (name, first) = start.split_once('=')?;
    let (tested, limit) = test.split_once("<=").or_else(|| test.split_once('<'))?;
    let is_step = step == format!("{name}++") || step == format!("++{name}");
    let is_bounded = limit.parse::<u32>().is_ok_and(|limit| limit <= MAX_ROUNDS);
    (is_step && is_bounded && tested == name && is_digits(first) && !name.is_empty()).then(|| name.to_owned())
}
