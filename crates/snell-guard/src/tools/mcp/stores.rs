//! Secrets that a tool would show: out of stores that keep them, and out of clouds.

use super::desk::Desk;
use super::request::Request;
use super::tables::servers;

const RULE: &str = "secret.store";
/// Verbs by which a secret is seen.
const SHOWS: &[&str] = &[
    "get", "read", "show", "reveal", "fetch", "retrieve", "view", "lookup", "export", "decrypt", "access", "download",
    "dump", "copy", "print", "unlock", "find", "generate",
];
/// What is seen then.
const SECRETS: &[&str] = &[
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
const KEPT: &[&str] = &[
    "item", "items", "value", "field", "note", "key", "entry", "entries", "token",
];
/// What is only said about them.
const ABOUT: &[&str] = &[
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
const SETTINGS: &[&[&str]] = &[
    &["env", "vars"],
    &["env", "variables"],
    &["environment", "variables"],
    &["env", "var"],
    &["environment", "variable"],
    &["config", "vars"],
    &["service", "variables"],
];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let shows = request.does(SHOWS) && !request.does(ABOUT);
    let from_store =
        request.is_about(servers::STORES) && shows && (request.does(SECRETS) || request.does(KEPT) || is_bare(request));
    let from_cloud = request.serves(servers::CLOUDS) && shows && request.does(SECRETS);
    let settings = request.serves(servers::CLOUDS)
        && request.does(&["get", "list", "read", "show", "export", "pull"])
        && SETTINGS
            .iter()
            .any(|words| words.iter().all(|word| request.does(&[word])));
    let is_cluster = request.serves(servers::CLUSTERS);
    if !is_cluster && (from_store || from_cloud || settings) {
        desk.mark(RULE);
        return true;
    }
    false
}

/// `vault__read`: nothing but the verb.
fn is_bare(request: &Request<'_>) -> bool {
    request.tool().len() == 1
}
