//! Code of other languages: it is reported with the program that runs it.

use super::table::words::scripts as words;
use super::written_files::note_written_files;
use super::{WrapperCall, find_dashes, with_inherited_stdin};
use crate::interpret::{CodeLanguage, ShellInterpreter};
use crate::invocation::{StdinSource, SymbolicText, UnknownKind};

/// Names of standard input.
const STDIN_NAMES: &[&str] = &["-", "/dev/stdin", "/dev/fd/0"];

/// Flags with which node prints the value of the code.
const PRINT_FLAGS: &[&str] = &["-p", "--print", "-pe"];

/// The same code as an argument of a print call.
fn wrap_in_console_log(code: &SymbolicText) -> SymbolicText {
    let mut shown = SymbolicText::from_text("console.log(");
    shown.append(code);
    shown.push_text("\n)");
    shown
}

/// `python -c 'os.system(sys.stdin.read())'`: code that may run its input. The input is judged as it is.
fn run_stdin_of_code(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, codes: &[SymbolicText]) {
    let is_runner = |code: &SymbolicText| {
        let text = code.leading_text();
        let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
        has_any(words::STDIN_MARKS) && has_any(words::RUN_MARKS)
    };
    if !codes.iter().any(is_runner) {
        return;
    }
    match interpreter.stdin_text().cloned() {
        Some(text) => with_inherited_stdin(interpreter, |walker| job.run_code(walker, &text)),
        // `curl … | python3 -c 'exec(sys.stdin.read())'`
        None if matches!(*interpreter.scope.io.stdin, StdinSource::Pipe(_)) => {
            interpreter.report_command(job.call.with_argv(vec![SymbolicText::from_text("sh")]));
        }
        None => {}
    }
}

/// The code in arguments: values of flags, words after a subcommand, files that this text wrote.
fn collect_inline_codes(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) -> Vec<SymbolicText> {
    let mut codes: Vec<SymbolicText> =
        job.wrapper.inline.iter().flat_map(|spellings| job.args.flag_values(spellings)).cloned().collect();
    for code in &mut codes {
        if let Some(text) = interpreter.stdin_text().filter(|_| code.as_text() == Some("-")) {
            *code = text.clone();
        }
    }
    // `python -m timeit 'code'`
    if job.args.flag_values(&["-m"]).any(|module| module.as_text() == Some("timeit")) {
        codes.extend(job.operands().iter().cloned());
    }
    // `bb '(code)'`, and notebooks with lines for a shell
    codes.extend(job.operands().first().filter(|operand| operand.leading_text().starts_with('(')).cloned());
    codes.extend(find_script_shell_code(job));
    if job.args.words.last().is_some_and(|word| matches!(word.as_str(), "eval" | "runner" | "r")) {
        codes.extend(job.operands().first().cloned());
    }
    // `node -r ./written.js`
    for module in job.args.flag_values(&["-r", "--require", "--import", "-l", "--load"]) {
        let text = module.leading_text();
        let spellings = ["", ".js", ".rb", ".lua"].map(|ending| SymbolicText::from_text(format!("{text}{ending}")));
        codes.extend(spellings.iter().find_map(|path| interpreter.find_written_content(path)));
    }
    codes
}

/// `manage.py shell -c 'code'`: a script with a shell of its own.
fn find_script_shell_code(job: &WrapperCall<'_>) -> Option<SymbolicText> {
    let [script, name, rest @ ..] = job.operands() else { return None };
    let (_, shell) = words::SCRIPT_SHELLS.iter().find(|(known, _)| script.leading_text().ends_with(known))?;
    let (wanted, flags) = shell.split_first()?;
    let at = rest.iter().position(|word| flags.iter().any(|flag| word.leading_text().starts_with(flag)))?;
    let flag = rest.get(at).filter(|_| name.as_text() == Some(wanted))?;
    match flag.leading_text().find('=') {
        Some(sign) => Some(flag.skip_leading_bytes(sign + 1)),
        None => rest.get(at + 1).cloned(),
    }
}

