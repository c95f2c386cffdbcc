//! The grammar of commands: lists, pipelines, simple and compound commands, redirections, here-documents.

pub(crate) mod commands;
pub(crate) mod compound;
pub(crate) mod conditions;
pub(crate) mod heredoc;
pub(crate) mod lists;
pub(crate) mod loops;
pub(crate) mod redirects;
pub(crate) mod simple_command;
