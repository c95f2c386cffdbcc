//! Answers to requests of agents: who may give them, and how they reach the database.
//!
//! `gate` finds out which [`AnswerRight`] a client has. The API, the page and signed links give their answers to
//! [`submit_answer`], which checks that an answer fits its request. The store accepts the first answer only.

mod hmac;
mod key;
mod right;
mod submit;
mod watch;

pub use hmac::compute_hmac;
pub use key::{AnswerKey, AnswerLink};
pub(crate) use key::{LazyAnswerKey, read_random_bytes};
pub(crate) use right::{AnswerRight, PersonProof, describe_peer};
pub(crate) use submit::{find_request, submit_answer, unknown_remembered_error, unknown_request_error};
pub(crate) use watch::{AnswerWatch, WatchGuard};
