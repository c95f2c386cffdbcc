//! Untrusted content, and calls that send or run something after it was read.

use super::trail::CommandWords;
use super::{SessionScene, fetched, words};
use crate::effects::{EffectKind, PathAction};
use crate::git_repository::read_origin_host;
use crate::invocation::{Invocation, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardToolCall};
use crate::paths::{is_within_directory, locate_path, matches_glob};
use crate::policy::hosts::{find_address_host, find_command_hosts};
use crate::rules::shorten_text;
use crate::tools::{find_mcp_server, find_tool_hosts};

const SEND_RULE: &str = "session.tainted-send";
const RUN_RULE: &str = "session.tainted-run";

/// How much of a source is shown.
const MAX_SOURCE_CHARS: usize = 60;

/// The untrusted content that a call reads, as part of a sentence.
pub(super) fn find_untrusted_source(
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    context: &JudgeContext,
) -> Option<String> {
    if let Some(server) = find_mcp_server(call.tool) {
        let is_own = words::taint::OWN_SERVERS.iter().any(|own| server.iter().any(|word| word == own));
        return (!is_own).then(|| format!("a result of {}", shorten_text(call.tool, MAX_SOURCE_CHARS)));
    }
    if words::taint::TOOLS.iter().any(|tool| call.tool.eq_ignore_ascii_case(tool)) {
        let host = find_tool_hosts(call).into_iter().find(|host| !is_local_host(host));
        let tool = shorten_text(call.tool, MAX_SOURCE_CHARS);
        return Some(host.map_or_else(|| format!("a result of {tool}"), |host| format!("a page of {host}")));
    }
    analysis.invocations.iter().find_map(|invocation| find_untrusted_output(invocation, context))
}

/// Whether other people wrote the results of a tool, by its name.
pub(super) fn is_untrusted_tool(tool: &str) -> bool {
    find_mcp_server(tool).is_some() || words::taint::TOOLS.iter().any(|known| tool.eq_ignore_ascii_case(known))
}

/// The untrusted output of a program, as part of a sentence.
fn find_untrusted_output(invocation: &Invocation, context: &JudgeContext) -> Option<String> {
    let command = CommandWords::read(invocation, context)?;
    let rows = words::taint::PROGRAMS.iter().filter(|(program, _)| command.is_program(program));
    let is_listed = rows.flat_map(|(program, all)| all.iter().map(move |words| (program, words)));
    if is_listed.into_iter().any(|(program, words)| command.starts_with(program, words)) {
        return Some(format!("`{}`", shorten_text(&command.phrase(), MAX_SOURCE_CHARS)));
    }
    let is_shown = fetched::prints_fetched_content(&command) && invocation.files.is_empty();
    let hosts = find_command_hosts(&invocation.argv);
    let host = hosts.iter().find(|host| !is_local_host(host)).filter(|_| is_shown)?;
    Some(format!("a page of {}", shorten_text(host, MAX_SOURCE_CHARS)))
}

/// Adds effects for sending and running after untrusted content was read.
pub(super) fn add_taint_effects(scene: &SessionScene<'_>, analysis: &mut CallAnalysis) {
    let Some(taint) = &scene.facts.taint else {
        return;
    };
    let mut found: Vec<(&str, Option<usize>)> = Vec::new();
    for effect in &analysis.effects {
        let is_sent = matches!(effect.kind, EffectKind::Path(PathAction::Send | PathAction::SendRaw));
        let path = effect.place.as_ref().filter(|_| is_sent).and_then(|place| place.path.as_ref());
        if path.is_some_and(|path| is_within_directory(path, &scene.context.project))
            && !effect.by.and_then(|by| analysis.invocations.get(by)).is_some_and(sends_to_this_machine)
        {
            found.push((SEND_RULE, effect.by));
        }
    }
    let mut origin = None;
    for (number, invocation) in analysis.invocations.iter().enumerate() {
        let hosts = list_hosts_to_send_to(invocation, scene.context);
        if !hosts.is_empty() {
            let origin = origin.get_or_insert_with(|| read_origin_host(&scene.context.cwd, scene.disk));
            let is_origin = |host: &String| {
                origin.as_ref().is_some_and(|origin| host == origin || host.ends_with(&format!(".{origin}")))
            };
            if hosts.iter().any(|host| !is_local_host(host) && !is_origin(host)) {
                found.push((SEND_RULE, Some(number)));
            }
        }
        if runs_fetched_directory(scene, invocation) {
            found.push((RUN_RULE, Some(number)));
        }
    }
    found.dedup();
    for (rule, by) in found {
        scene.add_effect(analysis, rule, by, taint.source.clone());
    }
}

