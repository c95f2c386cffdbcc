//! The programs that the guard knows: the tables of `data/programs`, compiled by the build script.

pub(crate) mod argv;
pub(crate) mod find_filters;

/// Lists of programs, flags and variables: `data/program_words.toml`, as the build script compiled it.
pub(crate) mod words {
    include!(concat!(env!("OUT_DIR"), "/program_words.rs"));
}

use crate::effects::PathAction;
use crate::invocation::{SymbolicText, UnknownKind, base_name};
use crate::programs::argv::ParsedArgs;

/// A program, or several that are used in the same way.
#[derive(Debug)]
pub(crate) struct ProgramSpec {
    /// Flags that take the next word or an attached value.
    pub(crate) value_flags: &'static [&'static str],
    /// Flags that take only an attached value.
    pub(crate) attached_flags: &'static [&'static str],
    /// Long flags without their dashes, if they may be abbreviated.
    pub(crate) long_flags: &'static [&'static str],
    /// Flags that set the working directory.
    pub(crate) cwd_flags: &'static [&'static [&'static str]],
    /// Flags whose value is code.
    pub(crate) code_flags: &'static [&'static [&'static str]],
    /// Flags for help, previews and dry runs.
    pub(crate) idle_flags: &'static [&'static str],
    /// Whether flags end at the first operand.
    pub(crate) flags_first: bool,
    /// Whether some of its subcommands have entries of their own: `git stash`.
    pub(crate) has_commands: bool,
    pub(crate) style: FlagStyle,
    pub(crate) handler: Option<ProgramHandler>,
    /// Whether it does not show what it reads from standard input.
    pub(crate) discreet: bool,
    /// Whether it uses only names, dates or the existence of files.
    pub(crate) names_only: bool,
    /// Whether it is an agent.
    pub(crate) agent: bool,
    pub(crate) uses: &'static [ProgramUse],
}

/// The syntax of a program's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagStyle {
    /// `-rf`, `--force`.
    Gnu,
    /// `-delete`: one dash and a word.
    Words,
    /// As `Gnu`, and the first word is a cluster even without a dash: `tar xvf`.
    Old,
}

/// Programs that no table can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramHandler {
    Chmod,
    Chown,
    Find,
    Interpreter,
    Kill,
    Move,
    RemoteCopy,
    Sql,
}

/// One way of using a program, and its effect.
#[derive(Debug)]
pub(crate) struct ProgramUse {
    /// Its first operands, each with alternatives.
    pub(crate) words: &'static [&'static [&'static str]],
    /// Flags that must all be present, in one of their spellings.
    pub(crate) needs: &'static [&'static [&'static str]],
    /// Flags; one of them must be present.
    pub(crate) any: &'static [&'static str],
    /// Flags; none of them may be present.
    pub(crate) unless: &'static [&'static str],
    /// Patterns; one of them must match an operand.
    pub(crate) operand: &'static [&'static str],
    /// Patterns that must match no operand.
    pub(crate) unless_operand: &'static [&'static str],
    /// Whether operands must be present (`true`) or absent (`false`).
    pub(crate) operands: Option<bool>,
    /// Whether an operand must come from a search: `$(docker ps -q)`.
    pub(crate) looked_up: bool,
    /// Whether an operand must be the process of the agent or of Snell: `$PPID`.
    pub(crate) on_agent: bool,
    /// Whether it is harmless in a temporary directory.
    pub(crate) unless_in_temp: bool,
    /// Whether it is also harmless in the project.
    pub(crate) unless_in_project: bool,
    /// Variables with values that make it harmless: `RAILS_ENV=test`.
    pub(crate) unless_variable: &'static [&'static str],
    /// Variables; one of them must be set for it, or changed for all programs before it: `SNELL_*`.
    pub(crate) variable: &'static [&'static str],
    /// Whether it writes new files, so that no existing secret is lost in the project or in a temporary directory.
    pub(crate) new: bool,
    pub(crate) does: UseEffect,
    pub(crate) on: UseTarget,
    pub(crate) recursive: UseRecursion,
}

/// The effect of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseEffect {
    /// This rule judges it, whatever its target.
    Rule(usize),
    /// This action on its targets.
    Effect(PathAction),
    /// It prints this.
    Prints(UnknownKind),
}

