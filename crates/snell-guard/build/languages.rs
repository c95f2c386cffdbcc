//! `data/languages/*.toml`: the syntax of the languages of inline code, and the effects of their functions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{BuildError, format_list, format_variant, parse_toml};

/// A language. The fields are those of `LanguageSpec`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LanguageFile {
    name: String,
    line_comments: Option<Vec<String>>,
    block_comments: Vec<(String, String)>,
    quotes: Option<Vec<QuoteEntry>>,
    prefixes: String,
    interpolation: String,
    named_quotes: bool,
    heredoc_sign: String,
    marked_names: bool,
    has_regex_literals: bool,
    sigils: String,
    dollar_names: bool,
    operators: Option<Vec<(String, String)>>,
    bare_calls: bool,
    expands_tilde: bool,
    /// Functions by effect.
    calls: BTreeMap<String, Vec<String>>,
    /// Functions and variables by value.
    values: BTreeMap<String, Vec<String>>,
}

/// A kind of string: its delimiter, or the delimiter with options.
#[derive(Deserialize)]
#[serde(untagged)]
enum QuoteEntry {
    Plain(String),
    Special {
        mark: String,
        interpolation: String,
        #[serde(default)]
        command: bool,
    },
}

/// All languages as one static table.
pub(crate) fn generate_language_table(files: &[PathBuf]) -> Result<String, BuildError> {
    let mut rows = String::new();
    for path in files {
        let row = compile_language(path).map_err(|fault| format!("{}: {fault}", path.display()))?;
        rows.push_str(&row);
    }
    Ok(format!("static LANGUAGES: &[(CodeLanguage, LanguageSpec)] = &[\n{rows}];\n"))
}

fn compile_language(path: &Path) -> Result<String, BuildError> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let language = format_variant("CodeLanguage", stem);
    let file: LanguageFile = parse_toml(path)?;
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let line_comments = file.line_comments.unwrap_or_else(|| owned(&["#"]));
    let quotes = file.quotes.unwrap_or_else(|| ["\"", "'"].map(|mark| QuoteEntry::Plain(mark.to_owned())).into());
    let operators = file.operators.unwrap_or_else(|| [(".", "dot"), ("+", "join")].map(to_owned_pair).into());
    check_order(quotes.iter().map(QuoteEntry::mark))?;
    check_order(operators.iter().map(|(sign, _)| sign.as_str()))?;
    let operators = operators.iter().map(|(sign, token)| format!("({sign:?}, {})", compile_operator(token)));
    Ok(format!(
        "    ({language}, LanguageSpec {{ name: {:?}, line_comments: {}, block_comments: {}, quotes: &[{}], \
         prefixes: {:?}, interpolation: {:?}, named_quotes: {}, heredoc_sign: {:?}, marked_names: {}, \
         has_regex_literals: {}, sigils: {:?}, dollar_names: {}, operators: &[{}], bare_calls: {}, \
         expands_tilde: {}, actions: &[{}], return_kinds: &[{}] }}),\n",
        file.name,
        format_list(&line_comments),
        format_list(&file.block_comments),
        quotes.iter().map(compile_quote).collect::<Vec<_>>().join(", "),
        file.prefixes,
        file.interpolation,
        file.named_quotes,
        file.heredoc_sign,
        file.marked_names,
        file.has_regex_literals,
        file.sigils,
        file.dollar_names,
        operators.collect::<Vec<_>>().join(", "),
        file.bare_calls,
        file.expands_tilde,
        compile_names("calls", &file.calls, compile_action)?,
        compile_names("values", &file.values, |kind| Ok(format_variant("ReturnKind", kind)))?,
    ))
}

fn to_owned_pair((first, second): (&str, &str)) -> (String, String) {
    (first.to_owned(), second.to_owned())
}

impl QuoteEntry {
    fn mark(&self) -> &str {
        match self {
            Self::Plain(mark) | Self::Special { mark, .. } => mark,
        }
    }
}

/// The first mark that matches is used, so a longer mark must come before its prefix.
fn check_order<'m>(marks: impl Iterator<Item = &'m str>) -> Result<(), BuildError> {
    let mut before: Vec<&str> = Vec::new();
    for mark in marks {
        if let Some(hiding) = before.iter().find(|hiding| mark.starts_with(**hiding)) {
            return Err(format!("`{mark}` can never match, because `{hiding}` comes before it").into());
        }
        before.push(mark);
    }
    Ok(())
}

fn compile_quote(quote: &QuoteEntry) -> String {
    let mark = quote.mark();
    let (interpolation, command) = match quote {
        QuoteEntry::Plain(_) => ("", false),
        QuoteEntry::Special { interpolation, command, .. } => (interpolation.as_str(), *command),
    };
    format!("QuoteSpec {{ mark: {mark:?}, interpolation: {interpolation:?}, command: {command} }}")
}

fn compile_operator(token: &str) -> String {
    match token {
        "dot" => "ScriptToken::Dot".to_owned(),
        "join" => "ScriptToken::Join".to_owned(),
        sign => format!("ScriptToken::Sign({sign:?})"),
    }
}

/// A command with the same effect, or the name of an action.
fn compile_action(action: &str) -> Result<String, BuildError> {
    match action {
        "kill-process-first" => return Ok("CallAction::Kill(0, 1)".to_owned()),
        "kill-signal-first" => return Ok("CallAction::Kill(1, 0)".to_owned()),
        name if !name.contains(' ') => return Ok(format_variant("CallAction", name)),
        _ => {}
    }
    let is_place = |place: &str| place.trim_end_matches('+').parse::<usize>().is_ok_and(|number| number > 0);
    let mut places = action.split(' ').filter_map(|word| word.strip_prefix('$'));
    match places.find(|place| !is_place(place)) {
        Some(place) => Err(format!("`{action}`: `${place}` is not an argument").into()),
        None => Ok(format!("CallAction::Like({action:?})")),
    }
}

/// Pairs of a name and its value, sorted by length and then by name, so that a search mostly compares lengths.
fn compile_names(
    section: &str,
    groups: &BTreeMap<String, Vec<String>>,
    compile: impl Fn(&str) -> Result<String, BuildError>,
) -> Result<String, BuildError> {
    let mut rows: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for (group, names) in groups {
        let compiled = compile(group).map_err(|fault| format!("{section}: {fault}"))?;
        for name in names {
            if let Some((before, _)) = rows.insert(name, (group, compiled.clone())) {
                return Err(format!("{section}: `{name}` is in `{before}` and in `{group}`").into());
            }
        }
    }
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_key(|(name, _)| name.len());
    let rows: Vec<String> = rows.iter().map(|(name, (_, compiled))| format!("({name:?}, {compiled})")).collect();
    Ok(rows.join(", "))
}
