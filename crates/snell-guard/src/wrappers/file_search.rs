//! Programs that print the names of files that they find: `grep -rl`, `git grep -l`, `fd`, `locate`, `find`. The files
//! are unknown before they run, but not whether Snell's may be among them.

use super::file_lists::FindTests;
use super::table::{SEARCH_PROGRAMS, SearchProgram};
use crate::invocation::{Invocation, SymbolicText, UnknownKind, base_name};
use crate::judge::context::{JudgeContext, SelfFile, SelfPath};
use crate::paths::{ClassifiedPath, PathClass, is_within_directory, locate_path, matches_glob};

/// How many of Snell's files are analysed; the others are similar.
pub(super) const MAX_OWN_FILES: usize = 4;

/// A search, parsed from its arguments.
#[derive(Default)]
struct TextSearch<'a> {
    /// The text or name to search for.
    wanted: Option<&'a SymbolicText>,
    /// Its start directories.
    starts: Vec<&'a SymbolicText>,
    /// Patterns of names.
    globs: Vec<&'a str>,
    by_name: bool,
    sees_hidden: bool,
}

/// The output of a search, if it may name files of Snell's own: these names, and an unknown one.
pub(super) fn find_own_search_matches(invocation: &Invocation, context: &JudgeContext) -> Option<Vec<SymbolicText>> {
    let search = TextSearch::parse(invocation)?;
    let cwd = invocation.cwd.as_deref();
    let here = SymbolicText::from_text(".");
    let everywhere = SymbolicText::from_text("/");
    let starts = match (search.starts.as_slice(), search.by_name) {
        ([], true) if is_locate_database(invocation) => vec![&everywhere],
        ([], _) => vec![&here],
        (starts, _) => starts.to_vec(),
    };
    let mut values = Vec::new();
    for start in starts {
        let place = locate_path(start, cwd, context);
        let own = context.self_paths.iter().filter(|own| search.can_find(own, &place, start));
        values.extend(own.map(|own| SymbolicText::from_text(own.path.clone())));
    }
    values.truncate(MAX_OWN_FILES);
    (!values.is_empty()).then(|| {
        values.push(SymbolicText::from_unknown(UnknownKind::Name));
        values
    })
}

impl<'a> TextSearch<'a> {
    /// `None` if it is not a search, or one that prints lines.
    fn parse(invocation: &'a Invocation) -> Option<Self> {
        let first = invocation.argv.first()?.as_text()?;
        let base = base_name(first);
        let (name, mut rest) = match (base, invocation.argv.get(1).and_then(SymbolicText::as_text)) {
            ("git", Some("grep")) => ("git grep", invocation.argv.get(2..)?),
            ("git", Some("ls-files")) => return Some(Self::from_ls_files(invocation.argv.get(2..)?)),
            _ => (base, invocation.argv.get(1..)?),
        };
        let program = SEARCH_PROGRAMS.iter().find(|program| program.names.contains(&name))?;
        let mut search = Self { by_name: program.by_name, sees_hidden: program.hidden.is_empty(), ..Self::default() };
        let (lists, mut operands) = search.parse_flags(program, &mut rest);
        if search.wanted.is_none() && !operands.is_empty() {
            search.wanted = Some(operands.remove(0));
        }
        search.starts = operands;
        lists.then_some(search)
    }

    /// Parses the flags. Returns whether names are printed.
    fn parse_flags(&mut self, program: &SearchProgram, rest: &mut &'a [SymbolicText]) -> (bool, Vec<&'a SymbolicText>) {
        let mut lists = program.lists.is_empty();
        let mut operands = Vec::new();
        while let Some((word, after)) = rest.split_first() {
            *rest = after;
            let text = word.leading_text();
            if !text.starts_with('-') || text.len() < 2 {
                operands.push(word);
                continue;
            }
            lists |= has_flag(text, program.lists);
            // It lists all files, whatever their contents.
            if text == "--files" {
                lists = true;
                self.by_name = true;
                operands.insert(0, word);
            }
            self.sees_hidden |= has_flag(text, program.hidden);
            self.parse_flag_value(program, word, rest);
        }
        (lists, operands)
    }

    /// Parses the value of a flag, if it takes one.
    fn parse_flag_value(&mut self, program: &SearchProgram, word: &'a SymbolicText, rest: &mut &'a [SymbolicText]) {
        let text = word.leading_text();
        let (flag, glued) = match text.split_once('=') {
            Some((flag, _)) if text.starts_with("--") => (flag, Some(word)),
            _ => (text, None),
        };
        if !program.values.contains(&flag) {
            return;
        }
        let value = glued.or_else(|| {
            let (next, after) = rest.split_first()?;
            *rest = after;
            Some(next)
        });
        if program.globs.contains(&flag) {
            let written = value.and_then(SymbolicText::as_text).unwrap_or_default();
            self.globs.push(written.split_once('=').map_or(written, |(_, glob)| glob));
        } else if matches!(flag, "-e" | "--regexp") {
            self.wanted = value;
        }
    }

    /// `git ls-files directory`
    fn from_ls_files(arguments: &'a [SymbolicText]) -> Self {
        Self {
            starts: arguments.iter().filter(|value| !value.leading_text().starts_with('-')).collect(),
            sees_hidden: true,
            ..Self::default()
        }
    }

