//! Finds hooks that cannot run: their scripts or programs are missing or not executable.
//!
//! A hook whose script is missing fails open. If its interpreter exits with 2 because of that, it blocks everything.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Engine;
use super::prepare::{expand_project_variable, resolve_program, resolve_script, strip_project_variable};
use crate::contract::HookContext;
use crate::diagnostic::{Diagnostic, UserMessage};
use crate::hook::{Hook, HookAction};
use crate::matcher::{SubcommandList, find_misspelled_tool};

/// Programs whose first argument is a script.
const INTERPRETERS: &[&str] =
    &["bash", "bun", "dash", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh"];

/// The contract of `snell.toml`, whose hooks name the tools of all agents.
const OWN_CONTRACT: &str = "snell";

impl Engine {
    /// Reports hooks whose scripts or programs are missing or not executable, and misspelled tools in `snell.toml`.
    pub fn check_hooks(&self) -> Vec<Diagnostic> {
        let scene = self.hook_context();
        let hooks = self.hooks();
        hooks.iter().flat_map(|hook| [check_hook(hook, &scene), check_tool_name(hook)]).flatten().collect()
    }
}

/// Other contracts are written for one agent, which may have more tools than Snell knows.
fn check_tool_name(hook: &Hook) -> Option<Diagnostic> {
    // The reader warns about names with a dot, because it reads them as regular expressions.
    let is_checked = |matcher: &&str| hook.contract_name() == OWN_CONTRACT && !matcher.contains('.');
    let matcher = hook.matcher_text().filter(is_checked)?;
    find_misspelled_tool(matcher).map(|message| hook.origin.make_warning(message))
}

fn check_hook(hook: &Hook, scene: &HookContext<'_>) -> Option<Diagnostic> {
    let message = check_action(hook, scene).err()?;
    Some(hook.command_origin.as_ref().unwrap_or(&hook.origin).make_warning(message))
}

fn check_action(hook: &Hook, scene: &HookContext<'_>) -> Result<(), UserMessage> {
    match &hook.action {
        HookAction::Script { path } => check_executable(&resolve_script(hook, path, scene)).map_err(|fault| {
            let is_command_line = path.trim().contains(' ');
            let hint = "a string is the path of a script; write a group with \"hooks\" for a command line";
            if is_command_line { fault.with_hint(hint) } else { fault }
        }),
        HookAction::Exec { program, .. } if program.contains('/') => {
            check_executable(Path::new(&resolve_program(expand_project_variable(hook, program, scene), scene.project)))
        }
        HookAction::Shell { command, .. } => check_command_line(hook, command, scene),
        _ => Ok(()),
    }
}

/// The script that a hook runs, if it is plain to see.
pub(super) fn find_script(hook: &Hook, scene: &HookContext<'_>) -> Option<PathBuf> {
    match &hook.action {
        HookAction::Script { path } => Some(resolve_script(hook, path, scene)),
        HookAction::Exec { program, args } => {
            let words = std::iter::once(program).chain(args).map(String::as_str);
            find_script_word(words).and_then(|word| resolve_word(hook, word, scene))
        }
        HookAction::Shell { command, .. } => {
            let parsed = SubcommandList::parse(command)?;
            let first = parsed.commands.first()?;
            find_script_word(first.plain.split(' ')).and_then(|word| resolve_word(hook, word, scene))
        }
        _ => None,
    }
}

/// The word that names a script: the program, or the first argument of an interpreter.
fn find_script_word<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let program = words.next()?;
    if program.contains('/') { Some(program) } else { words.next().filter(|_| INTERPRETERS.contains(&program)) }
}

/// Whether a file exists and is executable.
fn check_executable(path: &Path) -> Result<(), UserMessage> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) => Err(format!("cannot find {shown}: {error}").into()),
        Ok(metadata) if !metadata.is_file() => Err(format!("{shown} is not a file").into()),
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => {
            let message = UserMessage::new(format!("{shown} is not executable"));
            Err(message.with_hint(format!("run `chmod +x {shown}`")))
        }
        Ok(_) => Ok(()),
    }
}

/// Checks the first command of a line, if the file that it runs is plain to see.
fn check_command_line(hook: &Hook, line: &str, scene: &HookContext<'_>) -> Result<(), UserMessage> {
    // The first command could be inside the substitution.
    if line.contains("$(") || line.contains('`') {
        return Ok(());
    }
    let Some(first) = SubcommandList::parse(line).and_then(|found| found.commands.into_iter().next()) else {
        return Ok(());
    };
    let mut words = first.plain.split(' ');
    let (Some(program), argument) = (words.next(), words.next()) else {
        return Ok(());
    };
    if program.contains('/') {
        return resolve_word(hook, program, scene).map_or(Ok(()), |path| check_executable(&path));
    }
    let script = argument.filter(|word| !word.starts_with('-') && word.contains(['/', '.']));
    match script.and_then(|script| resolve_word(hook, script, scene)) {
        Some(path) if INTERPRETERS.contains(&program) && !path.exists() => {
            Err(format!("cannot find {}, so {program} will fail", path.display()).into())
        }
        _ => Ok(()),
    }
}

/// The file that a word names. `None` if the shell would expand it.
fn resolve_word(hook: &Hook, word: &str, scene: &HookContext<'_>) -> Option<PathBuf> {
    let path = match (strip_project_variable(hook, word), word.strip_prefix("~/")) {
        (Some(rest), _) => scene.project.join(rest),
        (None, Some(rest)) => scene.home?.join(rest),
        (None, None) => scene.project.join(word),
    };
    let plain = |c: char| !"$`*?[{".contains(c);
    path.to_str().filter(|text| text.chars().all(plain))?;
    Some(path)
}
