//! Databases and clouds, by the libraries of languages: each call is told as the client's command that does the same.

use super::scan::{Piece, Token};
use super::worth::{Argument, Worth};
use crate::invocation::Value;

/// What a library talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Sql,
    Redis,
    Mongo,
    Aws,
}

/// Names by which a library is there, of modules, classes and functions.
const LIBRARIES: &[(&str, Service)] = &[
    ("sqlite3", Service::Sql),
    ("SQLite3", Service::Sql),
    ("better-sqlite3", Service::Sql),
    ("psycopg", Service::Sql),
    ("psycopg2", Service::Sql),
    ("asyncpg", Service::Sql),
    ("pg", Service::Sql),
    ("PG", Service::Sql),
    ("pymysql", Service::Sql),
    ("MySQLdb", Service::Sql),
    ("mysql", Service::Sql),
    ("mysql2", Service::Sql),
    ("mysqli", Service::Sql),
    ("mysqli_query", Service::Sql),
    ("pg_query", Service::Sql),
    ("PDO", Service::Sql),
    ("DBI", Service::Sql),
    ("sqlalchemy", Service::Sql),
    ("create_engine", Service::Sql),
    ("duckdb", Service::Sql),
    ("pyodbc", Service::Sql),
    ("oracledb", Service::Sql),
    ("knex", Service::Sql),
    ("PrismaClient", Service::Sql),
    ("ActiveRecord", Service::Sql),
    ("Sequel", Service::Sql),
    ("redis", Service::Redis),
    ("ioredis", Service::Redis),
    ("Redis", Service::Redis),
    ("pymongo", Service::Mongo),
    ("MongoClient", Service::Mongo),
    ("mongodb", Service::Mongo),
    ("mongoose", Service::Mongo),
    ("boto3", Service::Aws),
    ("botocore", Service::Aws),
    ("aws-sdk", Service::Aws),
    ("AWS", Service::Aws),
    ("Aws", Service::Aws),
];

/// Calls that hand a statement to a database.
const STATEMENTS: &[&str] = &[
    "execute",
    "executescript",
    "executemany",
    "exec",
    "exec_driver_sql",
    "exec_query",
    "query",
    "do",
    "raw",
    "run",
    "unsafe",
    "text",
    "$executeRawUnsafe",
    "$queryRawUnsafe",
    "mysqli_query",
    "pg_query",
];

/// Calls that empty or remove what a document store holds, and what its shell calls them.
const MONGO: &[(&str, &str)] = &[
    ("drop_database", "db.dropDatabase()"),
    ("dropDatabase", "db.dropDatabase()"),
    ("drop_collection", "db.x.drop()"),
    ("dropCollection", "db.x.drop()"),
    ("drop", "db.x.drop()"),
    ("delete_many", "db.x.deleteMany({})"),
    ("deleteMany", "db.x.deleteMany({})"),
];

/// Texts that say that a database is nobody's.
const THROWAWAY: &[&str] = &[":memory:", "/tmp/", "file::memory"];

/// The libraries that some code uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Services(Vec<Service>);

impl Services {
    /// Looks for them. A database in memory or in a temporary directory is none.
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut found = Vec::new();
        for token in tokens {
            let name = match token {
                Token::Name(name) => name.as_str(),
                Token::Text { pieces, .. } => match pieces.as_slice() {
                    [Piece::Text(text)] => text.as_str(),
                    _ => continue,
                },
                _ => continue,
            };
            if THROWAWAY.iter().any(|start| name.contains(start)) {
                return Self::default();
            }
            let name = name.strip_prefix("@aws-sdk/").map_or(name, |_| "aws-sdk");
            let service = LIBRARIES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, service)| *service);
            found.extend(service.filter(|service| !found.contains(service)));
        }
        Self(found)
    }

    /// The commands that do the same as a call.
    pub(super) fn commands(&self, name: &str, arguments: &[Argument]) -> Vec<Vec<Value>> {
        let method = name.rsplit('.').next().unwrap_or(name);
        let commands = self.0.iter().map(|service| match service {
            Service::Sql if STATEMENTS.contains(&method) => statements(arguments),
            Service::Redis if method.to_ascii_lowercase().starts_with("flush") => {
                vec![vec![Value::text("redis-cli"), Value::text(method.replace("Async", ""))]]
            }
            Service::Mongo if is_everything(arguments) => mongo(method),
            Service::Aws => aws(method),
            Service::Sql | Service::Redis | Service::Mongo => Vec::new(),
        });
        commands.flatten().collect()
    }
}

fn statements(arguments: &[Argument]) -> Vec<Vec<Value>> {
    let texts = arguments.iter().map(|(_, worth)| worth.value());
    let known = texts.filter(|value| !value.leading().is_empty());
    known
        .map(|statement| vec![Value::text("psql"), Value::text("-c"), statement])
        .collect()
}

fn mongo(method: &str) -> Vec<Vec<Value>> {
    let found = MONGO.iter().find(|(known, _)| *known == method);
    let command =
        |(_, code): &(&str, &'static str)| vec![Value::text("mongosh"), Value::text("--eval"), Value::text(*code)];
    found.map(command).into_iter().collect()
}

/// Whether nothing is said that would pick out some documents.
fn is_everything(arguments: &[Argument]) -> bool {
    arguments.iter().all(|(_, worth)| match worth {
        Worth::Named(list) => list.is_empty(),
        _ => true,
    })
}

/// `delete_bucket`, `deleteBucket` and `DeleteBucketCommand` are `delete-bucket`. Messages are there to be deleted.
fn aws(method: &str) -> Vec<Vec<Value>> {
    let mut command = String::new();
    for c in method.strip_suffix("Command").unwrap_or(method).chars() {
        if c.is_uppercase() && !command.is_empty() {
            command.push('-');
        }
        command.extend(if c == '_' { '-' } else { c }.to_lowercase());
    }
    if !command.contains('-') || command.starts_with("delete-message") {
        return Vec::new();
    }
    vec![["aws", "service", &command].map(Value::text).to_vec()]
}
