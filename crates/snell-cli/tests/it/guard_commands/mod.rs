//! `snell guard …`: what people and programs are told about calls, rules, and what was recorded.

mod check;
mod explain;
mod lines;
mod replay;
mod rules;
mod unwritten;
