//! Python code that only computes, prints, and reads or writes files that it names. Anything that is not listed in
//! `data/approval_words.toml` may do harm: names of builtins and modules, functions of modules, methods of values.

mod bindings;
mod imports;
mod tokens;

use super::ApprovalDraft;
use super::places::{AccessKind, PlaceAccess, add_place};
use super::table::words;
use crate::invocation::{Invocation, StdinSource, SymbolicText};
use bindings::{PathSource, PythonBindings};
use tokens::{PythonToken, PythonTokens};

/// Longer code is not read.
const MAX_CODE_BYTES: usize = 16_384;

/// The largest exponent.
const MAX_EXPONENT_DIGITS: usize = 2;

/// Names of interpreters.
const PROGRAMS: &[&str] = &["python", "python3"];

/// Flags that change nothing about the code.
const FLAGS: &[&str] = &["-u", "-B", "-q", "-I", "-s", "-S", "-E", "-b"];

/// Whether a program is Python.
pub(super) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python3.").is_some_and(|version| version.bytes().all(|b| b.is_ascii_digit()));
    version || PROGRAMS.contains(&program)
}

/// Checks a call with its code; `None` if it may do harm.
pub(super) fn check_call(invocation: &Invocation, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let mut arguments = invocation.arguments();
    while let Some((first, rest)) = arguments.split_first()
        && first.as_text().is_some_and(|flag| FLAGS.contains(&flag))
    {
        arguments = rest;
    }
    let code = match arguments.split_first() {
        Some((flag, rest)) if flag.as_text() == Some("-c") => rest.first()?,
        Some((dash, _)) if dash.as_text() == Some("-") => find_stdin_code(invocation)?,
        None => find_stdin_code(invocation)?,
        Some(_) => return None,
    };
    let code = code.as_text().filter(|code| code.len() <= MAX_CODE_BYTES)?;
    let cwd = invocation.cwd.as_deref()?;
    // Python looks for modules here first.
    draft.add_access(PlaceAccess { path: cwd.to_owned(), pattern: String::new(), kind: AccessKind::Modules });
    check_code(code, cwd, draft)
}

fn find_stdin_code(invocation: &Invocation) -> Option<&SymbolicText> {
    match &invocation.stdin {
        StdinSource::Text(text) => Some(text),
        _ => None,
    }
}

fn check_code(code: &str, cwd: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
    let tokens = PythonTokens::read(code)?;
    let bindings = PythonBindings::from_tokens(&tokens)?;
    for part in &tokens.parts {
        CodeCheck { tokens: part, bindings: &bindings, cwd }.check_all(draft)?;
    }
    Some(())
}

struct CodeCheck<'c, 'a> {
    tokens: &'c [PythonToken<'a>],
    bindings: &'c PythonBindings<'a>,
    cwd: &'c str,
}

