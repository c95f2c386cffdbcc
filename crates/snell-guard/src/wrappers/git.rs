//! `git` runs commands of its configuration, and some subcommands run others.

use super::WrapperCall;
use super::table::words::git as words;
use crate::interpret::{ShellInterpreter, join_words, quote_shell_word};
use crate::invocation::SymbolicText;

/// The start of an address whose rest is a command.
const TRANSPORT_PREFIX: &str = "ext::";

/// Analyses the commands that git runs, and reports git itself.
pub(super) fn follow_git(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    job.report_program(interpreter);
    let argv = &job.call.argv;
    let mut at = 1;
    let mut settings = list_environment_settings(interpreter, job);
    while let Some(text) = argv.get(at).and_then(SymbolicText::as_text).filter(|text| text.starts_with('-')) {
        at += 1;
        if words::VALUE_FLAGS.contains(&text) {
            if text == "-c" {
                settings.extend(argv.get(at).cloned());
            }
            if text == "--config-env" {
                settings.extend(argv.get(at).and_then(|setting| read_config_env(interpreter, job, setting)));
            }
            at += 1;
        } else if let Some(setting) = text.strip_prefix("--config-env=") {
            settings.extend(read_config_env(interpreter, job, &SymbolicText::from_text(setting)));
        }
    }
    let arguments = argv.get(at + 1..).unwrap_or_default();
    if matches!(argv.get(at).and_then(SymbolicText::as_text), Some("clone" | "init")) {
        settings.extend(list_clone_settings(arguments));
    }
    report_setting_files(interpreter, job);
    let Some(subcommand) = argv.get(at).and_then(SymbolicText::as_text) else {
        return;
    };
    // `git clone 'ext::sh -c command'`
    for address in arguments.iter().filter(|argument| argument.leading_text().starts_with(TRANSPORT_PREFIX)) {
        let code = address.skip_leading_bytes(TRANSPORT_PREFIX.len()).flatten_patterns().to_string();
        job.run_code(interpreter, &SymbolicText::from_text(unquote_transport(&code)));
    }
    for setting in &settings {
        follow_setting(interpreter, job, setting, subcommand, arguments);
    }
    if subcommand == "config" {
        follow_stored_setting(interpreter, job, arguments);
    }
    follow_subcommand(interpreter, job, subcommand, arguments);
}

/// In the address of a transport, a word with blanks has `% ` for each blank.
fn unquote_transport(code: &str) -> String {
    let words = code.replace("% ", "\u{1}");
    let words = words.split(' ').map(|word| quote_shell_word(&word.replace('\u{1}', " ")));
    words.collect::<Vec<_>>().join(" ")
}

/// The settings in variables: `GIT_CONFIG_KEY_0` and `GIT_CONFIG_VALUE_0`, and `GIT_CONFIG_PARAMETERS`.
fn list_environment_settings(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) -> Vec<SymbolicText> {
    const MAX_SETTINGS: usize = 16;
    let mut settings = Vec::new();
    let count = read_call_variable(interpreter, job, "GIT_CONFIG_COUNT");
    let count = count.map_or(0, |count| count.as_text().map_or(MAX_SETTINGS, |text| text.parse().unwrap_or(0)));
    for number in 0..count.min(MAX_SETTINGS) {
        let Some(mut setting) = read_call_variable(interpreter, job, &format!("GIT_CONFIG_KEY_{number}")) else {
            continue;
        };
        setting.push_text("=");
        if let Some(value) = read_call_variable(interpreter, job, &format!("GIT_CONFIG_VALUE_{number}")) {
            setting.append(&value);
        }
        settings.push(setting);
    }
    if let Some(text) =
        read_call_variable(interpreter, job, "GIT_CONFIG_PARAMETERS").as_ref().and_then(SymbolicText::as_text)
    {
        // `'key'='value' 'key=value'`
        let quoted = text.replace("'='", "=");
        settings.extend(
            quoted.split('\'').filter(|part| part.contains('=')).take(MAX_SETTINGS).map(SymbolicText::from_text),
        );
    }
    settings
}

