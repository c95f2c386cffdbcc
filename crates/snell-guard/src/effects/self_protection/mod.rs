//! Effects on Snell's own files and program.

pub(crate) mod exports;
pub(crate) mod listed_files;
pub(crate) mod own_processes;
pub(crate) mod program_copies;
pub(crate) mod self_paths;
