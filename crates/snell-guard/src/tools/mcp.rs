//! What MCP servers offer. Their tools have any name, so they are judged by class: what the server is about, which verb
//! the tool's name holds, and what it is given. Wherever a program does the same, the call is turned into its command
//! line, so that one set of tables judges both.
//!
//! A mention is not a use: a text that only is kept or shown is read for secrets and for nothing else.

mod cli;
mod cluster;
mod code;
mod database;
mod desk;
mod destroy;
mod files;
mod git;
mod graph;
mod leak;
mod named;
mod request;
mod script;
mod stores;
mod tables;
mod web;

use serde_json::Value as Json;

pub(super) use named::Named;

use crate::allowed::Permit;
use crate::judge::Seen;
use crate::world::World;
use desk::Desk;
use request::Request;

/// One way of looking at a request. True if it is understood, and what comes after it need not look.
type Look = fn(&Request<'_>, &mut Desk<'_>) -> bool;

/// What a tool does: the first that understands it has the word.
const DOES: &[Look] = &[
    git::look,
    cluster::look,
    database::look,
    code::look,
    cli::look,
    destroy::look,
];

/// What else a tool may do at the same time.
const ALSO: &[Look] = &[script::look, files::look, web::look, stores::look, leak::look];

/// What a tool of a server would do.
pub(super) fn look(named: &Named, input: &Json, permits: &[Option<Permit>], world: &World, seen: &mut Seen) {
    // Some agents hand on what a server is given as a text.
    let written = input.as_str().and_then(|text| serde_json::from_str(text).ok());
    let request = Request::new(named, written.as_ref().unwrap_or(input));
    let mut desk = Desk::new(permits, world, seen);
    let _ = DOES.iter().any(|look| look(&request, &mut desk));
    for look in ALSO {
        look(&request, &mut desk);
    }
}
