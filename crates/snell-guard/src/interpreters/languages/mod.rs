//! How languages write strings, comments and calls.

pub(crate) mod julia_elixir;
pub(crate) mod scripting;

use super::calls::{self, CallAction, ReturnKind};
use super::lexer::ScriptToken;

use crate::interpret::CodeLanguage;

/// How a language is written, and what its calls do.
#[derive(Debug)]
pub(super) struct LanguageSpec {
    /// What people call it.
    pub(super) name: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [QuoteSpec],
    /// Letters that may stand in front of a quote.
    pub(super) prefixes: &'static str,
    /// How a hole begins in strings that have a name: `qq(…)`, `%Q(…)`.
    pub(super) interpolation: &'static str,
    /// Whether there are `q(…)`, `%w[…]` and their like.
    pub(super) named_quotes: bool,
    /// How here-documents begin; nothing if there are none.
    pub(super) heredoc_sign: &'static str,
    /// Whether names may end in `!` or `?`.
    pub(super) marked_names: bool,
    /// Whether there are patterns between slashes.
    pub(super) has_regex_literals: bool,
    /// Signs that belong to the name behind them.
    pub(super) sigils: &'static str,
    /// Whether `$` is a letter.
    pub(super) dollar_names: bool,
    /// What stands between a thing and its part, and between strings that become one.
    pub(super) joining_operators: &'static [(&'static str, ScriptToken)],
    /// Whether a function may be called without parentheses.
    pub(super) bare_calls: bool,
    /// Whether its functions take `~` for the home directory.
    pub(super) expands_tilde: bool,
    pub(super) actions: &'static [(&'static str, CallAction)],
    pub(super) return_kinds: &'static [(&'static str, ReturnKind)],
}

/// A kind of string.
#[derive(Debug)]
pub(super) struct QuoteSpec {
    pub(super) mark: &'static str,
    /// Whether backslashes mean themselves.
    pub(super) raw: bool,
    /// How a hole begins.
    pub(super) interpolation: &'static str,
    /// Whether it runs.
    pub(super) command: bool,
}

const fn plain_quote(mark: &'static str) -> QuoteSpec {
    interpolated_quote(mark, "")
}

const fn interpolated_quote(mark: &'static str, holes: &'static str) -> QuoteSpec {
    QuoteSpec { mark, raw: false, interpolation: holes, command: false }
}

const fn command_quote(holes: &'static str) -> QuoteSpec {
    QuoteSpec { mark: "`", raw: false, interpolation: holes, command: true }
}

const BASE_LANGUAGE: LanguageSpec = LanguageSpec {
    name: "The script",
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[plain_quote("\""), plain_quote("'")],
    prefixes: "",
    interpolation: "",
    named_quotes: false,
    heredoc_sign: "",
    marked_names: false,
    has_regex_literals: false,
    sigils: "",
    dollar_names: false,
    joining_operators: &[(".", ScriptToken::Dot), ("+", ScriptToken::Join)],
    bare_calls: false,
    expands_tilde: false,
    actions: &[],
    return_kinds: &[],
};

static PYTHON: LanguageSpec = LanguageSpec {
    name: "Python",
    quotes: &[plain_quote("\"\"\""), plain_quote("'''"), plain_quote("\""), plain_quote("'")],
    prefixes: "rRbBuUfF",
    actions: calls::PYTHON,
    return_kinds: calls::PYTHON_VALUES,
    ..BASE_LANGUAGE
};

static NODE: LanguageSpec = LanguageSpec {
    name: "JavaScript",
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    quotes: &[plain_quote("\""), plain_quote("'"), interpolated_quote("`", "${")],
    has_regex_literals: true,
    dollar_names: true,
    joining_operators: &[
        ("?.", ScriptToken::Dot),
        ("...", ScriptToken::Sign("...")),
        (".", ScriptToken::Dot),
        ("+=", ScriptToken::Sign("+=")),
        ("++", ScriptToken::Sign("++")),
        ("+", ScriptToken::Join),
    ],
    actions: calls::NODE,
    return_kinds: calls::NODE_VALUES,
    ..BASE_LANGUAGE
};

static PERL: LanguageSpec = LanguageSpec {
    name: "Perl",
    quotes: &[interpolated_quote("\"", "$"), plain_quote("'"), command_quote("$")],
    interpolation: "$",
    named_quotes: true,
    heredoc_sign: "<<",
    has_regex_literals: true,
    sigils: "$@%",
    joining_operators: &[
        ("->", ScriptToken::Dot),
        ("::", ScriptToken::Dot),
        (".=", ScriptToken::Sign("+=")),
        (".", ScriptToken::Join),
    ],
    bare_calls: true,
    actions: scripting::PERL,
    return_kinds: scripting::PERL_VALUES,
    ..BASE_LANGUAGE
};

