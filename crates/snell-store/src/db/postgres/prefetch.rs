//! Reads what a batch of events needs in two round trips, before anything is decided.
//!
//! Each query is the one that the decisions ask later, for all keys at once. A key that was not foreseen costs a round
//! trip, never a wrong answer.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use snell::EventName;
use tokio_postgres::Row;

use super::rollups::{FIND_HOOK, to_hook_key};
use super::rows::{
    FIND_AGENT, FIND_CONVERSATION, FIND_EVENT_AGENT, FIND_LAST_TURN, FIND_LATEST_TURN, FIND_SESSION, FIND_TOOL_START,
    FIND_TURNS_BY_HASH, LIST_TOOL_PAYLOADS,
};
use super::session::SqlStatement;
use super::tool_calls::LIST_OPEN_CALLS;
use super::transaction::{OtherWrites, PostgresTransaction, WriterMemory};
use super::values::{SqlValue, values};
use super::write_buffer::NewRow;
use crate::db::columns::FromColumns;
use crate::derive::normalize::NormalizedEvent;
use crate::derive::tool_calls::get_tool_call_id;
use crate::derive::turns::hash_event_text;
use crate::error::Result;

/// A query of rows by a key. Its SQL contains `$1` and so on for the values of the key.
pub(super) struct KeyedQuery {
    pub(super) sql: LazyLock<String>,
    /// The columns whose writes change the answer: their tables, their names, and the position of their value in the key.
    pub(super) depends_on: &'static [(&'static str, &'static str, usize)],
}

impl KeyedQuery {
    /// The same query for many keys. Its last column is the number of the key, from 1.
    fn to_batch(&self, keys: &[Vec<SqlValue>]) -> SqlStatement {
        let width = keys.first().map_or(0, Vec::len);
        let (mut sql, mut lists, mut names) = (self.sql.clone(), Vec::new(), Vec::new());
        let mut columns = Vec::with_capacity(width);
        for position in 0..width {
            let column: Vec<_> = keys.iter().filter_map(|key| key.get(position).cloned()).collect();
            let is_number = matches!(column.first(), Some(SqlValue::Integer(_)));
            let number = position + 1;
            lists.push(format!("${number}::{}[]", if is_number { "bigint" } else { "text" }));
            names.push(format!("v{number}"));
            sql = sql.replace(&format!("${number}"), &format!("wanted.v{number}"));
            columns.push(SqlValue::List(column));
        }
        let (lists, names) = (lists.join(", "), names.join(", "));
        let sql = format!(
            "SELECT found.*, wanted.number FROM unnest({lists}) WITH ORDINALITY AS wanted ({names}, number), LATERAL ({sql}) found"
        );
        SqlStatement::new(&sql, columns)
    }
}

