//! Checks whole calls: commands, and the tools that read, search and change files.

use serde_json::Value as Json;

use super::invocations::{check_invocation, names_only_files};
use super::numbers::NumberVariables;
use super::places::{AccessKind, check_place, is_public_file, is_source_pattern};
use super::roles::{MAX_SURROUNDING_LINES, has_specific_text};
use super::syntax::SyntaxCheck;
use super::table::words;
use super::{ApprovalClass, ApprovalDraft};
use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::{CallAnalysis, GuardToolCall, find_whole_text};
use crate::paths::{PathClass, normalize_path};
use crate::tools::{ApprovableTool, command_from_input, find_approvable_tool};

/// A call that runs more programs is not approved.
const MAX_INVOCATIONS: usize = 500;

/// Checks a call; `None` if any part of it may do harm.
pub(super) fn check_tool_call(
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    match find_approvable_tool(call.tool) {
        Some(ApprovableTool::Shell) => check_shell_call(call.input, analysis, draft),
        Some(ApprovableTool::Read) => check_file_effects(call, analysis, draft),
        Some(ApprovableTool::Change) => check_file_effects(call, analysis, draft),
        Some(ApprovableTool::Search) => check_listing(call, AccessKind::Search, draft),
        None if words::tools::LISTING.iter().any(|name| call.tool.eq_ignore_ascii_case(name)) => {
            check_listing(call, AccessKind::List, draft)
        }
        None => None,
    }
}

fn check_shell_call(input: &Json, analysis: &CallAnalysis, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let is_known = |(key, value): (&String, &Json)| {
        words::tools::SHELL_KEYS.contains(&key.as_str()) || matches!(value, Json::Null | Json::Bool(false))
    };
    if !input.as_object().is_none_or(|fields| fields.iter().all(is_known)) {
        return None;
    }
    let command = command_from_input(input)?;
    let listed = std::mem::take(&mut draft.listed);
    let is_plain =
        SyntaxCheck { listed: &listed, shells: 0, numbers: NumberVariables::default() }.is_plain_text(&command);
    draft.listed = listed;
    if !is_plain || analysis.invocations.is_empty() {
        return None;
    }
    // The program that a package runner starts is an invocation of its own.
    let is_runner = |invocation: &&Invocation| invocation.name().is_some_and(is_package_runner);
    let is_started = |invocation: &&Invocation| invocation.via.iter().any(|via| is_package_runner(via));
    let runners = analysis.invocations.iter().filter(is_runner).count();
    let are_all_started = runners <= analysis.invocations.iter().filter(is_started).count();
    if analysis.invocations.len() > MAX_INVOCATIONS {
        return None;
    }
    for invocation in &analysis.invocations {
        if is_runner(&invocation) && are_all_started && invocation.files.is_empty() && invocation.variables.is_empty() {
            continue;
        }
        if is_setting_of_call(invocation, &analysis.invocations) {
            continue;
        }
        check_invocation(invocation, &analysis.invocations, draft)?;
    }
    check_found_files(&analysis.invocations, draft)?;
    analysis.effects.iter().try_for_each(|effect| check_effect(effect, draft))
}

/// A search prints names at any depth, also hidden ones. A call that has one may only read files whose names say that they hold no
/// secrets, if it does not name them itself.
fn check_found_files(invocations: &[Invocation], draft: &mut ApprovalDraft<'_>) -> Option<()> {
    if !invocations.iter().any(prints_names) {
        return Some(());
    }
    let is_for_secrets = invocations.iter().filter(|search| prints_names(search)).any(looks_for_secrets);
    let names_only_files = invocations.iter().filter(|search| prints_names(search)).all(names_only_files);
    for access in &mut draft.accesses {
        if !matches!(access.kind, AccessKind::Read | AccessKind::Tree)
            || access.pattern.is_empty()
            || access.pattern == "**"
        {
            continue;
        }
        (is_source_pattern(&access.pattern) && !is_for_secrets).then_some(())?;
        access.kind = if names_only_files { AccessKind::Found } else { AccessKind::Tree };
        if !access.pattern.contains("**") {
            access.pattern = format!("**/{}", access.pattern);
        }
    }
    Some(())
}