impl<'a> CodeCheck<'_, 'a> {
    fn check_all(&self, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        for at in 0..self.tokens.len() {
            match self.tokens.get(at)? {
                PythonToken::Name(name) if self.is_sign_before(at, ".") => self.check_attribute(at, name, draft)?,
                PythonToken::Name(name) => self.check_name(at, name, draft)?,
                PythonToken::Sign("**") => self.check_power(at)?,
                PythonToken::Sign("/") if self.bindings.has_paths() => self.check_joined_path(at, draft)?,
                PythonToken::Sign("@" | "@=" | "...") => return None,
                PythonToken::Sign("+=") if self.is_looped_list(at) => return None,
                PythonToken::Sign(_) | PythonToken::Number(_) | PythonToken::Text(_) | PythonToken::LineEnd => {}
            }
        }
        Some(())
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        matches!(self.tokens.get(at), Some(PythonToken::Sign(found)) if *found == sign)
    }

    fn is_sign_before(&self, at: usize, sign: &str) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is_sign(before, sign))
    }

    /// The tokens of each argument of a call whose `(` is here.
    fn read_arguments(&self, open: usize) -> Option<Vec<&[PythonToken<'a>]>> {
        self.is_sign(open, "(").then(|| bindings::split_arguments(self.tokens, open))?
    }

    fn check_name(&self, at: usize, name: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        if words::python::KEYWORDS.contains(&name) || self.bindings.is_import_statement(self.tokens, at) {
            return Some(());
        }
        if let Some((function, end)) = self.bindings.find_function(self.tokens, at)? {
            return self.check_function(&function, end, draft);
        }
        let is_builtin = words::python::OTHER_BUILTINS.contains(&name)
            || words::python::OLD_BUILTINS.contains(&name) && !self.bindings.is_bound(name);
        let is_private = name.contains("__") && name != "__name__";
        (!is_builtin && !is_private && !words::python::OTHER_KEYWORDS.contains(&name)).then_some(())
    }

    /// A function of a module, or `open`; its arguments start at `end`.
    fn check_function(&self, function: &str, end: usize, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        let Some((_, kinds)) = words::python::PATH_FUNCTIONS.iter().find(|(known, _)| *known == function) else {
            return words::python::FUNCTIONS.contains(&function).then_some(());
        };
        let arguments = self.read_arguments(end)?;
        let sources = match arguments.first() {
            None => vec![PathSource::Path(".".to_owned())],
            Some(first) => self.bindings.find_paths(first)?,
        };
        let kind = match *kinds.first()? {
            "open" => find_open_kind(arguments.get(1..).unwrap_or_default())?,
            // Whatever is done with the path later reads it.
            "read" | "glob" => AccessKind::Read,
            _ => AccessKind::List,
        };
        sources.iter().try_for_each(|source| self.add_source(source, kind, draft))
    }

    fn add_source(&self, source: &PathSource, kind: AccessKind, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        if kind.is_change() {
            draft.add_class(super::ApprovalClass::Edits)?;
        }
        match source {
            PathSource::Path(path) => {
                // A path may be empty, or lead up, only if it is checked as it is.
                add_place(draft, &parse_glob(path), Some(self.cwd), kind)
            }
            PathSource::Below(_) if kind.is_change() => None,
            PathSource::Below(directory) => {
                add_place(draft, &SymbolicText::from_text(directory.clone()), Some(self.cwd), AccessKind::Tree)
            }
        }
    }

    fn check_attribute(&self, at: usize, name: &str, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        // The name of a module's function was checked with the module.
        if self.bindings.is_in_function(self.tokens, at) {
            return Some(());
        }
        let arguments = || self.read_arguments(at + 1);
        match name {
            // `Path.replace` has one argument.
            "replace" => {
                let arguments = arguments()?;
                let has_spread =
                    arguments.iter().any(|words| matches!(words.first(), Some(PythonToken::Sign("*" | "**"))));
                (arguments.len() >= 2 && !has_spread).then_some(())
            }
            "copy" => arguments()?.is_empty().then_some(()),
            // A loop over a list that grows never ends.
            "append" | "extend" | "insert" => {
                at.checked_sub(1).is_some_and(|dot| !self.is_looped_list(dot)).then_some(())
            }
            // It could show the attributes of functions and modules.
            "format" => {
                let text = at.checked_sub(2).and_then(|text| self.tokens.get(text));
                matches!(text, Some(PythonToken::Text(Some(text))) if !text.contains("__")).then_some(())
            }
            "write_text" | "write_bytes" => {
                let receiver = at.checked_sub(2).and_then(|end| self.find_receiver(end))?;
                let sources = self.bindings.find_paths(receiver)?;
                sources.iter().try_for_each(|source| self.add_source(source, AccessKind::Overwrite, draft))
            }
            "glob" | "rglob" => {
                let receiver = at.checked_sub(2).and_then(|end| self.find_receiver(end))?;
                let patterns = arguments()?;
                let [[PythonToken::Text(Some(pattern))]] = patterns.as_slice() else { return None };
                let sources = self.bindings.find_paths(receiver)?;
                sources.iter().try_for_each(|source| {
                    self.add_source(&source.with_pattern(name, pattern)?, AccessKind::Read, draft)
                })
            }
            "iterdir" => {
                let receiver = at.checked_sub(2).and_then(|end| self.find_receiver(end))?;
                let sources = self.bindings.find_paths(receiver)?;
                sources
                    .iter()
                    .try_for_each(|source| self.add_source(&source.with_pattern("glob", "*")?, AccessKind::Read, draft))
            }
            _ => words::python::METHODS.contains(&name).then_some(()),
        }
    }

    /// Whether the name before this sign is one over which a loop runs.
    fn is_looped_list(&self, at: usize) -> bool {
        let name = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        matches!(name, Some(PythonToken::Name(name)) if self.bindings.looped.contains(name))
    }

    /// `name`, or `Path(…)`, that ends here.
    fn find_receiver(&self, end: usize) -> Option<&[PythonToken<'a>]> {
        let mut start = end;
        if self.is_sign(end, ")") {
            let mut depth = 0_usize;
            loop {
                depth = match self.tokens.get(start)? {
                    PythonToken::Sign(")") => depth + 1,
                    PythonToken::Sign("(") => depth.checked_sub(1)?,
                    _ => depth,
                };
                start = start.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
        }
        while self.is_sign_before(start, ".") {
            start = start.checked_sub(2)?;
        }
        self.tokens.get(start..=end)
    }

    fn check_power(&self, at: usize) -> Option<()> {
        let exponent = match self.tokens.get(at + 1)? {
            PythonToken::Number(number) => number,
            _ => return None,
        };
        (exponent.len() <= MAX_EXPONENT_DIGITS && !self.is_sign(at + 2, "**")).then_some(())
    }

    /// `directory / 'name'`: with paths, a division may join them.
    fn check_joined_path(&self, at: usize, draft: &mut ApprovalDraft<'_>) -> Option<()> {
        match self.tokens.get(at + 1)? {
            PythonToken::Number(_) => Some(()),
            PythonToken::Text(Some(name)) if !name.starts_with('/') && !name.split('/').any(|part| part == "..") => {
                add_place(draft, &SymbolicText::from_text(*name), Some(self.cwd), AccessKind::Read)
            }
            _ => None,
        }
    }
}

/// How `open` uses its file, by the arguments after the path.
fn find_open_kind(arguments: &[&[PythonToken<'_>]]) -> Option<AccessKind> {
    let mut mode = "r";
    for (at, argument) in arguments.iter().enumerate() {
        match argument {
            [PythonToken::Text(Some(text))] if at == 0 => mode = text,
            [PythonToken::Name("mode"), PythonToken::Sign("="), PythonToken::Text(Some(text))] => mode = text,
            [PythonToken::Name("encoding" | "errors" | "newline"), PythonToken::Sign("="), _] => {}
            _ => return None,
        }
    }
    match mode.replace(['b', 't'], "").as_str() {
        "" | "r" | "rU" => Some(AccessKind::Read),
        "a" => Some(AccessKind::Edit),
        "w" | "x" | "w+" | "r+" => Some(AccessKind::Overwrite),
        _ => None,
    }
}

/// A text in which `*`, `?` and `[` are patterns.
fn parse_glob(text: &str) -> SymbolicText {
    let mut value = SymbolicText::default();
    value.append_globs(&SymbolicText::from_text(text));
    value
}
