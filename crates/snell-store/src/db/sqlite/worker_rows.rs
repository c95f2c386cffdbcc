//! The row of a worker in SQLite.

use rusqlite::params;
use snell::Timestamp;

use super::columns::{ColumnParam, ConnectionExt, columns, insert_row};
use super::rows::{SqliteTransaction, to_optional_id};
use crate::db::workers::{SessionWorker, WorkerKind, WorkerRows};
use crate::error::Result;

columns! {
    SessionWorker from "workers" {
        worker_id, conversation_id, kind, name, label, status, in_background, started_at, finished_at, summary,
        reported_at,
    }
}

impl WorkerRows for SqliteTransaction<'_, '_> {
    fn find_worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<SessionWorker>> {
        let which = "WHERE conversation_id = ?1 AND kind = ?2 AND name = ?3 ORDER BY worker_id DESC LIMIT 1";
        self.transaction.select_one(which, params![conversation_id, kind.as_str(), name])
    }

    fn list_background_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        let which = "WHERE conversation_id = ?1 AND status = 'running' AND in_background ORDER BY worker_id";
        self.transaction.select_all(which, [conversation_id])
    }

    fn list_unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<SessionWorker>> {
        let which = "WHERE conversation_id = ?1 AND status <> 'running' AND reported_at IS NULL ORDER BY finished_at, worker_id LIMIT ?2";
        self.transaction.select_all(which, [conversation_id, i64::from(at_most)])
    }

    fn save_worker(&mut self, worker: &mut SessionWorker) -> Result<()> {
        let number = insert_row!(self.transaction, "INSERT INTO workers", worker {
            worker_id: to_optional_id(worker.worker_id), conversation_id, name,
        } on conflict (worker_id) update {
            kind, label, status, in_background, started_at, finished_at, summary, reported_at,
        })?;
        if worker.worker_id == 0 {
            worker.worker_id = number;
        }
        Ok(())
    }

    fn transfer_workers(&mut self, from: i64, to: i64) -> Result<()> {
        let sql = "UPDATE workers SET conversation_id = ?2 WHERE conversation_id = ?1 AND reported_at IS NULL";
        self.transaction.run(sql, [from, to])
    }

    fn mark_worker_reported(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE workers SET reported_at = ?3 WHERE worker_id = ?1 AND conversation_id = ?2 \
            AND status <> 'running' AND reported_at IS NULL";
        self.transaction.run(sql, params![worker_id, conversation_id, at.as_microsecond()])
    }
}
