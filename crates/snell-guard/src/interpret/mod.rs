//! Turns a syntax tree into the programs that would run, with their arguments, without running anything.
//!
//! The analysis follows the text as a shell would, with values that may be partly unknown. If a shell would take one of
//! several branches, all are analysed and their scopes are merged (`merge`). If a word has several readings, the
//! command is
//! analysed once for each (`alternatives`). Programs that run programs are in `wrappers`, which comes back here for
//! every
//! text that a shell gets.

mod allow_list;
mod alternatives;
mod assignment;
mod builtins;
mod commands;
mod environment;
mod expansion;
mod interpreter;
mod known_output;
pub mod limits;
mod merge;
mod result;
mod scope;
mod unknowns;

pub(crate) use crate::interpret::known_output::filters::decode_base_digits;
pub(crate) use crate::interpret::known_output::templates::{expand_awk_template, parse_awk_string};
pub(crate) use crate::interpret::known_output::{build_program_copy, is_installed_program};
pub(crate) use builtins::{join_words, skip_dashes};
pub(crate) use commands::ExpandedCommand;
pub(crate) use interpreter::{ShellFlow, ShellInterpreter};
pub(crate) use unknowns::quote_shell_word;

pub use result::{CodeLanguage, CoverageGap, GuardCoverage, InlineCode, ShellAnalysis};

use std::cell::OnceCell;

use crate::judge::context::JudgeContext;
use crate::policy::WordPattern;
use crate::policy::entries::EntryPattern;

/// Every program that would run if a shell ran this text, without wrappers.
pub fn interpret_script(text: &str, context: &JudgeContext) -> ShellAnalysis {
    interpret_with_permits(text, context, &[])
}

/// Whether a shell that runs this text would run a command that matches.
pub(crate) fn script_runs_command(text: &str, context: &JudgeContext, pattern: &WordPattern) -> bool {
    let patterns = [Some(EntryPattern::from_words(pattern))];
    !interpret_with_permits(text, context, &patterns).watched.is_empty()
}

/// The same, with the commands marked that entries of the settings match.
pub(crate) fn interpret_with_permits(
    text: &str,
    context: &JudgeContext,
    permits: &[Option<EntryPattern>],
) -> ShellAnalysis {
    let texts = OnceCell::new();
    let mut walker = ShellInterpreter::new(context, permits, &texts);
    let parsed = walker.store_parsed(snell_shell::parse(text));
    walker.run_script(&parsed.script);
    walker.finish()
}
