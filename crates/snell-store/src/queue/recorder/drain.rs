//! Stores the events that wait on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::EventRecorder;
use crate::derive::normalize::NormalizedEvent;
use crate::error::{Result, StoreError};
use crate::queue::pending::{PendingEvent, PendingFile};
use crate::record::masked_record::MaskedRecord;

/// How many pending events one transaction stores.
const PENDING_BATCH_SIZE: usize = 50;

impl EventRecorder {
    /// Stores all events that wait on disk, including those that a daemon took and may not have stored.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn drain_all(&mut self) -> Result<()> {
        self.drain_pending(usize::MAX)
    }

    /// As [`EventRecorder::drain_all`], but at most so many pending events, for a process that an agent waits for.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn drain_pending(&mut self, at_most: usize) -> Result<()> {
        self.open_database()?;
        if !self.pending.is_empty() {
            let mut paths = self.pending.list_paths();
            paths.truncate(at_most);
            self.store_pending_files(&paths)?;
        }
        if self.spool.is_empty() {
            return Ok(());
        }
        let spool = self.spool.clone();
        let warnings = spool.drain(&mut |records| {
            // A record without an event name is not an event.
            let events: Vec<_> = records.into_iter().flat_map(NormalizedEvent::from_record).map(Arc::new).collect();
            self.try_record_events(&events).map(drop)
        })?;
        self.warnings.extend(warnings);
        Ok(())
    }

    /// Stores events that wait on disk, for as long as an agent may wait: in a process that records without a daemon.
    /// The rest is left for the next process.
    pub fn drain_for(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        let paths = if self.pending.is_empty() { Vec::new() } else { self.pending.list_paths() };
        for paths in paths.chunks(PENDING_BATCH_SIZE) {
            if Instant::now() > deadline || self.store_pending_files(paths).is_err() {
                return;
            }
        }
        let _ = self.drain_pending(0);
    }

    /// Stores these pending files in an open database.
    pub(super) fn store_pending_files(&mut self, paths: &[PathBuf]) -> Result<()> {
        for paths in paths.chunks(PENDING_BATCH_SIZE) {
            let mut files = Vec::with_capacity(paths.len());
            for path in paths {
                match self.pending.load(path.clone()) {
                    PendingFile::Ready(file, record) => files.push((file, *record)),
                    PendingFile::Skipped => {}
                    PendingFile::SetAside(aside, why) => self
                        .warnings
                        .push(format!("a pending event that cannot be read ({why}) was moved to {}", aside.display())),
                }
            }
            self.store_pending_batch(files)?;
        }
        Ok(())
    }

    fn store_pending_batch(&mut self, batch: Vec<(PendingEvent, MaskedRecord)>) -> Result<()> {
        let Some(store) = self.store.as_mut().filter(|_| !batch.is_empty()) else {
            return Ok(());
        };
        let mut files = Vec::with_capacity(batch.len());
        let mut events = Vec::with_capacity(batch.len());
        for (file, record) in batch {
            match NormalizedEvent::from_record(record) {
                Ok(event) => {
                    files.push(file);
                    events.push(Arc::new(event));
                }
                // A record without an event name is not an event.
                Err(_) => self.pending.reject(file),
            }
        }
        match store.ingest_normalized(&events) {
            Ok(_) if store.has_intact_files() => {
                drop(self.copies.add(&events));
                files.into_iter().for_each(PendingEvent::remove);
            }
            // They may be in files that are gone, so the next call stores them again.
            Ok(_) => {}
            // A rejected event must not block the others.
            Err(StoreError::Refused(_)) => {
                for (file, event) in files.into_iter().zip(&events) {
                    match store.ingest_normalized(std::slice::from_ref(event)) {
                        Err(StoreError::Refused(_)) => self.pending.reject(file),
                        Err(error) => return Err(error),
                        Ok(_) => file.remove(),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
