//! Code of other languages that a command line hands to their interpreters.
//!
//! It is not understood, only read for calls: strings and comments are told from code, values are followed as far as they
//! are constant, and every known call is turned into the command of the shell that does the same, so that one set of tables
//! judges both. What is not known has no effect here, as a program that nobody knows has none.

mod act;
mod arguments;
mod calls;
mod languages;
mod reader;
mod scan;
mod scripting;
mod statements;
mod worth;

use crate::effects::Effect;
use crate::invocation::{Invocation, Part, Value};
use crate::shell::{Code, Inline};
use crate::world::World;
use act::Stage;
use reader::Reader;

/// Longer code is read up to here.
const MAX_BYTES: usize = 1 << 18;

/// Code that runs a shell that runs code … is followed so far.
const MAX_NESTED: usize = 3;

/// What code would do, run by this invocation.
pub fn effects(inline: &Inline, invocation: &Invocation, world: &World) -> Vec<Effect> {
    nested(inline, invocation, world, 0)
}

fn nested(inline: &Inline, invocation: &Invocation, world: &World, depth: usize) -> Vec<Effect> {
    if depth > MAX_NESTED {
        return Vec::new();
    }
    let text = written(&inline.text);
    if inline.code == Code::Tcl {
        return act::tcl(&text, Stage::new("Tcl", invocation, world, depth));
    }
    let Some(language) = languages::of(inline.code) else {
        return Vec::new();
    };
    let mut stage = Stage::new(language.name, invocation, world, depth);
    let tokens = scan::scan(&text, language);
    Reader::new(language, tokens, &mut stage).run_twice();
    stage.effects
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
