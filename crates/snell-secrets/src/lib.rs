//! How secrets look, what they are called, and to whom they belong.
//!
//! Masking asks where the secrets in a text are, and the guard asks whether a command sends one away. Both read the
//! tables of this crate: [`forms`](SecretScanner::with_forms_only) of secrets with their issuers, and names of variables,
//! fields and headers.
//!
//! ```text
//!  text ── scan ──► forms (its own looks) ── tokens, hashes, keys, files ──► FoundSecret
//!             └───► context (a name, an option or an address before it) ── names, values ──► FoundSecret
//! ```
//!
//! There are no regular expressions: this runs for every event in a process that lives for milliseconds, and compiling
//! them would take longer than all the rest.

mod context;
pub mod examples;
mod forms;
mod scan;

pub use context::is_member_credential;
pub use context::names::{
    CredentialKind, credential_kind, is_jwk_private_member, is_secret_variable, pattern_names_secrets, variable_issuer,
};
pub use forms::SecretIssuer;
pub use scan::{FoundSecret, SecretScanner};
