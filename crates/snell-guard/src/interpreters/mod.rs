//! Inline code of other languages in a command line.
//!
//! Only calls are analysed: strings and comments are recognised, constant values are followed, and every known call is
//! turned into the equivalent shell command, so that one set of tables judges both. Unknown calls have no effect, like
//! unknown programs.

mod client_libraries;
mod eval;
mod fork_bomb;
mod languages;
mod lexer;
mod literals;
mod lower;
mod parser;
mod reverse_shell;
mod secret_probe;

/// Names in code that are the same in many languages: `data/code_words.toml`, as the build script compiled it.
mod words {
    include!(concat!(env!("OUT_DIR"), "/code_words.rs"));
}

use crate::effects::{Effect, build_limit_effect};
use crate::interpret::{CodeLanguage, InlineCode};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::policy::entries::EntryPattern;
use lower::LoweringContext;
use parser::ScriptParser;

pub(crate) use eval::MAX_WORDS;
pub(crate) use lower::MAX_SHELL_TEXTS;
pub(crate) use parser::MAX_DEPTH;

/// Longer code is read up to here: more than Linux takes as one argument.
pub(crate) const MAX_BYTES: usize = 1 << 17;

/// How deep code that runs a shell that runs code is followed.
pub(crate) const MAX_NESTED: usize = 3;

/// The effects of code that this invocation runs.
pub fn analyze_code(inline: &InlineCode, invocation: &Invocation, context: &JudgeContext) -> Vec<Effect> {
    analyze_watched_code(inline, invocation, context, &[])
}

/// The same, with the commands marked that entries deny or ask about.
pub(crate) fn analyze_watched_code(
    inline: &InlineCode,
    invocation: &Invocation,
    context: &JudgeContext,
    watched: &[Option<EntryPattern>],
) -> Vec<Effect> {
    analyze_nested_code(inline, invocation, context, watched, 0)
}

fn analyze_nested_code(
    inline: &InlineCode,
    invocation: &Invocation,
    context: &JudgeContext,
    watched: &[Option<EntryPattern>],
    depth: usize,
) -> Vec<Effect> {
    if depth > MAX_NESTED {
        return vec![build_limit_effect("the code", invocation.span.clone())];
    }
    // As code, this name has no known value.
    let mut text = inline.text.render(|_| "unknown");
    text.truncate(text.floor_char_boundary(MAX_BYTES));
    let is_cut = inline.text.size() > MAX_BYTES;
    let text = normalize_strings(text, inline.language);
    let new_lowering = |name| {
        let mut lowering = LoweringContext::new(name, invocation, context, depth);
        lowering.watched = watched;
        if is_cut {
            lowering.mark_limited();
        }
        lowering
    };
    if inline.language == CodeLanguage::Tcl {
        let mut effects = lower::lower_tcl(&text, new_lowering("Tcl"));
        effects.extend(literals::lower_literals(&text, new_lowering("Tcl")));
        return effects;
    }
    if inline.language == CodeLanguage::Other {
        return literals::lower_literals(&text, new_lowering("The code"));
    }
    let Some(language) = languages::find_language(inline.language) else {
        return Vec::new();
    };
    let mut stage = new_lowering(language.name);
    stage.expands_tilde = language.expands_tilde;
    let tokens = lexer::tokenize_code(&text, language);
    if fork_bomb::has_fork_bomb(&tokens) {
        stage.mark_rule("process.fork-bomb");
    }
    if reverse_shell::has_reverse_shell(&tokens) {
        stage.mark_rule("network.reverse-shell");
    }
    ScriptParser::new(language, tokens, &mut stage).run_both_passes();
    let mut effects = stage.into_effects();
    effects.extend(literals::lower_walks(&text, new_lowering(language.name)));
    let literals = literals::CodeLiterals::from_code(&text);
    if literals.hides_calls(&text) {
        effects.extend(literals.lower(literals::LiteralMode::Reflection, new_lowering(language.name)));
        for code in literals.inner_codes().filter(|_| depth < MAX_NESTED) {
            let inner = InlineCode { text: SymbolicText::from_text(code), ..inline.clone() };
            effects.extend(analyze_nested_code(&inner, invocation, context, watched, depth + 1));
            effects.extend(literals::lower_literals(code, new_lowering(language.name)));
        }
    }
    effects
}

/// Strings with other delimiters than quotes, as quoted ones: `~c"…"` of Elixir, `[[…]]` of Lua.
fn normalize_strings(text: String, language: CodeLanguage) -> String {
    match language {
        CodeLanguage::Elixir if text.contains("~c") => text.replace("~c\"", "\"").replace("~c'", "'"),
        CodeLanguage::Lua if text.contains("[[") && !text.contains('"') => text.replace("[[", "\"").replace("]]", "\""),
        CodeLanguage::Tcl => replace_all(text, words::literals::TCL_HOME_EXPRESSIONS, "~"),
        CodeLanguage::Other => replace_all(text, words::literals::HOME_EXPRESSIONS, "\"~\""),
        CodeLanguage::Perl if text.contains(['{', '<']) => name_chosen_programs(&name_globs(text)),
        _ => text,
    }
}

/// The text with each of these expressions replaced.
fn replace_all(text: String, expressions: &[&str], by: &str) -> String {
    expressions.iter().fold(text, |text, expression| match text.contains(expression) {
        true => text.replace(expression, by),
        false => text,
    })
}

/// Perl's `<directory/*>`, as a call.
fn name_globs(text: String) -> String {
    let Some((before, rest)) = text.split_once('<').filter(|(_, rest)| rest.starts_with(['/', '~'])) else {
        return text;
    };
    match rest.split_once('>') {
        Some((pattern, after)) if !pattern.contains([' ', '"', '\'', ';']) => {
            format!("{before}glob(\"{pattern}\"){after}")
        }
        _ => text,
    }
}

/// Perl's `system {program} list`, as a call that has the program as its first argument.
fn name_chosen_programs(text: &str) -> String {
    const MAX_BLOCK: usize = 64;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let head = before.trim_end();
        let call = ["system", "exec"].iter().find(|call| head.ends_with(**call) && !head.contains("sub "));
        let block = call.and_then(|_| {
            let near = after.get(..after.floor_char_boundary(MAX_BLOCK))?;
            let (block, _) = near.split_once('}').filter(|(block, _)| !block.contains(';'))?;
            Some((block, after.get(block.len() + 1..)?))
        });
        match block {
            Some((block, after)) => {
                out.push_str(head);
                out.push_str(&format!("_as {}, ", block.trim()));
                rest = after;
            }
            _ => {
                out.push_str(before);
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
