//! The effects of database statements. Recognises a few words, not the whole grammar.

use crate::effects::collector::EffectCollector;
use crate::effects::database::query_lexer::{QueryDialect, STRING_WORD, split_query_words};
use crate::invocation::{Invocation, StdinSource, SymbolicText, UnknownKind, base_name};
use crate::paths::PathClass;
use crate::policy::LIMIT_RULE;
use crate::programs::ProgramSpec;

/// Longer texts are read up to here.
pub(crate) const MAX_SQL_BYTES: usize = 1 << 20;

/// The rules for what a statement destroys.
const DROP_DATABASE: &str = "infra.drop-database";
const DROP_TABLE: &str = "infra.drop-table";
const DELETE_ALL: &str = "infra.delete-all-rows";
const DROP_USER: &str = "infra.drop-user";
const STOP_SERVICE: &str = "infra.service";
const REMOTE_WRITE: &str = "infra.remote-write";

/// The syntax of SQL.
const SQL_DIALECT: QueryDialect = QueryDialect { comments: &["--", "#"], quotes: "'\"`", signs: ";" };

/// Programs that send raw text to any server.
pub(crate) const RAW_CLIENTS: &[&str] = &["nc", "ncat", "netcat", "socat", "telnet"];

/// Judges the text that a raw client sends to a key-value store.
pub(in crate::effects) fn apply_raw_client(collector: &mut EffectCollector<'_>) {
    let StdinSource::Text(value) = collector.stdin() else { return };
    let text = value.render(unknown_value).to_ascii_lowercase();
    if let Some(rule) = classify_redis(&text.replace("flush_all", "flushall")) {
        collector.add_rule_effect(rule);
    }
}

/// Judges the statements that a client gets: from its flags, its operands and its standard input.
pub(in crate::effects) fn apply_sql_client(collector: &mut EffectCollector<'_>, program: &ProgramSpec) {
    if is_throwaway_database(collector) || is_read_only_session(collector) {
        return;
    }
    let mut texts: Vec<String> = program
        .code_flags
        .iter()
        .flat_map(|flags| collector.args.flag_values(flags))
        .map(|value| value.render(unknown_value))
        .collect();
    if let StdinSource::Text(value) = collector.stdin() {
        texts.push(value.render(unknown_value));
    }
    let operands = collector.args.operands.iter().map(|value| value.render(unknown_value));
    let read: fn(&str) -> Option<&'static str> = match collector.name() {
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            // All operands together are one command, which begins with its name.
            texts.push(operands.collect::<Vec<_>>().join(" "));
            if collector.args.has_flag("--eval") {
                texts.iter_mut().for_each(|text| text.insert_str(0, "EVAL "));
            }
            classify_redis
        }
        "mongosh" | "mongo" => {
            texts.extend(operands);
            classify_mongo
        }
        _ => {
            texts.extend(operands);
            classify_sql
        }
    };
    if let Some(rule) =
        find_generated_drop(collector).or_else(|| texts.iter().find_map(|text| classify_executed_output(text)))
    {
        collector.add_rule_effect(rule);
        return;
    }
    texts.retain(|text| !is_rolled_back(text, collector.name()));
    match texts.iter().find_map(|text| read(text.get(..text.floor_char_boundary(MAX_SQL_BYTES)).unwrap_or_default())) {
        Some(DROP_TABLE | DELETE_ALL) if is_test_database(collector) => {}
        Some(DROP_DATABASE) if drops_connected_test_database(collector, &texts) => {}
        Some(rule) => collector.add_rule_effect(rule),
        None if texts.iter().any(|text| text.len() > MAX_SQL_BYTES) => collector.add_rule_effect(LIMIT_RULE),
        None => {}
    }
}

fn unknown_value(_: UnknownKind) -> &'static str {
    "?"
}

/// Whether the database is in memory, in a temporary directory, or a test database of the project.
fn is_throwaway_database(collector: &EffectCollector<'_>) -> bool {
    let Some(first) = collector.args.operands.first().filter(|_| collector.name() == "sqlite3") else {
        return false;
    };
    let place = collector.locate_path(first);
    let tried_out = place.classes.contains(PathClass::Project) && place.path.as_deref().is_some_and(is_sandbox_name);
    first.as_text() == Some(":memory:") || place.classes.contains(PathClass::Temp) || tried_out
}

