//! The parts of a command that can be removed or replaced without breaking it. Parts that the tables do not know are
//! left alone, because the command could then mean something else.

use crate::invocation::{Invocation, SymbolicText};
use crate::judge::CallAnalysis;
use crate::programs::argv::ParsedArgs;
use crate::programs::words::explain as words;
use crate::programs::{ProgramCall, ProgramHandler, UseTarget, resolve_program_call};
use snell_shell::{ByteSpan, RedirectKind, ShellCommandKind, ShellRedirect, ShellWord, parse};

/// The editable parts of a command, as spans of its text.
#[derive(Default)]
pub(super) struct EditableSpans {
    /// Parts that can be removed: flags without a value, one of several files, wrappers, redirections.
    pub(super) needless: Vec<ByteSpan>,
    /// Words that name files.
    pub(super) files: Vec<ByteSpan>,
}

impl EditableSpans {
    /// The editable parts of the command at a span.
    pub(super) fn from_command(text: &str, span: &ByteSpan, analysis: &CallAnalysis) -> Self {
        let here: Vec<&Invocation> = analysis.invocations.iter().filter(|found| found.span == *span).collect();
        let mut parts = Self::default();
        let parsed = parse(text.get(span.clone()).unwrap_or_default());
        let pipelines = parsed.script.items.iter().flat_map(|item| &item.pipelines);
        for command in pipelines.flat_map(|(_, pipeline)| &pipeline.commands) {
            let is_for_all_that_follows = is_lone_exec(&command.kind);
            let opened = command.redirects.iter().filter_map(|redirect| Some((redirect, opened_file_span(redirect)?)));
            for (redirect, file) in opened {
                // Without its input, a command would wait for the terminal.
                if !matches!(redirect.kind, RedirectKind::Read(_)) && !is_for_all_that_follows {
                    parts.needless.push(redirect.span.clone());
                }
                parts.files.push(file);
            }
            if let (ShellCommandKind::Simple { words, .. }, [invocation]) = (&command.kind, here.as_slice()) {
                parts.add_simple_command(words, invocation);
            }
        }
        for part in parts.needless.iter_mut().chain(&mut parts.files) {
            *part = part.start + span.start..part.end + span.start;
        }
        parts
    }

    fn add_simple_command(&mut self, words: &[ShellWord], invocation: &Invocation) {
        let [program, rest @ ..] = words else {
            return;
        };
        if let Some(wrapper) = invocation.via.first() {
            let runs_at_once = rest.first().and_then(ShellWord::as_unquoted).is_some_and(|next| !next.starts_with('-'));
            let is_prefix = words::TRANSPARENT_WRAPPERS.contains(&wrapper.as_str());
            if runs_at_once && is_prefix && program.as_unquoted() == Some(wrapper) {
                self.needless.push(program.span.clone());
            }
            return;
        }
        // A word is an argument only if no word expanded to several words or to none.
        let Some(called) = resolve_program_call(&invocation.argv).filter(|_| words.len() == invocation.argv.len())
        else {
            return;
        };
        let arguments = ArgumentRoles::from_program_call(&called);
        let first = words.len() - called.arguments.len();
        let place = |number: &usize| words.get(first + number).map(|word| word.span.clone());
        // Without its only argument, a program does something else: it shows its help, or waits for the terminal.
        if words.len() > 2 {
            self.needless.extend(arguments.lone_flags.iter().filter_map(place));
        }
        if arguments.spare.len() > 1 {
            self.needless.extend(arguments.spare.iter().filter_map(place));
        }
        self.files.extend(arguments.operands.iter().filter_map(place));
    }
}

/// `exec > file`: the redirection applies to all later commands.
fn is_lone_exec(command: &ShellCommandKind) -> bool {
    matches!(command, ShellCommandKind::Simple { words, .. } if words.len() == 1 && words[0].as_unquoted() == Some("exec"))
}

/// The roles of a program's arguments, by index.
struct ArgumentRoles {
    /// Flags without a value.
    lone_flags: Vec<usize>,
    operands: Vec<usize>,
    /// Operands with the same role as the others.
    spare: Vec<usize>,
}

impl ArgumentRoles {
    fn from_program_call(called: &ProgramCall<'_>) -> Self {
        let line = ParsedArgs::parse(called.program, called.arguments);
        let is_operand = |argument: &SymbolicText| line.operands.iter().any(|operand| std::ptr::eq(*operand, argument));
        let is_flag =
            |argument: &SymbolicText| argument.leading_text().len() > 1 && argument.leading_text().starts_with('-');
        let all = || called.arguments.iter().enumerate();
        let is_lone = |number: usize, flag: &SymbolicText| {
            let next = called.arguments.get(number + 1);
            is_flag(flag)
                && flag.as_text() != Some("--")
                && next.is_none_or(|next| is_flag(next) || is_operand(next) && takes_no_value(flag))
                && !matches!(called.program.handler, Some(ProgramHandler::Kill | ProgramHandler::Interpreter))
        };
        let operands: Vec<usize> = all().filter(|(_, it)| is_operand(it)).map(|(number, _)| number).collect();
        Self {
            lone_flags: all().filter(|(number, it)| is_lone(*number, it)).map(|(number, _)| number).collect(),
            spare: count_leading_operands(called)
                .map_or_else(Vec::new, |first| operands.iter().skip(first).copied().collect()),
            operands,
        }
    }
}

/// Whether the next word is not the flag's value.
fn takes_no_value(flag: &SymbolicText) -> bool {
    let text = flag.as_text().unwrap_or_default();
    !text.starts_with("--") || text.contains('=') || words::BOOLEAN_FLAGS.contains(&text)
}

/// The number of operands before the ones with the same role; `None` if there are none.
fn count_leading_operands(called: &ProgramCall<'_>) -> Option<usize> {
    let program = called.program;
    // If not all flags are known, a number may be the value of one.
    let is_number = |argument: &SymbolicText| argument.leading_text().bytes().all(|byte| byte.is_ascii_digit());
    if matches!(program.handler, Some(ProgramHandler::Move | ProgramHandler::RemoteCopy))
        || words::COMPARE_PROGRAMS.contains(&called.name)
        || called.arguments.iter().any(is_number)
    {
        return None;
    }
    let mut skipped = None;
    for each in program.uses {
        // Several words may name a subcommand together, so none of them can be removed.
        let first = match each.on {
            _ if !each.words.is_empty() => return None,
            UseTarget::Operands => 0,
            UseTarget::AllButFirst => 1,
            UseTarget::First | UseTarget::Last | UseTarget::AllButLast | UseTarget::Into(_) => return None,
            _ => continue,
        };
        skipped = skipped.max(Some(first));
    }
    skipped
}

/// The file name of a redirection.
fn opened_file_span(redirect: &ShellRedirect) -> Option<ByteSpan> {
    use RedirectKind::{Append, AppendBoth, Clobber, Read, ReadWrite, Write, WriteBoth};
    match &redirect.kind {
        Read(word) | Write(word) | Clobber(word) | Append(word) | ReadWrite(word) | WriteBoth(word)
        | AppendBoth(word) => Some(word.span.clone()),
        _ => None,
    }
}
