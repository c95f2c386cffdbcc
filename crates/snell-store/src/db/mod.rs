//! The database: traits that say what it must do, the journal and the change feed above them, SQLite below.

pub(crate) mod agent_activity;
pub(crate) mod backend;
pub(crate) mod change_feed;
pub(crate) mod change_watcher;
pub(crate) mod columns;
pub(crate) mod data_dir;
pub(crate) mod dispatches;
pub(crate) mod journal;
pub(crate) mod location;
pub(crate) mod model;
pub(crate) mod open_calls;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
pub(crate) mod rows;
pub(crate) mod sqlite;
pub(crate) mod telemetry;
pub(crate) mod usage;
pub(crate) mod workers;