/// Whether the client can only read: by a flag, by the database's URL, or by a variable.
fn is_read_only_session(collector: &EffectCollector<'_>) -> bool {
    const PROGRAMS: &[&str] = &["sqlite3", "sqlite", "duckdb", "clickhouse", "clickhouse-client"];
    const FLAGS: &[&str] = &["-readonly", "--readonly", "--readonly=1", "--readonly=2"];
    let arguments = collector.arguments();
    let by_flag = || {
        let at = arguments.iter().position(|word| word.as_text().is_some_and(|text| FLAGS.contains(&text)));
        at.is_some_and(|at| arguments.get(at + 1).is_none_or(|next| next.as_text() != Some("0")))
    };
    let by_url = || {
        let first = collector.args.operands.first().map(|first| first.leading_text());
        first.is_some_and(|url| url.starts_with("file:") && (url.contains("mode=ro") || url.contains("immutable=1")))
    };
    let by_variable = || {
        let options = collector.invocation.variables.iter().find(|(name, _)| name == "PGOPTIONS");
        options.is_some_and(|(_, value)| value.leading_text().contains("default_transaction_read_only=on"))
    };
    match collector.name() {
        "psql" => by_variable(),
        name if PROGRAMS.contains(&name) => by_flag() || (name.starts_with("sqlite") && by_url()),
        _ => false,
    }
}

/// Whether a file's name marks a database for tests: `test.db`, `app_dev.sqlite3`.
fn is_sandbox_name(path: &str) -> bool {
    const WORDS: &[&str] = &["demo", "dev", "development", "example", "sample", "scratch", "temp", "tmp"];
    is_test_name(path) || has_name_word(path, WORDS)
}

/// Whether the name of the client's database marks it for tests. A development database may be shared.
fn is_test_database(collector: &EffectCollector<'_>) -> bool {
    const FLAGS: &[&str] = &["-d", "--dbname", "-D", "--database"];
    let named = collector.args.flag_values(FLAGS).last();
    let first = collector.args.operands.first().copied();
    let name = named.as_deref().or(first).and_then(SymbolicText::as_text);
    name.is_some_and(is_test_name)
}

/// `dropDatabase` of a connection to a test database, without a word that turns to another one.
fn drops_connected_test_database(collector: &EffectCollector<'_>, texts: &[String]) -> bool {
    const TURNING: &[&str] = &["getSiblingDB", "getMongo", "connect", "Mongo(", "use ", "load(", "eval", "getDB", "["];
    let turns = |text: &&String| TURNING.iter().any(|word| text.contains(word));
    let named = collector.args.operands.first().is_some_and(|first| first.leading_text().starts_with("mongodb://"));
    matches!(collector.name(), "mongosh" | "mongo")
        && named
        && is_test_database(collector)
        && !texts.iter().filter(|text| !text.starts_with("mongodb://")).any(|text| turns(&text))
}

fn is_test_name(path: &str) -> bool {
    has_name_word(path, &["test", "testing", "tests"])
}

/// Whether the names of all databases or tables that a `DROP` removes mark them for tests.
fn drops_only_test_data(words: &[String]) -> bool {
    const OTHER_WORDS: &[&str] = &["IF", "EXISTS", "CASCADE", "RESTRICT", "WITH", "FORCE", "(", ")", ","];
    let mut names = words.iter().skip(2).filter(|word| !OTHER_WORDS.contains(&word.as_str())).peekable();
    names.peek().is_some() && names.all(|name| is_test_name(name))
}

/// Whether the last name of a path or URL has one of these words.
fn has_name_word(path: &str, words: &[&str]) -> bool {
    let name = base_name(path).to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| words.contains(&word))
}