/// The hosts to which a command sends text.
fn list_hosts_to_send_to(invocation: &Invocation, context: &JudgeContext) -> Vec<String> {
    let Some(command) = CommandWords::read(invocation, context) else {
        return Vec::new();
    };
    if command.starts_with("git", "push") {
        return command.words.get(2).and_then(|remote| find_address_host(remote)).into_iter().collect();
    }
    let row = words::sending::PROGRAMS.iter().find(|(program, _)| command.is_program(program));
    let Some((_, flags)) = row else {
        return Vec::new();
    };
    // `https://x.example/?q=$(cat notes.md)`
    let has_contents = |word: &SymbolicText| {
        [UnknownKind::FromInput, UnknownKind::Private].iter().any(|kind| word.contains_unknown(*kind))
    };
    let is_method = |value: &str| words::sending::METHODS.iter().any(|method| value.eq_ignore_ascii_case(method));
    let sends = command.args.has_any_flag(flags)
        || invocation.arguments().iter().any(has_contents)
        || command.args.flag_values(words::sending::METHOD_FLAGS).any(|value| is_method(&value.to_string()));
    if sends { find_command_hosts(&invocation.argv) } else { Vec::new() }
}

fn sends_to_this_machine(invocation: &Invocation) -> bool {
    let hosts = find_command_hosts(&invocation.argv);
    let row = words::sending::LOCAL_SERVICES.iter().find(|(program, _)| *program == invocation.base_name());
    let leaves = |flags: &[&str]| {
        let mut words = invocation.arguments().iter().map(SymbolicText::leading_text);
        words.any(|word| flags.iter().any(|flag| word.starts_with(flag)))
    };
    match row {
        Some((_, flags)) => !leaves(flags),
        None => !hosts.is_empty() && hosts.iter().all(|host| is_local_host(host)),
    }
}

/// Whether a program runs code of a directory that was fetched.
fn runs_fetched_directory(scene: &SessionScene<'_>, invocation: &Invocation) -> bool {
    if !words::running::RUNNERS.contains(&invocation.base_name()) || invocation.elsewhere {
        return false;
    }
    let cwd = CommandWords::read(invocation, scene.context).and_then(|command| command.cwd);
    let named = list_named_directories(invocation, scene.context);
    let mut directories = scene.facts.fetched.iter().filter(|fetched| fetched.is_directory);
    directories.any(|fetched| named.iter().chain(&cwd).any(|directory| is_within_directory(directory, &fetched.path)))
}

/// The directories that flags of a command name: `make -C lib`, `--prefix=lib`.
fn list_named_directories(invocation: &Invocation, context: &JudgeContext) -> Vec<String> {
    let words: Vec<String> = invocation.arguments().iter().map(ToString::to_string).collect();
    let is_flag = |word: &str| words::running::DIRECTORY_FLAGS.contains(&word);
    let apart = words.windows(2).filter_map(|pair| match pair {
        [flag, value] if is_flag(flag) => Some(value.as_str()),
        _ => None,
    });
    let joined = words.iter().filter_map(|word| word.split_once('=').filter(|(flag, _)| is_flag(flag)));
    let values = apart.chain(joined.map(|(_, value)| value));
    let locate = |value: &str| locate_path(&SymbolicText::from_text(value), invocation.cwd.as_deref(), context).path;
    values.filter_map(locate).collect()
}

fn is_local_host(host: &str) -> bool {
    words::sending::LOCAL_HOSTS.iter().any(|local| matches_glob(host, local))
}
