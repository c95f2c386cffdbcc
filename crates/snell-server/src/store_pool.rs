//! Reading the database: on threads of their own, a few at a time, each with a connection that stays open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use snell_store::{Result, Store};
use tokio::sync::Semaphore;

use crate::http::errors::HttpError;

/// So many read at a time. More would only wait for the same disk.
const MAX_READERS: usize = 4;

/// How long a question may wait for its turn.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A store that is opened when it is needed, and again when another file is in its place.
#[derive(Debug)]
pub(crate) struct PooledStore {
    path: PathBuf,
    store: Option<Store>,
    /// Whether it was ever opened.
    was_opened: bool,
}

/// Which store it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFileStatus {
    /// The first one, or the one that was there the last time.
    Same,
    /// One that has taken its place.
    Replaced,
}

impl PooledStore {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), store: None, was_opened: false }
    }

    /// The store, and whether it is still the same.
    pub(crate) fn get_or_open(&mut self) -> Result<(&mut Store, StoreFileStatus)> {
        if let Some(store) = self.store.take().filter(Store::has_intact_files) {
            return Ok((self.store.insert(store), StoreFileStatus::Same));
        }
        let store = Store::open(&self.path)?.store;
        let which = if self.was_opened { StoreFileStatus::Replaced } else { StoreFileStatus::Same };
        self.was_opened = true;
        Ok((self.store.insert(store), which))
    }
}

/// Those who read for requests.
#[derive(Debug)]
pub(crate) struct StorePool {
    path: PathBuf,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<PooledStore>>,
}

impl StorePool {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, permits: Arc::new(Semaphore::new(MAX_READERS)), idle: Mutex::new(Vec::new()) }
    }

    /// Asks the store, away from the threads that serve requests.
    pub(crate) async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&mut Store) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, HttpError> {
        let too_long = || HttpError::busy("too many are asking");
        let turn = match tokio::time::timeout(MAX_WAIT, self.permits.clone().acquire_owned()).await {
            Ok(Ok(turn)) => turn,
            Ok(Err(_)) | Err(_) => return Err(too_long()),
        };
        let readers = self.clone();
        let asked = tokio::task::spawn_blocking(move || {
            // Somebody who leaves before the answer is there has had a turn all the same.
            let _turn = turn;
            readers.with_store_blocking(question)
        });
        // A question that panics has no answer.
        asked.await.unwrap_or_else(|_| Err(too_long()))
    }

    fn with_store_blocking<T>(
        &self,
        question: impl FnOnce(&mut Store) -> Result<T>,
    ) -> std::result::Result<T, HttpError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let held = idle().pop();
        let mut held = held.unwrap_or_else(|| PooledStore::new(&self.path));
        let answer = held.get_or_open().and_then(|(store, _)| question(store));
        idle().push(held);
        Ok(answer?)
    }
}
