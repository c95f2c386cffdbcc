//! Snell as a guest of an agent: the caller, the answers, and the files.

mod answers;
mod files;
mod gemini;
mod payloads;
mod recognition;
mod replies;
