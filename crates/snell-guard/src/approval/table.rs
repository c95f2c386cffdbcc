//! The table of programs that may be approved: `data/approvals`, as the build script compiled it.

use super::ApprovalClass;

include!(concat!(env!("OUT_DIR"), "/approvals.rs"));

/// Lists of harmless variables, wrappers, tools and files: `data/approval_words.toml`.
pub(crate) mod words {
    include!(concat!(env!("OUT_DIR"), "/approval_words.rs"));
}

/// One way of using a program that is harmless.
#[derive(Debug)]
pub(crate) struct ApprovalSpec {
    /// `None` if the entry only has the flags before a subcommand.
    pub(crate) class: Option<ApprovalClass>,
    /// The first operands, each with alternatives.
    pub(crate) words: &'static [&'static [&'static str]],
    /// Whether all flags that are not listed are harmless, and have no value.
    pub(crate) any_flag: bool,
    pub(crate) flags: &'static [(&'static str, FlagShape)],
    pub(crate) operands: &'static [OperandRole],
    /// Whether there may be more operands of the last kind.
    pub(crate) repeats: bool,
    pub(crate) min_operands: usize,
    /// Flags; one of them must be present.
    pub(crate) needs: &'static [&'static str],
    /// Flags that replace the first operand.
    pub(crate) pattern_flags: &'static [&'static str],
    /// Whether a flag is one dash and a word.
    pub(crate) word_flags: bool,
    /// Whether an operand may start with a pattern.
    pub(crate) expands: bool,
    /// Whether a package runner may run it.
    pub(crate) installed: bool,
    /// Whether the words after `--` are for the project's own program.
    pub(crate) rest: bool,
    matches: &'static [&'static str],
    not_matches: &'static [&'static str],
}

/// The value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagShape {
    /// None.
    Plain,
    /// An attached one, or the next word.
    Value(OperandRole),
    /// An attached one, if any.
    Optional,
    /// The next two words.
    Pair,
    /// The words up to `;` or `+`.
    Command,
}

/// The use of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandRole {
    /// It only prints or compares it.
    Text,
    /// A text for people.
    Message,
    /// It shows the file.
    Read,
    /// It shows names, dates and sizes.
    List,
    /// It searches the file, or everything below the directory, also hidden files.
    Search,
    /// The text that is searched for.
    Pattern,
    /// A pattern of names to which a search is limited.
    Include,
    /// A pattern of names in which a search looks, also for hidden files.
    Glob,
    /// Where `find` starts, or a sign between its tests.
    Find,
    /// Files, directories, names of tests or packages of the project.
    Scope,
    /// It creates something new, or leaves it.
    Make,
    /// It appends to the file.
    Append,
    /// It changes the file in place, and keeps what it means.
    Edit,
    /// It writes the file.
    Write,
    /// It changes the file in place, and may lose something.
    Overwrite,
    /// It deletes or moves the file.
    Delete,
    /// It deletes a directory of generated files with everything in it.
    DeleteTree,
    /// A revision of git, or a path.
    Revision,
    /// A script for sed.
    Sed,
    /// A program for awk.
    Awk,
    /// A filter for jq.
    Jq,
    /// A format for `date`.
    Date,
    /// A number of things.
    Number,
    /// A time in seconds.
    Seconds,
    /// One plain word.
    Word,
    /// Which processes are shown.
    Process,
    /// Which columns of processes are shown.
    Columns,
    /// Everything below is searched, without hidden files.
    Below,
    /// A number of lines around each match.
    Lines,
    /// An archive on this machine; the names in it are shown.
    Archive,
    /// Code of the project, and no package from elsewhere.
    Source,
    /// Nothing.
    Empty,
    /// It becomes executable, or only its owner may write it.
    Mode,
    /// A setting of git for one command.
    Setting,
    /// A branch, and no path.
    Branch,
    /// It shows the file, or everything below the directory.
    Contents,
    /// A directory above.
    Parent,
    /// Where nothing is yet.
    Fresh,
    /// A branch with a usual name, and no path.
    Trunk,
    /// Ports of this machine, and protocols.
    Inet,
    /// A filter for yq.
    Yq,
    /// A substitution of Perl.
    Perl,
    /// A text that names no path elsewhere.
    Local,
    /// A task of a build tool.
    Task,
    /// A target of make.
    Target,
    /// A definition for a build tool: `NAME=value`.
    Definition,
}

/// The entries for a program or a subcommand.
pub(crate) fn find_approvals(name: &str) -> impl Iterator<Item = &'static ApprovalSpec> {
    let at = APPROVAL_NAMES.binary_search_by_key(&name, |(known, _)| known);
    let entries = at.ok().and_then(|at| APPROVAL_NAMES.get(at)).map_or(&[] as &[usize], |(_, entries)| entries);
    entries.iter().filter_map(|entry| APPROVALS.get(*entry))
}

/// Whether a program has entries.
pub(crate) fn is_known_program(name: &str) -> bool {
    let after = APPROVAL_NAMES.partition_point(|(known, _)| *known < name);
    let is_it = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    APPROVAL_NAMES.iter().skip(after).take_while(|(known, _)| known.starts_with(name)).any(|(known, _)| is_it(known))
}

/// A command of the table, and whether it is approved.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalCase {
    /// The command.
    pub command: &'static str,
    /// Whether it is approved.
    pub is_approved: bool,
    /// The mildest class that approves it.
    pub class: ApprovalClass,
}

/// All cases of the table, for tests.
pub fn list_approval_cases() -> Vec<ApprovalCase> {
    let cases = APPROVALS.iter().flat_map(|spec| {
        let class = spec.class.unwrap_or(ApprovalClass::Runs);
        let case = move |is_approved| move |command: &&'static str| ApprovalCase { command, is_approved, class };
        spec.matches.iter().map(case(true)).chain(spec.not_matches.iter().map(case(false)))
    });
    cases.collect()
}
