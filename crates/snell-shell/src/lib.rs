//! Shell text to a tree: what bash would see, without running anything.
//!
//! One pass from left to right, by the rules of `bash -c`: `lists` and `commands` are the grammar, `tokens` says what
//! stands next, `words` puts a word together out of `quotes`, `expansions` and plain text, and `braces` and `patterns`
//! find in the plain text what has a meaning there. Nothing is read twice, with three exceptions that have limits:
//! backquotes and here-documents (whose text is unescaped first, see `again`) and `((` (see `arithmetic`).
//!
//! Whatever is wrong is a [`Problem`], and reading goes on: a guard must see all that could run.

mod ast;
mod cursor;
mod display;
pub(crate) mod grammar;
pub mod limits;
mod parser;
mod reparse;
mod tokens;
mod words;

pub use ast::*;
pub use display::format_tree;
pub use parser::{parse, parse_counting_steps};
