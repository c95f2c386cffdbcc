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
    /// The inserts that rows can still be added to, by table.
    open_inserts: BTreeMap<&'static str, usize>,
}

enum BufferedWrite {
    Rows { table: &'static str, columns: &'static str, types: Vec<&'static str>, values: Vec<Vec<SqlValue>> },
    Statement { tables: Vec<&'static str>, statement: SqlStatement },
}

impl WriteBuffer {
    /// Adds a row. It may be inserted before earlier statements about other tables.
    pub(super) fn insert(&mut self, row: NewRow) {
        let NewRow { table, columns, types, values } = row;
        let open = self.open_inserts.get(table).and_then(|index| self.writes.get_mut(*index));
        if let Some(BufferedWrite::Rows { columns: same, values: lists, .. }) = open
            && *same == columns
        {
            lists.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
            return;
        }
        self.open_inserts.insert(table, self.writes.len());
        let values = values.into_iter().map(|value| vec![value]).collect();
        self.writes.push(BufferedWrite::Rows { table, columns, types, values });
    }

    /// Adds a statement that reads or writes these tables.
    pub(super) fn run(&mut self, tables: &[&'static str], sql: &str, values: Vec<SqlValue>) {
        for table in tables {
            self.open_inserts.remove(table);
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
        std::mem::take(&mut self.writes).into_iter().map(BufferedWrite::into_statement).collect()
    }
}

impl BufferedWrite {
    fn into_statement(self) -> SqlStatement {
        match self {
            Self::Statement { statement, .. } => statement,
            Self::Rows { table, columns, types, values } => {
                let lists: Vec<_> =
                    types.iter().zip(1..).map(|(column_type, number)| format!("${number}::{column_type}[]")).collect();
                // One list is a column; several are the columns of rows.
                let sql = format!("INSERT INTO {table} ({columns}) SELECT * FROM unnest({})", lists.join(", "));
                SqlStatement::new(&sql, values.into_iter().map(SqlValue::List).collect())
            }
        }
    }
}
