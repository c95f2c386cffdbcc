//! What would happen to a database: a small reader of statements, which knows a few words and little else.

use super::scene::Scene;
use crate::invocation::{Part, Stdin, Value};
use crate::paths::Class;
use crate::policy::LIMIT;
use crate::programs::Program;
use crate::queries::{Dialect, STRING, words};

/// Longer texts are read as far as this.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// What is destroyed, as rules have it.
const DROP_DATABASE: &str = "infra.drop-database";
const DROP_TABLE: &str = "infra.drop-table";
const DELETE_ALL: &str = "infra.delete-all-rows";
const DROP_USER: &str = "infra.drop-user";
const STOP: &str = "infra.service";

/// How SQL is written.
const SQL: Dialect = Dialect {
    comments: &["--", "#"],
    quotes: "'\"`",
    signs: ";",
};

/// Programs that talk to whatever listens, in its own language.
pub(super) const RAW: &[&str] = &["nc", "ncat", "netcat", "socat", "telnet"];

/// Reads what would be said to a store of keys and values.
pub(super) fn raw(scene: &mut Scene<'_>) {
    let Stdin::Text(value) = scene.stdin() else { return };
    let text = known(value).to_ascii_lowercase();
    if let Some(rule) = redis(&text.replace("flush_all", "flushall")) {
        scene.rule(rule);
    }
}

/// Reads what a client would be told: its flags, its operands, its standard input.
pub(super) fn apply(scene: &mut Scene<'_>, program: &Program) {
    if is_throwaway(scene) {
        return;
    }
    let mut texts: Vec<String> = program
        .code_flags
        .iter()
        .flat_map(|flags| scene.line.values(flags))
        .map(|value| known(&value))
        .collect();
    if let Stdin::Text(value) = scene.stdin() {
        texts.push(known(value));
    }
    let operands = scene.line.operands.iter().map(|value| known(value));
    let read: fn(&str) -> Option<&'static str> = match scene.name() {
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            // All operands are one command, which begins with its name.
            texts.push(operands.collect::<Vec<_>>().join(" "));
            redis
        }
        "mongosh" | "mongo" => {
            texts.extend(operands);
            mongo
        }
        _ => {
            texts.extend(operands);
            sql
        }
    };
    match texts.iter().find_map(|text| read(beginning(text))) {
        Some(DROP_TABLE | DELETE_ALL) if is_in_tests(scene) => {}
        Some(rule) => scene.rule(rule),
        None if texts.iter().any(|text| text.len() > MAX_TEXT) => scene.rule(LIMIT),
        None => {}
    }
}

/// A database in memory or in a temporary directory, or one of the project that is there to be tried out.
fn is_throwaway(scene: &Scene<'_>) -> bool {
    let Some(first) = scene.line.operands.first().filter(|_| scene.name() == "sqlite3") else {
        return false;
    };
    let place = scene.locate(first);
    let tried_out = place.classes.has(Class::Project) && place.path.as_deref().is_some_and(is_for_trying);
    first.as_text() == Some(":memory:") || place.classes.has(Class::Temp) || tried_out
}

/// Whether a file's name says that it is there to be tried out: `test.db`, `app_dev.sqlite3`.
fn is_for_trying(path: &str) -> bool {
    const WORDS: &[&str] = &[
        "demo",
        "dev",
        "development",
        "example",
        "sample",
        "scratch",
        "temp",
        "tmp",
    ];
    is_for_tests(path) || has_word(path, WORDS)
}

/// Whether a client works in a database that its name says is there for tests. Others may share one for development.
fn is_in_tests(scene: &Scene<'_>) -> bool {
    const FLAGS: &[&str] = &["-d", "--dbname", "-D", "--database"];
    let named = scene.line.values(FLAGS).last();
    let first = scene.line.operands.first().copied();
    let name = named.as_deref().or(first).and_then(Value::as_text);
    name.is_some_and(is_for_tests)
}

fn is_for_tests(path: &str) -> bool {
    has_word(path, &["test", "testing", "tests"])
}

/// Whether one of these stands in the last name of a path or an address.
fn has_word(path: &str, words: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| words.contains(&word))
}

/// The text, with a question mark for what is unknown.
fn known(value: &Value) -> String {
    let parts = value.parts.iter().map(|part| match part {
        Part::Text(text) | Part::Pattern(text) => text.as_str(),
        Part::Unknown(_) => "?",
    });
    parts.collect()
}

/// As much of a text as is read.
fn beginning(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// The gravest thing that a text of SQL would do.
fn sql(text: &str) -> Option<&'static str> {
    const GRAVEST_FIRST: [&str; 4] = [DROP_DATABASE, DROP_TABLE, DROP_USER, DELETE_ALL];
    let words = words(text, &SQL);
    let found: Vec<&str> = words.split(|word| word == ";").filter_map(statement).collect();
    GRAVEST_FIRST.into_iter().find(|rule| found.contains(rule))
}

