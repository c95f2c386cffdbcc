//! Analyses tool calls: commands, files and fetches. Tools of MCP servers are in `mcp`.

pub(crate) mod agent_settings;
mod input_fields;
mod mcp;
mod patch;

use serde_json::Value as Json;

use crate::effects::{Effect, PathAction, build_path_effect, collect_effects, collect_invocation_effects};
use crate::interpret::{self, quote_shell_word};
use crate::interpreters;
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardToolCall};
use crate::paths::{MAX_PATH, locate_path};
use crate::policy::entries::{EntryPattern, keep_watching_patterns};
use crate::policy::hosts::find_address_host;
use snell_shell::ByteSpan;
use words::keys;

/// How many paths of one call are judged.
pub(crate) const MAX_PATHS: usize = 4096;

/// Longer commands are not analysed: no agent writes them, and no system runs them.
pub(crate) const MAX_COMMAND: usize = 16 << 20;

/// The kind of a tool, whatever its name is in an agent.
#[derive(Clone, Copy)]
enum BuiltinToolKind {
    /// Runs a command.
    Shell,
    /// Runs a command of PowerShell.
    PowerShell,
    /// Runs a command of cmd.
    Batch,
    /// Does this to the files in its input.
    File(PathAction),
    /// Shows or changes a file, depending on its input.
    Editor,
    /// Searches in files, and shows the matches.
    Search,
    /// Applies a patch.
    Patch,
    /// Fetches a URL.
    Fetch,
}

/// The kinds of the tools in each list.
const BUILTIN_TOOLS: &[(&[&str], BuiltinToolKind)] = &[
    (words::tools::SHELL, BuiltinToolKind::Shell),
    (words::tools::POWERSHELL, BuiltinToolKind::PowerShell),
    (words::tools::BATCH, BuiltinToolKind::Batch),
    (words::tools::READ, BuiltinToolKind::File(PathAction::Read)),
    (words::tools::WRITE, BuiltinToolKind::File(PathAction::Overwrite)),
    (words::tools::DELETE, BuiltinToolKind::File(PathAction::Delete)),
    (words::tools::EDITOR, BuiltinToolKind::Editor),
    (words::tools::SEARCH, BuiltinToolKind::Search),
    (words::tools::PATCH, BuiltinToolKind::Patch),
    (words::tools::FETCH, BuiltinToolKind::Fetch),
];

/// The key that most tools use for a command.
const DEFAULT_COMMAND_KEY: &str = "command";

/// The names of the agents' own tools and of their keys: `data/builtin_tools.toml`, as the build script compiled it.
mod words {
    include!(concat!(env!("OUT_DIR"), "/builtin_tools.rs"));
}

/// Analyses a tool call.
pub(crate) fn analyze_tool_call(
    call: &GuardToolCall<'_>,
    permits: &[Option<EntryPattern>],
    context: &JudgeContext,
) -> CallAnalysis {
    let mut analysis = CallAnalysis::default();
    if call.tool.is_empty() {
        analysis.mark_field_unreadable("tool_name");
        return analysis;
    }
    let Some(tool) = find_builtin_tool(call.tool) else {
        if let Some(named) = mcp::McpToolName::parse(call.tool) {
            mcp::analyze_mcp_call(&named, call.input, permits, context, &mut analysis);
        }
        return analysis;
    };
    match tool {
        BuiltinToolKind::Shell => analyze_shell_tool(None, call.input, permits, context, &mut analysis),
        BuiltinToolKind::PowerShell => {
            analyze_shell_tool(Some("pwsh -Command"), call.input, permits, context, &mut analysis)
        }
        BuiltinToolKind::Batch => analyze_shell_tool(Some("cmd /c"), call.input, permits, context, &mut analysis),
        BuiltinToolKind::Editor => {
            let shows = call.input.get("command").and_then(Json::as_str) == Some("view");
            if shows {
                analyze_file_tool(PathAction::Read, call.input, context, &mut analysis);
            } else {
                analyze_file_change(call.input, context, &mut analysis);
            }
        }
        BuiltinToolKind::File(PathAction::Overwrite) => analyze_file_change(call.input, context, &mut analysis),
        BuiltinToolKind::File(kind) => analyze_file_tool(kind, call.input, context, &mut analysis),
        BuiltinToolKind::Search => analyze_search(call.input, context, &mut analysis),
        BuiltinToolKind::Patch => patch::analyze_patch_tool(call.input, context, &mut analysis),
        BuiltinToolKind::Fetch => analyze_fetch(call.input, context, &mut analysis),
    }
    analysis
}

