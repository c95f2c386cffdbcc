//! Checks the programs of a command against the table.

use super::operands::check_spec;
use super::places::{AccessKind, PlaceAccess, add_place, is_in_reach, is_source_pattern};
use super::syntax::is_harmless_variable;
use super::table::{find_approvals, words};
use super::{ApprovalClass, ApprovalDraft, ApprovalLevel};
use crate::invocation::{FileOpenMode, Invocation, SymbolicPart, SymbolicText, UnknownKind, base_name};
use crate::paths::{is_within_directory, locate_path};

/// Directories of the system's own programs.
const SYSTEM_DIRS: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Checks one program; `None` if it may do harm.
pub(super) fn check_invocation(
    invocation: &Invocation,
    all: &[Invocation],
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let is_plain = !invocation.privileged
        && !invocation.elsewhere
        && invocation.container.is_none()
        && invocation.exported.is_empty()
        && invocation.via.iter().all(|wrapper| is_plain_wrapper(wrapper, all))
        && has_checked_shells(&invocation.via)
        && invocation.argv.iter().all(|word| !is_tainted(word));
    if !is_plain {
        return None;
    }
    let cwd = invocation.cwd.as_deref().filter(|cwd| is_in_reach(cwd, draft.context))?;
    add_place(draft, &SymbolicText::from_text(cwd), None, AccessKind::List)?;
    let is_set =
        |(name, value): &(String, SymbolicText)| value.as_text().is_some_and(|value| is_harmless_variable(name, value));
    if !invocation.variables.iter().all(is_set) {
        return None;
    }
    for file in &invocation.files {
        let (kind, class) = match file.mode {
            FileOpenMode::Read => (AccessKind::Read, ApprovalClass::Reads),
            FileOpenMode::Truncate => (AccessKind::Overwrite, ApprovalClass::Edits),
            FileOpenMode::Append => (AccessKind::Edit, ApprovalClass::Edits),
        };
        let places = draft.accesses.len();
        add_place(draft, &file.path, Some(cwd), kind)?;
        if draft.accesses.len() > places {
            draft.add_class(class)?;
        }
    }
    let before = std::mem::take(&mut draft.accesses);
    match invocation.argv.split_first() {
        None => {}
        Some((program, arguments)) => check_program(program.as_text()?, arguments, invocation, draft)?,
    }
    let is_found = invocation.via.iter().any(|wrapper| matches!(wrapper.as_str(), "find" | "xargs"));
    // `find` also finds hidden files.
    let is_shown = |access: &&PlaceAccess| access.kind == AccessKind::Read && !access.pattern.is_empty();
    let is_plain = !is_found || draft.accesses.iter().filter(is_shown).all(|access| is_source_pattern(&access.pattern));
    let own = std::mem::replace(&mut draft.accesses, before);
    own.into_iter().for_each(|access| draft.add_access(access));
    is_plain.then_some(())
}

/// Values that must not be shown, or that others chose.
fn is_tainted(word: &SymbolicText) -> bool {
    word.parts.iter().any(|part| match part {
        SymbolicPart::Unknown(kind) => {
            !matches!(kind, UnknownKind::Anything | UnknownKind::Something | UnknownKind::Name | UnknownKind::FromInput)
        }
        SymbolicPart::Text(_) | SymbolicPart::Pattern(_) => false,
    })
}

/// Whether a wrapper only runs its words. Searches must find files, not symlinks.
fn is_plain_wrapper(via: &str, all: &[Invocation]) -> bool {
    let name = via.split(' ').next().unwrap_or_default();
    match name {
        "find" | "xargs" => {
            let mut searches = all.iter().filter_map(finds_only_files).peekable();
            searches.peek().is_some() && searches.all(|is_plain| is_plain)
        }
        _ => words::shell::WRAPPERS.contains(&name),
    }
}

