//! `snell guard …`: calls, rules and recorded calls, as text and as JSON.

mod allow;
mod check;
mod check_stdin;
mod explain;
mod output_errors;
mod replay;
mod rules;
mod test_cases;