/// The tools whose calls may be approved.
#[derive(Clone, Copy)]
pub(crate) enum ApprovableTool {
    Shell,
    Read,
    Change,
    Search,
}

/// The kind of a tool, if its calls may be approved.
pub(crate) fn find_approvable_tool(tool: &str) -> Option<ApprovableTool> {
    match find_builtin_tool(tool)? {
        BuiltinToolKind::Shell => Some(ApprovableTool::Shell),
        BuiltinToolKind::File(PathAction::Read) => Some(ApprovableTool::Read),
        BuiltinToolKind::File(_) | BuiltinToolKind::Patch => Some(ApprovableTool::Change),
        BuiltinToolKind::Search => Some(ApprovableTool::Search),
        BuiltinToolKind::Editor | BuiltinToolKind::PowerShell | BuiltinToolKind::Batch | BuiltinToolKind::Fetch => None,
    }
}

/// The directories that a search names.
pub(crate) fn find_search_dirs(input: &Json) -> Vec<&str> {
    collect_strings(input, keys::SEARCH_DIRS)
}

fn find_builtin_tool(tool: &str) -> Option<BuiltinToolKind> {
    let is_named = |names: &[&str]| names.iter().any(|name| tool.eq_ignore_ascii_case(name));
    BUILTIN_TOOLS.iter().find(|(names, _)| is_named(names)).map(|(_, kind)| *kind)
}

/// A command, as a string or as words, for the shell or for a program with another shell. A shell tool without a command is
/// not understood.
fn analyze_shell_tool(
    program: Option<&str>,
    input: &Json,
    permits: &[Option<EntryPattern>],
    context: &JudgeContext,
    analysis: &mut CallAnalysis,
) {
    let Some(written) = command_from_input(input) else {
        analysis.mark_field_unreadable(DEFAULT_COMMAND_KEY);
        return;
    };
    refuse_zero_bytes(&[&written], analysis);
    refuse_zero_bytes(&collect_strings(input, keys::CWD), analysis);
    let command = match program {
        Some(program) => format!("{program} {}", quote_shell_word(&written)),
        None => written,
    };
    match collect_strings(input, keys::CWD).first().map(|cwd| locate_tool_path(cwd, context)) {
        Some(Some(cwd)) => analyze_command(&command, permits, &JudgeContext { cwd, ..context.clone() }, analysis),
        _ => analyze_command(&command, permits, context, analysis),
    }
}

/// Analyses a command on this machine.
fn analyze_command(
    command: &str,
    permits: &[Option<EntryPattern>],
    context: &JudgeContext,
    analysis: &mut CallAnalysis,
) {
    if command.len() > MAX_COMMAND {
        analysis.mark_limit_exceeded("length");
        return;
    }
    let found = interpret::interpret_with_permits(command, context, permits);
    for span in found.fork_bombs {
        analysis.add_rule_effect("process.fork-bomb", span);
    }
    for invocation in &found.invocations {
        analyze_patch_command(invocation, context, analysis);
    }
    let effects = collect_effects(&found.invocations, context);
    if effects.too_many {
        analysis.mark_limit_exceeded("effects");
    }
    // A call may hold several commands.
    let before = analysis.invocations.len();
    analysis.effects.extend(
        effects.effects.into_iter().map(|effect| Effect { by: effect.by.map(|number| before + number), ..effect }),
    );
    let watched = if found.inline.is_empty() { Vec::new() } else { keep_watching_patterns(permits) };
    for code in &found.inline {
        if let Some(invocation) = found.invocations.get(code.invocation) {
            let effects = interpreters::analyze_watched_code(code, invocation, context, &watched);
            analysis.effects.extend(effects.into_iter().map(|effect| Effect {
                by: Some(before + code.invocation),
                allowed: invocation.allowed,
                ..effect
            }));
        }
    }
    analysis.watched.extend(found.watched);
    analysis.invocations.extend(found.invocations);
    analysis.merge_coverage(found.coverage);
}

/// Some agents offer their patch tool as a program too: `apply_patch <<'EOF'`.
fn analyze_patch_command(invocation: &Invocation, context: &JudgeContext, analysis: &mut CallAnalysis) {
    let name = invocation.name();
    if !matches!(name, Some("apply_patch" | "applypatch")) {
        return;
    }
    for text in invocation.arguments().iter().chain(invocation.stdin.as_text()) {
        let cwd = invocation.cwd.clone().unwrap_or_else(|| context.cwd.clone());
        patch::analyze_patch(&text.to_string(), &JudgeContext { cwd, ..context.clone() }, analysis);
    }
}

/// Analyses a command on another machine.
fn analyze_remote_command(command: &str, context: &JudgeContext, analysis: &mut CallAnalysis) {
    analyze_command(&format!("ssh host {}", quote_shell_word(command)), &[], context, analysis);
}

