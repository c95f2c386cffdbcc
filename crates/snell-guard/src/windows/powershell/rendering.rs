//! Commands without a template, arguments of programs, and pipes.

use super::arguments::CommandArgument;
use super::commands::{PipeStage, StageKind};
use super::to_shell_name;
use crate::interpret::quote_shell_word;
use crate::windows::shell_words::{ForeignWord, WordUse, render_evaluation, render_words};
use crate::windows::templates::CommandValues;
use crate::windows::words::{powershell as words, programs};

/// The full name of a parameter, and whether it takes a value. Names may be abbreviated.
pub(super) fn find_parameter(written: &str, parameters: &[&str], switches: &[&str]) -> Option<(String, bool)> {
    let lists = [(switches, false), (parameters, true), (words::SWITCHES, false), (words::VALUES, true)];
    let exact = lists.iter().find(|(names, _)| names.contains(&written));
    if let Some((_, takes_value)) = exact {
        return Some((written.to_owned(), *takes_value));
    }
    lists.iter().find_map(|(names, takes_value)| {
        let full = names.iter().find(|name| name.starts_with(written) && !written.is_empty())?;
        Some(((*full).to_owned(), *takes_value))
    })
}

pub(super) fn is_false(words: &[ForeignWord]) -> bool {
    // `$false` and `$true` are both written as `true`; only `-WhatIf:$true` is written by people.
    words.iter().any(|word| word.as_literal() == Some("false"))
}

/// The name of a command in lower case, without its module, directory and `.exe` if it is known without them.
pub(super) fn simplify_command_name(written: &str) -> String {
    let lower = written.to_lowercase();
    let base = lower.rsplit(['\\', '/']).next().unwrap_or(&lower);
    let program = base.strip_suffix(".exe").unwrap_or(base);
    let is_known = programs::WINDOWS.contains(&program) || ["powershell", "pwsh", "cmd"].contains(&program);
    if is_known {
        return program.to_owned();
    }
    if lower.starts_with("microsoft.powershell.") { base.to_owned() } else { lower }
}

/// Providers of names that are no files: `env:`.
pub(super) fn find_provider_command(name: &str, values: &CommandValues) -> Option<String> {
    let named = values.named.iter().filter(|(name, _)| matches!(name.as_str(), "path" | "literalpath"));
    let words = named.flat_map(|(_, words)| words).chain(values.placed.iter().take(1).flatten());
    let path =
        words.filter_map(ForeignWord::as_literal).map(str::to_lowercase).find(|path| path.starts_with("env:"))?;
    let variable = super::literals::to_environment_name(path.trim_start_matches("env:").trim_matches(['\\', '/']));
    let is_one = !variable.is_empty() && !path.contains(['*', '?']);
    Some(match name {
        "get-childitem" | "gci" | "ls" | "dir" | "get-item" | "gi" | "get-content" | "gc" | "cat" | "type" => {
            if is_one { format!("printenv {variable}") } else { "printenv".to_owned() }
        }
        "test-path" => ":".to_owned(),
        "set-item" | "si" | "set-content" | "sc" | "new-item" | "ni" => {
            format!("export {variable}=\"${{ps_value:?}}\"")
        }
        _ if is_one => format!("unset {variable}"),
        _ => ":".to_owned(),
    })
}

/// `Start-Process URL` opens it in the browser.
pub(super) fn find_opened_address(name: &str, values: &CommandValues) -> Option<String> {
    let opens = matches!(name, "start-process" | "saps" | "start" | "invoke-item" | "ii");
    let named = values.named.iter().filter(|(name, _)| name == "filepath").flat_map(|(_, words)| words);
    let word = named.chain(values.placed.iter().flatten()).next().filter(|_| opens)?;
    let is_address = word.as_literal()?.starts_with("http");
    is_address.then(|| format!("xdg-open {}", word.render(WordUse::Text)))
}

