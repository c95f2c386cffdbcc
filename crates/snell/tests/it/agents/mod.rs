//! Snell as a guest of an agent: who calls, what is answered, and which files are read.

mod answers;
mod files;
mod gemini;
mod recognition;
