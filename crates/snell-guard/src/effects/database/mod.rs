//! Queries in the languages of databases, and the programs that run them.

pub(crate) mod query_lexer;
pub(crate) mod sql;
