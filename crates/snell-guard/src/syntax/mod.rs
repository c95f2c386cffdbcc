//! Shell text to a tree: what bash would see, without running anything.
//!
//! One pass from left to right, by the rules of `bash -c`: `lists` and `commands` are the grammar, `tokens` says what
//! stands next, `words` puts a word together out of `quotes`, `expansions` and plain text, and `braces` and `patterns`
//! find in the plain text what has a meaning there. Nothing is read twice, with three exceptions that have limits:
//! backquotes and here-documents (whose text is unescaped first, see `again`) and `((` (see `arithmetic`).
//!
//! Whatever is wrong is a [`Problem`], and reading goes on: a guard must see all that could run.

mod again;
mod arithmetic;
mod arrays;
mod ast;
mod backquotes;
mod braces;
mod commands;
mod compound;
mod conditions;
mod cursor;
mod expansions;
mod filling;
mod here;
pub mod limits;
mod lists;
mod loops;
mod parameters;
mod parser;
mod patterns;
mod pieces;
mod places;
mod quotes;
mod redirects;
mod show;
mod simple;
mod tildes;
mod tokens;
mod words;

pub use ast::*;
pub use parser::{parse, parse_counting};
pub use show::show;
