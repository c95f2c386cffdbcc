//! Programs that run programs: `data/wrappers.toml`, compiled by the build script.

use crate::interpret::CodeLanguage;
use crate::invocation::base_name;

/// A program that runs programs, or one way of using it.
#[derive(Debug)]
pub(crate) struct WrapperSpec {
    /// Its first operands, each with alternatives.
    pub(crate) words: &'static [&'static [&'static str]],
    pub(crate) value_flags: &'static [&'static str],
    pub(crate) attached_flags: &'static [&'static str],
    pub(crate) cwd_flags: &'static [&'static [&'static str]],
    /// Flags whose value is shell code, and the prefix before the code.
    pub(crate) code: &'static [(&'static [&'static str], &'static [&'static str])],
    /// Flags whose value is code of the language.
    pub(crate) inline: &'static [&'static [&'static str]],
    /// Flags with which it runs nothing.
    pub(crate) refuse: &'static [&'static str],
    /// Flags whose value is a file that the wrapper writes itself.
    pub(crate) writes: &'static [&'static [&'static str]],
    pub(crate) language: Option<CodeLanguage>,
    pub(crate) runs: WrapperMode,
    /// The number of operands before the command.
    pub(crate) operands: usize,
    /// Whether the wrapper itself is reported too.
    pub(crate) keep: bool,
    pub(crate) privileged: bool,
    pub(crate) elsewhere: bool,
    /// Whether the container is created for this command.
    pub(crate) fresh: bool,
    pub(crate) assignments: bool,
    /// Whether standard input is shell code if there is no command.
    pub(crate) stdin: bool,
    /// Whether its long flags may be abbreviated.
    pub(crate) abbreviates: bool,
}

/// The code or command that a wrapper runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrapperMode {
    Nothing,
    Words,
    Code,
    AfterDashes,
    Package,
    EachIsCode,
    Shell,
    PowerShell,
    Batch,
    Xargs,
    Parallel,
    Find,
    Fd,
    Env,
    Git,
    Awk,
    Sed,
    Editor,
    Client,
    Make,
    Daemon,
    Keys,
    Crontab,
}

/// Variables with options or code for a program.
#[derive(Debug)]
pub(super) struct OptionVariable {
    pub(super) names: &'static [&'static str],
    pub(super) program: &'static str,
    /// Words between the program and the value.
    pub(super) before: &'static [&'static str],
    /// Whether the value is one word.
    pub(super) whole: bool,
}

/// A configuration file with options of the command line.
#[derive(Debug)]
pub(super) struct ConfigFileSpec {
    pub(super) names: &'static [&'static str],
    /// Flags whose value is the file.
    pub(super) flags: &'static [&'static str],
    /// How a line becomes an option: `--NAME VALUE`, or `-o NAME=VALUE`.
    pub(super) option: &'static str,
}

/// A program that prints the names of files that it finds.
#[derive(Debug)]
pub(crate) struct SearchProgram {
    pub(crate) names: &'static [&'static str],
    /// Whether its first operand is a name, not a text.
    pub(crate) by_name: bool,
    /// Flags that take the next word.
    pub(crate) values: &'static [&'static str],
    /// Those of them whose value selects names.
    pub(crate) globs: &'static [&'static str],
    /// Flags with which it prints names instead of lines; empty if it always does.
    pub(crate) lists: &'static [&'static str],
    /// Flags with which it reads hidden files; empty if it always does.
    pub(crate) hidden: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));

/// The entries for this name.
pub(crate) fn find_wrappers(name: &str) -> &'static [usize] {
    find_named_wrappers(name).map(|(_, entries)| entries).unwrap_or_default()
}

/// The name in the table, and its entries.
pub(crate) fn find_named_wrappers(name: &str) -> Option<(&'static str, &'static [usize])> {
    let base = base_name(name);
    let base = base.strip_suffix(".exe").unwrap_or(base);
    find_exact_name(base)
        .or_else(|| find_exact_name(base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')))
}

fn find_exact_name(name: &str) -> Option<(&'static str, &'static [usize])> {
    let at = NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    NAMES.get(at).copied()
}