/// Whether a search for names asks for those of secrets.
fn looks_for_secrets(search: &Invocation) -> bool {
    let is_secret = |word: &SymbolicText| {
        let text = word.to_string().to_lowercase();
        words::files::SECRET_PARTS.iter().any(|part| text.contains(part))
    };
    search.arguments().iter().any(is_secret)
}

/// Whether a program prints names of files that it finds.
fn prints_names(invocation: &Invocation) -> bool {
    let lists = |word: &SymbolicText| {
        let text = word.leading_text();
        text.starts_with("--files")
            || text.starts_with("--name-only")
            || text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L'])
    };
    let shows_all = |word: &SymbolicText| {
        word.leading_text().starts_with('-') && word.leading_text().contains(['a', 'A', 'R', 'f'])
    };
    match invocation.base_name() {
        "find" | "gfind" | "fd" | "fdfind" => true,
        "grep" | "egrep" | "fgrep" | "rg" | "git" => invocation.arguments().iter().any(lists),
        "ls" | "gls" | "dir" | "exa" | "eza" | "tree" => invocation.arguments().iter().any(shows_all),
        _ => false,
    }
}

/// Whether an invocation only stands for a setting of another one, which its entry checks: `git -c key=value log`.
fn is_setting_of_call(invocation: &Invocation, all: &[Invocation]) -> bool {
    let words: Vec<&str> = invocation.argv.iter().filter_map(SymbolicText::as_text).collect();
    let ["git", "config", key, value] = words.as_slice() else { return false };
    let setting = format!("{key}={value}");
    let has_setting = |call: &Invocation| {
        call.argv.windows(2).any(
            |pair| matches!(pair, [flag, value] if flag.as_text() == Some("-c") && value.as_text() == Some(&setting)),
        )
    };
    invocation.argv.len() == words.len() && all.iter().any(|call| call.span == invocation.span && has_setting(call))
}

/// Whether a wrapper is also reported as a program of its own: `npx`, `uv run`.
fn is_package_runner(via: &str) -> bool {
    matches!(via.split(' ').next(), Some("npx" | "uv"))
}

/// The other tables may know more about a program: whatever it does must be in reach, too.
fn check_effect(effect: &Effect, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let EffectKind::Path(action) = effect.kind else { return None };
    let place = effect.place.as_ref()?;
    let is_public = action == PathAction::Read && place.path.as_deref().is_some_and(is_public_file);
    if place.classes.contains(PathClass::Harmless) || is_public {
        return Some(());
    }
    let kind = match action {
        // The entry for `cp` checked that nothing is there yet.
        PathAction::Unpack if effect.program == "cp" => AccessKind::Make,
        action => find_access_kind(action)?,
    };
    if kind.is_change() {
        draft.add_class(ApprovalClass::Edits)?;
    }
    // The program's own entry says which files it names; here only the places matter that it reaches.
    let is_gentle = matches!(kind, AccessKind::Read | AccessKind::Edit | AccessKind::Make);
    if effect.program != "the tool" && is_gentle {
        let is_kept =
            place.classes.intersects([PathClass::Protected, PathClass::HoldsProtected, PathClass::HoldsSealed].into());
        return check_place(place, AccessKind::List, draft.context)
            .filter(|_| !is_kept || !kind.is_change())
            .map(|_| ());
    }
    // A directory of generated files may go as a whole.
    let as_tree = check_place(place, AccessKind::DeleteTree, draft.context).filter(|_| kind == AccessKind::Delete);
    let access = match as_tree {
        Some(access) => access,
        None => check_place(place, kind, draft.context)?,
    };
    draft.add_access(access);
    Some(())
}

