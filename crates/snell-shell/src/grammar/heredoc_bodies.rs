//! The walk over a tree that puts here-documents where they belong.

use crate::ast::{
    AssignmentValue, ParameterExpansion, ParameterOperation, RedirectKind, ShellCommand, ShellCommandKind, ShellScript,
    ShellWord, WordPart,
};

/// Shows the place of every here-document to `place`, and then looks into what it put there.
pub(crate) fn visit_here_documents(script: &mut ShellScript, place: &mut impl FnMut(&mut ShellWord)) {
    for item in &mut script.items {
        for (_, pipeline) in &mut item.pipelines {
            for command in &mut pipeline.commands {
                visit_command(command, place);
            }
        }
    }
}

fn visit_command(command: &mut ShellCommand, place: &mut impl FnMut(&mut ShellWord)) {
    for redirect in &mut command.redirects {
        match &mut redirect.kind {
            RedirectKind::HereDocument { body, .. } => {
                place(body);
                visit_word(body, place);
            }
            RedirectKind::Read(word)
            | RedirectKind::Write(word)
            | RedirectKind::Clobber(word)
            | RedirectKind::Append(word)
            | RedirectKind::ReadWrite(word)
            | RedirectKind::WriteBoth(word)
            | RedirectKind::AppendBoth(word)
            | RedirectKind::Duplicate(word)
            | RedirectKind::HereString(word) => visit_word(word, place),
        }
    }
    visit_command_kind(&mut command.kind, place);
}

fn visit_command_kind(kind: &mut ShellCommandKind, place: &mut impl FnMut(&mut ShellWord)) {
    match kind {
        ShellCommandKind::Simple { assignments, words } => {
            for assignment in assignments {
                visit_words(&mut assignment.index, place);
                match &mut assignment.value {
                    AssignmentValue::Word(word) => visit_word(word, place),
                    AssignmentValue::Array(elements) => visit_elements(elements, place),
                }
            }
            visit_words(words, place);
        }
        ShellCommandKind::Subshell(script) | ShellCommandKind::Group(script) => visit_here_documents(script, place),
        ShellCommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit_here_documents(condition, place);
                visit_here_documents(body, place);
            }
            otherwise.iter_mut().for_each(|script| visit_here_documents(script, place));
        }
        ShellCommandKind::While { condition, body, .. } => {
            visit_here_documents(condition, place);
            visit_here_documents(body, place);
        }
        ShellCommandKind::For { words, body, .. } => {
            visit_words(words.iter_mut().flatten(), place);
            visit_here_documents(body, place);
        }
        ShellCommandKind::ArithmeticFor { expressions, body } => {
            visit_word(expressions, place);
            visit_here_documents(body, place);
        }
        ShellCommandKind::Case { word, arms } => {
            visit_word(word, place);
            for (patterns, body) in arms {
                visit_words(patterns, place);
                visit_here_documents(body, place);
            }
        }
        ShellCommandKind::Function { body, .. } | ShellCommandKind::Coprocess { body } => visit_command(body, place),
        ShellCommandKind::Test(words) => visit_words(words, place),
        ShellCommandKind::Arithmetic(word) => visit_word(word, place),
    }
}

fn visit_elements(elements: &mut [(Option<ShellWord>, ShellWord)], place: &mut impl FnMut(&mut ShellWord)) {
    for (index, word) in elements {
        visit_words(index, place);
        visit_word(word, place);
    }
}

fn visit_words<'w>(words: impl IntoIterator<Item = &'w mut ShellWord>, place: &mut impl FnMut(&mut ShellWord)) {
    for word in words {
        visit_word(word, place);
    }
}

fn visit_word(word: &mut ShellWord, place: &mut impl FnMut(&mut ShellWord)) {
    for piece in &mut word.parts {
        match piece {
            WordPart::Text { .. }
            | WordPart::Wildcard(_)
            | WordPart::Bracket(_)
            | WordPart::Tilde(_)
            | WordPart::Range { .. } => {}
            WordPart::Extended(_, words) | WordPart::Braces(words) => visit_words(words, place),
            WordPart::Array(elements) => visit_elements(elements, place),
            WordPart::Parameter(parameter) => visit_parameter(parameter, place),
            WordPart::Substitution { script, .. } | WordPart::Process { script, .. } => {
                visit_here_documents(script, place)
            }
            WordPart::Arithmetic(word) => visit_word(word, place),
        }
    }
}

fn visit_parameter(parameter: &mut ParameterExpansion, place: &mut impl FnMut(&mut ShellWord)) {
    visit_words(&mut parameter.index, place);
    match &mut parameter.operation {
        ParameterOperation::None
        | ParameterOperation::Length
        | ParameterOperation::Transform(_)
        | ParameterOperation::Names => {}
        ParameterOperation::Default { word, .. }
        | ParameterOperation::Assign { word, .. }
        | ParameterOperation::Alternative { word, .. }
        | ParameterOperation::Required { word, .. } => visit_word(word, place),
        ParameterOperation::RemovePrefix { pattern, .. } | ParameterOperation::RemoveSuffix { pattern, .. } => {
            visit_word(pattern, place)
        }
        ParameterOperation::Replace { pattern, by, .. } => visit_words([pattern, by], place),
        ParameterOperation::Slice { offset, length } => {
            visit_word(offset, place);
            visit_words(length, place);
        }
        ParameterOperation::Case { pattern, .. } => visit_words(pattern, place),
    }
}
