//! Events for remote receivers, on disk until they are delivered.
//!
//! Each event is one file, written whole, and numbered in the order of arrival. The process that holds the lock
//! delivers them in that order, and removes each after its receiver's answer. So a process that is killed at any point
//! leaves everything for the next one. A message whose answer was lost is sent again with the same id, which its
//! receiver recognises.
//!
//! ```text
//! outbox/
//!   00…0042-17-912-9f86d081884c7d65.json   a message: its number, writer, size, receiver
//!   order                                  the last number, and the totals
//!   lock                                   held by the process that delivers
//!   refused/                               messages that their receiver refused, with its answer
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
