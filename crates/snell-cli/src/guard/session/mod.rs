//! The guard's memory of a session: `session_file` keeps it in the data directory, `fact_line` is its form there, `web_lines`
//! recognises fetched text in a file, and `session_recorder` writes after a call what it did.

mod fact_line;
mod session_file;
mod session_recorder;
mod web_lines;

pub(crate) use session_file::{SessionFile, prune_session_files};
pub(crate) use session_recorder::{CallFate, find_call_key, follow_call, note_call, note_event};
