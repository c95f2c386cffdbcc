//! `git` runs commands of its configuration, and some subcommands run others.

use super::WrapperCall;
use super::table::words::git as words;
use crate::interpret::{ShellInterpreter, join_words};
use crate::invocation::SymbolicText;

/// Analyses the commands that git runs, and reports git itself.
pub(super) fn follow_git(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    job.report_program(interpreter);
    let argv = &job.call.argv;
    let mut at = 1;
    let mut settings: Vec<SymbolicText> = Vec::new();
    while let Some(text) = argv.get(at).and_then(SymbolicText::as_text).filter(|text| text.starts_with('-')) {
        at += 1;
        if words::VALUE_FLAGS.contains(&text) {
            if text == "-c" {
                settings.extend(argv.get(at).cloned());
            }
            at += 1;
        }
    }
    let Some(subcommand) = argv.get(at).and_then(SymbolicText::as_text) else {
        return;
    };
    let arguments = argv.get(at + 1..).unwrap_or_default();
    for setting in &settings {
        follow_setting(interpreter, job, setting, subcommand, arguments);
    }
    follow_subcommand(interpreter, job, subcommand, arguments);
}

/// `-c key=value`
fn follow_setting(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    setting: &SymbolicText,
    subcommand: &str,
    arguments: &[SymbolicText],
) {
    let Some((key, _)) = setting.leading_text().split_once('=') else {
        return;
    };
    let value = setting.skip_leading_bytes(key.len() + 1);
    let lower = key.to_ascii_lowercase();
    if let Some(alias) = lower.strip_prefix("alias.") {
        if alias.eq_ignore_ascii_case(subcommand) {
            follow_alias(interpreter, job, &value, arguments);
        }
        return;
    }
    let runs = words::CODE_KEYS.contains(&lower.as_str())
        || words::CODE_KEY_PATTERNS
            .iter()
            .any(|(start, ends)| lower.starts_with(start) && ends.iter().any(|end| lower.ends_with(end)));
    let is_word = value.as_text().is_some_and(|text| matches!(text, "" | "true" | "false" | "cat" | "store" | "cache"));
    if runs && !is_word {
        let code = if value.leading_text().starts_with('!') { value.skip_leading_bytes(1) } else { value };
        job.run_code(interpreter, &code);
    }
}

/// An alias: shell code after `!`, or another subcommand.
fn follow_alias(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    value: &SymbolicText,
    arguments: &[SymbolicText],
) {
    let rest = interpreter.quote_words(arguments);
    let mut code = if value.leading_text().starts_with('!') {
        value.skip_leading_bytes(1)
    } else {
        let mut code = SymbolicText::from_text("git ");
        code.append(value);
        code
    };
    code.push_text(" ");
    code.append(&rest);
    job.run_code(interpreter, &code);
}

/// Analyses the commands that subcommands run.
fn follow_subcommand(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    subcommand: &str,
    arguments: &[SymbolicText],
) {
    match subcommand {
        "bisect" if arguments.first().and_then(SymbolicText::as_text) == Some("run") => {
            let words = arguments.get(1..).unwrap_or_default().to_vec();
            if !words.is_empty() {
                job.run_words(interpreter, words, Vec::new());
            }
        }
        "submodule" => {
            let each = arguments.iter().position(|value| value.as_text() == Some("foreach"));
            let words = each.and_then(|at| arguments.get(at + 1..)).unwrap_or_default();
            let words: Vec<SymbolicText> =
                words.iter().skip_while(|value| value.leading_text().starts_with('-')).cloned().collect();
            if !words.is_empty() {
                job.run_code(interpreter, &join_words(&words));
            }
        }
        _ => {}
    }
    // `ext::sh -c …` as the URL of a repository.
    for address in arguments.iter().filter(|value| value.leading_text().starts_with("ext::")) {
        job.run_code(interpreter, &address.skip_leading_bytes("ext::".len()));
    }
    let Some((_, flags)) = words::CODE_FLAGS.iter().find(|(known, _)| *known == subcommand) else {
        return;
    };
    for (at, argument) in arguments.iter().enumerate() {
        let text = argument.leading_text();
        for flag in *flags {
            let glued = text.strip_prefix(flag).and_then(|rest| match flag.starts_with("--") {
                true => rest.strip_prefix('=').map(|_| flag.len() + 1),
                false => (!rest.is_empty()).then_some(flag.len()),
            });
            if let Some(from) = glued {
                job.run_code(interpreter, &argument.skip_leading_bytes(from));
            } else if text == *flag
                && let Some(code) = arguments.get(at + 1)
            {
                job.run_code(interpreter, code);
            }
        }
    }
}
