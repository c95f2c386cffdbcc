//! Walks over trees, and texts to try.

use snell_shell::{
    AssignmentValue, ParameterOperation, RedirectKind, ShellCommand, ShellCommandKind, ShellScript, ShellWord, WordPart,
};

/// Every command, also those in words, as they are written.
pub(super) fn visit_commands<'s>(script: &'s ShellScript, see: &mut dyn FnMut(&'s ShellCommand)) {
    for item in &script.items {
        for (_, pipeline) in &item.pipelines {
            for command in &pipeline.commands {
                visit_command(command, see);
            }
        }
    }
}

fn visit_command<'s>(command: &'s ShellCommand, see: &mut dyn FnMut(&'s ShellCommand)) {
    see(command);
    match &command.kind {
        ShellCommandKind::Simple { assignments, words } => {
            for assignment in assignments {
                match &assignment.value {
                    AssignmentValue::Word(word) => visit_word(word, see),
                    AssignmentValue::Array(elements) => elements.iter().for_each(|(_, word)| visit_word(word, see)),
                }
            }
            words.iter().for_each(|word| visit_word(word, see));
        }
        ShellCommandKind::Subshell(body) | ShellCommandKind::Group(body) => visit_commands(body, see),
        ShellCommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit_commands(condition, see);
                visit_commands(body, see);
            }
            otherwise.iter().for_each(|body| visit_commands(body, see));
        }
        ShellCommandKind::While { condition, body, .. } => {
            visit_commands(condition, see);
            visit_commands(body, see);
        }
        ShellCommandKind::For { words, body, .. } => {
            words.iter().flatten().for_each(|word| visit_word(word, see));
            visit_commands(body, see);
        }
        ShellCommandKind::ArithmeticFor { expressions, body } => {
            visit_word(expressions, see);
            visit_commands(body, see);
        }
        ShellCommandKind::Case { word, arms } => {
            visit_word(word, see);
            arms.iter().for_each(|(_, body)| visit_commands(body, see));
        }
        ShellCommandKind::Function { body, .. } | ShellCommandKind::Coprocess { body } => visit_command(body, see),
        ShellCommandKind::Test(words) => words.iter().for_each(|word| visit_word(word, see)),
        ShellCommandKind::Arithmetic(word) => visit_word(word, see),
    }
    for redirect in &command.redirects {
        if let RedirectKind::HereDocument { body, .. } = &redirect.kind {
            visit_word(body, see);
        }
    }
}

fn visit_word<'s>(word: &'s ShellWord, see: &mut dyn FnMut(&'s ShellCommand)) {
    for piece in &word.parts {
        match piece {
            WordPart::Substitution { script, .. } | WordPart::Process { script, .. } => visit_commands(script, see),
            WordPart::Arithmetic(inner) => visit_word(inner, see),
            WordPart::Braces(words) | WordPart::Extended(_, words) => {
                words.iter().for_each(|word| visit_word(word, see))
            }
            WordPart::Parameter(parameter) => {
                if let ParameterOperation::Default { word, .. } = &parameter.operation {
                    visit_word(word, see);
                }
            }
            _ => {}
        }
    }
}
