//! Code of other languages: it is reported with the program that runs it.

use super::WrapperCall;
use crate::interpret::{CodeLanguage, ShellInterpreter};
use crate::invocation::{SymbolicText, UnknownKind};

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

/// Reports the code that an interpreter gets: from a flag, from a file that this text wrote, or from standard input.
pub(super) fn report_interpreter_code(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    at: Option<usize>,
) -> bool {
    let (Some(language), Some(at)) = (job.wrapper.language, at) else {
        return false;
    };
    let codes: Vec<SymbolicText> =
        job.wrapper.inline.iter().flat_map(|spellings| job.args.flag_values(spellings)).cloned().collect();
    let mut found = !codes.is_empty();
    let prints = language == CodeLanguage::Node && job.args.has_flag(PRINT_FLAGS);
    for code in codes {
        interpreter.report_inline_code(language, code.clone(), at);
        if prints {
            interpreter.report_inline_code(language, wrap_in_console_log(&code), at);
        }
    }
    let operand = job.operands().first();
    // `deno eval 'code'`
    if operand.and_then(SymbolicText::as_text) == Some("eval")
        && let Some(code) = job.operands().get(1)
    {
        interpreter.report_inline_code(language, code.clone(), at);
        return true;
    }
    if found || job.args.has_flag(&["-m"]) {
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
        interpreter.report_inline_code(language, text, at);
        found = true;
    }
    found
}
