//! Shells: code by `-c`, in a file, or by standard input.

use super::table::words::shells as words;
use std::rc::Rc;

use super::embedded_scripts::fill_string_format;
use super::{WrapperCall, with_inherited_stdin};
use crate::interpret::{CoverageGap, ExpandedCommand, ShellFlow, ShellInterpreter, join_words};
use crate::invocation::{StdinSource, SymbolicText, base_name};

/// How many programs of a pipe are read for texts.
const MAX_PIPE_TEXTS: usize = 8;

/// The arguments of a shell.
#[derive(Default)]
struct ShellArgs {
    /// By `-c`.
    has_code_flag: bool,
    /// By `-s`.
    reads_stdin: bool,
    /// `-n`: it reads the code and runs none of it.
    only_reads: bool,
    /// `-i`: it disables `-n`.
    interactive: bool,
    /// Code from another flag: fish's `--command`.
    extra_code: Vec<SymbolicText>,
    /// Start-up files.
    startup_files: Vec<SymbolicText>,
    /// Where its operands begin.
    operands_start: usize,
}

impl ShellArgs {
    fn parse(argv: &[SymbolicText]) -> Self {
        let mut args = Self { operands_start: 1, ..Self::default() };
        while let Some(text) = argv.get(args.operands_start).map(SymbolicText::leading_text) {
            let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
                break;
            };
            args.operands_start += 1;
            if text == "--" {
                break;
            }
            if let Some(long) = letters.strip_prefix('-') {
                args.parse_long_flag(long, text, argv);
                continue;
            }
            for letter in letters.chars() {
                match letter {
                    'c' if text.starts_with('-') => args.has_code_flag = true,
                    's' => args.reads_stdin = true,
                    'n' => args.only_reads = text.starts_with('-'),
                    'i' => args.interactive = true,
                    'o' | 'O' => {
                        if argv.get(args.operands_start).and_then(SymbolicText::as_text) == Some("noexec") {
                            args.only_reads = text.starts_with('-');
                        }
                        args.operands_start += 1;
                    }
                    _ => {}
                }
            }
        }
        // A single dash also ends the flags.
        if argv.get(args.operands_start).and_then(SymbolicText::as_text) == Some("-") && args.has_code_flag {
            args.operands_start += 1;
        }
        args
    }

    fn parse_long_flag(&mut self, long: &str, text: &str, argv: &[SymbolicText]) {
        let (name, glued) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let value = match glued {
            Some(value) => Some(SymbolicText::from_text(value)),
            None if words::VALUE_FLAGS.contains(&text) => {
                self.operands_start += 1;
                argv.get(self.operands_start - 1).cloned()
            }
            None => None,
        };
        match (name, value) {
            ("command" | "commands" | "init-command", Some(code)) => self.extra_code.push(code),
            ("rcfile" | "init-file", Some(file)) => self.startup_files.push(file),
            ("no-execute" | "noexec", None) => self.only_reads = true,
            _ => {}
        }
    }
}

/// Analyses the code that a shell would run. Reports the shell itself if the code is unknown.
pub(super) fn follow_shell<'t>(interpreter: &mut ShellInterpreter<'t>, job: &WrapperCall<'_>) -> Option<ShellFlow> {
    let argv = &job.call.argv;
    let args = ShellArgs::parse(argv);
    if args.only_reads && !args.interactive && !words::WITHOUT_NOEXEC.contains(&job.via.as_str()) {
        job.report_files(interpreter, job.call.files.clone());
        return Some(ShellFlow::Next);
    }
    for file in &args.startup_files {
        match interpreter.find_written_content(file) {
            Some(code) => follow_child_shell(interpreter, job, &code, &[], false),
            None => {
                interpreter.run_program(job.call.with_argv(vec![SymbolicText::from_text("dlopen"), file.clone()]));
            }
        }
    }
    for code in &args.extra_code {
        follow_child_shell(interpreter, job, code, &[], false);
    }
    let rest = argv.get(args.operands_start..).unwrap_or_default();
    if args.has_code_flag {
        let (code, arguments) = rest.split_first()?;
        report_shell_call(interpreter, job, code);
        follow_child_shell(interpreter, job, code, arguments, true);
        return Some(ShellFlow::Next);
    }
    if !args.extra_code.is_empty() {
        return Some(ShellFlow::Next);
    }
    let is_stdin = |script: &SymbolicText| script.as_text().is_some_and(|text| words::STDIN_NAMES.contains(&text));
    match rest.split_first() {
        Some((script, arguments)) if !args.reads_stdin && !is_stdin(script) => {
            if let Some(content) = interpreter.find_written_content(script) {
                interpreter.report_unseen_script(job.call, &content);
                follow_child_shell(interpreter, job, &content, &prepend_script_name(script, arguments), true);
            } else {
                if script.as_text().is_none() {
                    interpreter.mark_partial(CoverageGap::UnknownCode);
                }
                interpreter.run_program(job.call.clone());
            }
        }
        _ => follow_stdin_script(interpreter, job, rest),
    }
    Some(ShellFlow::Next)
}

