//! How languages write strings, comments and calls.

use super::calls::{self, Act, Gives};
use super::scan::Token;
use super::{others, scripting};
use crate::shell::Code;

/// How a language is written, and what its calls do.
#[derive(Debug)]
pub(super) struct Language {
    /// What people call it.
    pub(super) name: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [Quote],
    /// Letters that may stand in front of a quote.
    pub(super) prefixes: &'static str,
    /// How a hole begins in strings that have a name: `qq(…)`, `%Q(…)`.
    pub(super) holes: &'static str,
    /// Whether there are `q(…)`, `%w[…]` and their like.
    pub(super) named_quotes: bool,
    /// How here-documents begin; nothing if there are none.
    pub(super) here: &'static str,
    /// Whether names may end in `!` or `?`.
    pub(super) marked_names: bool,
    /// Whether there are patterns between slashes.
    pub(super) patterns: bool,
    /// Signs that belong to the name behind them.
    pub(super) sigils: &'static str,
    /// Whether `$` is a letter.
    pub(super) dollar_names: bool,
    /// What stands between a thing and its part, and between strings that become one.
    pub(super) joints: &'static [(&'static str, Token)],
    /// Whether a function may be called without parentheses.
    pub(super) bare_calls: bool,
    /// Whether its functions take `~` for the home directory.
    pub(super) tilde: bool,
    pub(super) acts: &'static [(&'static str, Act)],
    pub(super) values: &'static [(&'static str, Gives)],
}

/// A kind of string.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) mark: &'static str,
    /// Whether backslashes mean themselves.
    pub(super) raw: bool,
    /// How a hole begins.
    pub(super) holes: &'static str,
    /// Whether it runs.
    pub(super) command: bool,
}

const fn plain(mark: &'static str) -> Quote {
    holed(mark, "")
}

const fn holed(mark: &'static str, holes: &'static str) -> Quote {
    Quote {
        mark,
        raw: false,
        holes,
        command: false,
    }
}

const fn command(holes: &'static str) -> Quote {
    Quote {
        mark: "`",
        raw: false,
        holes,
        command: true,
    }
}

const BASE: Language = Language {
    name: "The script",
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[plain("\""), plain("'")],
    prefixes: "",
    holes: "",
    named_quotes: false,
    here: "",
    marked_names: false,
    patterns: false,
    sigils: "",
    dollar_names: false,
    joints: &[(".", Token::Dot), ("+", Token::Join)],
    bare_calls: false,
    tilde: false,
    acts: &[],
    values: &[],
};

static PYTHON: Language = Language {
    name: "Python",
    quotes: &[plain("\"\"\""), plain("'''"), plain("\""), plain("'")],
    prefixes: "rRbBuUfF",
    acts: calls::PYTHON,
    values: calls::PYTHON_VALUES,
    ..BASE
};

static NODE: Language = Language {
    name: "JavaScript",
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    quotes: &[plain("\""), plain("'"), holed("`", "${")],
    patterns: true,
    dollar_names: true,
    joints: &[
        ("?.", Token::Dot),
        ("...", Token::Sign("...")),
        (".", Token::Dot),
        ("+=", Token::Sign("+=")),
        ("++", Token::Sign("++")),
        ("+", Token::Join),
    ],
    acts: calls::NODE,
    values: calls::NODE_VALUES,
    ..BASE
};

static PERL: Language = Language {
    name: "Perl",
    quotes: &[holed("\"", "$"), plain("'"), command("$")],
    holes: "$",
    named_quotes: true,
    here: "<<",
    patterns: true,
    sigils: "$@%",
    joints: &[
        ("->", Token::Dot),
        ("::", Token::Dot),
        (".=", Token::Sign("+=")),
        (".", Token::Join),
    ],
    bare_calls: true,
    acts: scripting::PERL,
    values: scripting::PERL_VALUES,
    ..BASE
};

static RUBY: Language = Language {
    name: "Ruby",
    block_comments: &[("\n=begin", "\n=end")],
    quotes: &[holed("\"", "#{"), plain("'"), command("#{")],
    holes: "#{",
    named_quotes: true,
    here: "<<",
    marked_names: true,
    patterns: true,
    sigils: "$@:",
    joints: &[
        ("::", Token::Dot),
        ("&.", Token::Dot),
        ("..", Token::Sign("...")),
        (".", Token::Dot),
        ("+", Token::Join),
    ],
    bare_calls: true,
    acts: scripting::RUBY,
    values: scripting::RUBY_VALUES,
    ..BASE
};

static PHP: Language = Language {
    name: "PHP",
    line_comments: &["//", "#"],
    block_comments: &[("/*", "*/")],
    quotes: &[holed("\"", "$"), plain("'"), command("$")],
    sigils: "$",
    here: "<<<",
    joints: &[
        ("->", Token::Dot),
        ("::", Token::Dot),
        (".=", Token::Sign("+=")),
        (".", Token::Join),
    ],
    bare_calls: true,
    acts: scripting::PHP,
    values: scripting::PHP_VALUES,
    ..BASE
};

static LUA: Language = Language {
    name: "Lua",
    line_comments: &["--"],
    block_comments: &[("--[[", "]]")],
    joints: &[("..", Token::Join), (":", Token::Dot), (".", Token::Dot)],
    bare_calls: true,
    acts: scripting::LUA,
    values: scripting::LUA_VALUES,
    ..BASE
};

static R: Language = Language {
    name: "R",
    tilde: true,
    joints: &[("::", Token::Dot), (".", Token::Dot)],
    acts: scripting::R,
    values: scripting::R_VALUES,
    ..BASE
};

static JULIA: Language = Language {
    name: "Julia",
    block_comments: &[("#=", "=#")],
    quotes: &[plain("\"\"\""), plain("\""), command("$")],
    joints: &[(".", Token::Dot), ("*", Token::Join)],
    acts: others::JULIA,
    values: others::JULIA_VALUES,
    ..BASE
};

static ELIXIR: Language = Language {
    name: "Elixir",
    quotes: &[plain("\"\"\""), holed("\"", "#{"), holed("'", "#{")],
    joints: &[("<>", Token::Join), (".", Token::Dot)],
    marked_names: true,
    bare_calls: true,
    acts: others::ELIXIR,
    values: others::ELIXIR_VALUES,
    ..BASE
};

static APPLE_SCRIPT: Language = Language {
    name: "AppleScript",
    line_comments: &["--"],
    block_comments: &[("(*", "*)")],
    quotes: &[plain("\"")],
    joints: &[("&", Token::Join)],
    bare_calls: true,
    acts: scripting::APPLE_SCRIPT,
    ..BASE
};

/// The language of some code; nothing if it is not read here.
pub(super) fn of(code: Code) -> Option<&'static Language> {
    match code {
        Code::Python => Some(&PYTHON),
        Code::Node => Some(&NODE),
        Code::Perl => Some(&PERL),
        Code::Ruby => Some(&RUBY),
        Code::Php => Some(&PHP),
        Code::Lua => Some(&LUA),
        Code::R => Some(&R),
        Code::Julia => Some(&JULIA),
        Code::Elixir => Some(&ELIXIR),
        Code::AppleScript => Some(&APPLE_SCRIPT),
        Code::Shell | Code::Awk | Code::Tcl | Code::PowerShell => None,
    }
}