/// `echo code | artisan tinker`: the code, which is also judged as the value of the flag for code.
fn report_stdin_of_script_shell(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) -> Option<SymbolicText> {
    let [script, name] = job.operands() else { return None };
    let (_, shell) = words::SCRIPT_SHELLS.iter().find(|(known, _)| script.leading_text().ends_with(known))?;
    let (wanted, flags) = shell.split_first()?;
    let flag = flags.first().filter(|_| name.as_text() == Some(wanted))?;
    let code = interpreter.stdin_text()?.clone();
    let mut argv = job.call.argv.clone();
    argv.extend([SymbolicText::from_text(*flag), code.clone()]);
    with_inherited_stdin(interpreter, |walker| {
        walker.report_command(job.call.with_argv(argv));
    });
    Some(code)
}

/// `manage.py dbshell`: a client of a database gets the input and the arguments.
fn follow_database_shell(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    const CLIENT: &str = "psql";
    let [script, name, rest @ ..] = job.operands() else { return };
    let is_shell = words::DATABASE_SHELLS.iter().any(|(known, names)| {
        script.leading_text().ends_with(known) && name.as_text().is_some_and(|name| names.contains(&name))
    });
    if is_shell {
        let given = find_dashes(rest).and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        let argv = std::iter::once(SymbolicText::from_text(CLIENT)).chain(given.iter().cloned()).collect();
        interpreter.report_command(job.call.with_argv(argv));
    }
}

/// Reports the code that an interpreter gets: from a flag, from a file that this text wrote, or from standard input.
pub(super) fn report_interpreter_code(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    at: Option<usize>,
) -> bool {
    let (Some(language), Some(at)) = (job.wrapper.language, at) else {
        return false;
    };
    follow_database_shell(interpreter, job);
    let mut codes = collect_inline_codes(interpreter, job);
    codes.extend(report_stdin_of_script_shell(interpreter, job));
    let is_notebook = job.via.starts_with("ipython");
    if is_notebook || job.args.flag_values(&["-l"]).any(|language| language.as_text() == Some("JavaScript")) {
        for code in &codes {
            interpreter.report_inline_code(CodeLanguage::Other, code.clone(), at);
        }
    }
    codes.iter().for_each(|code| note_written_files(interpreter, job, code));
    let mut found = !codes.is_empty();
    run_stdin_of_code(interpreter, job, &codes);
    let prints = language == CodeLanguage::Node && job.args.has_flag(PRINT_FLAGS);
    for code in codes {
        interpreter.report_inline_code(language, code.clone(), at);
        if prints {
            interpreter.report_inline_code(language, wrap_in_console_log(&code), at);
        }
    }
    // `deno run -`
    let runs = job.operands().first().and_then(SymbolicText::as_text) == Some("run");
    let is_flag = |word: &&SymbolicText| word.leading_text().starts_with('-') && word.as_text() != Some("-");
    let operand = job.operands().iter().skip(usize::from(runs)).find(|word| !runs || !is_flag(word));
    // `deno eval 'code'`
    if operand.and_then(SymbolicText::as_text) == Some("eval")
        && let Some(code) = job.operands().iter().skip(1).find(|word| !word.leading_text().starts_with('-'))
    {
        note_written_files(interpreter, job, code);
        interpreter.report_inline_code(language, code.clone(), at);
        return true;
    }
    let is_module = job.args.flag_values(&["-m"]).any(|module| module.as_text() != Some("code"));
    if found || is_module {
        return found;
    }
    let from_stdin = operand.is_none_or(|operand| operand.as_text().is_some_and(|text| STDIN_NAMES.contains(&text)));
    let text = if from_stdin {
        interpreter.stdin_text().cloned()
    } else {
        operand.and_then(|path| interpreter.find_written_content(path))
    };
    if let Some(text) = text {
        if !from_stdin && text.contains_unknown(UnknownKind::Unseen) {
            interpreter.report_unseen_script(job.call, &text);
        }
        note_written_files(interpreter, job, &text);
        interpreter.report_inline_code(language, text, at);
        found = true;
    }
    found
}