/// `git clone -c key=value`
fn list_clone_settings(arguments: &[SymbolicText]) -> Vec<SymbolicText> {
    let is_flag = |word: &SymbolicText| matches!(word.as_text(), Some("-c" | "--config"));
    let next = arguments.windows(2).filter(|pair| is_flag(&pair[0])).map(|pair| pair[1].clone());
    next.chain(list_long_values(arguments, "--config")).collect()
}

/// The values of a long flag, attached or as the next word.
fn list_long_values(arguments: &[SymbolicText], flag: &str) -> Vec<SymbolicText> {
    let mut values = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.leading_text();
        if let Some(rest) = text.strip_prefix(flag).filter(|rest| rest.starts_with('=')) {
            values.push(word.skip_leading_bytes(text.len() - rest.len() + 1));
        } else if text == flag {
            values.extend(arguments.get(at + 1).cloned());
        }
    }
    values
}

/// Variables that name a file of settings, or a directory of hooks or programs: judged as a setting that includes it.
fn report_setting_files(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>) {
    for name in words::FILE_VARIABLES {
        let flags = words::FILE_FLAGS.iter().filter(|(variable, _)| variable == name).flat_map(|(_, flags)| *flags);
        let by_flag = flags.flat_map(|flag| list_long_values(job.call.arguments(), flag)).last();
        if let Some(value) = by_flag.or_else(|| read_call_variable(interpreter, job, name)) {
            let words =
                ["git", "config", "include.path"].map(SymbolicText::from_text).into_iter().chain([value]).collect();
            interpreter.report_command(job.call.with_argv(words));
        }
    }
}

/// `--config-env=key=NAME`: the setting has the value of the variable.
fn read_config_env(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    setting: &SymbolicText,
) -> Option<SymbolicText> {
    let (key, variable) = setting.as_text()?.rsplit_once('=')?;
    let mut setting = SymbolicText::from_text(format!("{key}="));
    setting.append(&read_call_variable(interpreter, job, variable)?);
    Some(setting)
}

/// The value of a variable that git would see, if this text sets it.
fn read_call_variable(
    interpreter: &mut ShellInterpreter<'_>,
    job: &WrapperCall<'_>,
    name: &str,
) -> Option<SymbolicText> {
    let own = job.call.variables.iter().rev().find(|(set, _)| set == name);
    own.map(|(_, value)| value.clone()).or_else(|| interpreter.scope.single_value(name).cloned())
}

/// `git config key value`: the command in the value runs later.
fn follow_stored_setting(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, arguments: &[SymbolicText]) {
    let words: Vec<&SymbolicText> = arguments
        .iter()
        .filter(|word| !word.leading_text().starts_with('-'))
        .skip_while(|word| word.as_text() == Some("set"))
        .collect();
    let [key, value, ..] = words.as_slice() else {
        return;
    };
    let key = key.leading_text();
    if is_code_key(&key.to_ascii_lowercase()) {
        run_setting(interpreter, job, value);
    } else if key.to_ascii_lowercase().starts_with("alias.") {
        follow_alias(interpreter, job, value, &[]);
    }
}

fn is_code_key(key: &str) -> bool {
    words::CODE_KEYS.contains(&key)
        || words::CODE_KEY_PATTERNS
            .iter()
            .any(|(start, ends)| key.starts_with(start) && ends.iter().any(|end| key.ends_with(end)))
}

/// Analyses the value of a setting as shell code.
fn run_setting(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, value: &SymbolicText) {
    let is_word = value.as_text().is_some_and(|text| matches!(text, "" | "true" | "false" | "cat" | "store" | "cache"));
    if !is_word {
        let is_shell = value.leading_text().starts_with('!');
        let code = if is_shell { value.skip_leading_bytes(1) } else { value.clone() };
        job.run_code(interpreter, &code);
    }
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
    if is_code_key(&lower) {
        return run_setting(interpreter, job, &value);
    }
    // Any other setting is judged as if it were stored.
    let words = ["git", "config", key].map(SymbolicText::from_text).into_iter().chain([value.clone()]).collect();
    interpreter.report_command(job.call.with_argv(words));
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