/// How an action uses its path; `None` if it may do harm anywhere.
fn find_access_kind(action: PathAction) -> Option<AccessKind> {
    match action {
        PathAction::Read | PathAction::Use | PathAction::Copy => Some(AccessKind::Read),
        PathAction::Make => Some(AccessKind::Make),
        PathAction::Append | PathAction::Edit => Some(AccessKind::Edit),
        PathAction::Put | PathAction::Overwrite | PathAction::Replace => Some(AccessKind::Overwrite),
        PathAction::Delete | PathAction::Take => Some(AccessKind::Delete),
        PathAction::Mode => Some(AccessKind::Mode),
        PathAction::Link
        | PathAction::OpenUp
        | PathAction::SetId
        | PathAction::Chown
        | PathAction::Send
        | PathAction::SendRaw
        | PathAction::Fetch
        | PathAction::MayEdit
        | PathAction::Lock
        | PathAction::Unpack
        | PathAction::Load => None,
    }
}

/// Tools that read or change the files that they name.
fn check_file_effects(call: &GuardToolCall<'_>, analysis: &CallAnalysis, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    if analysis.effects.is_empty() {
        return None;
    }
    let rewrites = find_whole_text(call.input).is_some();
    for effect in &analysis.effects {
        let EffectKind::Path(action) = effect.kind else { return None };
        let kind = match find_access_kind(action)? {
            // The old text is in the call.
            AccessKind::Overwrite if !rewrites => AccessKind::Edit,
            other => other,
        };
        let class = if kind.is_change() { ApprovalClass::Edits } else { ApprovalClass::Reads };
        draft.add_class(class)?;
        let access = check_place(effect.place.as_ref()?, kind, draft.context)?;
        draft.add_access(access);
        draft.add_part(class, call.tool);
    }
    Some(())
}

/// Whether a search shows no more than lines with a text that it looks for.
fn is_narrow_search(input: &Json) -> bool {
    let text = |key: &str| input.get(key).and_then(Json::as_str);
    if matches!(text("output_mode"), Some("files_with_matches" | "count")) {
        return true;
    }
    let patterns = ["pattern", "query", "regex"].into_iter().filter_map(text);
    let is_specific = patterns.map(SymbolicText::from_text).any(|pattern| has_specific_text(&pattern));
    let lines = ["-A", "-B", "-C", "context", "before", "after"]
        .into_iter()
        .filter_map(|key| input.get(key))
        .all(|lines| lines.is_null() || lines.as_f64().is_some_and(|lines| lines <= MAX_SURROUNDING_LINES));
    is_specific && lines && matches!(input.get("multiline"), None | Some(Json::Null | Json::Bool(false)))
}

/// Tools that list or search a directory: by default the one in which the agent works.
fn check_listing(call: &GuardToolCall<'_>, kind: AccessKind, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let context = draft.context;
    let directories = crate::tools::find_search_dirs(call.input);
    let directories = if directories.is_empty() { vec![context.cwd.as_str()] } else { directories };
    let leads_away =
        |text: &str| text.starts_with(['/', '~']) || text.contains("..") || text.contains("{/") || text.contains(",/");
    let globs = if kind == AccessKind::List {
        words::tools::PATTERNS
    } else {
        &["glob", "include", "include_pattern", "includePattern"] as &[&str]
    };
    let is_away = globs.iter().any(|key| match call.input.get(key) {
        None | Some(Json::Null) => false,
        Some(Json::String(text)) => leads_away(text) || kind == AccessKind::Search && !is_source_pattern(text),
        Some(_) => true,
    });
    if is_away || kind == AccessKind::Search && !is_narrow_search(call.input) {
        return None;
    }
    for directory in directories {
        let path = std::path::Path::new(&context.cwd).join(directory);
        let effect = crate::effects::build_path_effect(PathAction::Read, &normalize_path(&path), "the tool", context);
        let access = check_place(effect.place.as_ref()?, kind, context)?;
        draft.add_access(access);
    }
    draft.add_part(ApprovalClass::Reads, call.tool);
    Some(())
}