/// The key and the text of a command that is one string.
pub(crate) fn find_command_text<'a>(call: &GuardToolCall<'a>) -> Option<(&'static str, &'a str)> {
    let written = |key: &&'static str| Some((*key, call.input.get(key)?.as_str()?));
    let runs = mcp::McpToolName::parse(call.tool).is_some()
        || matches!(find_builtin_tool(call.tool), Some(BuiltinToolKind::Shell));
    keys::COMMANDS.iter().find_map(written).filter(|_| runs)
}

/// The hosts that the input of a tool names: the URLs of a fetch, and every URL in a call of an MCP server.
pub(crate) fn find_tool_hosts(call: &GuardToolCall<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    match find_builtin_tool(call.tool) {
        Some(BuiltinToolKind::Fetch) => texts = collect_strings(call.input, keys::URLS),
        Some(_) => {}
        None if mcp::McpToolName::parse(call.tool).is_some() => collect_all_strings(call.input, &mut texts),
        None => {}
    }
    let words = texts.into_iter().flat_map(str::split_whitespace).filter(|word| word.contains("://"));
    words.filter_map(find_address_host).collect()
}

/// All texts of a call that runs a command; `None` for other tools.
pub(crate) fn find_command_texts(call: &GuardToolCall<'_>) -> Option<String> {
    let is_shell = matches!(find_builtin_tool(call.tool), Some(BuiltinToolKind::Shell | BuiltinToolKind::PowerShell));
    let mut texts = Vec::new();
    is_shell.then(|| collect_all_strings(call.input, &mut texts))?;
    Some(texts.join(" "))
}

/// The words in the name of the MCP server of a tool; `None` for an agent's own tools.
pub(crate) fn find_mcp_server(tool: &str) -> Option<Vec<String>> {
    let is_own = find_builtin_tool(tool).is_some();
    mcp::McpToolName::parse(tool).filter(|_| !is_own).map(|named| named.into_server())
}

fn collect_all_strings<'a>(value: &'a Json, texts: &mut Vec<&'a str>) {
    match value {
        Json::String(text) => texts.push(text),
        Json::Array(items) => items.iter().for_each(|item| collect_all_strings(item, texts)),
        Json::Object(fields) => fields.values().for_each(|item| collect_all_strings(item, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The keys and texts of paths.
pub(crate) fn find_path_texts<'a>(call: &GuardToolCall<'a>) -> Vec<(&'static str, &'a str)> {
    let written = |key: &&'static str| Some((*key, call.input.get(key)?.as_str()?));
    keys::PATHS.iter().filter_map(written).collect()
}

pub(crate) fn command_from_input(input: &Json) -> Option<String> {
    let written = keys::COMMANDS.iter().find_map(|key| input.get(key)).or(Some(input))?;
    match written {
        Json::String(text) => Some(text.clone()),
        Json::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(to_shell_word)).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        _ => None,
    }
}

/// Quotes a word of a list for a shell. Some tools start the program directly, others pass the words to a shell, so a
/// home directory or a variable in a plain word is expanded as a shell would do.
fn to_shell_word(word: &str) -> String {
    let is_replaced = word.starts_with('~') || word.contains('$');
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_./~${}-".contains(c));
    if is_replaced && is_plain { word.to_owned() } else { quote_shell_word(word) }
}

/// Joins words to a command line that a shell splits into the same words.
fn join_shell_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quote_shell_word).collect::<Vec<_>>().join(" ")
}

/// Analyses a change of files. Most changes are judged by their paths, some by their contents.
fn analyze_file_change(input: &Json, context: &JudgeContext, analysis: &mut CallAnalysis) {
    input_fields::check_required_fields(input, keys::PATHS, analysis);
    let mut paths = collect_strings(input, keys::PATHS);
    if let [path] = paths.as_slice()
        && agent_settings::analyze_settings_change(path, input, context, analysis)
    {
        paths.clear();
    }
    add_file_effects(PathAction::Overwrite, paths, context, analysis);
}

/// Adds this effect for all files that a call names.
fn analyze_file_tool(kind: PathAction, input: &Json, context: &JudgeContext, analysis: &mut CallAnalysis) {
    input_fields::check_required_fields(input, keys::PATHS, analysis);
    add_file_effects(kind, collect_strings(input, keys::PATHS), context, analysis);
}