/// The effect of statements that another program prints into this client: `SELECT 'DROP TABLE ' || …`.
fn find_generated_drop(collector: &EffectCollector<'_>) -> Option<&'static str> {
    let is_left_out = |invocation: &Invocation| {
        let has = |flags: &[&str]| invocation.argv.iter().any(|word| flags.contains(&word.leading_text()));
        match invocation.base_name() {
            "grep" | "egrep" | "rg" => has(&["-v", "--invert-match", "-vE", "-Ev", "-vi", "-iv"]),
            "sed" => invocation.argv.iter().any(|word| word.to_string().trim_end_matches(['\'', '"']).ends_with("/d")),
            _ => false,
        }
    };
    let generators = collector.stdin().pipeline().iter().filter(|left| !is_left_out(left));
    let arguments = generators.flat_map(|left| left.arguments());
    arguments.filter_map(|word| find_drop_words(&word.render(unknown_value))).min_by_key(|rule| *rule != DROP_DATABASE)
}

/// `SELECT 'DROP TABLE x' \\gexec`, `EXECUTE 'DROP TABLE x'`: the result of the query runs.
fn classify_executed_output(text: &str) -> Option<&'static str> {
    let upper = text.get(..text.floor_char_boundary(MAX_SQL_BYTES))?.to_ascii_uppercase();
    let runs = [
        "\\GEXEC",
        "EXECUTE '",
        "EXECUTE FORMAT",
        "EXECUTE(",
        "PREPARE ",
        "EXEC(",
        "SP_EXECUTESQL",
        "EXECUTE IMMEDIATE",
        "EXECUTE \"",
    ]
    .iter()
    .any(|mark| upper.contains(mark));
    runs.then(|| find_drop_words(text)).flatten()
}

/// The effect of the statement whose first words are somewhere in a text: in capitals, or with the kind of thing.
fn find_drop_words(text: &str) -> Option<&'static str> {
    // The start of a text that the query prints.
    if ["'truncate ", "\"truncate ", "'drop ", "\"drop "].iter().any(|start| text.to_ascii_lowercase().contains(start))
    {
        return Some(DROP_TABLE);
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).map(|next| next.to_ascii_uppercase()).unwrap_or_default();
        match (word.to_ascii_uppercase().as_str(), next.as_str()) {
            ("DROP", "DATABASE" | "SCHEMA") => Some(DROP_DATABASE),
            ("DROP", "TABLE" | "OWNED") | ("TRUNCATE", "TABLE") => Some(DROP_TABLE),
            ("DROP", "USER" | "ROLE") => Some(DROP_USER),
            ("DELETE", "FROM") => Some(DELETE_ALL),
            _ if matches!(*word, "DROP" | "TRUNCATE") => Some(DROP_TABLE),
            _ => None,
        }
    })
}

/// The gravest effect of an SQL text.
fn classify_sql(text: &str) -> Option<&'static str> {
    const GRAVEST_FIRST: [&str; 4] = [DROP_DATABASE, DROP_TABLE, DROP_USER, DELETE_ALL];
    let words = split_query_words(text, &SQL_DIALECT);
    let found: Vec<&str> = words.split(|word| word == ";").filter_map(classify_statement).collect();
    GRAVEST_FIRST.into_iter().find(|rule| found.contains(rule))
}

fn classify_statement(words: &[String]) -> Option<&'static str> {
    let start = words
        .iter()
        .position(|word| matches!(word.as_str(), "DROP" | "REMOVE" | "TRUNCATE" | "DELETE" | "UPDATE" | "ALTER"))?;
    // A verb is read at the start, or after the names of a `WITH`; `EXPLAIN DELETE …` deletes nothing, unless it analyses.
    let begins = start == 0
        || matches!(words.first().map(String::as_str), Some("WITH" | "BEGIN" | "START" | "USE" | "GO"))
        || words.iter().take(start).any(|word| matches!(word.as_str(), "ANALYZE" | "ANALYSE"));
    let words = words.get(start..).filter(|_| begins)?;
    let second = words.get(1).map(String::as_str);
    let filtered = has_row_filter(words);
    match words.first().map(String::as_str)? {
        "DROP" if drops_only_test_data(words) => None,
        "DROP" | "REMOVE" => match second? {
            "DATABASE" | "SCHEMA" | "KEYSPACE" | "NAMESPACE" => Some(DROP_DATABASE),
            "TABLE" | "OWNED" | "COLUMNFAMILY" | "TABLESPACE" | "COLLECTION" => Some(DROP_TABLE),
            "USER" | "ROLE" => Some(DROP_USER),
            _ => None,
        },
        "TRUNCATE" => Some(DROP_TABLE),
        "ALTER" if words.windows(2).any(|pair| pair == ["DROP", "COLUMN"]) => Some(DROP_TABLE),
        "ALTER" | "DELETE" if deletes_rows(words) && !filtered => Some(DELETE_ALL),
        "UPDATE" if words.iter().any(|word| word == "SET") && !filtered => Some(DELETE_ALL),
        _ => None,
    }
}

