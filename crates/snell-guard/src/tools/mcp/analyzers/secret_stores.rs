//! Secrets that a tool would show from secret stores and clouds.

use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::{nouns, servers, verbs};

const RULE: &str = "secret.store";

pub(in crate::tools::mcp) fn analyze_secret_stores(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let shows = request.has_action_word(verbs::REVEALS) && !request.has_action_word(nouns::SECRET_METADATA);
    let from_store = request.is_about(servers::STORES)
        && shows
        && (request.has_action_word(nouns::SECRETS)
            || request.has_action_word(nouns::STORE_ITEMS)
            || request.tool_words().len() == 1);
    let from_cloud = request.has_server_word(servers::CLOUDS) && shows && request.has_action_word(nouns::SECRETS);
    let settings = request.has_server_word(servers::CLOUDS)
        && request.has_action_word(&["get", "list", "read", "show", "export", "pull"])
        && nouns::ENVIRONMENT_SETTINGS
            .iter()
            .any(|(first, others)| request.has_action_word(&[first]) && request.has_action_word(others));
    let is_cluster = request.has_server_word(servers::CLUSTERS);
    if !is_cluster && (from_store || from_cloud || settings) {
        sink.mark_rule(RULE);
        return true;
    }
    false
}
