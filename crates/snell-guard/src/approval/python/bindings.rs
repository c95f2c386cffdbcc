//! The names of Python code: modules and functions that it imports, and variables that hold paths for certain.

use std::collections::HashMap;

use super::super::places::is_source_pattern;
use super::tokens::{PythonToken, PythonTokens};

/// Statements that may have another one after their colon.
const COMPOUND: &[&str] = &["for", "if", "elif", "else", "with", "try", "except", "finally", "def"];

/// Signs that also change their left side.
const CHANGING: &[&str] = &["+=", "-=", "*=", "/=", "//=", "%=", "**=", "|=", "&=", "^=", ">>=", "<<="];

/// Builtins that only read a list.
const READING: &[&str] = &["len", "print", "sorted", "enumerate", "list", "set", "tuple", "str"];

/// How often values are followed from name to name.
const MAX_ROUNDS: usize = 6;

/// The paths that a value may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathSource {
    /// This one, or all that match it.
    Path(String),
    /// Any path below this directory.
    Below(String),
}

impl PathSource {
    /// The paths that match a pattern in this directory, `glob`, or at any depth below it, `rglob`. Hidden files may match, too.
    pub(super) fn with_pattern(&self, method: &str, pattern: &str) -> Option<Self> {
        let is_inside = !pattern.starts_with('/') && !pattern.split('/').any(|name| name == "..");
        let Self::Path(directory) = self else { return None };
        let depth = if method == "rglob" { "**/" } else { "" };
        let is_source = is_source_pattern(pattern) && !pattern.starts_with('!');
        is_inside.then(|| match is_source {
            true => Self::Path(format!("{directory}/{depth}{pattern}")),
            false => Self::Below(directory.clone()),
        })
    }

    fn join(&self, name: &str) -> Option<Self> {
        let is_inside = !name.starts_with('/') && !name.split('/').any(|name| name == "..");
        match self {
            Self::Path(directory) if is_inside => Some(Self::Path(format!("{directory}/{name}"))),
            _ => None,
        }
    }
}

/// The value of a variable, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BoundValue {
    /// Anything else.
    Other,
    /// One of these paths.
    Paths(Vec<PathSource>),
    /// A list of them, which must not change.
    List(Vec<PathSource>),
    /// Names of files below this directory, or a list of them.
    Names(String),
}

/// The names of a code.
#[derive(Debug, Default)]
pub(super) struct PythonBindings<'a> {
    pub(super) modules: HashMap<&'a str, String>,
    pub(super) functions: HashMap<&'a str, String>,
    values: HashMap<&'a str, BoundValue>,
    /// Names over which a loop runs.
    pub(super) looped: Vec<&'a str>,
}

impl<'a> PythonBindings<'a> {
    /// Reads the names; `None` if a module is not known.
    pub(super) fn from_tokens(tokens: &PythonTokens<'a>) -> Option<Self> {
        let mut bindings = Self::default();
        for part in &tokens.parts {
            for at in 0..part.len() {
                if bindings.is_import_start(part, at) {
                    bindings.read_import(part, at)?;
                }
            }
        }
        for _ in 0..MAX_ROUNDS {
            let before = bindings.values.clone();
            for part in &tokens.parts {
                bindings.read_statements(part);
                bindings.read_loops(part);
            }
            if bindings.values == before {
                bindings.forget_changed_lists(tokens);
                return Some(bindings);
            }
        }
        None
    }

    /// Whether values may be paths that `/` joins.
    pub(super) fn has_paths(&self) -> bool {
        let mut known = self.functions.values().chain(self.modules.values());
        known.any(|name| name.starts_with("pathlib"))
    }