/// `DELETE FROM t`, `DELETE IGNORE FROM t`, and ClickHouse's `ALTER TABLE t DELETE WHERE …`.
fn deletes_rows(words: &[String]) -> bool {
    let at = words.iter().position(|word| word == "DELETE");
    let after = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    match at {
        Some(0) => after.iter().any(|word| word == "FROM"),
        Some(3) => after.first().is_some_and(|word| word == "WHERE"),
        _ => false,
    }
}

/// Whether a text is one transaction that undoes itself: `BEGIN; DELETE …; ROLLBACK`. Syntax that clients read differently, such as
/// comments and variables, leaves that open.
fn is_rolled_back(text: &str, client: &str) -> bool {
    const AMBIGUOUS: &[&str] = &["\\", "/*", "--", "#", "$", "`", ":", "?"];
    const ROW_STATEMENTS: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "EXPLAIN", "SHOW", "SAVEPOINT"];
    // MySQL ends the transaction before them.
    const TABLE_STATEMENTS: &[&str] = &["CREATE", "ALTER", "DROP", "TRUNCATE"];
    let undoes_tables = match client {
        "psql" | "sqlite3" => true,
        "mysql" | "mariadb" => false,
        // `BEGIN` may start a block.
        _ => return false,
    };
    let is_plain = text.len() <= MAX_SQL_BYTES && !AMBIGUOUS.iter().any(|mark| text.replace("::", " ").contains(mark));
    let is_undone = |words: &[String]| {
        let verb = words.first().map(String::as_str).unwrap_or_default();
        ROW_STATEMENTS.contains(&verb) || (undoes_tables && TABLE_STATEMENTS.contains(&verb))
    };
    let words = split_query_words(text, &SQL_DIALECT);
    let statements: Vec<&[String]> = words.split(|word| word == ";").filter(|words| !words.is_empty()).collect();
    let [first, inside @ .., last] = statements.as_slice() else { return false };
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let begins = matches!(first.as_slice(), ["BEGIN"] | ["BEGIN" | "START", "TRANSACTION"]);
    is_plain && begins && *last == ["ROLLBACK"] && inside.iter().all(|words| is_undone(words))
}

/// Whether the statement selects some rows. `WHERE true` and `WHERE 1 = 1` select all.
fn has_row_filter(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| matches!(word.as_str(), "WHERE" | "LIMIT")) else {
        return false;
    };
    let condition: Vec<&str> = words.iter().skip(at + 1).map(String::as_str).collect();
    !matches!(condition.as_slice(), ["TRUE"] | ["1"] | ["1", "1"] | [STRING_WORD, STRING_WORD])
}

/// Commands of Redis at the start of the text or of a line.
fn classify_redis(text: &str) -> Option<&'static str> {
    text.lines().find_map(|line| {
        let line = line.trim_start().to_ascii_uppercase();
        match line.split_whitespace().next()? {
            "FLUSHALL" | "FLUSHDB" => Some(DROP_DATABASE),
            "EVAL" if line.contains("FLUSHALL") || line.contains("FLUSHDB") => Some(DROP_DATABASE),
            "SHUTDOWN" => Some(STOP_SERVICE),
            "DEBUG" if line.starts_with("DEBUG SEGFAULT") => Some(STOP_SERVICE),
            // A new master's data replaces all.
            "REPLICAOF" | "SLAVEOF" if !line.ends_with("NO ONE") => Some(DROP_DATABASE),
            "CONFIG" if line.starts_with("CONFIG SET DIR ") || line.starts_with("CONFIG SET DBFILENAME ") => {
                Some(REMOTE_WRITE)
            }
            _ => None,
        }
    })
}

