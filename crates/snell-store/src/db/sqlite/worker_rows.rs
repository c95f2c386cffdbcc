//! The row of a worker in SQLite.

use rusqlite::{Row, params};
use snell::Timestamp;

use super::SqliteDatabase;
use super::rows::{SqliteTransaction, get_enum, get_optional_time, to_optional_id};
use crate::db::workers::{SessionWorker, WorkerKind, WorkerRows, WorkerStatus};
use crate::error::Result;

const WORKER_COLUMNS: &str = "worker_id, conversation_id, kind, name, label, status, in_background, started_at, \
    finished_at, summary, reported_at";

impl WorkerRows for SqliteTransaction<'_, '_> {
    fn find_worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<SessionWorker>> {
        let sql = format!(
            "SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 AND kind = ?2 AND name = ?3 \
             ORDER BY worker_id DESC LIMIT 1"
        );
        self.query_one(&sql, params![conversation_id, kind.as_str(), name], decode_worker)
    }

    fn list_background_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        let sql = format!(
            "SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 AND status = 'running' AND in_background \
             ORDER BY worker_id"
        );
        self.query_all(&sql, [conversation_id], decode_worker)
    }

    fn list_unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<SessionWorker>> {
        let sql = format!(
            "SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 AND status <> 'running' \
             AND reported_at IS NULL ORDER BY finished_at, worker_id LIMIT ?2"
        );
        self.query_all(&sql, [conversation_id, i64::from(at_most)], decode_worker)
    }

    fn save_worker(&mut self, worker: &mut SessionWorker) -> Result<()> {
        let sql = "INSERT INTO workers (worker_id, conversation_id, kind, name, label, status, in_background, \
            started_at, finished_at, summary, reported_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
            ON CONFLICT (worker_id) DO UPDATE SET kind = ?3, label = ?5, status = ?6, in_background = ?7, \
            started_at = ?8, finished_at = ?9, summary = ?10, reported_at = ?11";
        let number = self.insert_row(
            sql,
            params![
                to_optional_id(worker.worker_id),
                worker.conversation_id,
                worker.kind.as_str(),
                worker.name,
                worker.label,
                worker.status.as_str(),
                worker.in_background,
                worker.started_at.map(Timestamp::as_microsecond),
                worker.finished_at.map(Timestamp::as_microsecond),
                worker.summary,
                worker.reported_at.map(Timestamp::as_microsecond),
            ],
        )?;
        if worker.worker_id == 0 {
            worker.worker_id = number;
        }
        Ok(())
    }

    fn transfer_workers(&mut self, from: i64, to: i64) -> Result<()> {
        let sql = "UPDATE workers SET conversation_id = ?2 WHERE conversation_id = ?1 AND reported_at IS NULL";
        self.execute(sql, [from, to]).map(drop)
    }

    fn mark_worker_reported(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE workers SET reported_at = ?3 WHERE worker_id = ?1 AND conversation_id = ?2 \
            AND status <> 'running' AND reported_at IS NULL";
        self.execute(sql, params![worker_id, conversation_id, at.as_microsecond()]).map(drop)
    }
}

impl SqliteDatabase {
    pub(super) fn read_workers(&self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        let sql = format!("SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 ORDER BY worker_id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map([conversation_id], decode_worker)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn decode_worker(row: &Row<'_>) -> rusqlite::Result<SessionWorker> {
    Ok(SessionWorker {
        worker_id: row.get(0)?,
        conversation_id: row.get(1)?,
        kind: get_enum(row, 2, WorkerKind::parse)?,
        name: row.get(3)?,
        label: row.get(4)?,
        status: get_enum(row, 5, WorkerStatus::parse)?,
        in_background: row.get(6)?,
        started_at: get_optional_time(row, 7)?,
        finished_at: get_optional_time(row, 8)?,
        summary: row.get(9)?,
        reported_at: get_optional_time(row, 10)?,
    })
}
