//! Checks the programs of a command against the table.

use super::operands::check_spec;
use super::places::{AccessKind, PlaceAccess, add_place, is_in_reach, is_source_pattern};
use super::python;
use super::syntax::is_harmless_variable;
use super::table::{ApprovalSpec, FlagShape, OperandRole, find_approvals, words};
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
    for (name, value) in &invocation.variables {
        check_variable(name, value.as_text()?, cwd, draft)?;
    }
    let is_own_environment = |via: &String| {
        let runner = via.split(' ').next().unwrap_or_default();
        words::shell::RUNNERS.contains(&runner)
    };
    if invocation.via.iter().any(is_own_environment) {
        draft.may_run_project_code().then_some(())?;
        draft.add_class(ApprovalClass::Runs)?;
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

/// A variable for one program: harmless as it is, or a list of the project's own directories.
fn check_variable(name: &str, value: &str, cwd: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    if is_harmless_variable(name, value) {
        return Some(());
    }
    let is_path = words::runs::PATH_VARIABLES.contains(&name) && draft.may_run_project_code();
    is_path.then_some(())?;
    draft.add_class(ApprovalClass::Runs)?;
    let mut directories = value.split(':').filter(|directory| !directory.is_empty());
    directories
        .try_for_each(|directory| add_place(draft, &SymbolicText::from_text(directory), Some(cwd), AccessKind::Code))
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
        _ => words::shell::WRAPPERS.contains(&name) || words::shell::WRAPPERS.contains(&via),
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

/// `find … -type f`
pub(super) fn names_only_files(search: &Invocation) -> bool {
    let words: Vec<&str> = search.argv.iter().filter_map(SymbolicText::as_text).collect();
    !matches!(words.first(), Some(&("find" | "gfind" | "fd" | "fdfind")))
        || words.windows(3).any(|words| matches!(words, [before, "-type", "f"] if !matches!(*before, "!" | "-not")))
}

/// Whether a search names no symlink, as `find … -type f` and `rg`; `None` if it is no search.
fn finds_only_files(invocation: &Invocation) -> Option<bool> {
    const BRANCHES: [&str; 4] = ["-o", "-or", ",", "-L"];
    let words: Vec<&str> = invocation.argv.iter().filter_map(SymbolicText::as_text).collect();
    match words.first() {
        Some(&"find") => {
            let names_files = names_only_files(invocation);
            let names: Vec<&[&str]> = words.windows(2).filter(|words| matches!(words, ["-name", _])).collect();
            let names_sources = matches!(names.as_slice(), [[_, name]] if is_source_pattern(name));
            let has_other_types = !names_files && words.contains(&"-type");
            Some(
                (names_files || names_sources && !has_other_types) && !words.iter().any(|word| BRANCHES.contains(word)),
            )
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
    if written.starts_with('-') {
        return None;
    }
    let is_listed = draft.listed.iter().any(|pattern| pattern.matches_command(&invocation.argv, &invocation.variables));
    if is_listed && draft.level == ApprovalLevel::Project {
        let is_local = |word: &SymbolicText| super::roles::is_local_text(word) && !word.to_string().starts_with("-f/");
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
        return check_named_program(base, arguments, invocation, draft);
    };
    let cwd = invocation.cwd.as_deref();
    let path = locate_path(&SymbolicText::from_text(written), cwd, draft.context).path?;
    let is_installed = words::files::PROGRAM_DIRS.iter().any(|installed| directory.ends_with(installed));
    if !is_within_directory(&path, &draft.context.project) || !draft.may_run_project_code() {
        return None;
    }
    draft.add_class(ApprovalClass::Runs)?;
    let is_runner = |via: &String| via.starts_with("npx");
    if invocation.via.iter().any(is_runner) {
        return None;
    }
    if super::table::is_known_program(base) && !is_installed {
        add_place(draft, &SymbolicText::from_text(path), None, AccessKind::Run)?;
        return check_named_program(base, arguments, invocation, draft);
    }
    if is_installed {
        add_place(draft, &SymbolicText::from_text(path), None, AccessKind::Exist)?;
        return check_named_program(base, arguments, invocation, draft);
    }
    check_script(&path, arguments, draft)
}

/// An interpreter with its code, or a program of the table.
fn check_named_program(
    base: &str,
    arguments: &[SymbolicText],
    invocation: &Invocation,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    if python::is_python(base) {
        let before = draft.accesses.len();
        if python::check_call(invocation, draft).is_some() {
            draft.add_part(ApprovalClass::Reads, base);
            return Some(());
        }
        draft.accesses.truncate(before);
    }
    // `python3.12` is `python3`.
    let base = if base.starts_with("python3.") && python::is_python(base) { "python3" } else { base };
    let cwd = invocation.cwd.as_deref()?;
    let before = draft.accesses.len();
    let is_own_code = match base {
        "source" | "." => check_environment_script(arguments, cwd, draft),
        _ => check_script_file(base, arguments, cwd, draft),
    };
    if is_own_code.is_some() {
        return Some(());
    }
    draft.accesses.truncate(before);
    check_known_program(base, arguments, invocation, draft)
}

/// A script of the project, as git has it.
fn check_script(path: &str, arguments: &[SymbolicText], draft: &mut ApprovalDraft<'_>) -> Option<()> {
    has_plain_arguments(path, arguments).then_some(())?;
    add_place(draft, &SymbolicText::from_text(path), None, AccessKind::Run)?;
    draft.add_part(ApprovalClass::Runs, base_name(path));
    Some(())
}

/// Whether the arguments of a project's own program name nothing elsewhere, and nothing that lasts.
fn has_plain_arguments(path: &str, arguments: &[SymbolicText]) -> bool {
    let is_local = |word: &SymbolicText| word.as_text().is_some() && super::roles::is_local_text(word);
    arguments.iter().all(is_local)
        && !has_risky_word(&SymbolicText::from_text(base_name(path)), arguments)
        && !arguments.iter().any(has_risky_flag)
        && !arguments.iter().any(|word| word.as_text().is_some_and(|text| words::runs::LASTING_WORDS.contains(&text)))
}

/// Whether a flag says that something happens elsewhere, for good, or without a question.
fn has_risky_flag(word: &SymbolicText) -> bool {
    let text = word.to_string().to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    text.starts_with('-')
        && words.any(|word| words::runs::RISKY_FLAGS.contains(&word) || words::runs::RISKY_WORDS.contains(&word))
}

/// `python3 tools/gen.py`: an interpreter with a file of the project.
fn check_script_file(
    program: &str,
    arguments: &[SymbolicText],
    cwd: &str,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let (_, endings) = words::runs::INTERPRETERS.iter().find(|(known, _)| *known == program)?;
    let is_shell = words::runs::SHELLS.contains(&program);
    let flags = if is_shell { words::runs::SHELL_FLAGS } else { words::runs::INTERPRETER_FLAGS };
    let count = arguments.iter().take_while(|word| word.as_text().is_some_and(|flag| flags.contains(&flag))).count();
    let (script, rest) = arguments.get(count..)?.split_first()?;
    let written = script.as_text()?;
    let is_script = endings.iter().any(|ending| written.ends_with(ending)) && !written.starts_with('-');
    if !is_script || !draft.may_run_project_code() || !has_plain_arguments(written, rest) {
        return None;
    }
    draft.add_class(ApprovalClass::Runs)?;
    let directory =
        written.rsplit_once('/').map_or(".", |(directory, _)| if directory.is_empty() { "/" } else { directory });
    add_place(draft, &SymbolicText::from_text(directory), Some(cwd), AccessKind::Code)?;
    let kind = if is_shell { AccessKind::Run } else { AccessKind::Exist };
    add_place(draft, script, Some(cwd), kind)?;
    draft.add_part(ApprovalClass::Runs, &format!("{program} {}", base_name(written)));
    Some(())
}

/// `source .venv/bin/activate`: a script that a tool made for the project.
fn check_environment_script(arguments: &[SymbolicText], cwd: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let [script] = arguments else { return None };
    draft.may_run_project_code().then_some(())?;
    draft.add_class(ApprovalClass::Runs)?;
    add_place(draft, script, Some(cwd), AccessKind::Exist)?;
    add_place(draft, &SymbolicText::from_text("."), Some(cwd), AccessKind::Code)?;
    draft.add_part(ApprovalClass::Runs, "activate");
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
    match skipped {
        0 => try_specs(base, arguments, cwd.as_deref(), invocation, draft),
        _ => try_specs(base, rest, inner_cwd.as_deref(), invocation, draft),
    }
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
                || draft.may_run_project_code()
                    && !has_risky_word(&SymbolicText::default(), &list_choosing_words(name, spec, arguments))
                    && !(spec.rest
                        && arguments.iter().skip_while(|word| word.as_text() != Some("--")).any(has_risky_flag)))
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

/// The words of a call that may choose what the project's own code does: names of tasks, and arguments of its programs. Names of tests,
/// packages and files do not.
fn list_choosing_words(name: &str, spec: &ApprovalSpec, arguments: &[SymbolicText]) -> Vec<SymbolicText> {
    let gets_arguments = spec.rest || spec.operands.contains(&OperandRole::Local);
    // `ruff server`: the first word may be a subcommand.
    let has_tasks = !spec.words.is_empty() || !name.contains(' ');
    let is_chosen = |at: usize, word: &SymbolicText| {
        let before = at.checked_sub(1).and_then(|at| arguments.get(at)).and_then(SymbolicText::as_text);
        let is_value =
            spec.flags.iter().any(|(flag, shape)| Some(*flag) == before && matches!(shape, FlagShape::Value(_)));
        let text = word.to_string();
        let is_task = spec.operands.contains(&OperandRole::Task) && words::runs::TASKS.contains(&text.as_str());
        gets_arguments || has_tasks && !is_value && !is_task && !text.contains(['/', '.'])
    };
    let chosen = arguments.iter().enumerate().filter(|(at, word)| is_chosen(*at, word));
    chosen.map(|(_, word)| word.clone()).collect()
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

/// Whether a word says that something happens elsewhere, or for good. Flags are in the table, or checked by themselves.
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
