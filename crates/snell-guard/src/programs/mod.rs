//! What is known of programs: the tables of `data/programs`, as the build script wrote them.

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
    /// Flags that take the next word, or what is glued to them.
    pub(crate) value_flags: &'static [&'static str],
    /// Flags that take what is glued to them and never the next word.
    pub(crate) attached_flags: &'static [&'static str],
    /// Long flags without their dashes, if they may be shortened.
    pub(crate) long_flags: &'static [&'static str],
    /// Flags that say in which directory it works.
    pub(crate) cwd_flags: &'static [&'static [&'static str]],
    /// Flags whose value is code.
    pub(crate) code_flags: &'static [&'static [&'static str]],
    /// Flags with which it only shows or tries out what it would do.
    pub(crate) idle_flags: &'static [&'static str],
    /// Whether flags end at the first operand.
    pub(crate) flags_first: bool,
    /// Whether some of its commands have entries of their own: `git stash`.
    pub(crate) has_commands: bool,
    pub(crate) style: FlagStyle,
    pub(crate) handler: Option<ProgramHandler>,
    /// Whether it keeps to itself what it reads from standard input.
    pub(crate) discreet: bool,
    /// Whether it sees files only from outside: their names, their dates, whether they are there.
    pub(crate) names_only: bool,
    /// Whether it is an agent.
    pub(crate) agent: bool,
    pub(crate) uses: &'static [ProgramUse],
}

/// How a program's flags are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagStyle {
    /// `-rf`, `--force`.
    Gnu,
    /// `-delete`: one dash and a word.
    Words,
    /// As `Gnu`, and the first word is a cluster even without a dash: `tar xvf`.
    Old,
}

/// What no table can say.
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

/// One way of using a program, and what that does.
#[derive(Debug)]
pub(crate) struct ProgramUse {
    /// Its first operands: each is one of these.
    pub(crate) words: &'static [&'static [&'static str]],
    /// Flags of which each must be there, in one of its spellings.
    pub(crate) needs: &'static [&'static [&'static str]],
    /// Flags of which one must be there.
    pub(crate) any: &'static [&'static str],
    /// Flags of which none may be there.
    pub(crate) unless: &'static [&'static str],
    /// Patterns of which one must fit an operand.
    pub(crate) operand: &'static [&'static str],
    /// Patterns that may fit no operand.
    pub(crate) unless_operand: &'static [&'static str],
    /// Whether it is used so only with, or only without, operands.
    pub(crate) operands: Option<bool>,
    /// Whether an operand must have been looked up rather than named: `$(docker ps -q)`.
    pub(crate) looked_up: bool,
    /// Whether an operand must be the process of the agent or of Snell: `$PPID`.
    pub(crate) on_agent: bool,
    /// Whether it does not matter in a temporary directory.
    pub(crate) unless_in_temp: bool,
    /// Whether it does not matter in the project either.
    pub(crate) unless_in_project: bool,
    /// Variables, with their values, with which it does not matter: `RAILS_ENV=test`.
    pub(crate) unless_variable: &'static [&'static str],
    /// Variables of which one must be set for it, or changed for all programs before it: `SNELL_*`.
    pub(crate) variable: &'static [&'static str],
    /// Whether what it writes is made for this, so that no secret of anybody is lost where the agent is at home.
    pub(crate) new: bool,
    pub(crate) does: UseEffect,
    pub(crate) on: UseTarget,
    pub(crate) recursive: UseRecursion,
}

/// What a use does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseEffect {
    /// This rule judges it, whatever it is used on.
    Rule(usize),
    /// This happens to its targets.
    Effect(PathAction),
    /// It prints this.
    Prints(UnknownKind),
}

/// What an effect is on.
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
    /// The directory of this machine in the value of a flag: `-v directory:/there`.
    FlagHost(&'static [&'static str]),
    /// What the operands are called in the directory that the last of them names, or the value of a flag.
    Into(&'static [&'static str]),
    /// The last operand, if one file is put there under another name.
    Renamed,
    /// The file that follows an `@` in an operand: `field@file`.
    OperandsAt,
    /// The rest of an operand behind one of these: `key=value`.
    Key(&'static [&'static str]),
    /// The files of addresses: `file:///etc/hosts`.
    FileUrls,
    /// The directory in which it runs.
    Cwd,
    /// What it reads.
    Stdin,
    /// Any of its arguments, for what is in it rather than for the file that it names.
    Arguments,
}

/// Whether it goes down into directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseRecursion {
    Never,
    Always,
    With(&'static [&'static str]),
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Snell's own name: some systems find it in any case.
const SNELL_NAME: &str = "snell";

/// The program of a name, with or without its directory: `/usr/bin/rm`, `python3.12`, `cmd.exe`.
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

/// What holds for any program of which nothing else is known.
pub(crate) fn fallback_program() -> Option<&'static ProgramSpec> {
    find_exact_program("*").map(|(_, program)| program)
}

fn find_exact_program(name: &str) -> Option<(&'static str, &'static ProgramSpec)> {
    let at = NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    let (name, program) = NAMES.get(at)?;
    Some((name, PROGRAMS.get(*program)?))
}

/// A program as it is called.
#[derive(Clone, Debug)]
pub(crate) struct ProgramCall<'a> {
    /// Its name in the tables, with the names of its commands: `git stash`.
    pub(crate) name: &'static str,
    pub(crate) program: &'static ProgramSpec,
    /// What it is given.
    pub(crate) arguments: &'a [SymbolicText],
    /// For a command: the programs that it belongs to, outermost first, and what each was given before the command's
    /// name.
    pub(crate) outer: Vec<(&'static ProgramSpec, &'a [SymbolicText])>,
}

/// The program that a command line calls. Commands that have entries of their own are found behind the flags of their
/// program: `git -C x stash drop` calls `git stash` with `drop`.
pub(crate) fn resolve_program_call(argv: &[SymbolicText]) -> Option<ProgramCall<'_>> {
    let (first, arguments) = argv.split_first()?;
    let (name, program) = find_program(first.as_text()?)?;
    let mut called = ProgramCall { name, program, arguments, outer: Vec::new() };
    while called.program.has_commands && enter_subcommand(&mut called).is_some() {}
    Some(called)
}

/// Goes on to the command, if it has an entry of its own.
fn enter_subcommand(called: &mut ProgramCall<'_>) -> Option<()> {
    let at = ParsedArgs::find_first_operand(called.program, called.arguments)?;
    let (before, rest) = called.arguments.split_at_checked(at)?;
    let (word, arguments) = rest.split_first()?;
    let (name, program) = find_exact_program(&format!("{} {}", called.name, word.as_text()?))?;
    called.outer.push((called.program, before));
    (called.name, called.program, called.arguments) = (name, program, arguments);
    Some(())
}
