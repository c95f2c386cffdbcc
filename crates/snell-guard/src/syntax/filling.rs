//! The walk over a tree that puts here-documents where they belong.

use super::ast::{Assigned, Command, CommandKind, Operation, Parameter, Piece, RedirectKind, Script, Word};

/// Shows the place of every here-document to `place`, and then looks into what it put there.
pub(super) fn visit(script: &mut Script, place: &mut impl FnMut(&mut Word)) {
    for item in &mut script.items {
        for (_, pipeline) in &mut item.pipelines {
            for command in &mut pipeline.commands {
                in_command(command, place);
            }
        }
    }
}

fn in_command(command: &mut Command, place: &mut impl FnMut(&mut Word)) {
    for redirect in &mut command.redirects {
        match &mut redirect.kind {
            RedirectKind::HereDocument { body, .. } => {
                place(body);
                in_word(body, place);
            }
            RedirectKind::Read(word)
            | RedirectKind::Write(word)
            | RedirectKind::Clobber(word)
            | RedirectKind::Append(word)
            | RedirectKind::ReadWrite(word)
            | RedirectKind::WriteBoth(word)
            | RedirectKind::AppendBoth(word)
            | RedirectKind::Duplicate(word)
            | RedirectKind::HereString(word) => in_word(word, place),
        }
    }
    in_kind(&mut command.kind, place);
}

fn in_kind(kind: &mut CommandKind, place: &mut impl FnMut(&mut Word)) {
    match kind {
        CommandKind::Simple { assignments, words } => {
            for assignment in assignments {
                in_words(&mut assignment.index, place);
                match &mut assignment.value {
                    Assigned::Word(word) => in_word(word, place),
                    Assigned::Array(elements) => in_elements(elements, place),
                }
            }
            in_words(words, place);
        }
        CommandKind::Subshell(script) | CommandKind::Group(script) => visit(script, place),
        CommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit(condition, place);
                visit(body, place);
            }
            otherwise.iter_mut().for_each(|script| visit(script, place));
        }
        CommandKind::While { condition, body, .. } => {
            visit(condition, place);
            visit(body, place);
        }
        CommandKind::For { words, body, .. } => {
            in_words(words.iter_mut().flatten(), place);
            visit(body, place);
        }
        CommandKind::ArithmeticFor { expressions, body } => {
            in_word(expressions, place);
            visit(body, place);
        }
        CommandKind::Case { word, arms } => {
            in_word(word, place);
            for (patterns, body) in arms {
                in_words(patterns, place);
                visit(body, place);
            }
        }
        CommandKind::Function { body, .. } | CommandKind::Coprocess { body } => in_command(body, place),
        CommandKind::Test(words) => in_words(words, place),
        CommandKind::Arithmetic(word) => in_word(word, place),
    }
}

fn in_elements(elements: &mut [(Option<Word>, Word)], place: &mut impl FnMut(&mut Word)) {
    for (index, word) in elements {
        in_words(index, place);
        in_word(word, place);
    }
}

fn in_words<'w>(words: impl IntoIterator<Item = &'w mut Word>, place: &mut impl FnMut(&mut Word)) {
    for word in words {
        in_word(word, place);
    }
}

fn in_word(word: &mut Word, place: &mut impl FnMut(&mut Word)) {
    for piece in &mut word.pieces {
        match piece {
            Piece::Text { .. } | Piece::Wildcard(_) | Piece::Bracket(_) | Piece::Tilde(_) | Piece::Range { .. } => {}
            Piece::Extended(_, words) | Piece::Braces(words) => in_words(words, place),
            Piece::Array(elements) => in_elements(elements, place),
            Piece::Parameter(parameter) => in_parameter(parameter, place),
            Piece::Substitution { script, .. } | Piece::Process { script, .. } => visit(script, place),
            Piece::Arithmetic(word) => in_word(word, place),
        }
    }
}

fn in_parameter(parameter: &mut Parameter, place: &mut impl FnMut(&mut Word)) {
    in_words(&mut parameter.index, place);
    match &mut parameter.operation {
        Operation::None | Operation::Length | Operation::Transform(_) | Operation::Names => {}
        Operation::Default { word, .. }
        | Operation::Assign { word, .. }
        | Operation::Alternative { word, .. }
        | Operation::Required { word, .. } => in_word(word, place),
        Operation::RemovePrefix { pattern, .. } | Operation::RemoveSuffix { pattern, .. } => in_word(pattern, place),
        Operation::Replace { pattern, by, .. } => in_words([pattern, by], place),
        Operation::Slice { offset, length } => {
            in_word(offset, place);
            in_words(length, place);
        }
        Operation::Case { pattern, .. } => in_words(pattern, place),
    }
}