/// A cmdlet without effects; the commands in its arguments still run.
pub(super) fn translate_idle(name: &str, values: &CommandValues) -> String {
    let all: Vec<ForeignWord> =
        values.named.iter().flat_map(|(_, words)| words).chain(values.placed.iter().flatten()).cloned().collect();
    let named =
        |wanted: &str| values.named.iter().find(|(name, _)| name == wanted).and_then(|(_, words)| words.first());
    if matches!(name, "set-variable" | "sv" | "new-variable" | "nv") {
        let mut placed = values.placed.iter().filter_map(|words| words.first());
        let variable = named("name").or_else(|| placed.next()).and_then(ForeignWord::as_literal);
        let value = named("value").or_else(|| placed.next());
        if let (Some(variable), Some(value)) = (variable, value) {
            return format!("{}={}", to_shell_name(variable), value.render(WordUse::Text));
        }
    }
    if matches!(name, "get-variable" | "gv") && values.placed.len() == 1 {
        let variable = values.placed.iter().flatten().find_map(ForeignWord::as_literal).unwrap_or_default();
        return format!("echo \"${{{}}}\"", to_shell_name(variable));
    }
    let blocks: String =
        all.iter().filter_map(|word| word.block.as_ref()).map(|block| format!("\n{{ {block}\n}}")).collect();
    if values.is_piped { format!("cat{blocks}") } else { format!("{}{blocks}", render_evaluation(&all)) }
}

/// The arguments of a program, in their order.
pub(super) fn render_native(arguments: Vec<CommandArgument>, purpose: WordUse) -> String {
    let words = arguments.into_iter().map(|argument| match argument {
        CommandArgument::Parameter(written, None) if purpose == WordUse::Plain => find_full_flag(&written),
        CommandArgument::Parameter(written, None) => written,
        CommandArgument::Parameter(written, Some(words)) if purpose == WordUse::Plain => {
            format!("{} {}", find_full_flag(&written), render_words(&words, purpose))
        }
        CommandArgument::Parameter(written, Some(words)) => {
            format!("{written}:{}", render_words(&words, purpose))
        }
        CommandArgument::Values(words) => render_words(&words, purpose),
        CommandArgument::Splat(name) => format!("\"${{{}[@]}}\"", to_shell_name(&name)),
        CommandArgument::Redirect(code) => code,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A flag in lower case and in full.
pub(super) fn find_full_flag(written: &str) -> String {
    let short = written.trim_start_matches('-').to_lowercase();
    let full = find_parameter(&short, &[], &[]).map_or(short, |(full, _)| full);
    format!("-{full}")
}

pub(super) fn all_values(arguments: Vec<CommandArgument>) -> Vec<ForeignWord> {
    let values = arguments.into_iter().flat_map(|argument| match argument {
        CommandArgument::Parameter(_, words) => words.unwrap_or_default(),
        CommandArgument::Values(words) => words,
        CommandArgument::Splat(_) | CommandArgument::Redirect(_) => Vec::new(),
    });
    values.collect()
}

/// The translated blocks of code among the arguments.
pub(super) fn all_blocks(arguments: &[CommandArgument]) -> Vec<String> {
    all_values(arguments.to_vec()).into_iter().filter_map(|word| word.block).collect()
}

/// All known texts among the arguments.
pub(super) fn join_literals(arguments: &[CommandArgument]) -> String {
    let values = all_values(arguments.to_vec());
    values.iter().filter_map(ForeignWord::as_literal).collect::<Vec<_>>().join(" ")
}

/// Values as lines.
pub(super) fn print_values(values: &[ForeignWord]) -> String {
    match values {
        [only] if only.as_literal().is_none() && only.pieces.len() == 1 => {
            let code = only.render(WordUse::Path);
            match code.strip_prefix("$(").and_then(|inner| inner.strip_suffix(')')) {
                Some(inner) => format!("{{ {inner}\n}}"),
                None => format!("printf '%s\\n' {code}"),
            }
        }
        values => format!("printf '%s\\n' {}", render_words(values, WordUse::Path)),
    }
}

/// The stages as one pipe, without those that only pass on.
pub(super) fn join_stages(stages: Vec<PipeStage>) -> String {
    let mut kept: Vec<PipeStage> = Vec::new();
    for stage in stages {
        let is_first = kept.is_empty();
        match stage.kind {
            StageKind::Filtering if stage.code != "cat" => kept.push(stage),
            StageKind::Filtering if !is_first => match kept.last_mut() {
                Some(search) if search.code.starts_with("find ") => search.code.push_str(" -name 'some*'"),
                Some(shown) if shown.code == "printenv" => {
                    shown.code.push_str(&format!(" | grep -e {}", quote_shell_word(&stage.pattern)));
                }
                _ => {}
            },
            StageKind::Passing if !is_first => {}
            _ => kept.push(stage),
        }
    }
    kept.into_iter().map(|stage| stage.code).filter(|code| !code.is_empty()).collect::<Vec<_>>().join(" | ")
}
