//! Compares the flags and operands of one program with an entry of the table. Anything that the entry does not list may do harm.

use super::places::{AccessKind, add_place, is_source_pattern};
use super::scripts;
use super::table::{ApprovalSpec, FlagShape, OperandRole, words};
use super::{ApprovalClass, ApprovalDraft};
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};

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

/// The words of a call, sorted.
#[derive(Default)]
struct SortedWords<'a> {
    flags: Vec<&'a str>,
    operands: Vec<&'a SymbolicText>,
    /// Values of flags, with their kinds.
    values: Vec<(SymbolicText, OperandRole)>,
}

/// Whether an entry fits. Notes the paths that the program uses.
pub(super) fn check_spec(
    spec: &'static ApprovalSpec,
    arguments: &[SymbolicText],
    cwd: Option<&str>,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let words = WordSorter { spec, rest: arguments, words: SortedWords::default() }.sort()?;
    if !spec.needs.is_empty() && !words.flags.iter().any(|flag| spec.needs.contains(flag)) {
        return None;
    }
    let mut operands = words.operands.as_slice();
    for choices in spec.words {
        let (first, rest) = operands.split_first()?;
        let text = first.as_text()?;
        choices.iter().any(|pattern| crate::paths::matches_glob(text, pattern)).then_some(())?;
        operands = rest;
    }
    let has_pattern_flag = words.flags.iter().any(|flag| spec.pattern_flags.contains(flag));
    let roles = spec.operands.get(usize::from(has_pattern_flag)..).unwrap_or_default();
    if operands.len() + usize::from(has_pattern_flag) < spec.min_operands {
        return None;
    }
    let checker = OperandChecker { spec, cwd, words: &words, first_text: operands.first().copied() };
    for (at, operand) in operands.iter().enumerate() {
        let role = roles.get(at).or_else(|| roles.last().filter(|_| spec.repeats))?;
        checker.check(operand, *role, draft)?;
    }
    for (value, role) in &words.values {
        checker.check(value, *role, draft)?;
    }
    // A recursive search without a path starts here.
    if roles.contains(&OperandRole::Search) && operands.len() < roles.len() && checker.is_recursive() {
        checker.check(&SymbolicText::from_text("."), OperandRole::Search, draft)?;
    }
    if roles.contains(&OperandRole::Below) && operands.len() < roles.len() {
        checker.check(&SymbolicText::from_text("."), OperandRole::Below, draft)?;
    }
    Some(())
}

/// How many words are flags before the first operand; `None` if one of them is not listed.
pub(super) fn count_leading_flags(spec: &'static ApprovalSpec, arguments: &[SymbolicText]) -> Option<usize> {
    let mut sorter = WordSorter { spec, rest: arguments, words: SortedWords::default() };
    loop {
        let rest = sorter.rest;
        let Some(first) = rest.first().filter(|word| word.leading_text().starts_with('-')) else {
            return Some(arguments.len() - rest.len());
        };
        sorter.rest = rest.get(1..)?;
        sorter.read_flag(first)?;
    }
}

struct WordSorter<'a> {
    spec: &'static ApprovalSpec,
    rest: &'a [SymbolicText],
    words: SortedWords<'a>,
}

