//! The database, as another program reads it.

use std::fs;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::files::list_names;
use crate::wait::WAIT_TIMEOUT;

/// Opens a database to read it. Even closing it changes nothing.
#[track_caller]
pub fn open_read_only(database: &Path) -> Connection {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.busy_timeout(WAIT_TIMEOUT).unwrap();
    connection
}

/// The rows that a query finds, as objects.
#[track_caller]
pub fn query_rows(database: &Path, sql: &str) -> Vec<Value> {
    let connection = open_read_only(database);
    let mut statement = connection.prepare(sql).unwrap();
    let names: Vec<_> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).unwrap();
    let mut objects = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let values = names.iter().enumerate().map(|(index, name)| {
            let value = match row.get_ref(index).unwrap() {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                ValueRef::Blob(_) => panic!("there are no blobs"),
            };
            (name.clone(), value)
        });
        objects.push(Value::Object(values.collect()));
    }
    objects
}

/// The first column of the rows that a query finds, which is text.
#[track_caller]
pub fn query_texts(database: &Path, sql: &str) -> Vec<String> {
    extract_first_column(&query_rows(database, sql))
}

/// The first column of each row, which is text.
#[track_caller]
pub fn extract_first_column(rows: &[Value]) -> Vec<String> {
    let first = |row: &Value| row.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
    rows.iter().map(first).collect()
}

/// The number of rows of a table.
#[track_caller]
pub fn count_rows(database: &Path, table: &str) -> i64 {
    query_rows(database, &format!("SELECT count(*) AS count FROM {table}"))[0]["count"].as_i64().unwrap()
}

/// SQLite finds no fault in the database.
#[track_caller]
pub fn assert_database_intact(database: &Path) {
    assert_eq!(query_texts(database, "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(query_rows(database, "PRAGMA foreign_key_check"), [""; 0]);
}

/// The names of the databases that were moved aside because they were damaged.
#[track_caller]
pub fn list_damaged_databases(data_dir: &Path) -> Vec<String> {
    let is_log = |name: &String| name.ends_with("-wal") || name.ends_with("-shm");
    let names = list_names(data_dir).into_iter();
    names.filter(|name| name.starts_with("snell.db.damaged-") && !is_log(name)).collect()
}

/// Removes a database and the files beside it.
pub fn remove_database(data_dir: &Path) {
    for name in ["snell.db", "snell.db-wal", "snell.db-shm"] {
        let _ = fs::remove_file(data_dir.join(name));
    }
}
