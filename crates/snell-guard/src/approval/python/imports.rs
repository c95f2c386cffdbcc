//! The modules and functions that Python code imports, and their names in it.

use super::super::table::words;
use super::bindings::PythonBindings;
use super::tokens::PythonToken;

impl<'a> PythonBindings<'a> {
    pub(super) fn is_import_start(&self, tokens: &[PythonToken<'a>], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let starts = matches!(before, None | Some(PythonToken::LineEnd | PythonToken::Sign(";" | ":")));
        starts && matches!(tokens.get(at), Some(PythonToken::Name("import" | "from")))
    }

    /// Whether a name is a part of an import.
    pub(super) fn is_import_statement(&self, tokens: &[PythonToken<'a>], at: usize) -> bool {
        let is_end = |token: &PythonToken<'_>| matches!(token, PythonToken::LineEnd | PythonToken::Sign(";" | ":"));
        let before = tokens.get(..at).unwrap_or_default();
        let start = before.iter().rposition(is_end).map_or(0, |end| end + 1);
        self.is_import_start(tokens, start)
    }

    pub(super) fn read_import(&mut self, tokens: &[PythonToken<'a>], at: usize) -> Option<()> {
        let is_end = |token: &PythonToken<'_>| matches!(token, PythonToken::LineEnd | PythonToken::Sign(";"));
        let rest = tokens.get(at + 1..)?;
        let statement = rest.get(..rest.iter().position(is_end).unwrap_or(rest.len()))?;
        if tokens.get(at) == Some(&PythonToken::Name("import")) {
            return statement.split(|token| *token == PythonToken::Sign(",")).try_for_each(|item| {
                let (module, alias) = read_import_item(item)?;
                words::python::MODULES.contains(&module.as_str()).then_some(())?;
                let first = module.split('.').next().unwrap_or_default().to_owned();
                match alias {
                    Some(alias) => self.modules.insert(alias, module),
                    None => match item.first()? {
                        PythonToken::Name(name) => self.modules.insert(name, first),
                        _ => None,
                    },
                };
                Some(())
            });
        }
        let split = statement.iter().position(|token| *token == PythonToken::Name("import"))?;
        let (module, _) = read_import_item(statement.get(..split)?)?;
        words::python::MODULES.contains(&module.as_str()).then_some(())?;
        let is_bracket = |token: &&PythonToken<'_>| !matches!(token, PythonToken::Sign("(" | ")"));
        let items: Vec<PythonToken<'a>> = statement.get(split + 1..)?.iter().filter(is_bracket).copied().collect();
        items.split(|token| *token == PythonToken::Sign(",")).filter(|item| !item.is_empty()).try_for_each(|item| {
            let (name, alias) = read_import_item(item)?;
            let PythonToken::Name(written) = item.first()? else { return None };
            let full = format!("{module}.{name}");
            let alias = alias.unwrap_or(written);
            if words::python::MODULES.contains(&full.as_str()) {
                self.modules.insert(alias, full);
            } else {
                is_function(&full).then_some(())?;
                self.functions.insert(alias, full);
            }
            Some(())
        })
    }

    /// The function that a name starts, and where it ends; an error if it is another member of a module.
    pub(super) fn find_function(&self, tokens: &[PythonToken<'a>], at: usize) -> Option<Option<(String, usize)>> {
        let Some(PythonToken::Name(name)) = tokens.get(at) else { return Some(None) };
        if *name == "open" {
            return Some(Some(("open".to_owned(), at + 1)));
        }
        if let Some(function) = self.functions.get(name) {
            return Some(Some((function.clone(), at + 1)));
        }
        let Some(module) = self.modules.get(name) else { return Some(None) };
        let member = |at: usize| match (tokens.get(at), tokens.get(at + 1)) {
            (Some(PythonToken::Sign(".")), Some(PythonToken::Name(name))) => Some(*name),
            _ => None,
        };
        let first = format!("{module}.{}", member(at + 1)?);
        let second = member(at + 3).map(|name| format!("{first}.{name}"));
        let third = second.as_ref().and_then(|second| member(at + 5).map(|name| format!("{second}.{name}")));
        let candidates = [third.map(|name| (name, at + 7)), second.map(|name| (name, at + 5)), Some((first, at + 3))];
        candidates.into_iter().flatten().find(|(name, _)| is_function(name)).map(Some)
    }

    /// Whether an attribute is the name of a module's function.
    pub(super) fn is_in_function(&self, tokens: &[PythonToken<'a>], at: usize) -> bool {
        let starts = [2, 4, 6].into_iter().filter_map(|back| at.checked_sub(back));
        let mut ends = starts.filter_map(|start| {
            let is_attribute =
                start.checked_sub(1).is_some_and(|before| tokens.get(before) == Some(&PythonToken::Sign(".")));
            let function = self.find_function(tokens, start).flatten().filter(|_| !is_attribute)?;
            Some(function.1)
        });
        ends.any(|end| end > at)
    }
}

fn is_function(name: &str) -> bool {
    words::python::FUNCTIONS.contains(&name) || words::python::PATH_FUNCTIONS.iter().any(|(known, _)| *known == name)
}

/// `a.b`, `a as b`
fn read_import_item<'a>(tokens: &[PythonToken<'a>]) -> Option<(String, Option<&'a str>)> {
    let (path, alias) = match tokens {
        [path @ .., PythonToken::Name("as"), PythonToken::Name(alias)] => (path, Some(*alias)),
        path => (path, None),
    };
    let names = path.iter().map(|token| match token {
        PythonToken::Name(name) => Some(*name),
        PythonToken::Sign(".") => Some("."),
        _ => None,
    });
    let name: String = names.collect::<Option<Vec<&str>>>()?.concat();
    (!name.is_empty()).then_some((name, alias))
}