/// Calls of the MongoDB shell.
fn classify_mongo(text: &str) -> Option<&'static str> {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let has = |calls: &[&str]| calls.iter().any(|call| dense.contains(call));
    if has(&["dropDatabase(", "dropDatabase:"]) {
        Some(DROP_DATABASE)
    } else if has(&["shutdown:1", "shutdownServer("]) {
        Some(STOP_SERVICE)
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
    fn statements_are_classified() {
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
            ("EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users", Some(DELETE_ALL)),
            ("INSERT INTO log VALUES ('delete from x')", None),
            ("DELETE IGNORE FROM users", Some(DELETE_ALL)),
            ("DELETE a, b FROM a, b", Some(DELETE_ALL)),
            ("ALTER TABLE events DELETE WHERE 1", Some(DELETE_ALL)),
            ("ALTER TABLE events DELETE WHERE id = 1", None),
            ("ALTER TABLE users ADD COLUMN x int", None),
            ("DROP INDEX i", None),
            ("drop user if exists app", Some(DROP_USER)),
            ("'unclosed", None),
            ("\\timing on\nDROP TABLE users", Some(DROP_TABLE)),
            ("\\echo DROP TABLE users\nSELECT 1", None),
        ] {
            assert_eq!(classify_sql(text), expected, "{text}");
        }
    }

    #[test]
    fn a_transaction_that_is_rolled_back_changes_nothing() {
        for (client, text, expected) in [
            ("psql", "BEGIN; DELETE FROM users; ROLLBACK;", true),
            ("psql", "begin transaction;\ndrop table users;\nselect '1'::int;\nrollback", true),
            ("sqlite3", "BEGIN; DELETE FROM users; SELECT count(*) FROM users; ROLLBACK", true),
            ("mysql", "START TRANSACTION; UPDATE users SET a = 1; ROLLBACK;", true),
            ("mysql", "START TRANSACTION; DELETE FROM users; DROP TABLE a; ROLLBACK;", false),
            ("sqlcmd", "BEGIN TRANSACTION; DELETE FROM users; ROLLBACK;", false),
            ("psql", "BEGIN; DELETE FROM users; COMMIT; ROLLBACK;", false),
            ("psql", "BEGIN; DELETE FROM users; END; ROLLBACK;", false),
            ("psql", "BEGIN; DELETE FROM users; ROLLBACK TO s;", false),
            ("psql", "BEGIN; SAVEPOINT s; DELETE FROM users; RELEASE s; COMMIT", false),
            ("psql", "DELETE FROM users; BEGIN; ROLLBACK", false),
            ("psql", "BEGIN; ROLLBACK; DELETE FROM users", false),
            ("psql", "BEGIN; SELECT 1; ROLLBACK; DELETE FROM users; ROLLBACK", false),
            ("psql", "BEGIN; DELETE FROM users; SELECT 1 # 2; COMMIT;\n; ROLLBACK", false),
            ("mysql", "BEGIN; DELETE FROM users; SELECT 1--1; COMMIT;\n; ROLLBACK", false),
            ("psql", "BEGIN; DELETE FROM users; \\c\n; DELETE FROM users; ROLLBACK", false),
            ("psql", "BEGIN; DELETE FROM users; /* /* */ ; COMMIT; */ ROLLBACK", false),
            ("psql", "BEGIN; DELETE FROM users :x; ROLLBACK", false),
            ("psql", "DO $$ BEGIN; DELETE FROM users; ROLLBACK", false),
        ] {
            assert_eq!(is_rolled_back(text, client), expected, "{client}: {text}");
        }
    }

    #[test]
    fn other_stores_have_their_own_words() {
        assert_eq!(classify_redis("FLUSHALL"), Some(DROP_DATABASE));
        assert_eq!(classify_redis("flushdb async"), Some(DROP_DATABASE));
        assert_eq!(classify_redis("GET FLUSHALL"), None);
        assert_eq!(classify_redis("EVAL redis.call('FLUSHALL') 0"), Some(DROP_DATABASE));
        assert_eq!(classify_redis("shutdown nosave"), Some(STOP_SERVICE));
        assert_eq!(classify_redis("replicaof other 6379"), Some(DROP_DATABASE));
        assert_eq!(classify_redis("REPLICAOF NO ONE"), None);
        assert_eq!(classify_redis("CONFIG SET dir /root/.ssh"), Some(REMOTE_WRITE));
        assert_eq!(classify_redis("CONFIG SET maxmemory 1gb"), None);
        assert_eq!(classify_mongo("db.dropDatabase()"), Some(DROP_DATABASE));
        assert_eq!(classify_mongo("db.users.drop()"), Some(DROP_TABLE));
        assert_eq!(classify_mongo("db.users.deleteMany( {} )"), Some(DELETE_ALL));
        assert_eq!(classify_mongo("db.users.deleteMany({a: 1})"), None);
    }
}
