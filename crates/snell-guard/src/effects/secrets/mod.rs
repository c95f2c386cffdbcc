//! Secrets that a command contains, prints or probes for.

pub(crate) mod credentials;
pub(crate) mod env_file_names;
pub(crate) mod env_templates;
pub(crate) mod exposure;
