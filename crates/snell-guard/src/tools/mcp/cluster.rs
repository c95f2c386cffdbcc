//! Servers for clusters: a call is what `kubectl` or `helm` would be told.

use super::desk::Desk;
use super::request::Request;
use super::tables::servers;
use crate::tools::quoted;

/// Verbs of `kubectl` by the words that tools use for them.
const VERBS: &[(&[&str], &str)] = &[
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
const KIND: &[&str] = &["resourcetype", "kind", "resource", "resourcekind", "type"];
const NAME: &[&str] = &["name", "resourcename", "podname", "nodename", "pod", "node"];
/// Kinds by the words in a tool's name: `pods_delete`, `delete_namespace`.
const KINDS: &[&str] = &[
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

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    if !request.is_about(servers::CLUSTERS) || request.is_dry() {
        return false;
    }
    if request.does(&["rollout"]) {
        // What is rolled out again is what was there before.
        return true;
    }
    if request.is_about(&["helm"]) && request.does(&["uninstall", "delete"]) {
        return desk.program(&["helm", "uninstall", "x"]);
    }
    if request.does(&["exec"]) && request.does(&["pod", "pods", "exec", "command"]) {
        return execs(request, desk);
    }
    if let Some(text) = written(request) {
        let verb = VERBS
            .iter()
            .find(|(words, _)| request.action.iter().any(|word| words.contains(&word.as_str())));
        let text = match verb {
            Some((_, verb)) if request.text(&["command"]).is_none() && !text.starts_with(verb) => {
                format!("{verb} {text}")
            }
            _ => text,
        };
        let begun = text.trim_start().starts_with("kubectl") || text.trim_start().starts_with("helm");
        desk.same_as(&if begun { text } else { format!("kubectl {text}") }, None);
        return true;
    }
    let said = |words: &[&str]| request.does(words);
    let Some((_, verb)) = VERBS.iter().find(|(words, _)| said(words)) else {
        return false;
    };
    let Some(kind) = kind(request) else {
        return false;
    };
    let mut line = vec!["kubectl", verb, kind.as_str()];
    if let Some(name) = request.text(NAME).filter(|name| !name.is_empty()) {
        line.push(name);
    }
    for (keys, flag) in [
        (&["all"][..], "--all"),
        (&["allnamespaces"][..], "-A"),
        (&["force"][..], "--force"),
    ] {
        if request.flag(keys) {
            line.push(flag);
        }
    }
    let output = match request.text(&["output", "outputformat", "format"]) {
        Some(output @ ("yaml" | "json" | "jsonpath" | "go-template")) => Some(output),
        // One thing that is got is shown as a whole, unless it is asked for otherwise.
        None if request.text(NAME).is_some() => Some("yaml"),
        _ => None,
    };
    if let Some(output) = output.filter(|_| *verb == "get") {
        line.extend(["-o", output]);
    }
    if let Some(replicas) = request.value(&["replicas"]).map(ToString::to_string) {
        let flag = format!("--replicas={replicas}");
        line.push(&flag);
        desk.program(&line);
        return true;
    }
    desk.program(&line);
    true
}

/// A command for a container.
fn execs(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let words = request.texts(&["command", "args", "cmd"]);
    let line = match words.as_slice() {
        [only] => (*only).to_owned(),
        many => many.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    desk.same_as(&format!("kubectl exec x -- {line}"), None);
    true
}

/// A command line that is written out.
fn written(request: &Request<'_>) -> Option<String> {
    let texts = request.texts(&["command", "args", "kubectlcommand", "cmd", "arguments"]);
    match texts.as_slice() {
        [] => None,
        [only] if !only.trim().contains(' ') => None,
        [only] => Some((*only).to_owned()),
        // A verb and its words, or all of them as words; flags of their own stand elsewhere.
        [first, ..] if first.contains(' ') => Some(texts.join("\n")),
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn kind(request: &Request<'_>) -> Option<String> {
    if let Some(kind) = request.text(KIND).filter(|kind| !kind.is_empty()) {
        return Some(kind.to_ascii_lowercase());
    }
    request.tool().iter().chain(&request.action).find_map(|word| {
        let single = word.strip_suffix('s').unwrap_or(word);
        KINDS.contains(&single).then(|| single.to_owned())
    })
}
