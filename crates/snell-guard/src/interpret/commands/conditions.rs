//! Tests that tell something about a variable: after `[ -n "$x" ]`, `x` is not empty.

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
        let Some(name) = tested.and_then(|tested| find_nonempty_variable(tested, outcome)) else { return };
        let value = match self.scope.variables.get(self.scope.resolve_name(name)) {
            None => SymbolicText::from_unknown(UnknownKind::Anything),
            Some(ShellVariable::Values(values)) if values.len() == 1 => values.first().cloned().unwrap_or_default(),
            Some(_) => return,
        };
        self.set_variable(name, ShellVariable::from_value(mark_nonempty(value)));
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

/// The variable that is not empty if a test ends so.
fn find_nonempty_variable(tested: &CommandPipeline, outcome: TestOutcome) -> Option<&str> {
    let [command] = tested.commands.as_slice() else { return None };
    let is_true = (outcome == TestOutcome::True) != tested.negated;
    let splits = !matches!(command.kind, ShellCommandKind::Test(_));
    let words = match &command.kind {
        ShellCommandKind::Simple { words, .. } => match words.as_slice() {
            [name, words @ .., last] if name.as_unquoted() == Some("[") && last.as_unquoted() == Some("]") => words,
            [name, words @ ..] if name.as_unquoted() == Some("test") => words,
            _ => return None,
        },
        ShellCommandKind::Test(words) => words,
        _ => return None,
    };
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