/// The code of a shell is checked if the shell is a command itself, not if another program runs it.
fn has_checked_shells(via: &[String]) -> bool {
    let is_shell = |wrapper: &String| {
        let name = wrapper.split(' ').next().unwrap_or_default();
        words::shell::SHELLS.contains(&name)
    };
    !via.iter().skip_while(|wrapper| is_shell(wrapper)).any(is_shell)
}

/// Whether a search names no symlink, as `find … -type f` and `rg`; `None` if it is no search.
fn finds_only_files(invocation: &Invocation) -> Option<bool> {
    const BRANCHES: [&str; 4] = ["-o", "-or", ",", "-L"];
    let words: Vec<&str> = invocation.argv.iter().filter_map(SymbolicText::as_text).collect();
    match words.first() {
        Some(&"find") => {
            let names_files = words
                .windows(3)
                .any(|words| matches!(words, [before, "-type", "f"] if !matches!(*before, "!" | "-not")));
            Some(names_files && !words.iter().any(|word| BRANCHES.contains(word)))
        }
        Some(&"rg") => Some(true),
        _ => None,
    }
}

fn check_program(
    written: &str,
    arguments: &[SymbolicText],
    invocation: &Invocation,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let is_listed = draft.listed.iter().any(|pattern| pattern.matches_command(&invocation.argv, &invocation.variables));
    if is_listed && draft.level == ApprovalLevel::Project {
        let is_local =
            |word: &SymbolicText| super::operands::is_local_text(word) && !word.to_string().starts_with("-f/");
        if !arguments.iter().all(is_local) {
            return None;
        }
        add_place(draft, &SymbolicText::from_text(invocation.cwd.clone()?), None, AccessKind::Code)?;
        draft.class = ApprovalClass::Runs;
        draft.is_listed = true;
        draft.add_part(ApprovalClass::Runs, &shorten_name(written, arguments));
        return Some(());
    }
    let (directory, base) = match written.rsplit_once('/') {
        Some((directory, base)) => (Some(directory), base),
        None => (None, written),
    };
    let Some(directory) = directory.filter(|directory| !SYSTEM_DIRS.contains(directory)) else {
        return check_known_program(base, arguments, invocation, draft);
    };
    let cwd = invocation.cwd.as_deref();
    let path = locate_path(&SymbolicText::from_text(written), cwd, draft.context).path?;
    let is_installed = words::files::PROGRAM_DIRS.iter().any(|installed| directory.ends_with(installed));
    if !is_within_directory(&path, &draft.context.project) || !draft.may_run_project_code() {
        return None;
    }
    draft.add_class(ApprovalClass::Runs)?;
    if is_installed {
        add_place(draft, &SymbolicText::from_text(path), None, AccessKind::Exist)?;
        return check_known_program(base, arguments, invocation, draft);
    }
    check_script(&path, arguments, draft)
}

/// A script of the project, as git has it.
fn check_script(path: &str, arguments: &[SymbolicText], draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let is_known = arguments
        .iter()
        .all(|word| word.as_text().is_some_and(|text| !text.starts_with(['/', '~']) && !text.contains("..")));
    let is_flag = |word: &SymbolicText| word.leading_text().starts_with('-');
    if !is_known
        || arguments.iter().any(is_flag)
        || has_risky_word(&SymbolicText::from_text(base_name(path)), arguments)
    {
        return None;
    }
    add_place(draft, &SymbolicText::from_text(path), None, AccessKind::Run)?;
    draft.add_part(ApprovalClass::Runs, base_name(path));
    Some(())
}

/// Tries the entries of the program's longest name: `git stash list`, `git stash`, `git`.
fn check_known_program(
    base: &str,
    arguments: &[SymbolicText],
    invocation: &Invocation,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let cwd = invocation.cwd.clone();
    let (skipped, inner_cwd) = skip_leading_flags(base, arguments, cwd.as_deref(), draft).unwrap_or((0, cwd.clone()));
    let rest = arguments.get(skipped..).unwrap_or_default();
    let texts: Vec<&str> = rest.iter().take(2).map_while(SymbolicText::as_text).collect();
    for count in (1..=texts.len()).rev() {
        let name = format!("{base} {}", texts.get(..count).unwrap_or_default().join(" "));
        if find_approvals(&name).next().is_some() {
            let rest = rest.get(count..).unwrap_or_default();
            return try_specs(&name, rest, inner_cwd.as_deref(), invocation, draft);
        }
    }
    try_specs(base, arguments, cwd.as_deref(), invocation, draft)
}