/// Rows by their query and key.
#[derive(Default)]
pub(super) struct PrefetchedRows {
    rows: HashMap<(&'static str, Vec<SqlValue>), Vec<Row>>,
}

impl PrefetchedRows {
    pub(super) fn get(&self, query: &'static KeyedQuery, key: Vec<SqlValue>) -> Option<&Vec<Row>> {
        self.rows.get(&(query.sql.as_str(), key))
    }
}

/// Keys to read at once.
#[derive(Default)]
struct WantedRows {
    queries: Vec<(&'static KeyedQuery, Vec<Vec<SqlValue>>)>,
    known: HashSet<(&'static str, Vec<SqlValue>)>,
}

impl WantedRows {
    fn add(&mut self, query: &'static KeyedQuery, key: Vec<SqlValue>) {
        if !self.known.insert((query.sql.as_str(), key.clone())) {
            return;
        }
        match self.queries.iter_mut().find(|(known, _)| std::ptr::eq(*known, query)) {
            Some((_, keys)) => keys.push(key),
            None => self.queries.push((query, vec![key])),
        }
    }

    fn to_statements(&self) -> Vec<SqlStatement> {
        self.queries.iter().map(|(query, keys)| query.to_batch(keys)).collect()
    }

    /// Takes the answers to [`Self::to_statements`].
    fn store_answers(self, answers: Vec<Vec<Row>>, prefetched: &mut PrefetchedRows) -> Result<()> {
        for ((query, keys), rows) in self.queries.into_iter().zip(answers) {
            let mut by_key: Vec<Vec<Row>> = vec![Vec::new(); keys.len()];
            for row in rows {
                let number: i64 = row.try_get(row.len() - 1)?;
                let of_key = usize::try_from(number - 1).ok().and_then(|number| by_key.get_mut(number));
                of_key.into_iter().for_each(|found| found.push(row.clone()));
            }
            prefetched.rows.extend(keys.into_iter().map(|key| (query.sql.as_str(), key)).zip(by_key));
        }
        Ok(())
    }
}

/// The rows that the events of a batch need.
pub(super) struct BatchPrefetch<'a> {
    events: &'a [&'a NormalizedEvent],
    first: WantedRows,
}

/// A known session: its conversation, its agent, and the agent's command.
type KnownSession = (i64, i64, Option<i64>);

impl<'a> BatchPrefetch<'a> {
    pub(super) fn new(events: &'a [&'a NormalizedEvent], memory: &WriterMemory) -> Self {
        let mut first = WantedRows::default();
        for event in events {
            first.add(&FIND_EVENT_AGENT, values![event.event_id]);
            for id in session_ids(event) {
                first.add(&FIND_SESSION, values![id]);
            }
            for run in event.judgement.iter().flat_map(|judgement| &judgement.runs) {
                if !memory.hook_ids.contains_key(&to_hook_key(run)) {
                    first.add(&FIND_HOOK, values![run.source, run.line, run.command, run.contract]);
                }
            }
        }
        Self { events, first }
    }

    /// The statements of the first round trip.
    pub(super) fn first_statements(&self) -> Vec<SqlStatement> {
        self.first.to_statements()
    }

    /// Takes their answers, and reads what depends on them.
    pub(super) fn read_into(self, rows: &mut PostgresTransaction<'_>, answers: Vec<Vec<Row>>) -> Result<()> {
        self.first.store_answers(answers, &mut rows.prefetched)?;
        let mut second = WantedRows::default();
        let mut ids = IdCounts::default();
        for event in self.events {
            let stored = rows.prefetched.get(&FIND_EVENT_AGENT, values![event.event_id]).and_then(|rows| rows.first());
            if let Some(stored) = stored {
                second.add(&FIND_AGENT, values![i64::from_row(stored)?]);
                continue;
            }
            ids.count(event);
            // The agent's own id first, as in correlation.
            let own_first = session_ids(event).rev();
            let known =
                own_first.flat_map(|id| rows.prefetched.get(&FIND_SESSION, values![id]).and_then(|rows| rows.first()));
            let known: Vec<KnownSession> = known.map(KnownSession::from_row).collect::<Result<_>>()?;
            for session in known {
                add_session_rows(&mut second, event, session, rows.other_writes);
            }
        }
        let mut statements = second.to_statements();
        let answered = statements.len();
        let wanted_ids = ids.to_statements(rows.memory);
        statements.extend(wanted_ids.iter().map(|(_, statement)| statement.clone()));
        let mut answers = rows.run_at_once(&statements)?;
        let new_ids = answers.split_off(answered);
        for ((sequence, _), new) in wanted_ids.into_iter().zip(new_ids) {
            let new: Vec<i64> = new.iter().map(FromColumns::from_row).collect::<Result<_>>()?;
            rows.memory.spare_ids.entry(sequence).or_default().extend(new);
        }
        second.store_answers(answers, &mut rows.prefetched)
    }
}

/// The launcher's id and the agent's own.
fn session_ids(event: &NormalizedEvent) -> impl DoubleEndedIterator<Item = &str> {
    let launcher = event.sender.launcher_session_id.as_deref();
    launcher.into_iter().chain(event.event.session_id.as_deref()).filter(|id| !id.is_empty())
}

