//! One analyzer per kind of MCP tool. Each reads the call's arguments and reports its effects.

pub(crate) mod cli;
pub(crate) mod code;
pub(crate) mod database;
pub(crate) mod destructive_verbs;
pub(crate) mod embedded_commands;
pub(crate) mod exfiltration;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod kubernetes;
pub(crate) mod secret_stores;
pub(crate) mod web;