/// The targets of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseTarget {
    Nothing,
    Operands,
    First,
    Last,
    AllButFirst,
    AllButLast,
    /// The value of a flag.
    Flag(&'static [&'static str]),
    /// The file that follows an `@` in the value of a flag.
    FlagAt(&'static [&'static str]),
    /// The host directory in the value of a flag: `-v directory:/there`.
    FlagHost(&'static [&'static str]),
    /// The operands' names in the directory that the last of them, or the value of a flag, names.
    Into(&'static [&'static str]),
    /// The last operand, if one file is written there under another name.
    Renamed,
    /// The file that follows an `@` in an operand: `field@file`.
    OperandsAt,
    /// The rest of an argument, also of a flag, after one of these prefixes.
    Argument(&'static [&'static str]),
    /// The rest of an operand after one of these prefixes: `key=value`.
    Key(&'static [&'static str]),
    /// The files of URLs: `file:///etc/hosts`.
    FileUrls,
    /// The directory in which it runs.
    Cwd,
    /// Its standard input.
    Stdin,
    /// The contents of its arguments, not the files that they name.
    Arguments,
}

/// Whether it includes everything below directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseRecursion {
    Never,
    Always,
    With(&'static [&'static str]),
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Snell's own name: some file systems ignore case.
const SNELL_NAME: &str = "snell";

/// The program with this name, with or without its directory: `/usr/bin/rm`, `python3.12`, `cmd.exe`.
pub(crate) fn find_program(name: &str) -> Option<(&'static str, &'static ProgramSpec)> {
    if name.starts_with("/etc/init.d/") {
        return find_exact_program("service");
    }
    let base = base_name(name);
    let base = base.strip_suffix(".exe").unwrap_or(base);
    // `npx @scope/package@version`, `uvx package==version`
    let package = base.find(['@', '=', '[']).filter(|at| *at > 0).and_then(|at| base.get(..at));
    find_exact_program(base)
        .or_else(|| find_exact_program(base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')))
        .or_else(|| package.and_then(find_exact_program))
        .or_else(|| find_exact_program(SNELL_NAME).filter(|_| base.eq_ignore_ascii_case(SNELL_NAME)))
}

/// Whether a program of this name is an agent.
pub(crate) fn is_agent_program(name: &str) -> bool {
    find_exact_program(name).is_some_and(|(_, program)| program.agent)
}

/// The entry for programs without one.
pub(crate) fn fallback_program() -> Option<&'static ProgramSpec> {
    find_exact_program("*").map(|(_, program)| program)
}

fn find_exact_program(name: &str) -> Option<(&'static str, &'static ProgramSpec)> {
    let at = NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    let (name, program) = NAMES.get(at)?;
    Some((name, PROGRAMS.get(*program)?))
}

/// A call of a program.
#[derive(Clone, Debug)]
pub(crate) struct ProgramCall<'a> {
    /// Its name in the tables, with its subcommands: `git stash`.
    pub(crate) name: &'static str,
    pub(crate) program: &'static ProgramSpec,
    /// Its arguments.
    pub(crate) arguments: &'a [SymbolicText],
    /// For a subcommand: its programs, outermost first, and the arguments of each before the subcommand's name.
    pub(crate) outer: Vec<(&'static ProgramSpec, &'a [SymbolicText])>,
}

/// The program that a command line calls. Subcommands with their own entries follow the flags of their program: `git -C
/// x stash drop` calls `git stash` with `drop`.
pub(crate) fn resolve_program_call(argv: &[SymbolicText]) -> Option<ProgramCall<'_>> {
    let (first, arguments) = argv.split_first()?;
    let (name, program) = find_program(first.as_text()?)?;
    let mut called = ProgramCall { name, program, arguments, outer: Vec::new() };
    while called.program.has_commands && enter_subcommand(&mut called).is_some() {}
    Some(called)
}

/// Continues with the subcommand, if it has its own entry.
fn enter_subcommand(called: &mut ProgramCall<'_>) -> Option<()> {
    let at = ParsedArgs::find_first_operand(called.program, called.arguments)?;
    let (before, rest) = called.arguments.split_at_checked(at)?;
    let (word, arguments) = rest.split_first()?;
    let (name, program) = find_exact_program(&format!("{} {}", called.name, word.as_text()?))?;
    called.outer.push((called.program, before));
    (called.name, called.program, called.arguments) = (name, program, arguments);
    Some(())
}