impl<'a> WordSorter<'a> {
    fn sort(mut self) -> Option<SortedWords<'a>> {
        let mut only_operands = false;
        while let Some((word, rest)) = self.rest.split_first() {
            self.rest = rest;
            let text = word.as_text();
            if !only_operands && self.spec.rest && text == Some("--") {
                let rest = std::mem::take(&mut self.rest);
                rest.iter().all(is_local_text).then_some(())?;
            } else if !only_operands && text == Some("--") {
                // The project's own code gets the rest as flags.
                only_operands = self.spec.class != Some(ApprovalClass::Runs);
            } else if only_operands || !self.is_flag(word) {
                (only_operands || self.is_certain_operand(word)).then_some(())?;
                self.words.operands.push(word);
            } else {
                self.read_flag(word)?;
            }
        }
        Some(self.words)
    }

    fn is_flag(&self, word: &SymbolicText) -> bool {
        let text = word.leading_text();
        text.len() > 1 && text.starts_with('-') || self.spec.word_flags && self.find_shape(text).is_some()
    }

    /// Whether a word cannot become a flag, or any flag is harmless.
    fn is_certain_operand(&self, word: &SymbolicText) -> bool {
        if self.spec.any_flag {
            return true;
        }
        word.parts.iter().enumerate().all(|(at, part)| match part {
            SymbolicPart::Text(_) => true,
            SymbolicPart::Pattern(_) => at > 0 || self.spec.expands,
            SymbolicPart::Unknown(UnknownKind::Name) => at > 0,
            SymbolicPart::Unknown(_) => false,
        })
    }

    fn find_shape(&self, name: &str) -> Option<FlagShape> {
        self.spec.flags.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape)
    }

    fn read_flag(&mut self, word: &'a SymbolicText) -> Option<()> {
        let text = word.leading_text();
        let is_known = word.parts.len() <= 1;
        let (name, attached) = match text.split_once('=') {
            Some((name, _)) => (name, Some(word.skip_leading_bytes(name.len() + 1))),
            None => (text, None),
        };
        if !is_known && (attached.is_none() || self.has_open_value(word)) {
            return self.spec.any_flag.then_some(());
        }
        let is_long = text.starts_with("--") || self.spec.word_flags;
        if let Some((known, shape)) = self.spec.flags.iter().find(|(known, _)| *known == name || *known == text)
            && (is_long || attached.is_none() || *known == text)
        {
            let attached = attached.filter(|_| *known != text || name == *known);
            return self.read_value(known, *shape, attached);
        }
        if self.is_numbered(text) {
            return Some(());
        }
        if is_long { self.spec.any_flag.then_some(()) } else { self.read_cluster(text) }
    }

    /// Whether a value is more than a pattern of names.
    fn has_open_value(&self, word: &SymbolicText) -> bool {
        word.parts.iter().any(|part| matches!(part, SymbolicPart::Unknown(_)))
    }

    /// `-50`, `-j4`
    fn is_numbered(&self, text: &str) -> bool {
        let start = text.trim_end_matches(|c: char| c.is_ascii_digit());
        start.len() < text.len() && self.spec.flags.iter().any(|(known, _)| known.strip_suffix('#') == Some(start))
    }

    /// `-rn`, `-n5`
    fn read_cluster(&mut self, text: &str) -> Option<()> {
        for (at, letter) in text.char_indices().skip(1) {
            let known = self
                .spec
                .flags
                .iter()
                .find(|(known, _)| known.strip_prefix('-').is_some_and(|name| name.chars().eq([letter])));
            let Some((known, shape)) = known else {
                if self.spec.any_flag {
                    continue;
                }
                return None;
            };
            if *shape == FlagShape::Plain {
                // The rest of `-i…` is the ending of a copy.
                if letter == 'i' && self.spec.needs.contains(&"-i") && at + 1 < text.len() {
                    return None;
                }
                self.words.flags.push(known);
                continue;
            }
            let rest = text.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
            return self.read_value(known, *shape, rest.map(SymbolicText::from_text));
        }
        Some(())
    }

    fn read_value(&mut self, name: &'static str, shape: FlagShape, attached: Option<SymbolicText>) -> Option<()> {
        self.words.flags.push(name);
        match shape {
            FlagShape::Plain => attached.is_none().then_some(()),
            FlagShape::Optional => Some(()),
            FlagShape::Command => self.skip_command(),
            FlagShape::Value(role) => {
                let value = match attached {
                    Some(value) => value,
                    None => self.take_value(role)?,
                };
                self.words.values.push((value, role));
                Some(())
            }
            FlagShape::Pair => {
                for _ in 0..2 {
                    let value = self.take_value(OperandRole::Text)?;
                    self.words.values.push((value, OperandRole::Text));
                }
                Some(())
            }
        }
    }

    /// Skips the words of a command, which is checked as a program of its own.
    fn skip_command(&mut self) -> Option<()> {
        let end = self.rest.iter().position(|word| matches!(word.as_text(), Some(";" | "+")))?;
        self.rest = self.rest.get(end + 1..)?;
        Some(())
    }

    /// The next word as the value of a flag. A program that knows the flag without a value would take it for another flag.
    fn take_value(&mut self, role: OperandRole) -> Option<SymbolicText> {
        let value = self.take_word()?;
        let after = value.leading_text().strip_prefix('-').and_then(|text| text.chars().next());
        (role == OperandRole::Pattern || after.is_none_or(|c| c.is_ascii_digit())).then_some(value)
    }

    /// The next word, if it is one word for certain.
    fn take_word(&mut self) -> Option<SymbolicText> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        let is_one = |part: &SymbolicPart| !matches!(part, SymbolicPart::Unknown(kind) if *kind != UnknownKind::Name);
        first.parts.iter().all(is_one).then(|| first.clone())
    }
}

struct OperandChecker<'a> {
    spec: &'static ApprovalSpec,
    cwd: Option<&'a str>,
    words: &'a SortedWords<'a>,
    first_text: Option<&'a SymbolicText>,
}

