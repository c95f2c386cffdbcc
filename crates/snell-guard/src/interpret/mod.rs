//! A tree to programs: what would run, with which arguments, as far as that can be known without running anything.
//!
//! The walk follows the text as a shell would, with values of which parts may be unknown. Where a shell would take one of
//! several ways, all are taken and what they leave behind is joined (`join`); where a word can be read in several ways, the
//! command is followed once for each (`readings`). Programs that run programs are the matter of `unwrap`, which comes back
//! here for every text that is handed to a shell.

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
pub(crate) use builtins::{join_words, skip_dashes};
pub(crate) use commands::ExpandedCommand;
pub(crate) use interpreter::{ShellFlow, ShellInterpreter};
pub(crate) use unknowns::quote_shell_word;

pub use result::{CodeLanguage, CoverageGap, GuardCoverage, InlineCode, ShellAnalysis};

use std::cell::OnceCell;

use crate::judge::context::JudgeContext;
use crate::policy::allow_list::CommandPattern;

/// Every program that would run if a shell ran this text, unwrapped to the innermost.
pub fn interpret_script(text: &str, context: &JudgeContext) -> ShellAnalysis {
    interpret_with_permits(text, context, &[])
}

/// The same, with those marked that are let through.
pub(crate) fn interpret_with_permits(
    text: &str,
    context: &JudgeContext,
    permits: &[Option<CommandPattern>],
) -> ShellAnalysis {
    let texts = OnceCell::new();
    let mut walker = ShellInterpreter::new(context, permits, &texts);
    let parsed = walker.store_parsed(snell_shell::parse(text));
    walker.run_script(&parsed.script);
    walker.finish()
}
