//! `snell guard …`: what people and programs are told about calls, rules, and what was recorded.

mod check;
mod check_stdin;
mod explain;
mod output_errors;
mod replay;
mod rules;
