//! Tests that tell something about a variable: after `[ -n "$x" ]`, `x` is not empty, and after `[[ $x == *.tmp ]]` it is not any
//! file.

use crate::interpret::ShellInterpreter;
use crate::interpret::expansion::parameter_operations::mark_nonempty;
use crate::interpret::scope::ShellVariable;
use crate::invocation::{SymbolicText, UnknownKind};
use snell_shell::{
    CommandPipeline, ListConnector, ParameterOperation, ShellCommandKind, ShellScript, ShellWord, WordPart,
};

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestOutcome {
    True,
    False,
}

/// Operators that are true only if their operand is not empty.
const NONEMPTY_OPERATORS: &[&str] = &["-n", "-d", "-e", "-f", "-s", "-r", "-w", "-x", "-L", "-h"];

impl<'t> ShellInterpreter<'t> {
    /// Applies what the outcome of a test tells.
    pub(super) fn assume_outcome(&mut self, tested: Option<&'t CommandPipeline>, outcome: TestOutcome) {
        if let Some(name) = tested.and_then(|tested| find_matched_variable(tested, outcome)) {
            return self.assume_match(name);
        }
        let Some(name) = tested.and_then(|tested| find_nonempty_variable(tested, outcome)) else { return };
        let value = match self.scope.variables.get(self.scope.resolve_name(name)) {
            None => SymbolicText::from_unknown(UnknownKind::Anything),
            Some(ShellVariable::Values(values)) if values.len() == 1 => values.first().cloned().unwrap_or_default(),
            Some(_) => return,
        };
        self.set_variable(name, ShellVariable::from_value(mark_nonempty(value)));
    }

    /// The variable matches a pattern that selects files: of all files that it may name, it names some.
    fn assume_match(&mut self, name: &str) {
        let held = self.scope.variables.get(self.scope.resolve_name(name));
        if let Some(ShellVariable::Values(values)) = held
            && let [value] = values.as_slice()
        {
            let value = value.clone().narrow_patterns();
            self.set_variable(name, ShellVariable::from_value(value));
        }
    }

    /// The same for an arm of `case`.
    pub(super) fn assume_arm(&mut self, word: &'t ShellWord, patterns: &'t [ShellWord]) {
        if let Some(name) = find_variable(word, false).filter(|_| patterns.iter().all(selects_files)) {
            self.assume_match(name);
        }
    }

    /// The same for the condition of an `if`.
    pub(super) fn assume_condition(&mut self, condition: &'t ShellScript, outcome: TestOutcome) {
        let [item] = condition.items.as_slice() else { return };
        let is_chain = item.pipelines.iter().all(|(connector, _)| *connector != ListConnector::Or);
        if is_chain && (outcome == TestOutcome::True || item.pipelines.len() == 1) {
            item.pipelines.iter().for_each(|(_, pipeline)| self.assume_outcome(Some(pipeline), outcome));
        }
    }
}

/// The words of a test, and whether a variable in it is split.
fn find_test_words(tested: &CommandPipeline) -> Option<(&[ShellWord], bool)> {
    let [command] = tested.commands.as_slice() else { return None };
    match &command.kind {
        ShellCommandKind::Simple { words, .. } => match words.as_slice() {
            [name, words @ .., last] if name.as_unquoted() == Some("[") && last.as_unquoted() == Some("]") => {
                Some((words, true))
            }
            [name, words @ ..] if name.as_unquoted() == Some("test") => Some((words, true)),
            _ => None,
        },
        ShellCommandKind::Test(words) => Some((words, false)),
        _ => None,
    }
}

/// The variable that matches a pattern if a test ends so: `[[ $f == *.tmp ]]`, `[ "${f##*.}" = tmp ]`.
fn find_matched_variable(tested: &CommandPipeline, outcome: TestOutcome) -> Option<&str> {
    let [operand, operator, pattern] = find_test_words(tested)?.0 else { return None };
    let [WordPart::Parameter(parameter)] = operand.parts.as_slice() else { return None };
    let is_true = (outcome == TestOutcome::True) != tested.negated;
    let is_plain = parameter.index.is_none() && !parameter.indirect;
    let is_part = matches!(parameter.operation, ParameterOperation::None | ParameterOperation::RemovePrefix { .. });
    let compares = matches!(operator.as_unquoted(), Some("=" | "==")) && selects_files(pattern);
    (is_true && is_plain && is_part && compares).then_some(parameter.name.as_str())
}

/// Whether a pattern matches only some names: it has letters that are known.
fn selects_files(pattern: &ShellWord) -> bool {
    const MIN_LETTERS: usize = 2;
    let letters = |part: &WordPart| match part {
        WordPart::Text { text, .. } => text.chars().filter(|c| c.is_alphanumeric()).count(),
        _ => 0,
    };
    pattern.parts.iter().all(|part| matches!(part, WordPart::Text { .. } | WordPart::Wildcard(_)))
        && pattern.parts.iter().map(letters).sum::<usize>() >= MIN_LETTERS
}

/// The variable that is not empty if a test ends so.
fn find_nonempty_variable(tested: &CommandPipeline, outcome: TestOutcome) -> Option<&str> {
    let (words, splits) = find_test_words(tested)?;
    let is_true = (outcome == TestOutcome::True) != tested.negated;
    match words {
        [operator, operand] => {
            let operator = operator.as_unquoted()?;
            let tells = if is_true { NONEMPTY_OPERATORS.contains(&operator) } else { operator == "-z" };
            find_variable(operand, splits).filter(|_| tells)
        }
        [not, operator, operand] if not.as_unquoted() == Some("!") && operator.as_unquoted() == Some("-z") => {
            find_variable(operand, splits).filter(|_| is_true)
        }
        _ => None,
    }
}

/// The name of a variable that is the whole word. Where words are split, `[ -n $x ]` is true if `x` is empty.
fn find_variable(word: &ShellWord, splits: bool) -> Option<&str> {
    let [WordPart::Parameter(parameter)] = word.parts.as_slice() else { return None };
    let is_plain = parameter.operation == ParameterOperation::None && parameter.index.is_none() && !parameter.indirect;
    (is_plain && (parameter.quoted || !splits)).then_some(parameter.name.as_str())
}
