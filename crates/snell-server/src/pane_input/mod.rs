//! Typing into an agent's tmux pane: when it is safe, one process at a time, and answers of users.

mod answer;
mod liveness;
mod pane_lock;

pub use answer::{answer_request, deliver_answer};
pub use liveness::find_pane_objection;
pub use pane_lock::{PaneLock, PaneLockError};
