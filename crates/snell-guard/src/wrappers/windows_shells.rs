//! The shells of Windows: their code is translated into POSIX shell.

use std::rc::Rc;

use super::WrapperCall;
use crate::interpret::{CoverageGap, ShellFlow, ShellInterpreter, decode_base_digits};
use crate::invocation::{StdinSource, SymbolicText};
use crate::windows::{ShellTranslation, translate_batch, translate_powershell};

/// Flags of PowerShell that take a value, besides those for code. All may be abbreviated.
const VALUE_FLAGS: &[&str] = &[
    "executionpolicy",
    "ep",
    "windowstyle",
    "version",
    "inputformat",
    "outputformat",
    "if",
    "of",
    "workingdirectory",
    "wd",
    "wo",
    "configurationname",
    "configurationfile",
    "custompipename",
    "settingsfile",
    "psconsolefile",
];

/// A shell whose code is translated, and the arguments of its code.
struct ForeignShell {
    name: &'static str,
    arguments: Vec<SymbolicText>,
    translate: fn(&str) -> ShellTranslation,
}

/// The code of a call of PowerShell.
enum PowerShellSource {
    Text(SymbolicText),
    Script(SymbolicText),
    Stdin,
}

/// `pwsh -Command 'text'`
pub(super) fn follow_powershell<'t>(
    interpreter: &mut ShellInterpreter<'t>,
    job: &WrapperCall<'_>,
) -> Option<ShellFlow> {
    let (source, arguments) = find_powershell_source(&job.call.argv)?;
    let code = match source {
        PowerShellSource::Text(text) => text,
        PowerShellSource::Script(path) => match interpreter.find_written_content(&path) {
            Some(content) => content,
            None => {
                interpreter.run_program(job.call.with_argv(vec![SymbolicText::from_text("pwsh"), path]));
                return Some(ShellFlow::Next);
            }
        },
        PowerShellSource::Stdin => {
            let stdin = Rc::clone(&interpreter.scope.io.stdin);
            let StdinSource::Text(text) = &*stdin else {
                interpreter.run_program(job.call.with_argv(vec![SymbolicText::from_text("pwsh")]));
                return Some(ShellFlow::Next);
            };
            text.clone()
        }
    };
    let shell = ForeignShell { name: "pwsh", arguments, translate: translate_powershell };
    run_translated(interpreter, job, &code, &shell);
    Some(ShellFlow::Next)
}

/// The code, and the arguments after it.
fn find_powershell_source(argv: &[SymbolicText]) -> Option<(PowerShellSource, Vec<SymbolicText>)> {
    let mut at = 1;
    while let Some(argument) = argv.get(at) {
        let rest = || argv.get(at + 1..).unwrap_or_default();
        let text = argument.leading_text();
        let Some(flag) = text.strip_prefix(['-', '/']).filter(|flag| !flag.contains(['/', '\\'])) else {
            break;
        };
        let flag = flag.trim_start_matches('-').to_lowercase();
        let is_short_for = |name: &str| !flag.is_empty() && name.starts_with(flag.as_str());
        if flag.is_empty() {
            return Some((PowerShellSource::Stdin, Vec::new()));
        }
        if is_short_for("command") || is_short_for("commandwithargs") || flag == "cwa" {
            return Some((join_code(rest()), Vec::new()));
        }
        if is_short_for("encodedcommand") || flag == "ec" {
            return Some((PowerShellSource::Text(decode_command(rest().first()?)), Vec::new()));
        }
        if is_short_for("file") {
            let (script, arguments) = rest().split_first()?;
            if script.as_text() == Some("-") {
                return Some((PowerShellSource::Stdin, Vec::new()));
            }
            return Some((PowerShellSource::Script(script.clone()), arguments.to_vec()));
        }
        at += 1;
        let takes_value = VALUE_FLAGS.iter().any(|name| is_short_for(name)) && !"noprofile".starts_with(flag.as_str());
        at += usize::from(takes_value);
    }
    let rest = argv.get(at..).unwrap_or_default();
    match rest.split_first() {
        None => Some((PowerShellSource::Stdin, Vec::new())),
        Some((script, arguments)) if script.leading_text().to_lowercase().ends_with(".ps1") => {
            Some((PowerShellSource::Script(script.clone()), arguments.to_vec()))
        }
        Some(_) => Some((join_code(rest), Vec::new())),
    }
}

