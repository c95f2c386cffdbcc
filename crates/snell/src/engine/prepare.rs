//! Builds a runnable task from a hook and an event.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::{DEPTH_VARIABLE, Engine};
use crate::contract::{Envelope, HookContext, WorkingDirectoryPolicy};
use crate::event::Event;
use crate::hook::{Hook, HookAction, HookCondition, HookShell, HttpAction};
use crate::matcher::RuleRoots;
use crate::report::HookLabel;
use crate::runner::{BackgroundJob, EnvVariable, HookHttpRequest, HookRunner, HookTask, HookWork, ProcessRequest};

/// The timeout of a condition.
const CONDITION_TIMEOUT: Duration = Duration::from_secs(1);

impl Engine {
    /// Prepares a hook, or returns why it cannot run.
    pub(super) fn prepare_task(
        &self,
        hook: &Hook,
        event: &Event,
        context: &HookContext<'_>,
        envelope: &Envelope,
        timeout: Duration,
    ) -> Result<HookTask, String> {
        let cwd = choose_working_directory(hook, event, context);
        let (program, args): (OsString, Vec<OsString>) = match &hook.action {
            HookAction::Http(call) => {
                let request = build_http_request(call, envelope, context.runner, timeout);
                return Ok(HookTask { condition: None, work: HookWork::Http(request) });
            }
            // Such hooks are never selected.
            HookAction::Unsupported { kind, .. } => {
                return Err(format!("Snell cannot run hooks of type \"{kind}\""));
            }
            HookAction::Shell { shell, command } => build_shell_argv(*shell, command),
            HookAction::Exec { program, args } => {
                let before = std::iter::once(program).chain(args);
                let args = args.iter().zip(before).map(|(word, before)| {
                    if is_code_flag(before) { word.into() } else { expand_project_variable(hook, word, context) }
                });
                (resolve_program(expand_project_variable(hook, program, context), &cwd), args.collect())
            }
            HookAction::Script { path } => (resolve_script(hook, path, context).into(), Vec::new()),
        };
        let mut request = self.build_process_request(program, args, envelope, cwd, timeout);
        let own_variables = hook.agent_entry.variables.iter();
        request
            .variables
            .extend(own_variables.map(|(name, value)| EnvVariable { name: name.clone(), value: Some(value.into()) }));
        let condition = match &hook.condition {
            Some(HookCondition::Shell(command)) => {
                let (program, args) = build_shell_argv(HookShell::Posix, command);
                Some(ProcessRequest { program, args, timeout: CONDITION_TIMEOUT, ..request.clone() })
            }
            _ => None,
        };
        Ok(HookTask { condition, work: HookWork::Process(request) })
    }

    fn build_process_request(
        &self,
        program: OsString,
        args: Vec<OsString>,
        envelope: &Envelope,
        cwd: PathBuf,
        timeout: Duration,
    ) -> ProcessRequest {
        let mut variables = envelope.variables.clone();
        variables.push(EnvVariable {
            name: DEPTH_VARIABLE.into(),
            value: Some(self.shared.depth.saturating_add(1).to_string().into()),
        });
        ProcessRequest {
            program,
            args,
            variables,
            spills: envelope.spills.clone(),
            cwd: cwd.into(),
            stdin: envelope.stdin.clone(),
            timeout,
            temp_dir: self.shared.temp_dir.clone().into(),
        }
    }
}

/// A task for a background process, which reports its outcome.
pub(super) fn build_job(task: HookTask, hook: &Hook, event: &Event, now: Option<Timestamp>) -> BackgroundJob {
    BackgroundJob {
        now,
        task,
        event: event.name.as_str().to_owned(),
        session_id: event.session_id.clone(),
        hook: HookLabel::from_hook(hook),
    }
}

/// The base directories for paths of a permission rule.
pub(super) fn build_rule_roots<'a>(event: &'a Event, context: &HookContext<'a>) -> RuleRoots<'a> {
    RuleRoots { cwd: event.cwd.as_deref().unwrap_or(context.project), project: context.project, home: context.home }
}

