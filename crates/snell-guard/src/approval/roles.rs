//! Checks an operand, or the value of a flag, by its use: a text that is harmless, or a path and what happens to it.

use super::operands::SortedWords;
use super::places::{AccessKind, add_place, is_source_pattern};
use super::scripts;
use super::table::{ApprovalSpec, FlagShape, OperandRole, words};
use super::{ApprovalClass, ApprovalDraft};
use crate::invocation::SymbolicText;

/// A search for fewer characters would show nearly everything.
const MIN_PATTERN_CHARS: usize = 3;

/// The largest number that is given to a program.
const MAX_NUMBER: f64 = 100_000.0;

/// The longest time for which a program waits.
const MAX_SECONDS: f64 = 600.0;

/// More lines around a match would show whole files.
pub(super) const MAX_SURROUNDING_LINES: f64 = 30.0;

/// Parts of the endings of files that hold secrets.
const SECRET_ENDINGS: &[&str] = &["env", "pem", "key", "p12", "pfx", "secret", "local"];

/// Flags of searches that show no lines.
const NAMING_FLAGS: &[&str] =
    &["-l", "-c", "-q", "-t", "-g", "--files", "--type-list", "--type", "--glob", "--count", "--files-with-matches"];

/// Checks the operands of a call, and the values of its flags.
pub(super) struct OperandChecker<'a> {
    pub(super) spec: &'static ApprovalSpec,
    pub(super) cwd: Option<&'a str>,
    pub(super) words: &'a SortedWords<'a>,
    pub(super) first_text: Option<&'a SymbolicText>,
}

