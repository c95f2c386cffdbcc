//! Turns PowerShell into shell commands: its commands have other names, and a pipe stays a pipe.

use super::lower::LoweringContext;
use crate::effects::Effect;
use crate::interpret::decode_base_digits;
use crate::interpreters::words::powershell as words;

/// The effects of PowerShell code.
pub(super) fn lower_powershell(text: &str, mut lowering: LoweringContext<'_>) -> Vec<Effect> {
    let decoded = decode_command(text);
    let text = decoded.as_deref().unwrap_or(text);
    let text = text.replace("$env:", "$").replace("$HOME", "~");
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| {
        let mut found = lower.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        found.any(|word| words.contains(&word))
    };
    if has(words::EVAL) && has(words::DOWNLOAD) {
        lowering.lower_unseen_code();
    }
    if lower.contains("runas") && has(&["start-process", "saps", "start"]) {
        lowering.lower_shell_code("sudo true", None);
    }
    for statement in split_statements(&text) {
        let code = to_shell_command(&statement);
        lowering.lower_shell_code(&code, None);
    }
    lowering.into_effects()
}

/// The text of `-EncodedCommand`: UTF-16 in base 64.
fn decode_command(text: &str) -> Option<String> {
    const SHORTEST: usize = 8;
    let is_encoded = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if text.len() < SHORTEST || !text.bytes().all(is_encoded) {
        return None;
    }
    let bytes = decode_base_digits(text, 6)?;
    let units: Vec<u16> =
        bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes(pair.try_into().ok()?))).collect();
    String::from_utf16(&units).ok()
}

/// The statements and the stages of pipes, without the blocks around them.
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

/// The equivalent shell command.
fn to_shell_command(statement: &str) -> String {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let name = words.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default();
    if words::STOP_PROCESS.contains(&name.as_str()) {
        let by_name = words.iter().any(|word| word.to_ascii_lowercase().starts_with("-n"));
        return format!("{} {}", if by_name { "pkill" } else { "kill" }, join_operands(&words));
    }
    match words::EQUIVALENTS.iter().find(|(_, names)| names.contains(&name.as_str())) {
        Some((command, _)) => format!("{command} {}", join_operands(&words)),
        None => statement.to_owned(),
    }
}

/// The operands. A path may follow a flag for paths.
fn join_operands(words: &[&str]) -> String {
    let mut kept = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if words::VALUE_FLAGS.contains(&word.to_ascii_lowercase().as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            kept.push(*word);
        }
    }
    kept.join(" ")
}
