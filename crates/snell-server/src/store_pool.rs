//! Reads the database on a few blocking threads, each with an open connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use snell_store::{DatabaseLocation, Result, Store};
use tokio::sync::Semaphore;

use crate::http::errors::HttpError;

/// The maximum number of parallel reads. More would only wait for the same disk.
const MAX_READERS: usize = 4;

/// How long a query may wait for a free reader.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A store that is opened on first use, and again if its file was replaced.
#[derive(Debug)]
pub(crate) struct PooledStore {
    location: DatabaseLocation,
    store: Option<Store>,
    /// Whether it was ever opened.
    was_opened: bool,
}

/// Whether the file of a store was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFileStatus {
    /// The first file, or the same as before.
    Same,
    /// Another file is in its place.
    Replaced,
}

impl PooledStore {
    pub(crate) fn new(location: &DatabaseLocation) -> Self {
        Self { location: location.clone(), store: None, was_opened: false }
    }

    /// The store, and whether it is still the same.
    pub(crate) fn get_or_open(&mut self) -> Result<(&mut Store, StoreFileStatus)> {
        if let Some(store) = self.store.take().filter(Store::has_intact_files) {
            return Ok((self.store.insert(store), StoreFileStatus::Same));
        }
        let mut store = Store::open_at(&self.location)?.store;
        if self.location.file().is_none() {
            store.expect_other_machines();
        }
        let which = if self.was_opened { StoreFileStatus::Replaced } else { StoreFileStatus::Same };
        self.was_opened = true;
        Ok((self.store.insert(store), which))
    }
}

/// The readers for requests.
#[derive(Debug)]
pub(crate) struct StorePool {
    location: DatabaseLocation,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<PooledStore>>,
}

impl StorePool {
    pub(crate) fn new(location: DatabaseLocation) -> Self {
        Self { location, permits: Arc::new(Semaphore::new(MAX_READERS)), idle: Mutex::new(Vec::new()) }
    }

    /// Runs a query on a blocking thread.
    pub(crate) async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&mut Store) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, HttpError> {
        let busy = || HttpError::busy("too many requests at once");
        let permit = match tokio::time::timeout(MAX_WAIT, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) | Err(_) => return Err(busy()),
        };
        let readers = self.clone();
        let result = tokio::task::spawn_blocking(move || {
            // The query keeps its permit even if the client disconnects.
            let _permit = permit;
            readers.with_store_blocking(query)
        });
        // A query that panics has no result.
        result.await.unwrap_or_else(|_| Err(busy()))
    }

    fn with_store_blocking<T>(&self, query: impl FnOnce(&mut Store) -> Result<T>) -> std::result::Result<T, HttpError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let held = idle().pop();
        let mut held = held.unwrap_or_else(|| PooledStore::new(&self.location));
        let answer = held.get_or_open().and_then(|(store, _)| query(store));
        idle().push(held);
        Ok(answer?)
    }
}
