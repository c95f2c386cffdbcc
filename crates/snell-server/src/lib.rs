//! The receiver: hook events over HTTP, a live stream of changes, and pages for people.
//!
//! [`serve()`] is the entry point. It takes a bound [`ServerListener`], so tests and the program run the same code on
//! any port. [`reconciler::tmux`] and [`pane_input`] are public for commands that use an agent's terminal.
//!
//! ```text
//!  request ── http: acceptor ──► middleware (gate, headers, log) ──► routes
//!                                                                      │
//!        POST /hook/… ── ingest: body ► EventRecord ──► writer ────────┤► store     one thread, one transaction for many
//!        GET  /api/…  ── api ──► store_pool ───────────────────────────┤► store     a few threads
//!        GET  /, /agents/… ── web ──► store_pool ──────────────────────┤► store     pages for people
//!        GET  /api/events/stream ── stream ◄── follower ◄──────────────┘► store     one thread
//!                                                   │
//!                 reconciler: hook_activity ──► poll_mode ──► thread ──► store       watches agents that fell silent
//! ```
//!
//! An acknowledged event is committed. The stream sends only what it read from the database, so it does not matter whether this
//! process wrote it or a hook did. Every queue is bounded, and a client that does not fit gets an error.
//!
//! It needs a tokio runtime with I/O and time enabled; two workers are enough.

mod answers;
mod api;
mod app_state;
mod clock;
mod http;
mod ingest;
mod metrics;
pub mod pane_input;
pub mod reconciler;
mod serve;
mod settings;
mod store_pool;
mod stream;
mod tokens;
mod usage_counter;
mod web;

pub use answers::{AnswerKey, AnswerLink, compute_hmac};
pub use http::errors::ServeError;
pub use http::listener::{ServerListener, ServerOwner};
pub use http::proxy_identity::{TrustedHeader, TrustedProxy};
pub use http::routes::{OPENAPI, api_routes, page_routes};
pub use http::tls::TlsFiles;
pub use http::token::{AccessToken, TokenError, read_header_file, read_token_file};
pub use reconciler::poll_mode::{PollMode, PollSchedule};
pub use serve::serve;
pub use settings::{ServeSettings, UnknownSenderPolicy};
pub use tokens::{AccessRole, IssuedToken, NamedToken, NamedTokens, TokenFileError, TokenSummary};
