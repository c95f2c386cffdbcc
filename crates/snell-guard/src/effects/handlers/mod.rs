//! Effects of programs that no table can express, one function each.

pub(crate) mod interpreter;
pub(crate) mod kill;

use super::collector::EffectCollector;
use super::{PathAction, program_uses};
use crate::effects::EffectDepth;

use crate::effects::database::sql;
use crate::invocation::SymbolicText;
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, PathClasses};
use crate::programs::argv::ParsedArgs;
use crate::programs::find_filters;
use crate::programs::{self, ProgramHandler, ProgramSpec};
use crate::wrappers::{FindTests, find_own_files};

/// Runs the handler of a program.
pub(super) fn apply_handler(collector: &mut EffectCollector<'_>, program: &'static ProgramSpec) {
    match program.handler {
        _ if collector.is_idle() => {}
        None => {}
        Some(ProgramHandler::Chmod) => apply_chmod(collector),
        Some(ProgramHandler::Chown) => apply_chown(collector),
        Some(ProgramHandler::Find) => apply_find(collector),
        Some(ProgramHandler::Interpreter) => interpreter::apply_interpreter(collector, program),
        Some(ProgramHandler::Kill) => kill::apply_kill(collector),
        Some(ProgramHandler::Move) => apply_move(collector),
        Some(ProgramHandler::RemoteCopy) => apply_remote_copy(collector),
        Some(ProgramHandler::Sql) => sql::apply_sql_client(collector, program),
    }
}

/// How many names that `find` selects are judged as files.
const MAX_NAME_TESTS: usize = 16;

/// An unknown program with `-rf` is assumed to delete.
pub(super) fn apply_unknown_program(collector: &mut EffectCollector<'_>) {
    let Some((_, program)) = programs::find_program("rm") else {
        return;
    };
    let line = ParsedArgs::parse(program, collector.arguments());
    if line.has_any_flag(&["-r", "-R", "--recursive"]) && line.has_any_flag(&["-f", "--force"]) {
        for operand in &line.operands {
            collector.add_path_effect(PathAction::Delete, operand, EffectDepth::Recursive);
        }
    }
}

/// `chmod`: a mode may begin with a dash, so the usual parsing of flags does not work.
fn apply_chmod(collector: &mut EffectCollector<'_>) {
    let is_flag = |text: &str| {
        text.starts_with("--")
            || (text.starts_with('-') && text.len() > 1 && text.bytes().skip(1).all(|b| b"Rvcfh".contains(&b)))
    };
    let recurses = |text: &str| match text.starts_with("--") {
        true => "--recursive".starts_with(text) && text.len() > 3,
        false => text.contains('R'),
    };
    // Flags may follow the operands.
    let flags = collector.arguments().iter().map(SymbolicText::leading_text).filter(|text| is_flag(text));
    let recursive = flags.into_iter().any(recurses);
    let mut mode: Option<&str> = None;
    for argument in collector.arguments() {
        let text = argument.leading_text();
        if is_flag(text) {
            if text.starts_with("--reference") {
                mode = Some("");
            }
        } else if let Some(mode) = mode {
            collector.add_path_effect(PathAction::Mode, argument, recursive.into());
            add_lock_effect(collector, mode, argument);
            if is_world_writable_mode(mode) {
                collector.add_path_effect(PathAction::OpenUp, argument, recursive.into());
            }
            if can_others_read(mode) && is_key_file(&collector.locate_path(argument)) {
                collector.add_rule_effect("secret.open-key");
            }
            if is_setid_mode(mode) {
                collector.add_path_effect(PathAction::SetId, argument, recursive.into());
            }
        } else {
            mode = Some(argument.as_text().unwrap_or_default());
        }
    }
}

/// Adds an effect if the owner can no longer use a directory. For a pattern, only if no right remains: `chmod 644 *` is
/// meant for files.
fn add_lock_effect(collector: &mut EffectCollector<'_>, mode: &str, argument: &SymbolicText) {
    let left = remaining_owner_rights(mode);
    let place = collector.locate_path(argument);
    if left != OWNER_RIGHTS && (left == 0 || place.path.is_some()) {
        collector.push_path_effect(PathAction::Lock, place, EffectDepth::Recursive);
    }
}

/// The rights of an owner: read, write, enter.
const OWNER_RIGHTS: u32 = 0o7;

