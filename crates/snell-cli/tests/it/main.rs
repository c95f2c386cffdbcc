//! The `snell` command from outside: real files, real processes, what they really received.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod support;
mod tmux;

mod across_contracts;
mod agent_files;
mod agent_losses;
mod agents;
mod answers;
mod claude;
mod claude_os;
mod commands;
mod configuration;
mod demo;
mod docs;
mod doctor;
mod documentation;
mod events;
mod export;
mod first_steps;
mod guard;
mod guard_commands;
mod hook;
mod install;
mod lifecycle;
mod log;
mod manual;
mod microai;
mod native;
mod notices;
mod notify;
mod pane_answers;
mod record;
mod running;
mod serve;
mod session;
mod special_files;
mod status;
mod statusline;
mod subdirectory;
mod telemetry;
mod terminal;
mod trust;
mod undo;
mod usage;
mod wake;
mod wave;
mod whale;
mod worker;
