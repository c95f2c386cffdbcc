//! Recording that loses nothing: events wait on disk until the database, the daemon or a remote receiver has taken
//! them.

pub(crate) mod durable_queue;
pub(crate) mod file_lock;
pub mod outbox;
pub(crate) mod pending;
pub(crate) mod recorder;
pub(crate) mod spool;
