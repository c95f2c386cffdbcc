//! Shell text to a tree.

mod bash;
mod limits;
mod problems;
pub(crate) mod properties;
mod scripts;
mod trees;
mod words;