impl OperandChecker<'_> {
    pub(super) fn check(&self, value: &SymbolicText, role: OperandRole, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        self.is_plain_operand(value, role).then_some(())?;
        if let Some(is_harmless) = self.check_text(value, role) {
            return is_harmless.then_some(());
        }
        let text = value.as_text();
        match role {
            OperandRole::Source | OperandRole::Scope => self.check_scope(text?, draft),
            OperandRole::Trunk | OperandRole::Branch => self.check_branch(text?, draft),
            OperandRole::Below => self.check_search_below(value, draft),
            OperandRole::Revision => self.check_revision(value, draft),
            role => {
                let access = self.find_access(role)?;
                // BSD's sed takes the first file for its script: then it is no file.
                let other = match role {
                    OperandRole::Overwrite => Some(AccessKind::Exist),
                    OperandRole::Fresh => Some(AccessKind::Absent),
                    _ => None,
                };
                other.map_or(Some(()), |kind| add_place(draft, value, self.cwd, kind))?;
                if access.is_change() {
                    draft.add_class(ApprovalClass::Edits)?;
                }
                add_place(draft, value, self.cwd, access)
            }
        }
    }

    /// Whether no program reads more into an operand than what it says.
    fn is_plain_operand(&self, value: &SymbolicText, role: OperandRole) -> bool {
        let text = value.as_text();
        match role {
            // Perl runs `|program`, and writes `>file`.
            OperandRole::Read | OperandRole::Overwrite if self.is_perl() => {
                text.is_some_and(|text| !text.contains(['|', '<', '>', '&', '@']))
            }
            // Several programs would read their arguments there.
            OperandRole::Read | OperandRole::Scope => !value.leading_text().starts_with('@'),
            // Git itself would match the names.
            OperandRole::Delete => !value.to_string().contains(['*', '?', '[', ':']),
            OperandRole::Parent => text.is_some_and(|text| text.starts_with("..")),
            OperandRole::Contents if self.spec.class == Some(ApprovalClass::Edits) => {
                text.is_some_and(|text| text != ".")
            }
            // The name of another machine.
            OperandRole::Archive => text.is_some_and(|text| !text.contains(':')),
            OperandRole::Source => text.is_some_and(|text| text.starts_with('.') || text.ends_with(".go")),
            OperandRole::Trunk => text.is_some_and(|text| words::git::TRUNKS.contains(&text)),
            _ => true,
        }
    }

    /// Whether an operand that names no file is harmless; `None` if it may name one.
    fn check_text(&self, value: &SymbolicText, role: OperandRole) -> Option<bool> {
        let is = |check: &dyn Fn(&str) -> bool| Some(value.as_text().is_some_and(check));
        match role {
            OperandRole::Text if self.spec.class == Some(ApprovalClass::Runs) => Some(is_local_text(value)),
            OperandRole::Text | OperandRole::Include | OperandRole::Pattern | OperandRole::Message => Some(true),
            OperandRole::Local => Some(is_local_text(value)),
            OperandRole::Empty => is(&str::is_empty),
            OperandRole::Glob => is(&is_source_pattern),
            OperandRole::Sed => is(&scripts::is_plain_sed),
            OperandRole::Awk => is(&scripts::is_printing_awk),
            OperandRole::Jq => is(&scripts::is_plain_jq),
            OperandRole::Yq => is(&scripts::is_plain_yq),
            OperandRole::Perl => is(&scripts::is_plain_perl),
            OperandRole::Date => is(&scripts::is_date_format),
            OperandRole::Number | OperandRole::Lines => is(&|text| scripts::is_small_number(text, MAX_NUMBER)),
            OperandRole::Seconds => is(&|text| scripts::is_small_number(text, MAX_SECONDS)),
            OperandRole::Word => is(&scripts::is_plain_word),
            OperandRole::Inet => is(&scripts::is_port),
            OperandRole::Process => is(&scripts::is_process_word),
            OperandRole::Columns => is(&|text| !text.contains("env")),
            OperandRole::Setting => is(&|text| matches_any(text, words::git::SETTINGS)),
            OperandRole::Task => is(&is_task),
            OperandRole::Target => {
                let is_risky = |text: &str| text.split(['-', '_']).any(|word| words::runs::RISKY_WORDS.contains(&word));
                is(&|text| matches_any(text, words::runs::TARGETS) && !is_risky(text))
            }
            OperandRole::Definition => is(&|text| matches_any(text, words::runs::DEFINITIONS) && is_local_text(value)),
            OperandRole::Find => is(&|text| matches!(text, "(" | ")" | "!" | ",")).filter(|is_sign| *is_sign),
            OperandRole::Read | OperandRole::Search | OperandRole::Contents => {
                is(&|text| text == "-").filter(|is_stdin| *is_stdin)
            }
            _ => None,
        }
    }

    /// How an operand uses its file.
    fn find_access(&self, role: OperandRole) -> Option<AccessKind> {
        Some(match role {
            OperandRole::List if self.spec.class == Some(ApprovalClass::Runs) => AccessKind::Code,
            OperandRole::Read if self.is_recursive() => AccessKind::Tree,
            OperandRole::Read | OperandRole::Archive => AccessKind::Read,
            OperandRole::Search => self.find_search_access()?,
            OperandRole::List | OperandRole::Find => AccessKind::List,
            OperandRole::Contents => AccessKind::Contents,
            OperandRole::Parent => AccessKind::Code,
            OperandRole::Make | OperandRole::Fresh => AccessKind::Make,
            OperandRole::Mode => AccessKind::Mode,
            OperandRole::Append | OperandRole::Edit => AccessKind::Edit,
            OperandRole::Write | OperandRole::Overwrite => AccessKind::Overwrite,
            OperandRole::Delete => AccessKind::Delete,
            OperandRole::DeleteTree => AccessKind::DeleteTree,
            _ => return None,
        })
    }

    fn is_perl(&self) -> bool {
        self.spec.flags.iter().any(|(_, shape)| *shape == FlagShape::Value(OperandRole::Perl))
    }

    /// The name of a branch: no option of another kind, and no path that is there.
    fn check_branch(&self, text: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
        let is_name = text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(is_sign)
            && !text.contains("..")
            && !text.ends_with(['/', '.'])
            && !matches!(text, "HEAD" | "FETCH_HEAD" | "ORIG_HEAD");
        is_name.then_some(())?;
        if self.spec.class == Some(ApprovalClass::Runs) {
            add_place(draft, &SymbolicText::from_text(text), self.cwd, AccessKind::Absent)?;
        }
        Some(())
    }

    /// Whether a search shows many lines around each match.
    fn shows_surroundings(&self) -> bool {
        let mut counts = self.words.values.iter().filter(|(_, role)| *role == OperandRole::Lines);
        counts.any(|(count, _)| {
            !count.as_text().is_some_and(|text| scripts::is_small_number(text, MAX_SURROUNDING_LINES))
        })
    }

    /// Whether a search shows whole files or several lines at once.
    fn spans_lines(&self) -> bool {
        let is_spanning =
            |flag: &&str| matches!(*flag, "-z" | "-U" | "--multiline" | "--multiline-dotall" | "--null-data");
        self.words.flags.iter().any(is_spanning)
    }

    /// Whether it searches everything below.
    pub(super) fn is_recursive(&self) -> bool {
        self.words.flags.iter().any(|flag| matches!(*flag, "-r" | "--recursive"))
    }

    /// A search through everything is harmless if it looks for something.
    fn find_search_access(&self) -> Option<AccessKind> {
        if !self.is_recursive() {
            return Some(AccessKind::Read);
        }
        let is_inverted = |flag: &&str| matches!(*flag, "-v" | "-L" | "--invert-match" | "--files-without-match");
        let shows_names = |flag: &&str| matches!(*flag, "-l" | "-c" | "-q" | "--files-with-matches" | "--count");
        let globs = self.words.values.iter().filter(|(_, role)| *role == OperandRole::Include);
        let globs: Vec<String> = globs.map(|(glob, _)| glob.to_string()).collect();
        let is_named = !globs.is_empty() && globs.iter().all(|glob| is_source_pattern(&glob.replace('*', "x")));
        let may_be_hidden =
            |glob: &String| !glob.starts_with("*.") || SECRET_ENDINGS.iter().any(|end| glob.contains(end));
        if !is_named && globs.iter().any(may_be_hidden) {
            return None;
        }
        let is_selected = is_named || self.words.flags.iter().any(shows_names);
        if is_selected {
            return Some(AccessKind::Read);
        }
        let mut patterns = self.words.values.iter().filter(|(_, role)| *role == OperandRole::Pattern).peekable();
        let is_specific = match patterns.peek() {
            Some(_) => patterns.all(|(pattern, _)| has_specific_text(pattern)),
            None => self.first_text.is_some_and(has_specific_text),
        };
        let is_wide = self.words.flags.iter().any(is_inverted) || self.shows_surroundings() || self.spans_lines();
        (is_specific && !is_wide).then_some(AccessKind::Search)
    }

    /// A search without hidden files: for anything, only if no file below holds secrets.
    fn check_search_below(&self, value: &SymbolicText, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        let flags = &self.words.flags;
        let shows_names = flags.iter().any(|flag| NAMING_FLAGS.contains(flag));
        let is_inverted = flags.iter().any(|flag| matches!(*flag, "-v"));
        let mut patterns = self.words.values.iter().filter(|(_, role)| *role == OperandRole::Pattern).peekable();
        let is_specific = match patterns.peek() {
            Some(_) => patterns.all(|(pattern, _)| has_specific_text(pattern)),
            None => self.first_text.is_some_and(has_specific_text),
        };
        let is_wide = !shows_names && (is_inverted || !is_specific || self.spans_lines());
        // All of one file may be shown.
        let is_file =
            value.to_string().rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
        (is_file || shows_names || !self.shows_surroundings()).then_some(())?;
        let places = draft.accesses.len();
        add_place(draft, value, self.cwd, AccessKind::Read)?;
        if is_wide && let Some(access) = draft.accesses.get_mut(places).filter(|access| access.pattern.is_empty()) {
            "**".clone_into(&mut access.pattern);
        }
        Some(())
    }

    /// `HEAD:path`, `main..dev`, or a path.
    fn check_revision(&self, value: &SymbolicText, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        let shown = match value.as_text() {
            Some(text) => text.rsplit(':').next().map(SymbolicText::from_text),
            None => None,
        };
        let shown = shown.unwrap_or_else(|| value.clone());
        if shown.is_empty() {
            return Some(());
        }
        add_place(draft, &shown, self.cwd, AccessKind::Read)
    }

    /// `tests/a.py::test_b`, `./...`, `name=value`: a path of the project, or the name of something in it.
    fn check_scope(&self, text: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        // `test/a_test.exs:12`
        let text = text
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .strip_suffix(':')
            .filter(|path| path.contains('.'))
            .unwrap_or(text);
        let path = text.split("::").next().unwrap_or(text).trim_end_matches("...");
        // Anything else is only a name.
        let path = if path.is_empty() { "." } else { path };
        let kind = if self.spec.class == Some(ApprovalClass::Reads) { AccessKind::Read } else { AccessKind::Code };
        // An address, or the name of a plugin.
        if path.contains(['=', ':']) {
            return None;
        }
        let is_hidden = path.split('/').any(|name| name.starts_with('.') && !matches!(name, "." | ".."));
        let value = SymbolicText::from_text(path.to_owned());
        (!is_hidden).then_some(())?;
        add_place(draft, &value, self.cwd, kind)
    }
}

fn matches_any(text: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| crate::paths::matches_glob(text, pattern))
}

/// Whether a word is a task of a build tool. Maven would take `name:goal` for a plugin.
fn is_task(text: &str) -> bool {
    let is_plain = !text.contains(':') || text.starts_with(':') || text == "dependency:tree";
    is_plain && matches_any(text, words::runs::TASKS)
}

/// Whether a text for the project's own code cannot name a path elsewhere.
pub(super) fn is_local_text(value: &SymbolicText) -> bool {
    let text = value.to_string();
    !text.split([':', '=', ',']).any(|part| part.starts_with(['/', '~'])) && !text.contains("..")
}

/// Whether a pattern has enough letters in a row.
pub(super) fn has_specific_text(value: &SymbolicText) -> bool {
    let Some(text) = value.as_text() else { return false };
    text.split(|c: char| !c.is_alphanumeric()).any(|word| word.chars().count() >= MIN_PATTERN_CHARS)
}
