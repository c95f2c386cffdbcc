//! The row of a worker in SQLite.

use rusqlite::{Row, params};
use snell::Timestamp;

use super::Sqlite;
use super::rows::{Within, numbered, optional_time, word};
use crate::error::Result;
use crate::workers::{Worker, WorkerKind, WorkerRows, WorkerStatus};

const WORKER_COLUMNS: &str = "worker_id, conversation_id, kind, name, label, status, in_background, started_at, \
    finished_at, summary, reported_at";

impl WorkerRows for Within<'_, '_> {
    fn worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<Worker>> {
        let sql = format!(
            "SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 AND kind = ?2 AND name = ?3 \
             ORDER BY worker_id DESC LIMIT 1"
        );
        self.one(&sql, params![conversation_id, kind.as_str(), name], worker)
    }

    fn running_in_background(&mut self, conversation_id: i64) -> Result<Vec<Worker>> {
        let sql = format!(
            "SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 AND status = 'running' AND in_background \
             ORDER BY worker_id"
        );
        self.all(&sql, [conversation_id], worker)
    }

    fn unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<Worker>> {
        let sql = format!(
            "SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 AND status <> 'running' \
             AND reported_at IS NULL ORDER BY finished_at, worker_id LIMIT ?2"
        );
        self.all(&sql, [conversation_id, i64::from(at_most)], worker)
    }

    fn save_worker(&mut self, worker: &mut Worker) -> Result<()> {
        let sql = "INSERT INTO workers (worker_id, conversation_id, kind, name, label, status, in_background, \
            started_at, finished_at, summary, reported_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
            ON CONFLICT (worker_id) DO UPDATE SET kind = ?3, label = ?5, status = ?6, in_background = ?7, \
            started_at = ?8, finished_at = ?9, summary = ?10, reported_at = ?11";
        let number = self.insert(
            sql,
            params![
                numbered(worker.worker_id),
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

    fn hand_on_workers(&mut self, from: i64, to: i64) -> Result<()> {
        let sql = "UPDATE workers SET conversation_id = ?2 WHERE conversation_id = ?1 AND reported_at IS NULL";
        self.write(sql, [from, to]).map(drop)
    }

    fn report_worker(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE workers SET reported_at = ?3 WHERE worker_id = ?1 AND conversation_id = ?2 \
            AND status <> 'running' AND reported_at IS NULL";
        self.write(sql, params![worker_id, conversation_id, at.as_microsecond()])
            .map(drop)
    }
}

impl Sqlite {
    pub(super) fn read_workers(&self, conversation_id: i64) -> Result<Vec<Worker>> {
        let sql = format!("SELECT {WORKER_COLUMNS} FROM workers WHERE conversation_id = ?1 ORDER BY worker_id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map([conversation_id], worker)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn worker(row: &Row<'_>) -> rusqlite::Result<Worker> {
    Ok(Worker {
        worker_id: row.get(0)?,
        conversation_id: row.get(1)?,
        kind: word(row, 2, WorkerKind::parse)?,
        name: row.get(3)?,
        label: row.get(4)?,
        status: word(row, 5, WorkerStatus::parse)?,
        in_background: row.get(6)?,
        started_at: optional_time(row, 7)?,
        finished_at: optional_time(row, 8)?,
        summary: row.get(9)?,
        reported_at: optional_time(row, 10)?,
    })
}
