//! A bash parser: shell text to a tree, without running anything.
//!
//! One pass from left to right, by the rules of `bash -c`: `grammar` reads commands, `tokens` finds the next token,
//! `words` reads words with their quotes, expansions and patterns. No text is read twice, with three limited
//! exceptions: backquotes and here-documents, whose text is unescaped first (`reparse`), and `((`
//! (`words::arithmetic`).
//!
//! A syntax error is a [`SyntaxProblem`], and parsing continues: a guard must see everything that could run.

mod ast;
mod cursor;
pub(crate) mod grammar;
pub mod limits;
mod parser;
mod reparse;
mod tokens;
mod words;

pub use ast::*;
pub use parser::{parse, parse_counting_steps};
pub use words::word_parts::is_variable_name;