/// The rights that remain for an owner who had all of them. An unknown mode leaves none.
fn remaining_owner_rights(mode: &str) -> u32 {
    if let Some(digits) = parse_octal_mode(mode) {
        return digits >> 6 & OWNER_RIGHTS;
    }
    if mode.is_empty() {
        return 0;
    }
    let mut left = OWNER_RIGHTS;
    for clause in mode.split(',') {
        let (who, mut rest) = clause.split_at(clause.find(['+', '-', '=']).unwrap_or(clause.len()));
        if !(who.is_empty() || who.contains(['u', 'a'])) {
            continue;
        }
        while let Some(sign) = rest.chars().next() {
            let end = rest.get(1..).and_then(|rest| rest.find(['+', '-', '='])).map_or(rest.len(), |at| at + 1);
            let rights = rest.get(1..end).unwrap_or_default();
            let named = match u32::from_str_radix(rights, 8) {
                Ok(digits) => digits >> 6 & OWNER_RIGHTS,
                Err(_) => [('r', 4), ('w', 2), ('x', 1), ('X', 1)]
                    .iter()
                    .filter(|(letter, _)| rights.contains(*letter))
                    .fold(0, |all, (_, bit)| all | bit),
            };
            match sign {
                '+' => left |= named,
                '-' => left &= !named,
                _ => left = named,
            }
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    left
}

/// `chown`: gives a file to another user. A numeric id is usually the user's own.
fn apply_chown(collector: &mut EffectCollector<'_>) {
    let Some(owner) = collector.args.operands.first().and_then(|value| value.as_text()) else {
        return;
    };
    let owner = owner.split([':', '.']).next().unwrap_or_default();
    let is_number = |owner: &str| owner.parse::<u32>().is_ok_and(|number| number > 0);
    if owner.is_empty() || owner == collector.context.user || is_number(owner) || collector.name().contains("chgrp") {
        return;
    }
    for operand in collector.args.operands.clone().into_iter().skip(1) {
        collector.add_path_effect(PathAction::Lock, operand, EffectDepth::Recursive);
    }
}

/// Whether a mode grants a right: one of these bits, or this letter for these users.
fn grants_right(mode: &str, bits: u32, right: char, is_whose: fn(&str) -> bool) -> bool {
    if let Some(digits) = parse_octal_mode(mode) {
        return digits & bits != 0;
    }
    mode.split(',').any(|clause| {
        let (who, rest) = clause.split_at(clause.find(['+', '-', '=']).unwrap_or(clause.len()));
        is_whose(who) && rest.find(['+', '=']).is_some_and(|at| rest.get(at..).is_some_and(|rest| rest.contains(right)))
    })
}

/// Whether every user may write.
fn is_world_writable_mode(mode: &str) -> bool {
    grants_right(mode, 0o002, 'w', |who| who.contains(['o', 'a']))
}

/// Whether users other than the owner may read.
fn can_others_read(mode: &str) -> bool {
    grants_right(mode, 0o044, 'r', |who| who.is_empty() || who.contains(['g', 'o', 'a']))
}

/// Whether the file runs as its owner or group.
fn is_setid_mode(mode: &str) -> bool {
    grants_right(mode, 0o6000, 's', |_| true)
}

/// Whether it is a secret other than a project's settings, which many programs must be able to read.
fn is_key_file(path: &ClassifiedPath) -> bool {
    let name = path.display_path().rsplit('/').next().unwrap_or_default();
    path.classes.contains(PathClass::Secret) && !name.starts_with(".env")
}

fn parse_octal_mode(mode: &str) -> Option<u32> {
    u32::from_str_radix(mode.strip_prefix('=').unwrap_or(mode), 8).ok()
}

/// `find … -delete`: deletes from its start directory, unless a filter selects files by name, age or size.
fn apply_find(collector: &mut EffectCollector<'_>) {
    let tests = FindTests::parse(collector.arguments());
    if !has_delete_action(tests.expression) {
        return;
    }
    let picks = has_find_filter(tests.expression);
    for start in &tests.starts {
        let place = collector.locate_path(start);
        collector.push_path_effect(
            PathAction::Delete,
            if picks { narrow_to_contents(place) } else { place },
            EffectDepth::Recursive,
        );
        for name in tests.names.iter().take(MAX_NAME_TESTS) {
            let mut named = start.clone();
            named.push_text("/");
            named.append_globs(name);
            let place = collector.locate_path(&named);
            if place.classes.contains(PathClass::Secret) {
                collector.push_path_effect(PathAction::Delete, place, EffectDepth::Single);
            }
        }
    }
    for own in find_own_files(&tests, collector.cwd.as_deref(), collector.context) {
        let place = collector.locate_path(&own);
        collector.push_path_effect(PathAction::Delete, place, EffectDepth::Recursive);
    }
}

/// Whether a filter precedes `-delete`. Later tests have no effect, and a negated one selects everything else.
fn has_find_filter(expression: &[SymbolicText]) -> bool {
    const EVERYTHING: &[&str] = &["*", ".", ".*", "*.*", "./*"];
    let words: Vec<&str> = expression.iter().map(|value| value.as_text().unwrap_or_default()).collect();
    let before = words.split(|word| *word == "-delete").next().unwrap_or_default();
    let branch = before.rsplit(|word| matches!(*word, "-o" | "-or")).next().unwrap_or_default();
    let mut last = "";
    branch.iter().enumerate().any(|(at, word)| {
        let negated = matches!(std::mem::replace(&mut last, word), "!" | "-not");
        let everything = branch.get(at + 1).is_some_and(|value| EVERYTHING.contains(value));
        let selects_symlinks = matches!(*word, "-type" | "-xtype") && branch.get(at + 1) == Some(&"l");
        (find_filters::is_find_filter(word) || selects_symlinks) && !negated && !everything
    })
}

/// Whether `-delete` is part of the expression, not of a command that it runs.
fn has_delete_action(expression: &[SymbolicText]) -> bool {
    let mut in_command = false;
    expression.iter().any(|value| {
        let text = value.as_text().unwrap_or_default();
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => in_command = true,
            ";" | "+" => in_command = false,
            _ => {}
        }
        text == "-delete" && !in_command
    })
}

/// Turns the project into an unknown file inside it.
fn narrow_to_contents(mut path: ClassifiedPath) -> ClassifiedPath {
    let around = [PathClass::HoldsOwn].into();
    if path.classes.difference(around) == PathClasses::from([PathClass::ProjectRoot]) {
        path.classes = [PathClass::Project].into();
        path.shape = None;
    } else if path.classes.difference(around) == PathClasses::from([PathClass::TempRoot]) {
        path.classes = [PathClass::Temp].into();
    }
    path
}

/// `mv` into a temporary directory or to `/dev/null` is the same as deleting.
fn apply_move(collector: &mut EffectCollector<'_>) {
    let named = collector.args.flag_values(&["-t", "--target-directory"]).next();
    let operands = collector.args.operands.clone();
    let (target, sources) = match (&named, operands.split_last()) {
        (Some(target), _) => (target.as_ref(), operands.as_slice()),
        (None, Some((target, sources))) => (*target, sources),
        (None, None) => return,
    };
    let place = collector.locate_path(target);
    let lost = place.classes.intersects([PathClass::Temp, PathClass::TempRoot, PathClass::Harmless].into());
    for source in sources {
        let place = collector.locate_path(source);
        let kind = if lost || is_in_sibling_project(&place, collector.context) {
            PathAction::Delete
        } else {
            PathAction::Take
        };
        collector.push_path_effect(kind, place, EffectDepth::Recursive);
    }
    collector.push_path_effect(PathAction::Put, place, EffectDepth::Single);
}

/// Whether the path is in another project, which would lose it. Files directly in the home directory, such as
/// downloads, may be moved.
fn is_in_sibling_project(place: &ClassifiedPath, context: &JudgeContext) -> bool {
    let Some((around, _)) = context.project.rsplit_once('/') else {
        return false;
    };
    let inside = place.path.as_deref().and_then(|path| path.strip_prefix(around));
    let beside = inside.is_some_and(|rest| rest.starts_with('/')) && !around.is_empty() && around != context.home;
    beside && place.classes.contains(PathClass::Home)
}

/// `scp`, `rsync`: to another machine, or from one.
fn apply_remote_copy(collector: &mut EffectCollector<'_>) {
    let operands = collector.args.operands.clone();
    let Some((target, sources)) = operands.split_last() else {
        return;
    };
    let out = is_remote_path(target);
    for source in sources.iter().filter(|source| !is_remote_path(source)) {
        collector.add_path_effect(
            if out { PathAction::Send } else { PathAction::Read },
            source,
            EffectDepth::Recursive,
        );
        collector.add_path_effect(PathAction::Copy, source, EffectDepth::Single);
    }
    if out {
        return;
    }
    collector.add_path_effect(PathAction::Put, target, EffectDepth::Single);
    let is_whole =
        |source: &&SymbolicText| source.leading_text().ends_with('/') || source.leading_text().ends_with("/.");
    let is_done = !collector.args.has_any_flag(&["-n", "--dry-run", "--list-only"]);
    let goes_down = collector.args.has_any_flag(&["-r", "-a", "--recursive", "--archive"]);
    if sources.iter().any(is_whole) && is_done {
        collector.add_path_effect(PathAction::Unpack, target, EffectDepth::Recursive);
    }
    let named: Vec<&SymbolicText> = sources.iter().copied().filter(|source| !is_whole(source)).collect();
    for name in program_uses::paths_in_directory(collector, &named, target) {
        collector.add_path_effect(PathAction::Put, &name, EffectDepth::Single);
        if is_done && goes_down {
            collector.add_path_effect(PathAction::Unpack, &name, EffectDepth::Recursive);
        }
    }
}

/// `host:path`, `user@host:path`, `rsync://…`: a colon before the first slash.
fn is_remote_path(value: &SymbolicText) -> bool {
    value.to_string().split('/').next().is_some_and(|first| first.contains(':'))
}
