//! Kubernetes servers: a call is judged as the equivalent `kubectl` or `helm` command.

use crate::tools::join_shell_words;
use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::{find_meaning, find_singular, keys, nouns, servers, verbs};

pub(in crate::tools::mcp) fn analyze_kubernetes(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    if !request.is_about(servers::CLUSTERS) || request.is_dry_run() {
        return false;
    }
    if request.has_action_word(&["rollout"]) {
        // A restarted rollout runs the same version as before.
        return true;
    }
    if request.is_about(&["helm"]) && request.has_action_word(&["uninstall", "delete"]) {
        return sink.analyze_program(&["helm", "uninstall", "x"]);
    }
    if request.has_action_word(&["exec"]) && request.has_action_word(&["pod", "pods", "exec", "command"]) {
        return analyze_pod_exec(request, sink);
    }
    if let Some(text) = find_command_line(request) {
        let has_word = |words: &[&str]| request.action.iter().any(|word| words.contains(&word.as_str()));
        let text = match find_meaning(verbs::KUBECTL, has_word) {
            Some(verb) if request.find_text(&["command"]).is_none() && !text.starts_with(verb) => {
                format!("{verb} {text}")
            }
            _ => text,
        };
        let is_complete = text.trim_start().starts_with("kubectl") || text.trim_start().starts_with("helm");
        sink.analyze_equivalent_command(&if is_complete { text } else { format!("kubectl {text}") }, None);
        return true;
    }
    let Some(verb) = find_meaning(verbs::KUBECTL, |words| request.has_action_word(words)) else {
        return false;
    };
    let Some(kind) = find_resource_kind(request) else {
        return false;
    };
    let argv = build_kubectl_command(verb, kind, request);
    sink.analyze_program(&argv.iter().map(String::as_str).collect::<Vec<_>>());
    true
}

/// The equivalent command line for a resource.
fn build_kubectl_command(verb: &str, kind: String, request: &McpRequest<'_>) -> Vec<String> {
    let mut argv = vec!["kubectl".to_owned(), verb.to_owned(), kind];
    let name = request.find_text(keys::CLUSTER_NAMES);
    argv.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
    let flags = [("--all", "all"), ("-A", "allnamespaces"), ("--force", "force")];
    let flags = flags.into_iter().filter(|(_, key)| request.has_flag(&[key]));
    argv.extend(flags.map(|(flag, _)| flag.to_owned()));
    let output = match request.find_text(&["output", "outputformat", "format"]) {
        Some(output @ ("yaml" | "json" | "jsonpath" | "go-template")) => Some(output),
        // A single resource is shown completely by default.
        None if name.is_some() => Some("yaml"),
        _ => None,
    };
    if let Some(output) = output.filter(|_| verb == "get") {
        argv.extend(["-o".to_owned(), output.to_owned()]);
    }
    argv.extend(request.find_value(&["replicas"]).map(|replicas| format!("--replicas={replicas}")));
    argv
}

/// A command for a container.
fn analyze_pod_exec(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let words = request.find_texts(&["command", "args", "cmd"]);
    let line = match words.as_slice() {
        [only] => (*only).to_owned(),
        many => join_shell_words(many.iter().copied()),
    };
    sink.analyze_equivalent_command(&format!("kubectl exec x -- {line}"), None);
    true
}

/// A literal command line.
fn find_command_line(request: &McpRequest<'_>) -> Option<String> {
    let texts = request.find_texts(&["command", "args", "kubectlcommand", "cmd", "arguments"]);
    match texts.as_slice() {
        [] => None,
        [only] if !only.trim().contains(' ') => None,
        [only] => Some((*only).to_owned()),
        // A verb and its words, or all as words; flags are in other fields.
        [first, ..] if first.contains(' ') => Some(texts.join("\n")),
        words => Some(join_shell_words(words.iter().copied())),
    }
}

fn find_resource_kind(request: &McpRequest<'_>) -> Option<String> {
    if let Some(kind) = request.find_text(keys::CLUSTER_KINDS).filter(|kind| !kind.is_empty()) {
        return Some(kind.to_ascii_lowercase());
    }
    let mut words = request.tool_words().iter().chain(&request.action);
    words.find_map(|word| find_singular(word, nouns::CLUSTER_KINDS)).map(str::to_owned)
}
