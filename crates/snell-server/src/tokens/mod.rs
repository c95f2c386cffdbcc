//! Tokens of people and machines: each has a name and a role, only its digest is stored, and it can be revoked.

mod file;
mod live;
mod role;

pub use file::{IssuedToken, NamedToken, NamedTokens, TokenFileError, TokenSummary};
pub(crate) use file::{KnownToken, TOKEN_PREFIX};
pub(crate) use live::{LiveTokens, find_by_cookie, find_by_text};
pub use role::AccessRole;
pub(crate) use role::AccessTask;