/// Adds what an event of a known session needs.
fn add_session_rows(wanted: &mut WantedRows, event: &NormalizedEvent, session: KnownSession, others: OtherWrites) {
    let (conversation_id, agent_id, command_id) = session;
    if others == OtherWrites::Some {
        wanted.add(&FIND_AGENT, values![agent_id]);
        wanted.add(&FIND_CONVERSATION, values![conversation_id]);
    }
    let is_end = matches!(event.event.name, EventName::PostToolUse | EventName::PostToolUseFailure);
    match (get_tool_call_id(&event.event), event.event.tool_name()) {
        (Some(call), _) => {
            wanted.add(&LIST_TOOL_PAYLOADS, values![call, conversation_id, event.event.name.as_str()]);
            if is_end {
                wanted.add(&FIND_TOOL_START, values![call, conversation_id, event.at]);
            }
        }
        (None, Some(tool)) if is_end => wanted.add(&LIST_OPEN_CALLS, values![agent_id, conversation_id, tool]),
        _ => {}
    }
    if let Some(hash) = hash_event_text(&event.event) {
        wanted.add(&FIND_TURNS_BY_HASH, values![agent_id, hash]);
    }
    if let Some(command_id) = command_id.filter(|_| may_have_turn(event)) {
        wanted.add(&FIND_LAST_TURN, values![command_id]);
        wanted.add(&FIND_LATEST_TURN, values![command_id]);
    }
}

fn may_have_turn(event: &NormalizedEvent) -> bool {
    matches!(event.event.name, EventName::UserPromptSubmit | EventName::Stop)
}

/// How many ids of each kind a batch takes.
#[derive(Default)]
struct IdCounts {
    events: usize,
    turns: usize,
    commands: usize,
}

impl IdCounts {
    fn count(&mut self, event: &NormalizedEvent) {
        self.events += 1;
        self.turns += usize::from(may_have_turn(event));
        self.commands += usize::from(event.event.name == EventName::UserPromptSubmit);
    }

    /// Statements for those that no spare one is left for, with their sequences.
    fn to_statements(&self, memory: &WriterMemory) -> Vec<(&'static str, SqlStatement)> {
        let wanted = [
            ("events_id_seq", self.events),
            ("turns_turn_id_seq", self.turns),
            ("commands_command_id_seq", self.commands),
        ];
        let missing = wanted.into_iter().map(|(sequence, count)| {
            let spare = memory.spare_ids.get(sequence).map_or(0, std::collections::VecDeque::len);
            (sequence, i64::try_from(count.saturating_sub(spare)).unwrap_or(0))
        });
        let sql = "SELECT nextval($1::text::regclass) FROM generate_series(1, $2)";
        let statement = |(sequence, count)| (sequence, SqlStatement::new(sql, values![sequence, count]));
        missing.filter(|(_, count)| *count > 0).map(statement).collect()
    }
}

/// The columns of [`KeyedQuery::depends_on`].
const TRACKED_COLUMNS: &[(&str, &str)] = &[
    ("agents", "agent_id"),
    ("calls_without_ids", "agent_id"),
    ("conversations", "conversation_id"),
    ("events", "event_id"),
    ("events", "tool_use_id"),
    ("hooks", "source"),
    ("session_ids", "session_id"),
    ("turns", "command_id"),
    ("turns", "content_hash"),
];

/// The rows that a transaction has written, by the columns of [`TRACKED_COLUMNS`].
#[derive(Default)]
pub(super) struct WrittenKeys {
    keys: HashSet<(&'static str, &'static str, SqlValue)>,
    /// Tables with writes whose keys are not known.
    tables: HashSet<&'static str>,
}

impl WrittenKeys {
    pub(super) fn add_row(&mut self, row: &NewRow) {
        for (table, column) in TRACKED_COLUMNS.iter().filter(|(table, _)| *table == row.table) {
            match row.columns.split(", ").position(|name| name == *column).and_then(|position| row.values.get(position))
            {
                Some(value) => self.add_key(table, column, value.clone()),
                None => self.add_table(table),
            }
        }
    }

    pub(super) fn add_key(&mut self, table: &'static str, column: &'static str, value: SqlValue) {
        self.keys.insert((table, column, value));
    }

