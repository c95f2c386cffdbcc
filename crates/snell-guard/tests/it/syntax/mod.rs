//! Shell text to a tree.

mod bash_comparison;
mod limits;
mod problems;
pub(crate) mod properties;
mod tree_walk;
mod trees;
mod word_expansion;