/// The words of `-Command`; `-` stands for standard input.
fn join_code(words: &[SymbolicText]) -> PowerShellSource {
    match words {
        [] => PowerShellSource::Stdin,
        [only] if only.as_text() == Some("-") => PowerShellSource::Stdin,
        words => PowerShellSource::Text(crate::interpret::join_words(words)),
    }
}

/// The text that `-EncodedCommand` gets: UTF-16 in base64.
fn decode_command(value: &SymbolicText) -> SymbolicText {
    let Some(bytes) = value.as_text().and_then(|text| decode_base_digits(text, 6)) else {
        return value.clone();
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    SymbolicText::from_text(String::from_utf16_lossy(&units))
}

/// `cmd /c text`
pub(super) fn follow_batch<'t>(interpreter: &mut ShellInterpreter<'t>, job: &WrapperCall<'_>) -> Option<ShellFlow> {
    let argv = &job.call.argv;
    let is_code_flag = |word: &SymbolicText| {
        let flag = word.leading_text().trim_start_matches('/').to_lowercase();
        word.leading_text().starts_with('/')
            && (flag.starts_with('c') || flag.starts_with('k') || flag.starts_with('r'))
    };
    let is_flag = |word: &SymbolicText| word.leading_text().starts_with('/');
    let at = argv.iter().skip(1).take_while(|word| is_flag(word)).position(is_code_flag)? + 1;
    let mut code = crate::interpret::join_words(argv.get(at + 1..).unwrap_or_default());
    // `/cdir`
    let flag = argv.get(at)?.leading_text().trim_start_matches('/').to_owned();
    if let Some(glued) = flag.get(1..).filter(|glued| !glued.is_empty()) {
        let mut whole = SymbolicText::from_text(format!("{glued} "));
        whole.append(&code);
        code = whole;
    }
    let shell = ForeignShell { name: "cmd", arguments: Vec::new(), translate: translate_batch_argument };
    run_translated(interpreter, job, &code, &shell);
    Some(ShellFlow::Next)
}

/// cmd removes the outer quotes of its argument.
fn translate_batch_argument(text: &str) -> ShellTranslation {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    translate_batch(inner.unwrap_or(trimmed))
}

/// Runs the translation in a child shell.
fn run_translated<'t>(
    interpreter: &mut ShellInterpreter<'t>,
    job: &WrapperCall<'_>,
    code: &SymbolicText,
    shell: &ForeignShell,
) {
    if code.is_partly_unknown() {
        let words = ["pwsh", "-c"].into_iter().map(SymbolicText::from_text).chain([code.clone()]);
        interpreter.report_command(job.call.with_argv(words.collect()));
        interpreter.mark_partial(CoverageGap::UnknownCode);
    } else {
        job.report_files(interpreter, job.call.files.clone());
    }
    let text = interpreter.encode_unknowns(code);
    interpreter.spend_steps(text.len());
    let translation = (shell.translate)(&text);
    if translation.is_partial {
        interpreter.mark_partial(CoverageGap::Dialect);
    }
    if translation.is_limited {
        interpreter.mark_partial(CoverageGap::Limit("nesting"));
    }
    let translated = SymbolicText::from_text(translation.text);
    let mut words = vec![SymbolicText::from_text(shell.name)];
    words.extend_from_slice(&shell.arguments);
    interpreter.run_via(shell.name, |walker| {
        walker.run_in_subshell(|walker| {
            walker.enter_child_shell(&job.call.variables, &words);
            walker.run_code(&translated, &job.call.span)
        });
        ShellFlow::Next
    });
}