impl OperandChecker<'_> {
    fn check(&self, value: &SymbolicText, role: OperandRole, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        let text = value.as_text();
        let access = match role {
            // Perl runs `|program`, and writes `>file`.
            OperandRole::Read | OperandRole::Overwrite
                if self.is_perl() && text.is_none_or(|text| text.contains(['|', '<', '>', '&'])) =>
            {
                return None;
            }
            // Git itself would match the names.
            OperandRole::Delete if value.to_string().contains(['*', '?', '[', ':']) => return None,
            // Several programs would read their arguments there.
            OperandRole::Read | OperandRole::Scope if value.leading_text().starts_with('@') => return None,
            OperandRole::Text if self.spec.class == Some(ApprovalClass::Runs) => {
                return is_local_text(value).then_some(());
            }
            OperandRole::Text | OperandRole::Include | OperandRole::Pattern => return Some(()),
            OperandRole::Glob => return is_source_pattern(text?).then_some(()),
            OperandRole::Sed => return scripts::is_plain_sed(text?).then_some(()),
            OperandRole::Awk => return scripts::is_printing_awk(text?).then_some(()),
            OperandRole::Jq => return scripts::is_plain_jq(text?).then_some(()),
            OperandRole::Date => return scripts::is_date_format(text?).then_some(()),
            OperandRole::Number => return scripts::is_small_number(text?, MAX_NUMBER).then_some(()),
            OperandRole::Seconds => return scripts::is_small_number(text?, MAX_SECONDS).then_some(()),
            OperandRole::Word => return scripts::is_plain_word(text?).then_some(()),
            OperandRole::Lines => return scripts::is_small_number(text?, MAX_NUMBER).then_some(()),
            OperandRole::Contents if text == Some("-") => return Some(()),
            OperandRole::Contents => AccessKind::Contents,
            OperandRole::Parent if !text?.starts_with("..") => return None,
            OperandRole::Parent => AccessKind::Code,
            OperandRole::Archive if text?.contains(':') => return None,
            OperandRole::Archive => AccessKind::Read,
            OperandRole::Source if !text?.starts_with('.') && !text?.ends_with(".go") => return None,
            OperandRole::Source => return self.check_scope(text?, draft),
            OperandRole::Empty => return text?.is_empty().then_some(()),
            OperandRole::Inet => return scripts::is_port(text?).then_some(()),
            OperandRole::Yq => return scripts::is_plain_yq(text?).then_some(()),
            OperandRole::Perl => return scripts::is_plain_perl(text?).then_some(()),
            OperandRole::Local => return is_local_text(value).then_some(()),
            OperandRole::Setting => return matches_any(text?, words::git::SETTINGS),
            // Maven would take `name:goal` for a plugin.
            OperandRole::Task if text?.contains(':') && !text?.starts_with(':') && text? != "dependency:tree" => {
                return None;
            }
            OperandRole::Task => return matches_any(text?, words::runs::TASKS),
            OperandRole::Definition => {
                matches_any(text?, words::runs::DEFINITIONS)?;
                return is_local_text(value).then_some(());
            }
            OperandRole::Trunk if !words::git::TRUNKS.contains(&text?) => return None,
            OperandRole::Trunk | OperandRole::Branch => return self.check_branch(text?, draft),
            OperandRole::Process => return scripts::is_process_word(text?).then_some(()),
            OperandRole::Columns => return (!text?.contains("env")).then_some(()),
            OperandRole::Below => return self.check_search_below(value, draft),
            OperandRole::List if self.spec.class == Some(ApprovalClass::Runs) => AccessKind::Code,
            OperandRole::Read if self.is_recursive() => AccessKind::Tree,
            OperandRole::Overwrite => {
                // BSD's sed takes the first file for its script: then it is no file.
                add_place(draft, value, self.cwd, AccessKind::Exist)?;
                AccessKind::Overwrite
            }
            OperandRole::Find if matches!(text, Some("(" | ")" | "!" | ",")) => return Some(()),
            OperandRole::Read | OperandRole::Search if text == Some("-") => return Some(()),
            OperandRole::Revision => return self.check_revision(value, draft),
            OperandRole::Scope => return self.check_scope(text?, draft),
            OperandRole::Search => self.find_search_access()?,
            OperandRole::Read => AccessKind::Read,
            OperandRole::List | OperandRole::Find => AccessKind::List,
            OperandRole::Make => AccessKind::Make,
            OperandRole::Mode => AccessKind::Mode,
            OperandRole::Append | OperandRole::Edit => AccessKind::Edit,
            OperandRole::Write => AccessKind::Overwrite,
            OperandRole::Delete => AccessKind::Delete,
            OperandRole::DeleteTree => AccessKind::DeleteTree,
        };
        if access.is_change() {
            draft.add_class(ApprovalClass::Edits)?;
        }
        add_place(draft, value, self.cwd, access)
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
    fn is_recursive(&self) -> bool {
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

fn matches_any(text: &str, patterns: &[&str]) -> Option<()> {
    patterns.iter().any(|pattern| crate::paths::matches_glob(text, pattern)).then_some(())
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