/// `./script.sh`: runs the script if this text wrote it.
pub(super) fn follow_written_script(interpreter: &mut ShellInterpreter<'_>, command: &ExpandedCommand) -> bool {
    let Some(content) = command.argv.first().and_then(|path| interpreter.find_written_content(path)) else {
        return false;
    };
    let first = content.leading_text().lines().next().unwrap_or_default();
    let other = first.starts_with("#!") && !first.contains("sh");
    interpreter.report_command(command.clone());
    if other {
        // `#!/usr/bin/env python3`
        let words = first.trim_start_matches("#!").split_whitespace();
        let program = words.map(base_name).find(|word| *word != "env" && !word.starts_with('-'));
        let script = program.map(SymbolicText::from_text).into_iter().chain(command.argv.iter().cloned());
        interpreter.run_expanded(command.with_argv(script.collect()));
    } else {
        run_child_shell(interpreter, command.name().unwrap_or_default(), command, &content, &command.argv);
    }
    true
}

fn prepend_script_name(script: &SymbolicText, arguments: &[SymbolicText]) -> Vec<SymbolicText> {
    std::iter::once(script).chain(arguments).cloned().collect()
}

fn follow_stdin_script<'t>(interpreter: &mut ShellInterpreter<'t>, job: &WrapperCall<'_>, arguments: &[SymbolicText]) {
    let stdin = Rc::clone(&interpreter.scope.io.stdin);
    let StdinSource::Text(text) = &*stdin else {
        if !matches!(&*stdin, StdinSource::Inherited) {
            interpreter.mark_partial(CoverageGap::UnknownCode);
        }
        follow_pipe_texts(interpreter, job, &stdin);
        interpreter.run_program(job.call.clone());
        return;
    };
    report_shell_call(interpreter, job, text);
    let name = job.call.argv.first().cloned().unwrap_or_default();
    with_inherited_stdin(interpreter, |walker| {
        follow_child_shell(walker, job, text, &prepend_script_name(&name, arguments), false);
    });
}

/// A pipe of unknown output ends in a shell: the texts that its programs are given are judged as they are, because most
/// filters pass on what they get.
fn follow_pipe_texts(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, stdin: &StdinSource) {
    let StdinSource::Pipe(left) = stdin else { return };
    let mut texts: Vec<SymbolicText> = Vec::new();
    for invocation in left.iter().take(MAX_PIPE_TEXTS) {
        let name = invocation.name().map(base_name).unwrap_or_default();
        let arguments = invocation.arguments();
        if words::TEXT_PRINTERS.contains(&name) {
            texts.push(join_words(arguments));
        }
        if let StdinSource::Text(text) = &invocation.stdin {
            texts.push(text.clone());
        }
        if words::CODE_PRINTERS.contains(&name) {
            let literals = arguments.iter().map(|argument| list_literals(argument.leading_text()));
            for literals in literals.filter(|literals| !literals.is_empty()) {
                texts.extend([literals.concat(), literals.join(" ")].map(SymbolicText::from_text));
                texts.extend(fill_string_format(&literals).map(SymbolicText::from_text));
            }
        }
        if words::TEXT_FILTERS.contains(&name) {
            texts.extend(arguments.iter().filter_map(find_replacement));
        }
    }
    for text in texts {
        with_inherited_stdin(interpreter, |walker| follow_child_shell(walker, job, &text, &[], false));
    }
}

/// The strings in code.
pub(super) fn list_literals(code: &str) -> Vec<&str> {
    let mut literals = Vec::new();
    // `%w[a b]`
    if let Some((list, _)) = code.split_once("%w[").and_then(|(_, rest)| rest.split_once(']')) {
        literals.push(list);
    }
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'']) {
        let (quote, body) = rest.split_at(at).1.split_at(1);
        let Some((literal, after)) = body.split_once(quote) else { break };
        literals.push(literal);
        rest = after;
    }
    literals
}

/// The text that a filter's script puts in: `s/…/text/`, `{print "text"}`.
fn find_replacement(script: &SymbolicText) -> Option<SymbolicText> {
    let text = script.as_text()?;
    let sign = text.strip_prefix('s').and_then(|rest| rest.chars().next()).filter(|sign| !sign.is_alphanumeric());
    let found = match sign {
        Some(sign) => text.split(sign).nth(2)?.to_owned(),
        None => text.split('"').skip(1).step_by(2).collect(),
    };
    Some(SymbolicText::from_text(found)).filter(|found| !found.is_empty())
}

/// Reports the shell if its code is not fully known; otherwise only the files that are opened for it.
fn report_shell_call(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, code: &SymbolicText) {
    let mut call = job.call.clone();
    if !code.is_partly_unknown() {
        call.argv.clear();
    }
    if !call.argv.is_empty() || !call.files.is_empty() {
        interpreter.report_command(call);
    }
}

/// Runs code in a child shell, which has the exported variables.
fn follow_child_shell<'t>(
    interpreter: &mut ShellInterpreter<'t>,
    job: &WrapperCall<'_>,
    code: &SymbolicText,
    arguments: &[SymbolicText],
    by_flag: bool,
) {
    let via = if by_flag { format!("{} -c", job.via) } else { job.via.clone() };
    run_child_shell(interpreter, &via, job.call, code, arguments);
}

/// Runs code in a child shell for a call.
fn run_child_shell<'t>(
    interpreter: &mut ShellInterpreter<'t>,
    via: &str,
    command: &ExpandedCommand,
    code: &SymbolicText,
    arguments: &[SymbolicText],
) {
    interpreter.run_via(via, |walker| {
        walker.run_in_subshell(|walker| {
            walker.enter_child_shell(&command.variables, arguments);
            walker.run_code(code, &command.span)
        });
        ShellFlow::Next
    });
}
