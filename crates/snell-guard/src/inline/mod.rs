//! Code of other languages that a command line hands to their interpreters.
//!
//! It is not understood, only read for calls: strings and comments are told from code, values are followed as far as they
//! are constant, and every known call is turned into the command of the shell that does the same, so that one set of tables
//! judges both. What is not known has no effect here, as a program that nobody knows has none.

mod act;
mod arguments;
mod asked;
mod bombs;
mod calls;
mod functions;
mod here;
mod languages;
mod others;
mod powershell;
mod reader;
mod reverse;
mod scan;
mod scripting;
mod services;
mod statements;
mod worth;

use crate::effects::{Effect, limit};
use crate::invocation::{Invocation, Part, Value};
use crate::shell::{Code, Inline};
use crate::world::World;
use act::Stage;
use reader::Reader;

pub(crate) use act::MAX_TEXTS;
pub(crate) use reader::MAX_DEPTH;
pub(crate) use worth::MAX_WORDS;

/// Longer code is read up to here: more than Linux takes as one argument.
pub(crate) const MAX_BYTES: usize = 1 << 17;

/// Code that runs a shell that runs code … is followed so far.
pub(crate) const MAX_NESTED: usize = 3;

/// What code would do, run by this invocation.
pub fn effects(inline: &Inline, invocation: &Invocation, world: &World) -> Vec<Effect> {
    nested(inline, invocation, world, 0)
}

fn nested(inline: &Inline, invocation: &Invocation, world: &World, depth: usize) -> Vec<Effect> {
    if depth > MAX_NESTED {
        return vec![limit("the code", invocation.span.clone())];
    }
    let text = written(&inline.text);
    let is_cut = inline.text.size() > MAX_BYTES;
    if inline.code == Code::Tcl {
        return act::tcl(&text, Stage::new("Tcl", invocation, world, depth, is_cut));
    }
    if inline.code == Code::PowerShell {
        return powershell::read(&text, Stage::new("PowerShell", invocation, world, depth, is_cut));
    }
    let Some(language) = languages::of(inline.code) else {
        return Vec::new();
    };
    let mut stage = Stage::new(language.name, invocation, world, depth, is_cut);
    stage.tilde = language.tilde;
    let tokens = scan::scan(&text, language);
    if bombs::has_bomb(&tokens) {
        stage.bomb();
    }
    if reverse::has_shell(&tokens) {
        stage.mark("network.reverse-shell");
    }
    Reader::new(language, tokens, &mut stage).run_twice();
    stage.finish()
}

/// The text with a name where something is unknown: as code, that is worth nothing known.
fn written(value: &Value) -> String {
    let mut text = String::new();
    for part in &value.parts {
        match part {
            Part::Text(known) | Part::Pattern(known) => text.push_str(known),
            Part::Unknown(_) => text.push_str("unknown"),
        }
    }
    if text.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests;
