//! Recording that loses nothing: events wait on disk until the database, the daemon or a remote receiver has taken
//! them.

pub mod outbox;
pub(crate) mod pending;
pub(crate) mod recorder;
pub(crate) mod spool;