    /// Whether the search may find a file of Snell's own. In a whole project, only if Snell's files contain the text.
    fn can_find(&self, own: &SelfPath, start: &ClassifiedPath, written: &SymbolicText) -> bool {
        if own.kind == SelfFile::Hooks {
            return false;
        }
        let (_, name) = own.path.rsplit_once('/').unwrap_or_default();
        let is_named = self.globs.is_empty() || self.globs.iter().any(|glob| is_glob_match(glob, name));
        let Some(directory) = start.path.as_deref() else {
            return is_named
                && written.has_pattern()
                && start.can_be_path(&own.path)
                && !start.classes.contains(PathClass::ProjectRoot);
        };
        let inside =
            if directory == "/" { own.path.as_str() } else { own.path.strip_prefix(directory).unwrap_or_default() };
        let is_seen = self.sees_hidden || !inside.contains("/.");
        let is_whole_project = start.classes.contains(PathClass::ProjectRoot)
            && !start.classes.intersects([PathClass::Root, PathClass::HomeRoot].into());
        is_within_directory(&own.path, directory)
            && is_named
            && is_seen
            && self.is_wanted(&own.path)
            && (!is_whole_project || self.wanted.is_some_and(|wanted| is_about_snell(&wanted.to_string())))
    }

    /// Whether a file with this path may match.
    fn is_wanted(&self, path: &str) -> bool {
        let wanted = self.wanted.and_then(SymbolicText::as_text).filter(|_| self.by_name);
        wanted.is_none_or(|wanted| {
            let plain: String = wanted.chars().filter(|c| !"^$\\*()[]?".contains(*c)).collect();
            plain == "--files" || path.contains(&plain) || plain.is_empty() || plain == "." || is_about_snell(&plain)
        })
    }
}

/// Names of files in Snell's own directories.
const OWN_FILE_NAMES: &[&str] = &["snell.toml", "contacts.toml", "snell.db", "trust.json"];

/// Snell's own files that `find` may find.
pub(crate) fn find_own_files(tests: &FindTests<'_>, cwd: Option<&str>, context: &JudgeContext) -> Vec<SymbolicText> {
    let mut found = Vec::new();
    for start in &tests.starts {
        let place = locate_path(start, cwd, context);
        let Some(directory) = place.path.as_deref() else {
            continue;
        };
        let is_whole_project = place.classes.contains(PathClass::ProjectRoot)
            && !place.classes.intersects([PathClass::Root, PathClass::HomeRoot].into());
        let own = context.self_paths.iter().filter(|own| own.kind != SelfFile::Hooks);
        let paths = own.flat_map(|own| {
            let inside = OWN_FILE_NAMES.iter().map(|name| format!("{}/{name}", own.path));
            std::iter::once(own.path.clone()).chain(inside)
        });
        found.extend(
            paths
                .filter(|path| is_within_directory(path, directory) && tests.can_pick(path, is_whole_project))
                .map(SymbolicText::from_text),
        );
    }
    found.truncate(MAX_OWN_FILES);
    found
}

impl FindTests<'_> {
    /// Whether a file may be selected. In a whole project, only if a pattern aims at such files: `*.json` matches many
    /// others.
    fn can_pick(&self, path: &str, is_whole_project: bool) -> bool {
        if self.names.is_empty() && self.paths.is_empty() {
            return !is_whole_project;
        }
        let (_, name) = path.rsplit_once('/').unwrap_or_default();
        let is_for = |pattern: &str, text: &str| {
            let pattern = pattern.to_ascii_lowercase();
            let plain = pattern.trim_matches(['*', '?']);
            let is_specific = plain.len() > ".toml".len() && !plain.starts_with('.');
            (is_specific || !is_whole_project) && matches_glob(&text.to_ascii_lowercase(), &pattern)
        };
        // A path pattern includes the start directory: `./.claude/*`.
        let of_path =
            |pattern: &SymbolicText| is_for(&format!("*{}", pattern.to_string().trim_start_matches('.')), path);
        self.names.iter().any(|pattern| is_for(&pattern.to_string(), name)) || self.paths.iter().any(of_path)
    }
}

/// Whether it searches a database of all files.
fn is_locate_database(invocation: &Invocation) -> bool {
    let name = invocation.name().unwrap_or_default();
    name.ends_with("locate") || name.ends_with("mdfind")
}

/// Whether a text occurs in the files that make an agent call Snell.
fn is_about_snell(wanted: &str) -> bool {
    let text = wanted.to_ascii_lowercase();
    text.contains("snell") || text.contains("disableallhooks") || text.contains("pretooluse")
}

/// `*.json`, `**/settings.json`, `!*.md`
fn is_glob_match(glob: &str, name: &str) -> bool {
    let glob = base_name(glob);
    glob.starts_with('!') || matches_glob(name, glob)
}

/// Whether a word is one of these flags, or a cluster with one.
fn has_flag(word: &str, flags: &[&str]) -> bool {
    let is_cluster = !word.starts_with("--");
    flags.iter().any(|flag| match flag.strip_prefix('-') {
        Some(letter) if letter.len() == 1 && is_cluster => word.contains(letter),
        _ => word == *flag,
    })
}
