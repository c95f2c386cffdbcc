//! Programs that list files, and the names that other programs get from them.

use super::fanout::MAX_FANOUT_ITEMS;
use super::file_search::{MAX_OWN_FILES, find_own_files, find_own_search_matches};
use super::table::words::file_lists as words;
use crate::effects::classify_output;
use crate::interpret::{ShellInterpreter, limits};
use crate::invocation::{Invocation, SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::programs::find_filters;

/// The files that programs list, as far as their names are known. Programs that only select lines are skipped.
pub(crate) fn find_listed_files(found: &[Invocation], context: &JudgeContext) -> Option<Vec<SymbolicText>> {
    if let Some(values) = find_search_output(found, context) {
        return Some(values);
    }
    let (listing, picked) = find_lister(found)?;
    let arguments = listing.arguments();
    let mut values = match program_name(listing) {
        name if words::NAME_LISTERS.contains(&name) => {
            list_ls_output(arguments, |_| SymbolicText::from_unknown(UnknownKind::Name))
        }
        _ => list_find_output(arguments, listing.cwd.as_deref(), context),
    };
    values.truncate(limits::VALUES);
    Some(narrow_patterns(values, picked)).filter(|_| !listing.elsewhere)
}

/// The files that the left side of a pipe lists, if it lists files.
pub(super) fn collect_piped_files(left: &[Invocation], interpreter: &mut ShellInterpreter<'_>) -> Vec<SymbolicText> {
    interpreter.spend_steps(left.iter().map(|invocation| invocation.argv.len()).sum());
    if let Some(values) = find_search_output(left, interpreter.world) {
        return values;
    }
    let Some((listing, picked)) = find_lister(left) else {
        return vec![SymbolicText::from_unknown(classify_output(left, interpreter.world))];
    };
    let arguments = listing.arguments();
    // A pipe of bare names usually means the files in that directory.
    let values = match program_name(listing) {
        name if words::NAME_LISTERS.contains(&name) => {
            list_ls_output(arguments, |start| append_path_part(start, SymbolicPart::Pattern("*".to_owned())))
        }
        _ => list_find_output(arguments, listing.cwd.as_deref(), interpreter.world),
    };
    narrow_patterns(values, picked)
}

/// The output of a search in files, or of programs that select its lines, if it may name a file of Snell's own.
fn find_search_output(found: &[Invocation], context: &JudgeContext) -> Option<Vec<SymbolicText>> {
    for invocation in found.iter().rev().take(limits::STAGES) {
        let values = find_own_search_matches(invocation, context).filter(|_| !invocation.elsewhere);
        if values.is_some() || !words::LINE_FILTERS.contains(&program_name(invocation)) {
            return values;
        }
    }
    None
}

/// The program that lists files, and whether others select some of them.
fn find_lister(found: &[Invocation]) -> Option<(&Invocation, bool)> {
    let mut picked = false;
    for invocation in found.iter().rev().take(limits::STAGES) {
        match program_name(invocation) {
            "find" | "gfind" => return Some((invocation, picked)),
            name if words::NAME_LISTERS.contains(&name) => return Some((invocation, picked)),
            name if words::LINE_FILTERS.contains(&name) && is_stdin_filter(invocation.arguments()) => picked = true,
            _ => return None,
        }
    }
    None
}

fn program_name(invocation: &Invocation) -> &str {
    match invocation.base_name() {
        "gls" => "ls",
        base => base,
    }
}

/// The output of `ls`: its operands, with `-d` and for patterns, which usually match files; otherwise the names in a
/// directory.
fn list_ls_output(arguments: &[SymbolicText], names_in: impl Fn(&SymbolicText) -> SymbolicText) -> Vec<SymbolicText> {
    let is_flag = |value: &&SymbolicText| value.leading_text().starts_with('-');
    let itself = arguments.iter().filter(is_flag).any(|flag| {
        !flag.leading_text().starts_with("--") && flag.leading_text().contains('d')
            || flag.leading_text() == "--directory"
    });
    let operands = arguments.iter().filter(|value| !is_flag(value));
    let mut all: Vec<SymbolicText> =
        operands.map(|start| if itself || start.has_pattern() { start.clone() } else { names_in(start) }).collect();
    if all.is_empty() {
        all.push(SymbolicText { parts: vec![SymbolicPart::Pattern("*".to_owned())] });
    }
    all
}

/// Whether it reads only standard input.
fn is_stdin_filter(arguments: &[SymbolicText]) -> bool {
    let operands = arguments.iter().filter(|value| !value.leading_text().starts_with('-')).count();
    operands <= 2
}

/// Marks patterns as a selection of the listed files.
fn narrow_patterns(values: Vec<SymbolicText>, picked: bool) -> Vec<SymbolicText> {
    if !picked {
        return values;
    }
    values.into_iter().map(SymbolicText::narrow_patterns).collect()
}

pub(super) fn append_path_part(start: &SymbolicText, part: SymbolicPart) -> SymbolicText {
    let mut value = start.clone();
    if !value.leading_text().ends_with('/') || value.parts.len() > 1 {
        value.push_text("/");
    }
    value.push(part);
    value
}

/// The arguments of `find`: its start directories, and the tests that select files.
#[derive(Default)]
pub(crate) struct FindTests<'a> {
    pub(crate) starts: Vec<SymbolicText>,
    /// Everything after the start directories.
    pub(crate) expression: &'a [SymbolicText],
    /// Patterns of names.
    pub(crate) names: Vec<SymbolicText>,
    /// Patterns of whole paths.
    pub(crate) paths: Vec<SymbolicText>,
    /// Whether it has tests of something other than names.
    pub(crate) has_other_tests: bool,
}