    /// Whether the code gives this name to a value.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn bind(&mut self, name: &'a str, value: BoundValue) {
        let known = self.values.entry(name).or_insert_with(|| value.clone());
        match (known, value) {
            (BoundValue::Paths(known), BoundValue::Paths(further))
            | (BoundValue::List(known), BoundValue::List(further)) => {
                let new: Vec<PathSource> = further.into_iter().filter(|path| !known.contains(path)).collect();
                known.extend(new);
            }
            (known, value) if *known == value => {}
            (known, _) => *known = BoundValue::Other,
        }
    }

    fn bind_others(&mut self, tokens: &[PythonToken<'a>]) {
        for (at, token) in tokens.iter().enumerate() {
            let is_attribute =
                at.checked_sub(1).is_some_and(|before| tokens.get(before) == Some(&PythonToken::Sign(".")));
            if let PythonToken::Name(name) = token
                && !is_attribute
            {
                self.bind(name, BoundValue::Other);
            }
        }
    }

    /// Assignments.
    fn read_statements(&mut self, tokens: &[PythonToken<'a>]) {
        for statement in tokens.split(|token| matches!(token, PythonToken::LineEnd | PythonToken::Sign(";"))) {
            let start = match statement.first() {
                Some(PythonToken::Name(name)) if COMPOUND.contains(name) => {
                    find_outside(statement, |token| *token == PythonToken::Sign(":")).map_or(0, |colon| colon + 1)
                }
                _ => 0,
            };
            let statement = statement.get(start..).unwrap_or_default();
            let is_changing =
                |token: &PythonToken<'_>| matches!(token, PythonToken::Sign(sign) if CHANGING.contains(sign));
            if let Some(at) = find_outside(statement, is_changing) {
                self.bind_others(statement.get(..at).unwrap_or_default());
            }
            let is_equals = |token: &PythonToken<'_>| *token == PythonToken::Sign("=");
            let Some(first) = find_outside(statement, is_equals) else { continue };
            let right = statement.get(first + 1..).unwrap_or_default();
            match (statement.get(..first).unwrap_or_default(), find_outside(right, is_equals)) {
                ([PythonToken::Name(name)], None) => self.bind(name, self.find_value(right)),
                (left, None) => self.bind_others(left),
                (_, Some(_)) => self.bind_others(statement),
            }
        }
    }

    /// Names that loops, `as`, `:=`, functions and lambdas bind.
    fn read_loops(&mut self, tokens: &[PythonToken<'a>]) {
        for (at, token) in tokens.iter().enumerate() {
            let rest = tokens.get(at + 1..).unwrap_or_default();
            match token {
                PythonToken::Name("for") => self.read_loop(rest),
                PythonToken::Name("as") => {
                    let is_end =
                        |token: &PythonToken<'_>| matches!(token, PythonToken::LineEnd | PythonToken::Sign(":" | ","));
                    self.bind_others(rest.get(..find_end(rest, is_end)).unwrap_or_default());
                }
                PythonToken::Name("lambda" | "def") => {
                    let end = find_end(rest, |token| *token == PythonToken::Sign(":"));
                    self.bind_others(rest.get(..end).unwrap_or_default());
                }
                PythonToken::Sign(":=") => {
                    let name = at.checked_sub(1).and_then(|at| tokens.get(at..=at));
                    self.bind_others(name.unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    fn read_loop(&mut self, rest: &[PythonToken<'a>]) {
        let Some(middle) = find_outside(rest, |token| *token == PythonToken::Name("in")) else { return };
        let targets = rest.get(..middle).unwrap_or_default();
        let after = rest.get(middle + 1..).unwrap_or_default();
        let is_end = |token: &PythonToken<'_>| {
            matches!(token, PythonToken::LineEnd | PythonToken::Sign(":") | PythonToken::Name("for" | "if" | "else"))
        };
        let values = after.get(..find_end(after, is_end)).unwrap_or_default();
        for token in values {
            if let PythonToken::Name(name) = token
                && !self.looped.contains(name)
            {
                self.looped.push(name);
            }
        }
        match (targets, self.find_value(values)) {
            ([PythonToken::Name(name)], BoundValue::List(paths)) => self.bind(name, BoundValue::Paths(paths)),
            ([PythonToken::Name(name)], BoundValue::Names(directory)) => self.bind(name, BoundValue::Names(directory)),
            (
                [
                    PythonToken::Name(root),
                    PythonToken::Sign(","),
                    PythonToken::Name(directories),
                    PythonToken::Sign(","),
                    PythonToken::Name(files),
                ],
                _,
            ) if self.find_walk(values).is_some() => {
                let directory = self.find_walk(values).unwrap_or_default();
                self.bind(root, BoundValue::Paths(vec![PathSource::Below(directory.clone())]));
                self.bind(directories, BoundValue::Names(directory.clone()));
                self.bind(files, BoundValue::Names(directory));
            }
            _ => self.bind_others(targets),
        }
    }

    /// The directory of `os.walk('directory')`.
    fn find_walk(&self, tokens: &[PythonToken<'a>]) -> Option<String> {
        let (function, arguments) = self.read_call(tokens)?;
        let [PathSource::Path(directory)] = self.find_paths(arguments.first()?)?.as_slice().first_chunk::<1>()?.clone()
        else {
            return None;
        };
        (function == "os.walk").then_some(directory)
    }

    /// A call of a known function that is the whole expression.
    fn read_call<'t>(&self, tokens: &'t [PythonToken<'a>]) -> Option<(String, Vec<&'t [PythonToken<'a>]>)> {
        let (function, open) = match tokens.first()? {
            PythonToken::Name(name @ ("sorted" | "list")) => ((*name).to_owned(), 1),
            _ => self.find_function(tokens, 0)??,
        };
        (find_bracket_end(tokens, open)? + 1 == tokens.len()).then_some(())?;
        Some((function, split_arguments(tokens, open)?))
    }

    fn find_value(&self, tokens: &[PythonToken<'a>]) -> BoundValue {
        if let [PythonToken::Name(name)] = tokens {
            return match self.values.get(name) {
                // Another name for a list could change it.
                Some(value @ (BoundValue::Paths(_) | BoundValue::List(_) | BoundValue::Names(_))) => value.clone(),
                _ => BoundValue::Other,
            };
        }
        if let Some(paths) = self.find_list(tokens) {
            return BoundValue::List(paths);
        }
        self.find_paths(tokens).map_or(BoundValue::Other, BoundValue::Paths)
    }

    /// Several paths: a list of strings, or the result of a search.
    fn find_list(&self, tokens: &[PythonToken<'a>]) -> Option<Vec<PathSource>> {
        if matches!(tokens.first(), Some(PythonToken::Sign("[" | "(")))
            && find_bracket_end(tokens, 0)? + 1 == tokens.len()
        {
            let items = split_arguments(tokens, 0)?;
            let texts = items.iter().map(|item| match item {
                [PythonToken::Text(Some(text))] => Some(PathSource::Path((*text).to_owned())),
                _ => None,
            });
            return texts.collect::<Option<Vec<_>>>().filter(|items| !items.is_empty());
        }
        if let [
            receiver @ ..,
            PythonToken::Sign("."),
            PythonToken::Name(method),
            PythonToken::Sign("("),
            PythonToken::Text(Some(pattern)),
            PythonToken::Sign(")"),
        ] = tokens
            && matches!(*method, "glob" | "rglob")
            && let Some(directories) = self.find_paths(receiver)
        {
            return directories.iter().map(|directory| directory.with_pattern(method, pattern)).collect();
        }
        if let [
            receiver @ ..,
            PythonToken::Sign("."),
            PythonToken::Name("iterdir"),
            PythonToken::Sign("("),
            PythonToken::Sign(")"),
        ] = tokens
        {
            return self.find_paths(receiver)?.iter().map(|directory| directory.with_pattern("glob", "*")).collect();
        }
        let (function, arguments) = self.read_call(tokens)?;
        match function.as_str() {
            "glob.glob" | "glob.iglob" => self.find_paths(arguments.first()?),
            "sorted" | "list" => match self.find_value(arguments.first()?) {
                BoundValue::List(paths) => Some(paths),
                _ => None,
            },
            _ => None,
        }
    }

    /// The paths that an expression may be.
    pub(super) fn find_paths(&self, tokens: &[PythonToken<'a>]) -> Option<Vec<PathSource>> {
        match tokens {
            [PythonToken::Text(Some(text))] => return Some(vec![PathSource::Path((*text).to_owned())]),
            [PythonToken::Name(name)] => {
                return match self.values.get(name) {
                    Some(BoundValue::Paths(paths)) => Some(paths.clone()),
                    _ => None,
                };
            }
            [base @ .., PythonToken::Sign("/"), PythonToken::Text(Some(name))] if !base.is_empty() => {
                return self.find_paths(base)?.iter().map(|path| path.join(name)).collect();
            }
            _ => {}
        }
        let (function, arguments) = self.read_call(tokens)?;
        match function.as_str() {
            "pathlib.Path" if arguments.is_empty() => Some(vec![PathSource::Path(".".to_owned())]),
            "pathlib.Path" if arguments.len() == 1 => self.find_paths(arguments.first()?),
            "pathlib.Path" | "os.path.join" => self.join_paths(&arguments),
            _ => None,
        }
    }

    /// `os.path.join(root, name)`
    fn join_paths(&self, arguments: &[&[PythonToken<'a>]]) -> Option<Vec<PathSource>> {
        let (first, rest) = arguments.split_first()?;
        let mut paths = self.find_paths(first)?;
        for name in rest {
            paths = match name {
                [PythonToken::Text(Some(text))] => {
                    paths.iter().map(|path| path.join(text)).collect::<Option<Vec<PathSource>>>()?
                }
                [PythonToken::Name(name)] => match (self.values.get(name), paths.as_slice()) {
                    (Some(BoundValue::Names(names)), [PathSource::Below(directory)]) if names == directory => paths,
                    _ => return None,
                },
                _ => return None,
            };
        }
        Some(paths)
    }

    /// A list that is not only read may hold anything.
    fn forget_changed_lists(&mut self, tokens: &PythonTokens<'a>) {
        let is_list = |value: &BoundValue| matches!(value, BoundValue::List(_) | BoundValue::Names(_));
        let lists: Vec<&'a str> =
            self.values.iter().filter(|(_, value)| is_list(value)).map(|(name, _)| *name).collect();
        let is_changed = |name: &&str| tokens.parts.iter().any(|part| !is_only_read(part, name));
        if lists.iter().any(is_changed) {
            // Loops over it may have bound other names.
            for value in self.values.values_mut() {
                *value = BoundValue::Other;
            }
        }
    }
}

/// Whether a list is only bound, looped over and shown.
fn is_only_read(tokens: &[PythonToken<'_>], name: &str) -> bool {
    tokens.iter().enumerate().all(|(at, token)| {
        if *token != PythonToken::Name(name) {
            return true;
        }
        let back = |count: usize| at.checked_sub(count).and_then(|at| tokens.get(at));
        let is_bound = matches!(tokens.get(at + 1), Some(PythonToken::Sign("="))) && !matches!(back(1), Some(PythonToken::Sign("(")));
        let is_target = matches!(back(1), Some(PythonToken::Name("for") | PythonToken::Sign(","))) || is_bound;
        let is_looped = matches!(back(1), Some(PythonToken::Name("in")));
        let is_shown = matches!((back(2), back(1)), (Some(PythonToken::Name(reader)), Some(PythonToken::Sign("("))) if READING.contains(reader));
        let is_used = matches!(tokens.get(at + 1), Some(PythonToken::Sign("." | "[" | "+=")));
        !is_used && (is_target || is_looped || is_shown)
    })
}

/// The first token outside brackets that is looked for.
fn find_outside(tokens: &[PythonToken<'_>], is_found: impl Fn(&PythonToken<'_>) -> bool) -> Option<usize> {
    let end = find_end(tokens, &is_found);
    tokens.get(end).is_some_and(is_found).then_some(end)
}

/// The same, or where the brackets around all of it close, or the end.
fn find_end(tokens: &[PythonToken<'_>], is_found: impl Fn(&PythonToken<'_>) -> bool) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            PythonToken::Sign("(" | "[" | "{") => depth += 1,
            PythonToken::Sign(")" | "]" | "}") if depth == 0 => return at,
            PythonToken::Sign(")" | "]" | "}") => depth -= 1,
            token if depth == 0 && is_found(token) => return at,
            _ => {}
        }
    }
    tokens.len()
}

/// Where the bracket that opens here closes.
fn find_bracket_end(tokens: &[PythonToken<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            PythonToken::Sign("(" | "[" | "{") => depth += 1,
            PythonToken::Sign(")" | "]" | "}") => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The arguments between brackets.
pub(super) fn split_arguments<'t, 'a>(
    tokens: &'t [PythonToken<'a>],
    open: usize,
) -> Option<Vec<&'t [PythonToken<'a>]>> {
    let end = find_bracket_end(tokens, open)?;
    let mut rest = tokens.get(open + 1..end)?;
    let mut arguments = Vec::new();
    while let Some(comma) = find_outside(rest, |token| *token == PythonToken::Sign(",")) {
        arguments.push(rest.get(..comma)?);
        rest = rest.get(comma + 1..)?;
    }
    if !rest.is_empty() {
        arguments.push(rest);
    }
    Some(arguments)
}
