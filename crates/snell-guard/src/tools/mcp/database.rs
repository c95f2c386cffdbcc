//! Servers for databases: statements are judged as their clients are, and what says in other ways that everything goes.

use serde_json::Value as Json;

use super::desk::{Desk, MAX_TEXTS};
use super::graph;
use super::request::{Request, ends_with, is_key};
use super::tables::servers;

/// How the keys end at which statements stand.
const STATEMENT: &[&str] = &[
    "sql",
    "query",
    "statement",
    "statements",
    "queries",
    "sqlstatements",
    "command",
    "code",
    "script",
];
/// Tools that only speak of a statement.
const SPEAKS: &[&str] = &[
    "explain", "validate", "format", "lint", "parse", "generate", "search", "save", "describe", "suggest", "docs",
    "analyze", "optimize", "plan", "estimate",
];
/// Where it is said which entries are meant.
const FILTER: &[&str] = &[
    "filter",
    "query",
    "where",
    "selector",
    "match",
    "condition",
    "conditions",
    "criteria",
    "q",
    "pattern",
];
/// Where they are named one by one.
const CHOSEN: &[&str] = &[
    "id",
    "ids",
    "key",
    "keys",
    "points",
    "documentids",
    "documentid",
    "recordid",
    "recordids",
    "uuid",
    "uuids",
    "names",
    "objectid",
    "objectids",
    "pointids",
    "docid",
];
/// What says that all entries are meant.
const ALL: &[&str] = &["deleteall", "all", "removeall", "truncate"];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let is_data = [
        servers::MONGO,
        servers::SEARCHES,
        servers::SQL,
        servers::REDIS,
        servers::GRAPHS,
    ];
    if is_data.iter().any(|names| request.is_about(names)) && takes_all(request) && !request.is_dry() {
        desk.mark("infra.delete-all-rows");
        return true;
    }
    if request.does(SPEAKS) && !request.flag(&["analyze"]) {
        return false;
    }
    if request.serves(servers::REDIS) {
        return redis(request, desk);
    }
    let texts = statements(request);
    if texts.len() > MAX_TEXTS {
        desk.limit();
    }
    for text in texts.iter().take(MAX_TEXTS) {
        if request.is_about(servers::GRAPHS) {
            graph::look(text, desk);
        }
        let client: &[&str] = if request.is_about(servers::MONGO) {
            &["mongosh", "--eval"]
        } else {
            &["psql", "-c"]
        };
        let argv: Vec<&str> = client.iter().copied().chain([*text]).collect();
        desk.program(&argv);
    }
    !texts.is_empty()
}

/// Statements, if this is a database's or the names say what they are.
fn statements<'a>(request: &Request<'a>) -> Vec<&'a str> {
    let bases = [servers::SQL, servers::MONGO, servers::GRAPHS];
    let is_base = bases.iter().any(|names| request.serves(names)) || request.says(&["sql", "cypher"]);
    let is_statement = |key: &str| {
        if is_base {
            ends_with(key, STATEMENT)
        } else {
            ends_with(key, &["sql", "sqlstatements"])
        }
    };
    let at = request.leaves.iter().filter(|leaf| is_statement(leaf.key));
    // One word is no statement, but the name of something to do.
    at.map(|leaf| leaf.text)
        .filter(|text| text.contains(|c: char| !c.is_alphanumeric() && !"_-".contains(c)))
        .collect()
}

/// All words are one command, which begins with its name.
fn redis(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let words = request.texts(&["command", "cmd", "args", "arguments", "query", "script"]);
    let pipelined = request.texts(&["commands", "pipeline"]);
    if words.is_empty() && pipelined.is_empty() {
        return false;
    }
    let whole = words.join(" ");
    let lines = pipelined
        .into_iter()
        .take(MAX_TEXTS)
        .chain((!whole.is_empty()).then_some(whole.as_str()));
    for line in lines {
        let argv: Vec<&str> = ["redis-cli"].into_iter().chain(line.split_whitespace()).collect();
        desk.program(&argv);
    }
    true
}

/// Whether entries are deleted or changed, and nothing says which.
fn takes_all(request: &Request<'_>) -> bool {
    let deletes = request.does(&["delete", "remove", "deletemany"]);
    let changes = request.does(&["update", "replace"]) && request.does(&["many", "all"]);
    if !(deletes || changes) {
        return false;
    }
    if deletes && request.flag(ALL) {
        return true;
    }
    match request.value(FILTER) {
        Some(filter) => is_everything(filter),
        None => request.does(&["many", "query", "filter"]) && !is_chosen(request),
    }
}

fn is_chosen(request: &Request<'_>) -> bool {
    request
        .input
        .as_object()
        .is_some_and(|object| object.keys().any(|key| is_key(key, CHOSEN)))
        || request.value(CHOSEN).is_some()
}

/// A filter that lets everything through.
fn is_everything(filter: &Json) -> bool {
    match filter {
        Json::Null => true,
        Json::Array(list) => list.is_empty(),
        Json::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            matches!(text.as_str(), "" | "{}" | "*" | "*:*" | "true" | "1=1" | "1 = 1")
        }
        Json::Object(map) => map.iter().all(|(key, value)| match key.as_str() {
            "match_all" | "matchAll" => true,
            "query" | "bool" | "must" | "filter" | "where" => is_everything(value),
            // What every entry has.
            "_id" => matches!(value, Json::Object(test) if test.contains_key("$exists") || test.get("$ne") == Some(&Json::Null)),
            _ => false,
        }),
        _ => false,
    }
}