/// Adds this effect for all these files.
fn add_file_effects(kind: PathAction, paths: Vec<&str>, context: &JudgeContext, analysis: &mut CallAnalysis) {
    // A tool may normalize a path that is too long for the system.
    if paths.len() > MAX_PATHS || paths.iter().any(|path| path.len() > MAX_PATH) {
        analysis.mark_limit_exceeded("paths");
    }
    refuse_zero_bytes(&paths, analysis);
    let effects = paths.into_iter().take(MAX_PATHS).map(|path| build_file_effect(kind, path, context));
    analysis.effects.extend(effects);
}

/// Refuses texts with a zero byte: a program may read only what is before it.
fn refuse_zero_bytes(texts: &[&str], analysis: &mut CallAnalysis) {
    if texts.iter().any(|text| text.contains('\0')) {
        analysis.add_rule_effect("guard.zero-byte", ByteSpan::default());
    }
}

/// The effect on one file.
fn build_file_effect(kind: PathAction, path: &str, context: &JudgeContext) -> Effect {
    build_path_effect(kind, &expand_tool_path(path, context), "the tool", context)
}

/// Tools, unlike programs, expand `~` themselves, and some accept file URLs.
fn expand_tool_path(path: &str, context: &JudgeContext) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", context.home),
        _ => path.to_owned(),
    }
}

fn locate_tool_path(path: &str, context: &JudgeContext) -> Option<String> {
    locate_path(&SymbolicText::from_text(expand_tool_path(path, context)), Some(&context.cwd), context).path
}

/// A search shows its matches, unless it returns only names or counts.
fn analyze_search(input: &Json, context: &JudgeContext, analysis: &mut CallAnalysis) {
    let shows = |mode: &str| !matches!(mode, "files_with_matches" | "count");
    if !input.get("output_mode").and_then(Json::as_str).is_none_or(shows) {
        return;
    }
    input_fields::check_text_fields(input, keys::SEARCH_DIRS, analysis);
    input_fields::check_text_fields(input, keys::GLOBS, analysis);
    refuse_zero_bytes(&collect_strings(input, keys::SEARCH_DIRS), analysis);
    let path = collect_strings(input, keys::SEARCH_DIRS).first().copied();
    if let Some(path) = path {
        analysis.effects.push(Effect { recursive: true, ..build_file_effect(PathAction::Read, path, context) });
    }
    for glob in collect_strings(input, keys::GLOBS) {
        if glob.len() > MAX_PATH {
            analysis.mark_limit_exceeded("paths");
            continue;
        }
        let value = build_glob_value(&expand_tool_path(path.unwrap_or("."), context), glob);
        analysis.effects.push(Effect {
            place: Some(locate_path(&value, Some(&context.cwd), context)),
            ..build_file_effect(PathAction::Read, "", context)
        });
    }
}

/// The files in a directory whose names match, at any depth.
fn build_glob_value(directory: &str, glob: &str) -> SymbolicText {
    let mut value = SymbolicText::from_text(format!("{directory}/"));
    value.append_globs(&SymbolicText::from_text(glob.replace("**/", "")));
    value
}

/// Fetching a URL is judged like `curl`. Some tools find the URL in a text.
fn analyze_fetch(input: &Json, context: &JudgeContext, analysis: &mut CallAnalysis) {
    input_fields::check_text_fields(input, keys::URLS, analysis);
    let words = collect_strings(input, keys::URLS).into_iter().flat_map(str::split_whitespace);
    for (count, address) in words.filter(|word| word.contains("://")).enumerate() {
        if count == MAX_PATHS {
            return analysis.mark_limit_exceeded("addresses");
        }
        add_fetch_effects(address, context, analysis);
    }
}

fn add_fetch_effects(address: &str, context: &JudgeContext, analysis: &mut CallAnalysis) {
    analysis.effects.extend(analyze_program(&["curl", address], context));
}

/// The effects of a program with these arguments.
fn analyze_program(argv: &[&str], context: &JudgeContext) -> Vec<Effect> {
    let invocation = Invocation {
        argv: argv.iter().map(|word| SymbolicText::from_text(*word)).collect(),
        cwd: Some(context.cwd.clone()),
        ..Invocation::default()
    };
    collect_invocation_effects(&invocation, context)
}

/// The strings at these keys: a string, a list of strings, or a list of objects with such keys.
fn collect_strings<'a>(input: &'a Json, keys: &[&str]) -> Vec<&'a str> {
    let mut all = Vec::new();
    for value in keys.iter().filter_map(|key| input.get(key)) {
        match value {
            Json::String(text) => all.push(text.as_str()),
            Json::Array(list) => {
                for item in list {
                    let inner = keys.iter().filter_map(|key| item.get(key));
                    all.extend(item.as_str().into_iter().chain(inner.filter_map(Json::as_str)));
                }
            }
            _ => {}
        }
    }
    all
}
