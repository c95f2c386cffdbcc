//! Secrets that a tool would show: out of stores that keep them, and out of clouds.

use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::servers;

const RULE: &str = "secret.store";
/// Verbs by which a secret is seen.
const REVEALING_VERBS: &[&str] = &[
    "get", "read", "show", "reveal", "fetch", "retrieve", "view", "lookup", "export", "decrypt", "access", "download",
    "dump", "copy", "print", "unlock", "find", "generate",
];
/// What is seen then.
const SECRET_NOUNS: &[&str] = &[
    "secret",
    "secrets",
    "password",
    "passwords",
    "credential",
    "credentials",
    "kubeconfig",
    "passphrase",
    "totp",
    "otp",
    "login",
    "logins",
    "privatekey",
    "kv",
];
/// What is seen of a store that is there for nothing else.
const STORE_ITEM_NOUNS: &[&str] = &["item", "items", "value", "field", "note", "key", "entry", "entries", "token"];
/// What is only said about them.
const METADATA_WORDS: &[&str] = &[
    "list",
    "scanning",
    "scan",
    "alert",
    "alerts",
    "metadata",
    "policy",
    "policies",
    "version",
    "versions",
    "names",
    "detect",
    "status",
    "search",
    "create",
    "set",
    "update",
    "delete",
    "rotate",
    "health",
    "engines",
    "mounts",
    "vaults",
    "docs",
    "namespace",
];
/// Settings of what runs somewhere hold its secrets.
const ENVIRONMENT_SETTING_WORDS: &[&[&str]] = &[
    &["env", "vars"],
    &["env", "variables"],
    &["environment", "variables"],
    &["env", "var"],
    &["environment", "variable"],
    &["config", "vars"],
    &["service", "variables"],
];

pub(in crate::tools::mcp) fn analyze_secret_stores(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    let shows = request.has_action_word(REVEALING_VERBS) && !request.has_action_word(METADATA_WORDS);
    let from_store = request.is_about(servers::STORES)
        && shows
        && (request.has_action_word(SECRET_NOUNS)
            || request.has_action_word(STORE_ITEM_NOUNS)
            || is_bare_verb(request));
    let from_cloud = request.has_server_word(servers::CLOUDS) && shows && request.has_action_word(SECRET_NOUNS);
    let settings = request.has_server_word(servers::CLOUDS)
        && request.has_action_word(&["get", "list", "read", "show", "export", "pull"])
        && ENVIRONMENT_SETTING_WORDS.iter().any(|words| words.iter().all(|word| request.has_action_word(&[word])));
    let is_cluster = request.has_server_word(servers::CLUSTERS);
    if !is_cluster && (from_store || from_cloud || settings) {
        desk.mark_rule(RULE);
        return true;
    }
    false
}

/// `vault__read`: nothing but the verb.
fn is_bare_verb(request: &McpRequest<'_>) -> bool {
    request.tool_words().len() == 1
}
