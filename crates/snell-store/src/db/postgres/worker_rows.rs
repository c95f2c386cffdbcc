//! The row of a worker in PostgreSQL.

use snell::Timestamp;

use super::transaction::{PostgresTransaction, new_row};
use super::values::values;
use crate::db::workers::{SessionWorker, WorkerKind, WorkerRows};
use crate::error::Result;

impl WorkerRows for PostgresTransaction<'_> {
    fn find_worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<SessionWorker>> {
        let which = "WHERE conversation_id = $1 AND kind = $2 AND name = $3 ORDER BY worker_id DESC LIMIT 1";
        self.select_one(which, values![conversation_id, kind, name])
    }

    fn list_background_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        let which = "WHERE conversation_id = $1 AND status = 'running' AND in_background <> 0 ORDER BY worker_id";
        self.select_all(which, values![conversation_id])
    }

    fn list_unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<SessionWorker>> {
        let which = "WHERE conversation_id = $1 AND status <> 'running' AND reported_at IS NULL \
            ORDER BY finished_at NULLS FIRST, worker_id LIMIT $2";
        self.select_all(which, values![conversation_id, at_most])
    }

    fn save_worker(&mut self, worker: &mut SessionWorker) -> Result<()> {
        let is_new = worker.worker_id == 0;
        if is_new {
            worker.worker_id = self.take_id("workers_worker_id_seq")?;
        }
        let row = new_row!(
            "workers",
            worker {
                worker_id,
                conversation_id,
                name,
                kind,
                label,
                status,
                in_background,
                started_at,
                finished_at,
                summary,
                reported_at,
            }
        );
        if is_new {
            self.insert(row);
            return Ok(());
        }
        self.update(row)
    }

    fn transfer_workers(&mut self, from: i64, to: i64) -> Result<()> {
        let sql = "UPDATE workers SET conversation_id = $2 WHERE conversation_id = $1 AND reported_at IS NULL";
        self.run(&["workers"], sql, values![from, to])
    }

    fn mark_worker_reported(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE workers SET reported_at = $3 WHERE worker_id = $1 AND conversation_id = $2 \
            AND status <> 'running' AND reported_at IS NULL";
        self.run(&["workers"], sql, values![worker_id, conversation_id, at])
    }
}