    pub(super) fn add_table(&mut self, table: &'static str) {
        self.tables.insert(table);
    }

    pub(super) fn contains(&self, table: &'static str, column: &'static str, value: &SqlValue) -> bool {
        self.tables.contains(table) || self.keys.contains(&(table, column, value.clone()))
    }

    /// Whether the answer to a query has changed.
    pub(super) fn changes(&self, query: &KeyedQuery, key: &[SqlValue]) -> bool {
        let is_written = |(table, column, position): &(&'static str, &'static str, usize)| {
            key.get(*position).is_some_and(|value| self.contains(table, column, value))
        };
        query.depends_on.iter().any(is_written)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snell::{Event, Timestamp};
    use snell_test_support::postgres::TestServer;

    use crate::db::location::DatabaseLocation;
    use crate::db::postgres::PostgresAddress;
    use crate::db::postgres::session::tests::ROUND_TRIPS;
    use crate::record::event_record::EventRecord;
    use crate::store::Store;

    const SESSIONS: usize = 16;

    /// One event of each session, with fields of its own.
    fn build_batch(name: &str, fields: impl Fn(usize) -> serde_json::Value) -> Vec<EventRecord> {
        let build = |session: usize| {
            let mut payload = fields(session);
            payload["hook_event_name"] = name.into();
            payload["session_id"] = format!("s{session}").into();
            payload["cwd"] = format!("/work/p{session}").into();
            payload["host"] = format!("box{}", session % 4).into();
            let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
            let mut record = EventRecord::new(&event, Timestamp::now());
            record.sender.host = Some(format!("box{}", session % 4));
            record
        };
        (0..SESSIONS).map(build).collect()
    }

    #[test]
    fn a_batch_takes_three_round_trips_whatever_its_size() {
        let Some(server) = TestServer::get() else { return };
        let database = server.create_database("template0");
        let address: PostgresAddress = server.address_of(&database).parse().unwrap();
        let open = || Store::open_at(&DatabaseLocation::from(address.clone())).unwrap().store;
        let (mut store, mut other) = (open(), open());
        let call = |session: usize| json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": format!("t{session}")});
        let anonymous = |_| json!({"tool_name": "Bash", "tool_input": {"command": "pwd"}});
        let prompt = |session: usize| json!({"prompt": format!("prompt {session}")});
        let stop = |session: usize| json!({"last_assistant_message": format!("Done {session}.")});
        store.ingest_all(build_batch("SessionStart", |_| json!({}))).unwrap();
        store.ingest_all(build_batch("UserPromptSubmit", prompt)).unwrap();
        let mut batches = Vec::new();
        for (name, fields) in [
            ("PreToolUse", &call as &dyn Fn(usize) -> serde_json::Value),
            ("PostToolUse", &call),
            ("PreToolUse", &anonymous),
            ("PostToolUse", &anonymous),
            ("UserPromptSubmit", &prompt),
            ("Stop", &stop),
        ] {
            batches.push((name, build_batch(name, fields)));
        }
        for (name, batch) in &batches {
            let before = ROUND_TRIPS.get();
            let receipts = store.ingest_all(batch.clone()).unwrap();
            assert!(receipts.iter().all(|receipt| !receipt.duplicate), "{name}");
            // The lock with what needs no answer, what depends on that, and the writes with the commit.
            assert_eq!(ROUND_TRIPS.get() - before, 3, "{name}");
        }
        // Another receiver knows nothing yet, and gets all of it again.
        let all: Vec<_> = batches.into_iter().flat_map(|(_, batch)| batch).collect();
        let before = ROUND_TRIPS.get();
        let receipts = other.ingest_all(all).unwrap();
        assert!(receipts.iter().all(|receipt| receipt.duplicate));
        assert_eq!(ROUND_TRIPS.get() - before, 3);
        assert_eq!(server.run_sql(&database, "SELECT count(*) FROM events"), [(8 * SESSIONS).to_string()]);
        assert_eq!(server.run_sql(&database, "SELECT count(*) = max(change_id) FROM changes"), ["t"]);
    }
}