static RUBY: LanguageSpec = LanguageSpec {
    name: "Ruby",
    block_comments: &[("\n=begin", "\n=end")],
    quotes: &[interpolated_quote("\"", "#{"), plain_quote("'"), command_quote("#{")],
    interpolation: "#{",
    named_quotes: true,
    heredoc_sign: "<<",
    marked_names: true,
    has_regex_literals: true,
    sigils: "$@:",
    joining_operators: &[
        ("::", ScriptToken::Dot),
        ("&.", ScriptToken::Dot),
        ("..", ScriptToken::Sign("...")),
        (".", ScriptToken::Dot),
        ("+", ScriptToken::Join),
    ],
    bare_calls: true,
    actions: scripting::RUBY,
    return_kinds: scripting::RUBY_VALUES,
    ..BASE_LANGUAGE
};

static PHP: LanguageSpec = LanguageSpec {
    name: "PHP",
    line_comments: &["//", "#"],
    block_comments: &[("/*", "*/")],
    quotes: &[interpolated_quote("\"", "$"), plain_quote("'"), command_quote("$")],
    sigils: "$",
    heredoc_sign: "<<<",
    joining_operators: &[
        ("->", ScriptToken::Dot),
        ("::", ScriptToken::Dot),
        (".=", ScriptToken::Sign("+=")),
        (".", ScriptToken::Join),
    ],
    bare_calls: true,
    actions: scripting::PHP,
    return_kinds: scripting::PHP_VALUES,
    ..BASE_LANGUAGE
};

static LUA: LanguageSpec = LanguageSpec {
    name: "Lua",
    line_comments: &["--"],
    block_comments: &[("--[[", "]]")],
    joining_operators: &[("..", ScriptToken::Join), (":", ScriptToken::Dot), (".", ScriptToken::Dot)],
    bare_calls: true,
    actions: scripting::LUA,
    return_kinds: scripting::LUA_VALUES,
    ..BASE_LANGUAGE
};

static R: LanguageSpec = LanguageSpec {
    name: "R",
    expands_tilde: true,
    joining_operators: &[("::", ScriptToken::Dot), (".", ScriptToken::Dot)],
    actions: scripting::R,
    return_kinds: scripting::R_VALUES,
    ..BASE_LANGUAGE
};

static JULIA: LanguageSpec = LanguageSpec {
    name: "Julia",
    block_comments: &[("#=", "=#")],
    quotes: &[plain_quote("\"\"\""), plain_quote("\""), command_quote("$")],
    joining_operators: &[(".", ScriptToken::Dot), ("*", ScriptToken::Join)],
    actions: julia_elixir::JULIA,
    return_kinds: julia_elixir::JULIA_VALUES,
    ..BASE_LANGUAGE
};

static ELIXIR: LanguageSpec = LanguageSpec {
    name: "Elixir",
    quotes: &[plain_quote("\"\"\""), interpolated_quote("\"", "#{"), interpolated_quote("'", "#{")],
    joining_operators: &[("<>", ScriptToken::Join), (".", ScriptToken::Dot)],
    marked_names: true,
    bare_calls: true,
    actions: julia_elixir::ELIXIR,
    return_kinds: julia_elixir::ELIXIR_VALUES,
    ..BASE_LANGUAGE
};

static APPLE_SCRIPT: LanguageSpec = LanguageSpec {
    name: "AppleScript",
    line_comments: &["--"],
    block_comments: &[("(*", "*)")],
    quotes: &[plain_quote("\"")],
    joining_operators: &[("&", ScriptToken::Join)],
    bare_calls: true,
    actions: scripting::APPLE_SCRIPT,
    ..BASE_LANGUAGE
};

/// The language of some code; nothing if it is not read here.
pub(super) fn find_language(code: CodeLanguage) -> Option<&'static LanguageSpec> {
    match code {
        CodeLanguage::Python => Some(&PYTHON),
        CodeLanguage::Node => Some(&NODE),
        CodeLanguage::Perl => Some(&PERL),
        CodeLanguage::Ruby => Some(&RUBY),
        CodeLanguage::Php => Some(&PHP),
        CodeLanguage::Lua => Some(&LUA),
        CodeLanguage::R => Some(&R),
        CodeLanguage::Julia => Some(&JULIA),
        CodeLanguage::Elixir => Some(&ELIXIR),
        CodeLanguage::AppleScript => Some(&APPLE_SCRIPT),
        CodeLanguage::Shell | CodeLanguage::Awk | CodeLanguage::Tcl | CodeLanguage::PowerShell => None,
    }
}
