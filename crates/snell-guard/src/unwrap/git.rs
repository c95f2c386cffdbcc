//! `git` runs what its configuration says, and some of its commands run others.

use super::Job;
use crate::invocation::Value;
use crate::shell::{Flow, Walker, joined};

/// Flags before the subcommand that take the next word.
const WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];
/// Settings whose value git runs: whole keys, or how they end.
const CODE_KEYS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "sequence.editor",
    "diff.external",
    "gpg.program",
    "gpg.ssh.program",
    "credential.helper",
    "uploadpack.packobjectshook",
    "sendemail.smtpserver",
    "interactive.difffilter",
    "core.alternaterefscommand",
    "ssh.variant",
];
const CODE_ENDINGS: &[(&str, &str)] = &[
    ("pager.", ""),
    ("filter.", ".clean"),
    ("filter.", ".smudge"),
    ("filter.", ".process"),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("merge.", ".driver"),
    ("difftool.", ".cmd"),
    ("mergetool.", ".cmd"),
    ("credential.", ".helper"),
    ("browser.", ".cmd"),
    ("man.", ".cmd"),
    ("remote.", ".uploadpack"),
    ("remote.", ".receivepack"),
];
/// Flags of subcommands whose value is shell code.
const CODE_FLAGS: &[(&str, &[&str])] = &[
    ("rebase", &["-x", "--exec"]),
    ("difftool", &["-x", "--extcmd"]),
    (
        "filter-branch",
        &[
            "--setup",
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
    ),
    ("clone", &["-u", "--upload-pack"]),
    ("fetch", &["--upload-pack"]),
    ("ls-remote", &["--upload-pack"]),
    ("push", &["--receive-pack", "--exec"]),
    ("archive", &["--exec"]),
    ("grep", &["-O", "--open-files-in-pager"]),
];

/// Follows what git would run, and tells git itself.
pub(super) fn run<'t>(walker: &mut Walker<'t>, job: &Job<'_>) -> Option<Flow> {
    job.tell(walker);
    let argv = &job.call.argv;
    let mut at = 1;
    let mut settings: Vec<Value> = Vec::new();
    while let Some(text) = argv
        .get(at)
        .and_then(Value::as_text)
        .filter(|text| text.starts_with('-'))
    {
        at += 1;
        if WITH_VALUE.contains(&text) {
            if text == "-c" {
                settings.extend(argv.get(at).cloned());
            }
            at += 1;
        }
    }
    let Some(subcommand) = argv.get(at).and_then(Value::as_text) else {
        return Some(Flow::Next);
    };
    let arguments = argv.get(at + 1..).unwrap_or_default();
    for setting in &settings {
        configured(walker, job, setting, subcommand, arguments);
    }
    commanded(walker, job, subcommand, arguments);
    Some(Flow::Next)
}

/// `-c key=value`
fn configured<'t>(walker: &mut Walker<'t>, job: &Job<'_>, setting: &Value, subcommand: &str, arguments: &[Value]) {
    let Some((key, _)) = setting.leading().split_once('=') else {
        return;
    };
    let value = setting.after(key.len() + 1);
    let lower = key.to_ascii_lowercase();
    if let Some(alias) = lower.strip_prefix("alias.") {
        if alias.eq_ignore_ascii_case(subcommand) {
            aliased(walker, job, &value, arguments);
        }
        return;
    }
    let runs = CODE_KEYS.contains(&lower.as_str())
        || CODE_ENDINGS
            .iter()
            .any(|(start, end)| lower.starts_with(start) && lower.ends_with(end));
    let is_word = value
        .as_text()
        .is_some_and(|text| matches!(text, "" | "true" | "false" | "cat" | "store" | "cache"));
    if runs && !is_word {
        let code = if value.leading().starts_with('!') {
            value.after(1)
        } else {
            value
        };
        job.run_code(walker, &code);
    }
}

/// An alias: shell code behind a `!`, else another subcommand.
fn aliased<'t>(walker: &mut Walker<'t>, job: &Job<'_>, value: &Value, arguments: &[Value]) {
    let rest = walker.quoted(arguments);
    let mut code = if value.leading().starts_with('!') {
        value.after(1)
    } else {
        let mut code = Value::text("git ");
        code.append(value);
        code
    };
    code.push_text(" ");
    code.append(&rest);
    job.run_code(walker, &code);
}

/// What subcommands run.
fn commanded<'t>(walker: &mut Walker<'t>, job: &Job<'_>, subcommand: &str, arguments: &[Value]) {
    match subcommand {
        "bisect" if arguments.first().and_then(Value::as_text) == Some("run") => {
            let words = arguments.get(1..).unwrap_or_default().to_vec();
            if !words.is_empty() {
                job.run_words(walker, words, Vec::new());
            }
        }
        "submodule" => {
            let each = arguments.iter().position(|value| value.as_text() == Some("foreach"));
            let words = each.and_then(|at| arguments.get(at + 1..)).unwrap_or_default();
            let words: Vec<Value> = words
                .iter()
                .skip_while(|value| value.leading().starts_with('-'))
                .cloned()
                .collect();
            if !words.is_empty() {
                job.run_code(walker, &joined(&words));
            }
        }
        _ => {}
    }
    // `ext::sh -c …` as the address of a repository.
    for address in arguments.iter().filter(|value| value.leading().starts_with("ext::")) {
        job.run_code(walker, &address.after("ext::".len()));
    }
    let Some((_, flags)) = CODE_FLAGS.iter().find(|(known, _)| *known == subcommand) else {
        return;
    };
    for (at, argument) in arguments.iter().enumerate() {
        let text = argument.leading();
        for flag in *flags {
            let glued = text.strip_prefix(flag).and_then(|rest| match flag.starts_with("--") {
                true => rest.strip_prefix('=').map(|_| flag.len() + 1),
                false => (!rest.is_empty()).then_some(flag.len()),
            });
            if let Some(from) = glued {
                job.run_code(walker, &argument.after(from));
            } else if text == *flag
                && let Some(code) = arguments.get(at + 1)
            {
                job.run_code(walker, code);
            }
        }
    }
}
