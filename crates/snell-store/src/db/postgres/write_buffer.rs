//! The writes of one transaction that are not sent yet. Rows of one table leave as one statement.

use std::collections::BTreeMap;

use super::session::SqlStatement;
use super::values::SqlValue;

/// A row to insert: its table and columns, the types of these, and their values.
pub(super) struct NewRow {
    pub(super) table: &'static str,
    pub(super) columns: &'static str,
    pub(super) types: Vec<&'static str>,
    pub(super) values: Vec<SqlValue>,
}

/// Writes, in the order in which they are sent. Statements about different tables do not depend on each other's order.
#[derive(Default)]
pub(super) struct WriteBuffer {
    writes: Vec<BufferedWrite>,
    /// The inserts and updates that rows can still be added to, by table.
    open_inserts: BTreeMap<&'static str, usize>,
    open_updates: BTreeMap<&'static str, usize>,
}

enum BufferedWrite {
    Rows {
        action: RowAction,
        table: &'static str,
        columns: &'static str,
        types: Vec<&'static str>,
        values: Vec<Vec<SqlValue>>,
    },
    Statement {
        tables: Vec<&'static str>,
        statement: SqlStatement,
    },
}

/// Whether rows are new, or replace those with the same first column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowAction {
    Insert,
    Update,
}

impl WriteBuffer {
    /// Adds a row. It may be inserted before earlier statements about other tables.
    pub(super) fn insert(&mut self, row: NewRow) {
        self.add_row(RowAction::Insert, row);
    }

    /// Changes all these columns of the row whose key is the first of them.
    pub(super) fn update(&mut self, row: NewRow) {
        self.add_row(RowAction::Update, row);
    }

    fn add_row(&mut self, action: RowAction, row: NewRow) {
        let NewRow { table, columns, types, values } = row;
        let open = if action == RowAction::Insert { &self.open_inserts } else { &self.open_updates };
        let open = open.get(table).and_then(|index| self.writes.get_mut(*index));
        if let Some(BufferedWrite::Rows { columns: same, values: lists, .. }) = open
            && *same == columns
        {
            // Of several updates of one row, the last one counts.
            let keys = lists.first().filter(|_| action == RowAction::Update);
            let earlier = keys.and_then(|keys| keys.iter().position(|key| Some(key) == values.first()));
            for (list, value) in lists.iter_mut().zip(values) {
                match earlier.and_then(|position| list.get_mut(position)) {
                    Some(place) => *place = value,
                    None => list.push(value),
                }
            }
            return;
        }
        // Later updates may be of these rows.
        self.open_updates.remove(table);
        let open = if action == RowAction::Insert { &mut self.open_inserts } else { &mut self.open_updates };
        open.insert(table, self.writes.len());
        let values = values.into_iter().map(|value| vec![value]).collect();
        self.writes.push(BufferedWrite::Rows { action, table, columns, types, values });
    }

    /// Adds a statement that reads or writes these tables.
    pub(super) fn run(&mut self, tables: &[&'static str], sql: &str, values: Vec<SqlValue>) {
        for table in tables {
            self.open_inserts.remove(table);
            self.open_updates.remove(table);
        }
        let statement = SqlStatement::new(sql, values);
        self.writes.push(BufferedWrite::Statement { tables: tables.to_vec(), statement });
    }

    /// Whether a query sees something else before the writes are sent.
    pub(super) fn concerns(&self, sql: &str) -> bool {
        self.writes.iter().any(|write| match write {
            BufferedWrite::Rows { table, .. } => sql.contains(table),
            BufferedWrite::Statement { tables, .. } => tables.iter().any(|table| sql.contains(table)),
        })
    }

    /// Takes all statements.
    pub(super) fn take(&mut self) -> Vec<SqlStatement> {
        self.open_inserts.clear();
        self.open_updates.clear();
        std::mem::take(&mut self.writes).into_iter().map(BufferedWrite::into_statement).collect()
    }
}

impl BufferedWrite {
    fn into_statement(self) -> SqlStatement {
        match self {
            Self::Statement { statement, .. } => statement,
            Self::Rows { action, table, columns, types, values } => {
                let lists: Vec<_> =
                    types.iter().zip(1..).map(|(column_type, number)| format!("${number}::{column_type}[]")).collect();
                let lists = lists.join(", ");
                let mut names = columns.split(", ");
                let key = names.next().unwrap_or_default();
                let sql = match action {
                    RowAction::Insert => format!("INSERT INTO {table} ({columns}) SELECT * FROM unnest({lists})"),
                    RowAction::Update => {
                        let changed: Vec<_> = names.map(|column| format!("{column} = new.{column}")).collect();
                        let changed = changed.join(", ");
                        format!(
                            "UPDATE {table} SET {changed} FROM unnest({lists}) AS new ({columns}) WHERE {table}.{key} = new.{key}"
                        )
                    }
                };
                SqlStatement::new(&sql, values.into_iter().map(SqlValue::List).collect())
            }
        }
    }
}
