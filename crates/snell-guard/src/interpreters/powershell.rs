//! PowerShell, told as commands of a shell: its commands have names of their own, and a pipe stays a pipe.

use super::lower::LoweringContext;
use crate::effects::Effect;

/// Commands and their short names, in small letters, and what does the same in a shell.
const CMDLET_EQUIVALENTS: &[(&[&str], &str)] = &[
    (&["remove-item", "ri", "rm", "rmdir", "del", "erase", "rd"], "rm -rf --"),
    (&["get-content", "gc", "cat", "type"], "cat --"),
    (&["set-content", "out-file", "clear-content", "clc", "clear-item"], "truncate -s 0 --"),
    (&["add-content", "ac"], "tee -a --"),
    (&["move-item", "mi", "mv", "move"], "mv --"),
    (&["copy-item", "cpi", "cp", "copy"], "cp -r --"),
    (&["stop-computer", "restart-computer"], "shutdown now"),
    (&["format-volume", "clear-disk", "initialize-disk"], "mkfs /dev/sda"),
    (&["stop-service"], "systemctl stop"),
];
const STOP_PROCESS_CMDLETS: &[&str] = &["stop-process", "spps", "kill"];
/// What runs a text, and what brings one from another machine.
const EVAL_CMDLETS: &[&str] = &["iex", "invoke-expression"];
const DOWNLOAD_CMDLETS: &[&str] =
    &["iwr", "irm", "invoke-webrequest", "invoke-restmethod", "downloadstring", "curl", "wget"];
/// Flags whose value is a number, a name or a choice, not a path.
const VALUE_FLAGS: &[&str] = &["-include", "-exclude", "-filter", "-erroraction", "-ea", "-encoding", "-value"];

/// What PowerShell would do.
pub(super) fn lower_powershell(text: &str, mut stage: LoweringContext<'_>) -> Vec<Effect> {
    let text = text.replace("$env:", "$").replace("$HOME", "~");
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| {
        let mut found = lower.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        found.any(|word| words.contains(&word))
    };
    if has(EVAL_CMDLETS) && has(DOWNLOAD_CMDLETS) {
        stage.lower_unseen_code();
    }
    if lower.contains("runas") && has(&["start-process", "saps", "start"]) {
        stage.lower_shell_code("sudo true", None);
    }
    for statement in split_statements(&text) {
        let told = to_shell_command(&statement);
        stage.lower_shell_code(&told, None);
    }
    stage.into_effects()
}

/// Statements and the stages of pipes, without the blocks around them.
fn split_statements(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (None, ';' | '|' | '\n' | '{' | '}' | '(' | ')' | '&') => all.push(String::new()),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        let ends = quote.is_none() && ";|\n{}()&".contains(c);
        if let Some(last) = all.last_mut().filter(|_| !ends) {
            last.push(c);
        }
    }
    all.retain(|statement| !statement.trim().is_empty());
    all
}

/// The same as a command of a shell.
fn to_shell_command(statement: &str) -> String {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let name = words.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default();
    if STOP_PROCESS_CMDLETS.contains(&name.as_str()) {
        let by_name = words.iter().any(|word| word.to_ascii_lowercase().starts_with("-n"));
        return format!("{} {}", if by_name { "pkill" } else { "kill" }, join_operands(&words));
    }
    match CMDLET_EQUIVALENTS.iter().find(|(names, _)| names.contains(&name.as_str())) {
        Some((_, command)) => format!("{command} {}", join_operands(&words)),
        None => statement.to_owned(),
    }
}

/// What is not a flag. A path may stand behind one that says so.
fn join_operands(words: &[&str]) -> String {
    let mut kept = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if VALUE_FLAGS.contains(&word.to_ascii_lowercase().as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            kept.push(*word);
        }
    }
    kept.join(" ")
}
