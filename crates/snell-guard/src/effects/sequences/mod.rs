//! Effects that only several commands together have, such as a download that a later command runs.

pub(crate) mod deferred_destroy;
pub(crate) mod download_exec;
pub(crate) mod fetched_files;
pub(crate) mod file_aliases;
pub(crate) mod private_files;
