//! The receiver: hook events over HTTP, a live stream of what happens, and pages of what happened.
//!
//! [`serve`] is the only way in; beside it, [`tmux`] is for whoever else has to do with agents' terminals. It takes a [`ServerListener`] that is bound already, so a test and the real program take the same
//! path, on whatever port.
//!
//! ```text
//!  request ── connections ──► front (gate, headers, log) ──► routes
//!                                                              │
//!        POST /hook/… ── hook (body ► Observation) ──► writer ─┤► store        one thread, one transaction for many
//!        GET  /api/…  ── api ──► readers ──────────────────────┤► store        a few threads
//!        GET  /, /agents/… ── web ──► readers ─────────────────┤► store        pages for people
//!        GET  /api/events/stream ── stream ◄── follower ◄──────┘► store        one thread, whoever wrote
//!                                                   │
//!                                     pulse ──► hybrid ──► caretaker ──► store   looks after agents that fell silent
//! ```
//!
//! What is acknowledged is committed. What the stream tells was read from the database, so it does not matter whether this
//! process wrote it or a hook beside it. Everything that waits is bounded, and what does not fit is told so.
//!
//! It needs a tokio runtime with I/O and time enabled; two workers are enough.

mod api;
mod app_state;
mod clock;
mod http;
mod ingest;
mod metrics;
pub mod reconciler;
mod serve;
mod settings;
mod store_pool;
mod stream;
mod web;

pub use http::errors::ServeError;
pub use http::listener::ServerListener;
pub use http::routes::{OPENAPI, api_routes, page_routes};
pub use http::token::{AccessToken, TokenError, read_token_file};
pub use reconciler::poll_mode::{PollMode, PollSchedule};
pub use serve::serve;
pub use settings::{ServeSettings, UnknownSenderPolicy};