fn try_specs(
    name: &str,
    arguments: &[SymbolicText],
    cwd: Option<&str>,
    invocation: &Invocation,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let is_fetched = invocation.via.iter().any(|via| via == "npx");
    for spec in find_approvals(name) {
        let Some(class) = spec.class else { continue };
        let before = draft.accesses.len();
        let may_be = draft.permits_class(class)
            && (class != ApprovalClass::Runs
                || draft.may_run_project_code() && !has_risky_word(&SymbolicText::default(), arguments))
            && (!is_fetched || spec.installed);
        if may_be && check_spec(spec, arguments, cwd, draft).is_some() {
            if is_fetched {
                let base = name.split(' ').next().unwrap_or_default();
                let path = format!("{}/node_modules/.bin/{base}", draft.context.project);
                add_place(draft, &SymbolicText::from_text(path), None, AccessKind::Exist)?;
            }
            // The configuration of a repository may run programs.
            if class == ApprovalClass::Runs || name.starts_with("git ") {
                add_place(draft, &SymbolicText::from_text(cwd?), None, AccessKind::Code)?;
            }
            draft.add_part(class, name);
            return Some(());
        }
        draft.accesses.truncate(before);
    }
    None
}

/// The flags before a subcommand: how many words, and the directory that they choose.
fn skip_leading_flags(
    base: &str,
    arguments: &[SymbolicText],
    cwd: Option<&str>,
    draft: &mut ApprovalDraft<'_>,
) -> Option<(usize, Option<String>)> {
    let spec = find_approvals(base).find(|spec| spec.class.is_none())?;
    let count = super::operands::count_leading_flags(spec, arguments)?;
    let leading = arguments.get(..count).unwrap_or_default();
    check_spec(spec, leading, cwd, draft)?;
    let mut cwd = cwd.map(str::to_owned);
    for pair in leading.windows(2) {
        if let [flag, directory] = pair
            && matches!(flag.as_text(), Some("-C" | "--prefix"))
        {
            let place = locate_path(directory, cwd.as_deref(), draft.context);
            cwd = Some(place.path.filter(|path| is_in_reach(path, draft.context))?);
        }
    }
    Some((count, cwd))
}

/// Whether a word says that something happens elsewhere, or for good.
fn has_risky_word(program: &SymbolicText, arguments: &[SymbolicText]) -> bool {
    let mut words = std::iter::once(program).chain(arguments).flat_map(|word| {
        let text = word.to_string().to_lowercase();
        // The flags are in the table.
        let text = if text.starts_with('-') { String::new() } else { text };
        let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
        words
    });
    words.any(|word| words::runs::RISKY_WORDS.contains(&word.as_str()))
}

/// A program with its first operand, if that is a word.
fn shorten_name(program: &str, arguments: &[SymbolicText]) -> String {
    let base = base_name(program);
    let is_word = |text: &&str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_'))
    };
    match arguments.first().and_then(SymbolicText::as_text).filter(is_word) {
        Some(word) => format!("{base} {word}"),
        None => base.to_owned(),
    }
}

impl ApprovalDraft<'_> {
    /// Notes what the call does; `None` if this level does not approve it.
    pub(super) fn add_class(&mut self, class: ApprovalClass) -> Option<()> {
        self.class = self.class.max(class);
        self.permits_class(class).then_some(())
    }

    /// Whether the user trusts the project's own code.
    pub(super) fn may_run_project_code(&self) -> bool {
        self.is_trusted && self.level == ApprovalLevel::Project
    }
}