/// The event's directory if the contract uses it and it exists, else the project.
fn choose_working_directory(hook: &Hook, event: &Event, context: &HookContext<'_>) -> PathBuf {
    let usual = match hook.contract.working_directory {
        WorkingDirectoryPolicy::Project => context.project.to_owned(),
        WorkingDirectoryPolicy::Event => {
            event.cwd.as_ref().filter(|cwd| cwd.is_dir()).cloned().unwrap_or_else(|| context.project.to_owned())
        }
    };
    match &hook.agent_entry.directory {
        Some(directory) => usual.join(directory),
        None => usual,
    }
}

fn build_shell_argv(shell: HookShell, command: &str) -> (OsString, Vec<OsString>) {
    let (program, options): (_, &[&str]) = match shell {
        HookShell::Posix => ("/bin/sh", &["-c"]),
        HookShell::Bash => ("bash", &["-c"]),
        HookShell::Pwsh => ("pwsh", &["-NoProfile", "-NonInteractive", "-Command"]),
    };
    let args = options.iter().copied().chain([command]).map(OsString::from);
    (program.into(), args.collect())
}

/// A relative path of a program starts in its working directory, on every system.
pub(super) fn resolve_program(program: OsString, cwd: &Path) -> OsString {
    if program.as_encoded_bytes().contains(&b'/') { cwd.join(program).into() } else { program }
}

/// The script of a string entry, relative to the project.
pub(super) fn resolve_script(hook: &Hook, written: &str, context: &HookContext<'_>) -> PathBuf {
    let path = written.trim();
    let path = strip_project_variable(hook, path).unwrap_or(path);
    match (path.strip_prefix("~/"), context.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => context.project.join(path),
    }
}

/// The rest of a word that starts with the contract's variable for the project, `$NAME/…` or `${NAME}/…`.
pub(super) fn strip_project_variable<'a>(hook: &Hook, word: &'a str) -> Option<&'a str> {
    let name = hook.contract.project_variable?;
    let rest = word.strip_prefix('$')?;
    let rest = match rest.strip_prefix('{') {
        Some(braced) => braced.strip_prefix(name)?.strip_prefix('}')?,
        None => rest.strip_prefix(name)?,
    };
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Replaces the variable for the project if no shell does: only in a word that is just a path starting with it. In
/// other texts the project's path could be read as code.
pub(super) fn expand_project_variable(hook: &Hook, word: &str, context: &HookContext<'_>) -> OsString {
    let is_plain = |rest: &&str| rest.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c));
    match strip_project_variable(hook, word).filter(is_plain) {
        Some("") => context.project.into(),
        Some(rest) => context.project.join(rest).into(),
        None => word.into(),
    }
}

/// Whether the next word is code for an interpreter, as after `sh -c` or `perl -e`.
fn is_code_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(['c', 'e'])
}

fn build_http_request(
    call: &HttpAction,
    envelope: &Envelope,
    runner: &HookRunner,
    timeout: Duration,
) -> HookHttpRequest {
    let value_of = |name: &str| {
        let allowed = call.allowed_env_vars.iter().any(|allowed| allowed == name);
        let value = allowed.then(|| runner.env_var(name)).flatten();
        value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
    };
    HookHttpRequest {
        url: call.url.clone(),
        headers: call.headers.iter().map(|(name, value)| (name.clone(), expand_variables(value, value_of))).collect(),
        body: envelope.stdin.clone().unwrap_or_default(),
        timeout,
    }
}

/// Replaces `$NAME` and `${NAME}` by values.
fn expand_variables(text: &str, value_of: impl Fn(&str) -> String) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let bare = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        match braced {
            Some((name, tail)) => {
                expanded.push_str(&value_of(name));
                rest = tail;
            }
            None if bare > 0 => {
                expanded.push_str(&value_of(&after[..bare]));
                rest = &after[bare..];
            }
            None => {
                expanded.push('$');
                rest = after;
            }
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use super::expand_variables;

    #[test]
    fn variables_in_headers_are_put_in_place() {
        let value_of = |name: &str| format!("<{name}>");
        let cases = [
            ("Bearer $TOKEN", "Bearer <TOKEN>"),
            ("${A}b$C_1-d", "<A>b<C_1>-d"),
            ("5$ and $", "5$ and $"),
            ("${open", "${open"),
        ];
        for (text, expected) in cases {
            assert_eq!(expand_variables(text, value_of), expected, "{text}");
        }
    }
}
