//! A tree to programs: what would run, with which arguments, as far as that can be known without running anything.
//!
//! The walk follows the text as a shell would, with values of which parts may be unknown. Where a shell would take one of
//! several ways, all are taken and what they leave behind is joined (`join`); where a word can be read in several ways, the
//! command is followed once for each (`readings`). Programs that run programs are the matter of `unwrap`, which comes back
//! here for every text that is handed to a shell.

mod arithmetic;
mod assign;
mod braces;
mod builtins;
mod call;
mod choices;
mod compound;
mod constant;
mod declare;
mod endless;
mod environment;
mod expand;
mod fields;
mod filters;
mod format;
mod found;
mod functions;
mod generated;
mod holes;
mod input;
mod join;
pub mod limits;
mod operations;
mod parameter;
mod pattern;
mod permits;
mod redirect;
mod said;
mod scope;
mod simple;
mod walk;
mod walker;

pub(crate) use builtins::joined;
pub(crate) use call::Call;
pub(crate) use fields::push_globs;
pub(crate) use generated::lines_of_awk;
pub(crate) use walker::{Flow, Walker};

pub use found::{Code, Coverage, Found, Inline, Reason};

use std::cell::OnceCell;

use crate::allowed::Permit;
use crate::world::World;

/// Every program that would run if a shell ran this text, unwrapped to the innermost.
pub fn invocations(text: &str, world: &World) -> Found {
    invocations_among(text, world, &[])
}

/// The same, with those marked that are let through.
pub(crate) fn invocations_among(text: &str, world: &World, permits: &[Option<Permit>]) -> Found {
    let texts = OnceCell::new();
    let mut walker = Walker::new(world, permits, &texts);
    walker.run_text(text);
    walker.finish()
}