impl<'a> FindTests<'a> {
    pub(crate) fn parse(arguments: &'a [SymbolicText]) -> Self {
        // Options come before the start directories.
        let is_start = |value: &&SymbolicText| {
            let text = value.leading_text();
            let is_option = matches!(text, "-H" | "-L" | "-P" | "-D" | "--") || text.starts_with("-O");
            is_option || !text.starts_with(['-', '(', '!'])
        };
        let (starts, expression) = arguments.split_at(arguments.iter().take_while(is_start).count());
        let starts = starts.iter().filter(|value| !value.leading_text().starts_with('-'));
        let mut tests = Self { starts: starts.cloned().collect(), expression, ..Self::default() };
        if tests.starts.is_empty() {
            tests.starts.push(SymbolicText::from_text("."));
        }
        let end = expression.iter().position(|value| value.leading_text().starts_with("-exec"));
        let expression = expression.get(..end.unwrap_or(expression.len())).unwrap_or_default();
        let mut before = "";
        for (at, word) in expression.iter().enumerate() {
            let text = word.as_text().unwrap_or_default();
            if matches!(std::mem::replace(&mut before, text), "!" | "-not") {
                continue;
            }
            let pattern = || expression.get(at + 1).cloned();
            match text {
                "-name" | "-iname" => tests.names.extend(pattern()),
                "-path" | "-ipath" | "-wholename" | "-iwholename" => tests.paths.extend(pattern()),
                _ => {}
            }
            tests.has_other_tests |= find_filters::is_find_filter_beyond_name(text);
        }
        tests
    }
}

/// The output of `find`: below each start, the files that its expression selects; first of all, Snell's own.
pub(super) fn list_find_output(
    arguments: &[SymbolicText],
    cwd: Option<&str>,
    context: &JudgeContext,
) -> Vec<SymbolicText> {
    let tests = FindTests::parse(arguments);
    let mut values = find_own_files(&tests, cwd, context);
    let FindTests { starts, names, has_other_tests: picks, .. } = tests;
    for start in &starts {
        // One more than the limit is enough to know that there are too many.
        if values.len() > MAX_FANOUT_ITEMS + MAX_OWN_FILES {
            break;
        }
        if names.is_empty() {
            let part = if start.leading_text().trim_end_matches('/') == "/proc" {
                SymbolicPart::Unknown(UnknownKind::Processes)
            } else if picks {
                SymbolicPart::Unknown(UnknownKind::Name)
            } else {
                SymbolicPart::Pattern("*".to_owned())
            };
            values.push(append_path_part(start, part));
        }
        for name in names.iter().take(MAX_FANOUT_ITEMS + 1) {
            let mut value = start.clone();
            if !value.to_string().ends_with('/') {
                value.push_text("/");
            }
            value.append_globs(name);
            values.push(value);
        }
    }
    values
}
