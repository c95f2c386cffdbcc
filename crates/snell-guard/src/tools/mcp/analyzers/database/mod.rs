//! Database servers: judges statements like those of clients, and other inputs that delete everything.

pub(crate) mod graph;

use serde_json::Value as Json;

use crate::tools::mcp::findings::{FindingSink, MAX_REQUEST_TEXTS};
use crate::tools::mcp::request::{McpRequest, is_key_named};
use crate::tools::mcp::tables::{keys, servers, verbs};

pub(in crate::tools::mcp) fn analyze_database(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let is_data = [servers::MONGO, servers::SEARCHES, servers::SQL, servers::REDIS, servers::GRAPHS];
    if is_data.iter().any(|names| request.is_about(names)) && is_unfiltered_write(request) && !request.is_dry_run() {
        sink.mark_rule("infra.delete-all-rows");
        return true;
    }
    if request.has_action_word(verbs::MENTIONS_STATEMENTS) && !request.has_flag(&["analyze"]) {
        return false;
    }
    if request.has_server_word(servers::REDIS) {
        return analyze_redis(request, sink);
    }
    let texts = collect_statements(request);
    for text in sink.limit_texts(&texts) {
        if request.is_about(servers::GRAPHS) {
            graph::analyze_graph_query(text, sink);
        }
        let client: &[&str] = if request.is_about(servers::MONGO) { &["mongosh", "--eval"] } else { &["psql", "-c"] };
        let argv: Vec<&str> = client.iter().copied().chain([*text]).collect();
        sink.analyze_program(&argv);
    }
    !texts.is_empty()
}

/// The statements, if this is a database server or the keys name statements.
fn collect_statements<'a>(request: &McpRequest<'a>) -> Vec<&'a str> {
    let is_database = request.has_server_word_in(&[servers::SQL, servers::MONGO, servers::GRAPHS])
        || request.has_tool_word(&["sql", "cypher"]);
    let suffixes = if is_database { keys::STATEMENT_SUFFIXES } else { &["sql", "sqlstatements"] };
    // A single word is not a statement, but the name of an operation.
    let is_statement = |text: &&str| text.contains(|c: char| !c.is_alphanumeric() && !"_-".contains(c));
    request.texts_at_suffix(suffixes).filter(is_statement).collect()
}

/// All words together are one command, which begins with its name.
fn analyze_redis(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let words = request.find_texts(&["command", "cmd", "args", "arguments", "query", "script"]);
    let pipelined = request.find_texts(&["commands", "pipeline"]);
    if words.is_empty() && pipelined.is_empty() {
        return false;
    }
    let whole = words.join(" ");
    let lines = pipelined.into_iter().take(MAX_REQUEST_TEXTS).chain((!whole.is_empty()).then_some(whole.as_str()));
    for line in lines {
        let argv: Vec<&str> = ["redis-cli"].into_iter().chain(line.split_whitespace()).collect();
        sink.analyze_program(&argv);
    }
    true
}

/// Whether entries are deleted or changed without a filter.
fn is_unfiltered_write(request: &McpRequest<'_>) -> bool {
    let deletes = request.has_action_word(&["delete", "remove", "deletemany"]);
    let changes = request.has_action_word(&["update", "replace"]) && request.has_action_word(&["many", "all"]);
    if !(deletes || changes) {
        return false;
    }
    if deletes && request.has_flag(keys::DELETE_ALL) {
        return true;
    }
    match request.find_value(keys::FILTERS) {
        Some(filter) => is_match_all_filter(filter),
        None => request.has_action_word(&["many", "query", "filter"]) && !has_entry_ids(request),
    }
}

fn has_entry_ids(request: &McpRequest<'_>) -> bool {
    request.input.as_object().is_some_and(|object| object.keys().any(|key| is_key_named(key, keys::ENTRY_IDS)))
        || request.find_value(keys::ENTRY_IDS).is_some()
}

/// A filter that matches everything.
fn is_match_all_filter(filter: &Json) -> bool {
    match filter {
        Json::Null => true,
        Json::Array(list) => list.is_empty(),
        Json::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            matches!(text.as_str(), "" | "{}" | "*" | "*:*" | "true" | "1=1" | "1 = 1")
        }
        Json::Object(map) => map.iter().all(|(key, value)| match key.as_str() {
            "match_all" | "matchAll" => true,
            "query" | "bool" | "must" | "filter" | "where" => is_match_all_filter(value),
            // Every entry has one.
            "_id" => matches!(value, Json::Object(test) if test.contains_key("$exists") || test.get("$ne") == Some(&Json::Null)),
            _ => false,
        }),
        _ => false,
    }
}
