//! Programs without an entry: commands and code in their arguments are analysed where a flag or their place says that they
//! run.

use super::table::{self, words::unknown_programs as words};
use super::{build_files, find_dashes};
use crate::interpret::{CodeLanguage, ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::invocation::{SymbolicText, base_name};
use crate::programs;

/// How many arguments are read.
const MAX_ARGUMENTS: usize = 64;

/// Analyses the commands in the arguments of a program that is no wrapper; `None` if there are none.
pub(super) fn follow_unknown_program(
    interpreter: &mut ShellInterpreter<'_>,
    command: &ExpandedCommand,
) -> Option<ShellFlow> {
    let name = base_name(command.name()?);
    if words::MENTIONERS.contains(&name) || !command.arguments().iter().any(|word| word.leading_text().starts_with('-'))
    {
        return None;
    }
    let is_known = !table::find_wrappers(name).is_empty() || programs::find_program(name).is_some();
    let mut commands = list_flag_commands(command, is_known);
    let codes = if is_known { Vec::new() } else { list_flag_codes(command) };
    if !is_known && let Some(at) = find_command_start(command.arguments()) {
        commands.push(interpreter.quote_words(command.arguments().get(at..).unwrap_or_default()));
    }
    if commands.is_empty() && codes.is_empty() {
        return None;
    }
    let via = name.to_owned();
    let at = interpreter.run_program(command.clone());
    for code in codes {
        at.iter().for_each(|at| interpreter.report_inline_code(CodeLanguage::Other, code.clone(), *at));
    }
    for code in &commands {
        interpreter.run_code_via(&via, code, &command.span);
    }
    Some(ShellFlow::Next)
}

/// The values of these flags, attached or as the next word.
fn list_flag_values(command: &ExpandedCommand, is_wanted: impl Fn(&str) -> bool) -> Vec<SymbolicText> {
    let arguments = command.arguments();
    let mut values = Vec::new();
    for (at, word) in arguments.iter().enumerate().take(MAX_ARGUMENTS) {
        let text = word.leading_text();
        let flag = text.split_once('=').map_or(text, |(flag, _)| flag);
        if !text.starts_with('-') || !is_wanted(flag) {
            continue;
        }
        match flag.len() < text.len() {
            true => values.push(word.skip_leading_bytes(flag.len() + 1)),
            false => values.extend(arguments.get(at + 1).cloned()),
        }
    }
    values
}

/// `--on-change 'command'`: the values of flags that name a command. Of programs with an entry, only long flags count.
fn list_flag_commands(command: &ExpandedCommand, is_known: bool) -> Vec<SymbolicText> {
    let mut values = list_flag_values(command, |flag| {
        let long = flag.strip_prefix("--").is_some_and(|flag| words::COMMAND_FLAGS.contains(&flag));
        long || (!is_known && words::SHORT_COMMAND_FLAGS.contains(&flag))
    });
    values.retain(|value| {
        let text = value.leading_text();
        text.trim().contains(' ') && build_files::starts_with_program(text)
    });
    values
}

/// `--eval 'code'`: code of an unknown language.
fn list_flag_codes(command: &ExpandedCommand) -> Vec<SymbolicText> {
    let mut values = list_flag_values(command, |flag| words::CODE_FLAGS.contains(&flag));
    values.retain(|value| value.leading_text().contains(['(', '"', '\'', '`', ' ']));
    values
}

/// `program -f value -- command`, `program exec place rm -rf directory`: where the words of another command begin.
fn find_command_start(arguments: &[SymbolicText]) -> Option<usize> {
    const MAX_BEFORE: usize = 8;
    let text_at = |at: usize| arguments.get(at).and_then(SymbolicText::as_text);
    let is_flag = |word: &&SymbolicText| word.leading_text().starts_with('-');
    let before = |at: usize| arguments.get(..at).unwrap_or_default();
    // Each flag may have a value; words such as `exec` may be followed by a place.
    let may_precede = |at: usize| {
        let flags = before(at).iter().filter(is_flag).count();
        let runs = |word: &SymbolicText| word.as_text().is_some_and(|word| words::RUN_WORDS.contains(&word));
        let allowed = flags + if before(at).iter().any(runs) { 2 } else { 0 };
        at - flags <= allowed
    };
    let starts = |at: &usize| {
        let name = text_at(*at).map(base_name).unwrap_or_default();
        let is_flag = |next: &str| next.len() > 1 && next.starts_with('-');
        let is_code_flag = |next: &str| is_flag(next) && next.ends_with('c');
        let next = text_at(at + 1).unwrap_or_default();
        (words::STARTERS.contains(&name) && is_flag(next))
            || (words::STARTING_SHELLS.contains(&name) && is_code_flag(next))
    };
    let dashes = find_dashes(arguments).filter(|at| may_precede(*at)).map(|at| at + 1);
    let dashes = dashes.filter(|at| text_at(*at).is_some_and(build_files::starts_with_program));
    dashes.or_else(|| (0..arguments.len().min(MAX_BEFORE)).find(starts).filter(|at| may_precede(*at)))
}
