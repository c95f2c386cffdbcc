//! Configuration files: which are read, how they may be written, and what is said of those that are wrong.

mod faults;
mod file_syntax;
mod locations;
mod schema;