fn statement(words: &[String]) -> Option<&'static str> {
    let start = words
        .iter()
        .position(|word| matches!(word.as_str(), "DROP" | "TRUNCATE" | "DELETE" | "UPDATE" | "ALTER"))?;
    // A verb counts at the beginning, or after the names that a `WITH` gives; `EXPLAIN DELETE …` only tells.
    let begins = start == 0
        || matches!(
            words.first().map(String::as_str),
            Some("WITH" | "BEGIN" | "START" | "USE" | "GO")
        );
    let words = words.get(start..).filter(|_| begins)?;
    let second = words.get(1).map(String::as_str);
    let filtered = is_filtered(words);
    match words.first().map(String::as_str)? {
        "DROP" => match second? {
            "DATABASE" | "SCHEMA" | "KEYSPACE" => Some(DROP_DATABASE),
            "TABLE" | "OWNED" | "COLUMNFAMILY" => Some(DROP_TABLE),
            "USER" | "ROLE" => Some(DROP_USER),
            _ => None,
        },
        "TRUNCATE" => Some(DROP_TABLE),
        "ALTER" if words.windows(2).any(|pair| pair == ["DROP", "COLUMN"]) => Some(DROP_TABLE),
        "DELETE" if second == Some("FROM") && !filtered => Some(DELETE_ALL),
        "UPDATE" if words.iter().any(|word| word == "SET") && !filtered => Some(DELETE_ALL),
        _ => None,
    }
}

/// Whether only some rows are meant. `WHERE true` and `WHERE 1 = 1` mean all of them.
fn is_filtered(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| matches!(word.as_str(), "WHERE" | "LIMIT")) else {
        return false;
    };
    let condition: Vec<&str> = words.iter().skip(at + 1).map(String::as_str).collect();
    !matches!(condition.as_slice(), ["TRUE"] | ["1"] | ["1", "1"] | [STRING, STRING])
}

/// Commands of Redis, wherever a line or the whole begins with one.
fn redis(text: &str) -> Option<&'static str> {
    text.lines().find_map(|line| {
        let line = line.trim_start().to_ascii_uppercase();
        match line.split_whitespace().next()? {
            "FLUSHALL" | "FLUSHDB" => Some(DROP_DATABASE),
            "EVAL" if line.contains("FLUSHALL") || line.contains("FLUSHDB") => Some(DROP_DATABASE),
            "SHUTDOWN" => Some(STOP),
            _ => None,
        }
    })
}

/// Calls of the MongoDB shell.
fn mongo(text: &str) -> Option<&'static str> {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let has = |calls: &[&str]| calls.iter().any(|call| dense.contains(call));
    if has(&["dropDatabase(", "dropDatabase:"]) {
        Some(DROP_DATABASE)
    } else if has(&[".drop(", ".dropCollection("]) {
        Some(DROP_TABLE)
    } else if has(&[".deleteMany({})", ".remove({})", ".deleteMany()", ".remove()"]) {
        Some(DELETE_ALL)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart() {
        for (text, expected) in [
            ("DROP DATABASE app", Some(DROP_DATABASE)),
            ("drop  schema public cascade;", Some(DROP_DATABASE)),
            ("select 1; DROP TABLE users", Some(DROP_TABLE)),
            ("TRUNCATE users", Some(DROP_TABLE)),
            ("drop/**/table users", Some(DROP_TABLE)),
            ("/*!50000 DROP TABLE users */", Some(DROP_TABLE)),
            ("DELETE FROM users", Some(DELETE_ALL)),
            ("DELETE FROM users -- WHERE id = 1", Some(DELETE_ALL)),
            ("DELETE FROM users WHERE id = 1", None),
            ("DELETE FROM users WHERE true", Some(DELETE_ALL)),
            ("DELETE FROM users WHERE 1=1;", Some(DELETE_ALL)),
            ("DELETE FROM users WHERE 1 = 1 AND id = 3", None),
            ("ALTER TABLE users DROP COLUMN email", Some(DROP_TABLE)),
            ("ALTER TABLE users ALTER COLUMN email DROP DEFAULT", None),
            ("delete from users where name = ';'", None),
            ("UPDATE users SET admin = true", Some(DELETE_ALL)),
            ("UPDATE users SET admin = true WHERE id = 3", None),
            ("WITH x AS (SELECT 1) DELETE FROM users", Some(DELETE_ALL)),
            ("SELECT 'DROP TABLE users'", None),
            ("SELECT * FROM drop_log", None),
            ("-- DROP TABLE users\nSELECT 1", None),
            ("EXPLAIN DELETE FROM users", None),
            ("INSERT INTO log VALUES ('delete from x')", None),
            ("DROP INDEX i", None),
            ("drop user if exists app", Some(DROP_USER)),
            ("'unclosed", None),
            ("\\timing on\nDROP TABLE users", Some(DROP_TABLE)),
            ("\\echo DROP TABLE users\nSELECT 1", None),
        ] {
            assert_eq!(sql(text), expected, "{text}");
        }
    }

    #[test]
    fn other_stores_have_their_own_words() {
        assert_eq!(redis("FLUSHALL"), Some(DROP_DATABASE));
        assert_eq!(redis("flushdb async"), Some(DROP_DATABASE));
        assert_eq!(redis("GET FLUSHALL"), None);
        assert_eq!(redis("EVAL redis.call('FLUSHALL') 0"), Some(DROP_DATABASE));
        assert_eq!(redis("shutdown nosave"), Some(STOP));
        assert_eq!(mongo("db.dropDatabase()"), Some(DROP_DATABASE));
        assert_eq!(mongo("db.users.drop()"), Some(DROP_TABLE));
        assert_eq!(mongo("db.users.deleteMany( {} )"), Some(DELETE_ALL));
        assert_eq!(mongo("db.users.deleteMany({a: 1})"), None);
    }
}
