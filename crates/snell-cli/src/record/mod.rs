//! Records an event from a short process: through the daemon, into the database or to disk, and to a remote receiver.

pub(crate) mod enqueue;
pub(crate) mod http_delivery;
pub(crate) mod load;
pub(crate) mod open_store;
pub(crate) mod record_event;
