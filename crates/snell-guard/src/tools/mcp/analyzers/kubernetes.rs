//! Servers for clusters: a call is what `kubectl` or `helm` would be told.

use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::servers;
use crate::tools::quote_shell_word;

/// Verbs of `kubectl` by the words that tools use for them.
const KUBECTL_VERBS: &[(&[&str], &str)] = &[
    (&["delete", "remove", "destroy"], "delete"),
    (&["drain"], "drain"),
    (&["cordon"], "cordon"),
    (&["scale"], "scale"),
    (&["exec"], "exec"),
    (&["get", "read", "view", "show"], "get"),
    (&["describe"], "describe"),
    (&["replace"], "replace"),
];
/// Where it is said what kind of thing is meant, and which.
const RESOURCE_KIND_KEYS: &[&str] = &["resourcetype", "kind", "resource", "resourcekind", "type"];
const RESOURCE_NAME_KEYS: &[&str] = &["name", "resourcename", "podname", "nodename", "pod", "node"];
/// Kinds by the words in a tool's name: `pods_delete`, `delete_namespace`.
const RESOURCE_KINDS: &[&str] = &[
    "pod",
    "namespace",
    "node",
    "deployment",
    "service",
    "secret",
    "configmap",
    "pvc",
    "persistentvolumeclaim",
    "persistentvolume",
    "pv",
    "statefulset",
    "daemonset",
    "job",
    "cronjob",
    "ingress",
    "crd",
    "replicaset",
    "role",
];

pub(in crate::tools::mcp) fn analyze_kubernetes(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    if !request.is_about(servers::CLUSTERS) || request.is_dry_run() {
        return false;
    }
    if request.has_action_word(&["rollout"]) {
        // What is rolled out again is what was there before.
        return true;
    }
    if request.is_about(&["helm"]) && request.has_action_word(&["uninstall", "delete"]) {
        return desk.analyze_program(&["helm", "uninstall", "x"]);
    }
    if request.has_action_word(&["exec"]) && request.has_action_word(&["pod", "pods", "exec", "command"]) {
        return analyze_pod_exec(request, desk);
    }
    if let Some(text) = find_command_line(request) {
        let verb =
            KUBECTL_VERBS.iter().find(|(words, _)| request.action.iter().any(|word| words.contains(&word.as_str())));
        let text = match verb {
            Some((_, verb)) if request.find_text(&["command"]).is_none() && !text.starts_with(verb) => {
                format!("{verb} {text}")
            }
            _ => text,
        };
        let begun = text.trim_start().starts_with("kubectl") || text.trim_start().starts_with("helm");
        desk.analyze_equivalent_command(&if begun { text } else { format!("kubectl {text}") }, None);
        return true;
    }
    let said = |words: &[&str]| request.has_action_word(words);
    let Some((_, verb)) = KUBECTL_VERBS.iter().find(|(words, _)| said(words)) else {
        return false;
    };
    let Some(kind) = find_resource_kind(request) else {
        return false;
    };
    let mut line = vec!["kubectl", verb, kind.as_str()];
    if let Some(name) = request.find_text(RESOURCE_NAME_KEYS).filter(|name| !name.is_empty()) {
        line.push(name);
    }
    for (keys, flag) in [(&["all"][..], "--all"), (&["allnamespaces"][..], "-A"), (&["force"][..], "--force")] {
        if request.has_flag(keys) {
            line.push(flag);
        }
    }
    let output = match request.find_text(&["output", "outputformat", "format"]) {
        Some(output @ ("yaml" | "json" | "jsonpath" | "go-template")) => Some(output),
        // One thing that is got is shown as a whole, unless it is asked for otherwise.
        None if request.find_text(RESOURCE_NAME_KEYS).is_some() => Some("yaml"),
        _ => None,
    };
    if let Some(output) = output.filter(|_| *verb == "get") {
        line.extend(["-o", output]);
    }
    if let Some(replicas) = request.find_value(&["replicas"]).map(ToString::to_string) {
        let flag = format!("--replicas={replicas}");
        line.push(&flag);
        desk.analyze_program(&line);
        return true;
    }
    desk.analyze_program(&line);
    true
}

/// A command for a container.
fn analyze_pod_exec(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    let words = request.find_texts(&["command", "args", "cmd"]);
    let line = match words.as_slice() {
        [only] => (*only).to_owned(),
        many => many.iter().map(|word| quote_shell_word(word)).collect::<Vec<_>>().join(" "),
    };
    desk.analyze_equivalent_command(&format!("kubectl exec x -- {line}"), None);
    true
}

/// A command line that is written out.
fn find_command_line(request: &McpRequest<'_>) -> Option<String> {
    let texts = request.find_texts(&["command", "args", "kubectlcommand", "cmd", "arguments"]);
    match texts.as_slice() {
        [] => None,
        [only] if !only.trim().contains(' ') => None,
        [only] => Some((*only).to_owned()),
        // A verb and its words, or all of them as words; flags of their own stand elsewhere.
        [first, ..] if first.contains(' ') => Some(texts.join("\n")),
        words => Some(words.iter().map(|word| quote_shell_word(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn find_resource_kind(request: &McpRequest<'_>) -> Option<String> {
    if let Some(kind) = request.find_text(RESOURCE_KIND_KEYS).filter(|kind| !kind.is_empty()) {
        return Some(kind.to_ascii_lowercase());
    }
    request.tool_words().iter().chain(&request.action).find_map(|word| {
        let single = word.strip_suffix('s').unwrap_or(word);
        RESOURCE_KINDS.contains(&single).then(|| single.to_owned())
    })
}
