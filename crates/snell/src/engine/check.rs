//! What stands in the way of hooks that are well written: scripts and programs that are not there, or may not be run.
//!
//! A guard whose script is gone fails open; one whose interpreter exits with 2 because of that blocks everything. Both
//! can be seen before they happen.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Engine;
use super::prepare::{expand_project_variable, resolve_program, resolve_script, strip_project_variable};
use crate::contract::HookContext;
use crate::diagnostic::Diagnostic;
use crate::hook::{Hook, HookAction};
use crate::matcher::SubcommandList;

/// Programs whose first argument is a script.
const INTERPRETERS: &[&str] =
    &["bash", "bun", "dash", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh"];

impl Engine {
    /// What stands in the way of hooks that are well written: scripts and programs that are not there, or may not be run, and
    /// files that nobody can borrow.
    pub fn check_hooks(&self) -> Vec<Diagnostic> {
        let scene = self.hook_context();
        let hooks = self.hooks();
        let obstacles = hooks.iter().filter_map(|hook| check_hook(hook, &scene));
        self.loaded_config().find_ineffective_borrows().into_iter().chain(obstacles).collect()
    }
}

fn check_hook(hook: &Hook, scene: &HookContext<'_>) -> Option<Diagnostic> {
    let message = check_action(hook, scene).err()?;
    Some(hook.command_origin.as_ref().unwrap_or(&hook.origin).make_warning(message))
}

fn check_action(hook: &Hook, scene: &HookContext<'_>) -> Result<(), String> {
    match &hook.action {
        HookAction::Script { path } => check_executable(&resolve_script(hook, path, scene)).map_err(|fault| {
            let hint = "; a string is the path of a script and nothing else, for a command line write a group";
            let hint = if path.trim().contains(' ') { hint } else { "" };
            format!("{fault}{hint}")
        }),
        HookAction::Exec { program, .. } if program.contains('/') => {
            check_executable(Path::new(&resolve_program(expand_project_variable(hook, program, scene), scene.project)))
        }
        HookAction::Shell { command, .. } => check_command_line(hook, command, scene),
        _ => Ok(()),
    }
}

/// Whether a file is there and may be run.
fn check_executable(path: &Path) -> Result<(), String> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) => Err(format!("{shown} cannot be found: {error}")),
        Ok(metadata) if !metadata.is_file() => Err(format!("{shown} is not a file")),
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => {
            Err(format!("{shown} is not executable; run chmod +x on it"))
        }
        Ok(_) => Ok(()),
    }
}

/// Looks at the first command of a line, where it says plainly which file it runs.
fn check_command_line(hook: &Hook, line: &str, scene: &HookContext<'_>) -> Result<(), String> {
    // What a substitution runs would come first, and is not what the line runs.
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
            Err(format!("{} cannot be found, so {program} will fail", path.display()))
        }
        _ => Ok(()),
    }
}

/// The file that a word names; nothing if only a shell can tell.
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
