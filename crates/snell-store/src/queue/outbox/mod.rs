//! Events for a receiver elsewhere, on disk until it has them.
//!
//! One file each, written whole, numbered in the order in which they were put there. Whoever has the turn delivers them, in
//! that order, and removes each when its receiver has answered; so whoever is killed, at whatever point, leaves nothing
//! undone that the next one does not find. A letter whose answer was lost is sent again under the same id, by which its
//! receiver knows it.
//!
//! ```text
//!  outbox/
//!    00…0042-17-912-9f86d081884c7d65.json   a letter: its number, who wrote it, its size, its receiver
//!    order                                  the last number, and how much there is
//!    lock                                   held by whoever delivers
//!    refused/                               letters that their receiver will never take, with what it said
//! ```

mod coerce;
mod delivery;
mod message;
mod sequence;
mod storage;
mod truncate;

pub(crate) use delivery::MessageHandler;
pub use delivery::{DeliveryAnswer, DeliveryLock, DeliveryReport, OutboxRefusal, StalledReceiver};
pub use message::{OutboxMessage, OutboxReceiver, is_local_server_url, is_loopback_url};
pub use storage::{EnqueueResult, Outbox, ReceiverBacklog};
